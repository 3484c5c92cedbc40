"""What the record system answers when a request cannot be carried out."""

from __future__ import annotations

from typing import Any

from healthgym.core.borders import JsonDict
from healthgym.errors import ToolError


class FhirError(ToolError):
    """A request the FHIR server refuses; the agent sees it as an OperationOutcome.

    Attributes:
        status: HTTP status the refusal has over the wire (4xx).
        code: Issue type of the FHIR value set ``issue-type``, such as ``not-found``.
        diagnostics: What was wrong and what is accepted.
        expression: FHIRPath-like locations of the fault inside a submitted resource.
    """

    def __init__(
        self, status: int, code: str, diagnostics: str, expression: tuple[str, ...] = ()
    ) -> None:
        super().__init__(diagnostics)
        self.status = status
        self.code = code
        self.diagnostics = diagnostics
        self.expression = expression

    def __reduce__(self) -> tuple[Any, ...]:
        """Rebuild from the four fields, so that the error survives pickling."""
        return type(self), (self.status, self.code, self.diagnostics, self.expression)

    def outcome(self) -> JsonDict:
        """Return the OperationOutcome resource that describes this error."""
        issue: JsonDict = {
            "severity": "error",
            "code": self.code,
            "diagnostics": self.diagnostics,
        }
        if self.expression:
            issue["expression"] = list(self.expression)
        return {"resourceType": "OperationOutcome", "issue": [issue]}


def bad_request(diagnostics: str, *, code: str = "invalid") -> FhirError:
    """Return a 400 for a request that cannot be understood."""
    return FhirError(400, code, diagnostics)


def not_found(resource_type: str, resource_id: str) -> FhirError:
    """Return the 404 of an id that no resource of the type has."""
    return FhirError(404, "not-found", f"Resource {resource_type}/{resource_id} is not known.")
