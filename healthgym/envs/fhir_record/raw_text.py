"""The raw text protocol of MedAgentBench: what its agents read first, and what they reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlencode

import numpy as np

from healthgym.core.action import require_text, typed_call_in
from healthgym.core.catalog import ToolCatalog
from healthgym.core.clock import Clock
from healthgym.core.family import Baseline, Script
from healthgym.core.language.json_values import read_json
from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.paper.grading import published_form
from healthgym.envs.fhir_record.task import (
    BASE_URL,
    FhirInstance,
    FhirReference,
    FhirTask,
    RecordStart,
)
from healthgym.envs.fhir_record.toolset import FolderToolset
from healthgym.errors import ToolError
from healthgym.worlds.fhir.world import FhirWorld

_FENCES = ("```tool_code", "```")

#: Chart tool -> the type it searches.
_SEARCHED = {
    "search_patients": "Patient",
    "search_observations": "Observation",
    "search_medication_requests": "MedicationRequest",
    "search_procedures": "Procedure",
    "search_conditions": "Condition",
    "search_service_requests": "ServiceRequest",
    "search_immunizations": "Immunization",
}
#: Chart tool that lists the newest first -> how the server is asked for that.
_NEWEST_FIRST = {
    "search_observations": "-date",
    "search_procedures": "-date",
    "search_immunizations": "-date",
    "search_medication_requests": "-authoredon",
}
#: Argument of a chart tool -> search parameter, and what stands before its value.
_PARAMETERS = {
    "mrn": ("identifier", ""),
    "birth_date": ("birthdate", ""),
    "text": ("code:text", ""),
    "since": ("date", "ge"),
    "until": ("date", "le"),
    "limit": ("_count", ""),
}


def read_reply(reply: str) -> tuple[ToolCall, ...]:
    """Return the request in a reply, as the published harness reads it.

    A reply is ``GET url?parameters``, or ``POST url`` with JSON on the following lines, or
    ``FINISH([...])``; anything else abandons the run. As upstream, code fences are stripped,
    ``&_format=json`` is added to every GET, and nothing after ``FINISH(`` but the last character is
    cut off before the value is read as JSON. A typed call, which no published agent makes, is read
    from the text it is recorded as.

    Raises:
        ToolError: If the reply is too long, or is no text.
    """
    require_text(reply)
    text = reply.strip()
    for fence in _FENCES:
        text = text.replace(fence, "")
    text = text.strip()
    if text.startswith("GET"):
        return (ToolCall("get", {"url": text[3:].strip() + "&_format=json"}),)
    if text.startswith("POST"):
        first, _, body = text.partition("\n")
        request = {"url": first[4:].strip(), "body": body}
        return (ToolCall("post", request if reply == text else {**request, "sent": reply}),)
    if text.startswith("FINISH("):
        answer = text[len("FINISH(") : -1]
        return (ToolCall("finish", {"value": _json_or_none(answer), "text": answer}),)
    return (typed_call_in(reply) or ToolCall("abandon"),)


def _json_or_none(text: str) -> Any:
    """Return the JSON value of an answer; None if it is none, or holds what JSON cannot.

    ``NaN`` ends a run like any other answer, and equals no reference value.
    """
    try:
        value = read_json(text)
        json.dumps(value, allow_nan=False)
    except (ToolError, ValueError):
        return None
    return value


def prompt(question: str, base_url: str = BASE_URL) -> str:
    """Return the first message: rules, functions, question."""
    return (
        "You are working with the medical records of a hospital through a FHIR R4 server. Reply "
        "with exactly one of the following three forms each time, with no other words before or "
        "after it.\n\n"
        "1. To read: one line, the word GET and a URL with its parameters filled in:\n"
        "GET url?name=value&name=value\n\n"
        "2. To write: the word POST and a URL, and from the next line on the resource as JSON:\n"
        'POST url\n{"resourceType": ...}\n\n'
        "3. To hand in your answer, once everything asked for is done, as a JSON list; this ends "
        "the task:\n"
        "FINISH([answer, ...])\n\n"
        "Only these functions exist; each reply may call one of them.\n"
        f"The server's base address, written api_base below, is {base_url.rstrip('/')}.\n"
        f"{function_descriptions(base_url)}\n\n"
        f"{question}"
    )


@cache
def function_descriptions(base_url: str = BASE_URL) -> str:
    """Return the nine functions of the published harness, in our words, as JSON text."""
    folder = resources.files("healthgym.envs.fhir_record")
    text = folder.joinpath("data/functions.json").read_text(encoding="utf-8")
    functions = json.loads(text.replace("{api_base}", base_url.rstrip("/")))
    return json.dumps(functions)


def in_replies(
    policy: Baseline[FhirTask, FhirReference, RecordStart],
) -> Baseline[FhirTask, FhirReference, RecordStart]:
    """Return a policy that plays the script of another one in replies."""

    def play(instance: FhirInstance, rng: np.random.Generator) -> Script:
        return list(_replies(policy(instance, rng), instance))

    return play


def _replies(script: Script, instance: FhirInstance) -> Iterator[str]:
    """Yield calls of the chart tools as replies: what they would write is posted."""
    world = FhirWorld(instance.start.base, Clock(instance.start.now))
    catalog, bound = ToolCatalog([FolderToolset]), [FolderToolset(world)]
    for request in script:
        if not isinstance(request, ToolCall):
            raise TypeError(f"{request!r} is not a call of a chart tool.")
        if request.name == "finish":
            yield f"FINISH({json.dumps(request.arguments['value'])})"
            return
        written = len(world.store.written)
        catalog.invoke(bound, request)
        if request.name in _SEARCHED:
            yield f"GET {BASE_URL}{_SEARCHED[request.name]}?{_asked(request)}"
        for write in world.store.written[written:]:
            body = json.dumps(published_form(write.resource))
            yield f"POST {BASE_URL}{write.resource_type}\n{body}"


def _asked(request: ToolCall) -> str:
    pairs: list[tuple[str, str]] = [
        (name, f"{mark}{value}")
        for argument, value in request.arguments.items()
        for name, mark in [_PARAMETERS.get(argument, (argument, ""))]
    ]
    if request.name == "search_immunizations":
        pairs = [("vaccine-code" if name == "code" else name, value) for name, value in pairs]
    if request.name in _NEWEST_FIRST:
        pairs.append(("_sort", _NEWEST_FIRST[request.name]))
    return urlencode(pairs)
