"""Whose chart a tool is about: the patient named, or the one whose chart is open."""

from __future__ import annotations

from healthgym.core.tool import Toolset
from healthgym.errors import ToolError
from healthgym.worlds.fhir.shapes import CPT, LOINC, NDC, RXNORM, SNOMED
from healthgym.worlds.fhir.world import FhirWorld

_MOST_TEXT = 4000

#: Code systems by the name they go by -> the address that a FHIR resource has for it.
_ADDRESSES = {
    "cpt": CPT,
    "loinc": LOINC,
    "ndc": NDC,
    "rxnorm": RXNORM,
    "snomed": SNOMED,
    "snomed ct": SNOMED,
    "snomed-ct": SNOMED,
}


class ChartTools(Toolset[FhirWorld]):
    """What tools about a patient have in common. It has no tool itself."""

    def _open(self, patient: str) -> str:
        """Return the patient named, or else the one whose chart is open."""
        key = patient.strip().removeprefix("Patient/") or self.world.open_patient
        if not key:
            raise ToolError("Name a patient by record number: no chart is open yet.")
        return key

    def _patient_id(self, patient: str) -> str:
        """Return the id of the patient with an id or a record number."""
        key = short("patient", patient)
        for parameter in ("_id", "identifier"):
            found = self.world.store.search("Patient", [(parameter, key)]).resources
            if len(found) == 1:
                return str(found[0]["id"])
        raise ToolError(f"There is no patient {key[:80]!r}; search_patients finds record numbers.")


def short(argument: str, value: str) -> str:
    """Return a text argument without the space around it.

    Raises:
        ToolError: If it is empty or very long.
    """
    text = value.strip()
    if not text or len(text) > _MOST_TEXT:
        raise ToolError(f"{argument} is a text of 1 to {_MOST_TEXT} characters.")
    return text


def system_address(system: str) -> str:
    """Return the address of a code system that is given by name or address."""
    text = short("system", system)
    return _ADDRESSES.get(text.lower(), text)
