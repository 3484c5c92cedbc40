"""The record system as the published harness offers it: GET and POST of raw FHIR."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from healthgym.core.family import AGENT, Seat
from healthgym.core.task import Instance, Reference, Task
from healthgym.core.tool import ToolCatalog, ToolKind, Toolset, tool
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.paper.grading import BASE_URL
from healthgym.errors import ToolError
from healthgym.worlds.fhir.api import FhirApi
from healthgym.worlds.fhir.world import FhirWorld


class RawToolset(Toolset[FhirWorld]):
    """A REST interface and an answer; what is posted is stored."""

    @tool(ToolKind.READ)
    def get(self, url: str) -> str:
        """Send a GET request and show the body of the response.

        Args:
            url: Address under the base, e.g. "http://localhost:8080/fhir/Patient?family=Nguyen".
        """
        response = self._api.handle("GET", url)
        if response.status >= 400:
            raise ToolError(f"The GET request failed: {response.status} Client Error for {url}")
        return response.text

    @tool(ToolKind.WRITE)
    def post(self, url: str, body: str, fenced: bool = False) -> str:
        """Send a POST request that creates a resource.

        Args:
            url: Address under the base, e.g. "http://localhost:8080/fhir/ServiceRequest".
            body: The resource as JSON text.
            fenced: Whether the request stood in a code fence, which the published grader minds.
        """
        parse_body(body)
        response = self._api.handle("POST", url, body)
        if response.status >= 400:
            issue = json.loads(response.text)["issue"][0]
            raise ToolError(f"The POST request failed: {response.status} {issue['diagnostics']}")
        return response.text

    @tool(ToolKind.SUBMIT)
    def finish(self, value: Any = None, text: str = "") -> str:
        """Hand in the answer and end the task.

        Args:
            value: The answer as a list; null if what was handed in is not JSON.
            text: The answer as it was written.
        """
        return "Finished."

    @property
    def _api(self) -> FhirApi:
        return FhirApi(self.world.store, BASE_URL)


class EchoToolset(RawToolset):
    """The same, but what is posted is acknowledged and goes nowhere, as in the published runs."""

    @tool(ToolKind.READ)
    def post(self, url: str, body: str, fenced: bool = False) -> str:
        """Accept a POST request without sending it anywhere.

        Args:
            url: Any address.
            body: Any JSON text.
            fenced: Whether the request stood in a code fence, which the published grader minds.
        """
        parse_body(body)
        return "{}"


class RawRecordFamily(FhirRecordFamily):
    """A record family whose agent speaks raw FHIR.

    Args:
        family: The family whose generator, verifier and record system are used.
        store_writes: Whether what is posted is stored; if not, only the ``paper`` profile, which
            reads the requests, can find an order.
    """

    def __init__(self, family: FhirRecordFamily, *, store_writes: bool = True) -> None:
        self.__dict__.update(family.__dict__)
        catalog = ToolCatalog([RawToolset if store_writes else EchoToolset])
        self._raw_seats = {AGENT: Seat(catalog)}

    def seats(self, instance: Instance[Task, Reference]) -> Mapping[str, Seat]:
        """Return the one seat there is."""
        return self._raw_seats


def parse_body(body: str) -> Any:
    """Return the JSON value of a POST body.

    Raises:
        ToolError: If it is not JSON.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ToolError("Invalid POST request") from None


@cache
def function_descriptions(base_url: str = BASE_URL) -> str:
    """Return the nine functions of the published harness, in our words, as JSON text."""
    folder = resources.files("healthgym.envs.fhir_record")
    text = folder.joinpath("data/functions.json").read_text(encoding="utf-8")
    functions = json.loads(text.replace("{api_base}", base_url.rstrip("/")))
    return json.dumps(functions)
