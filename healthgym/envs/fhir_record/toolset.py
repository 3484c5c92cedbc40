"""The agent's verbs on a record system."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote_plus

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.fhir_record import tables
from healthgym.envs.fhir_record.calculator import evaluate
from healthgym.errors import ToolError
from healthgym.worlds.fhir.world import FhirWorld

_MOST_ROWS = 50
_RAW_PAGE = "5"
_MOST_TEXT = 4000
_TOTAL = ("_total", "accurate")
_SPOKEN_TIME = re.compile(r"(today|tomorrow) (\d\d:\d\d)")


class RecordToolset(Toolset[FhirWorld]):
    """Search, read and write a FHIR record system; short tables instead of JSON by default.

    The chart of the patient last named, or found as the only match, stays open: later calls are
    about that patient unless they name another.
    """

    # -- looking things up ---------------------------------------------------------------------

    @tool(ToolKind.READ)
    def search_patients(
        self, family: str = "", given: str = "", birth_date: str = "", mrn: str = ""
    ) -> str:
        """Find patients. Each row is record number | name | birth date | sex.

        Args:
            family: Family name or its beginning, e.g. "Nguyen".
            given: Given name or its beginning, e.g. "Linh".
            birth_date: Date of birth as YYYY-MM-DD.
            mrn: Medical record number, e.g. "S7012345".
        """
        if not (family or given or birth_date or mrn):
            raise ToolError("Give at least one of family, given, birth_date or mrn.")
        if mrn:
            mrn = self._patient_id(mrn)
        named = [("_id", mrn), ("family", family), ("given", given), ("birthdate", birth_date)]
        params = [(name, value) for name, value in named if value]
        result = self.world.store.search("Patient", [*params, ("_count", "10"), _TOTAL])
        if result.total == 1:
            self.world.open_patient = str(result.resources[0]["id"])
        return tables.table(result, tables.patient_row, "matches")

    @tool(ToolKind.READ)
    def search_observations(
        self,
        patient: str = "",
        code: str = "",
        category: Literal["", "laboratory", "vital-signs"] = "",
        since: str = "",
        until: str = "",
        limit: int = 10,
    ) -> str:
        """List a patient's measurements, newest first. Each row is time, code, value with unit.

        Args:
            patient: Medical record number; the chart last opened if left out.
            code: Local code of the test, e.g. "K"; all tests if left out.
            category: Only laboratory results or only vital signs.
            since: Earliest time, e.g. "2023-11-12T10:15:00+00:00" or "2023-11-12".
            until: Latest time, in the same form.
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("code", code), ("category", category)]
        return self._dated("Observation", params, since, until, limit, tables.observation_row)

    @tool(ToolKind.READ)
    def search_medication_requests(
        self, patient: str = "", status: str = "", text: str = "", limit: int = 20
    ) -> str:
        """List a patient's medication orders, newest first, with their ids.

        Args:
            patient: Medical record number; the chart last opened if left out.
            status: Only orders of this status, e.g. "active".
            text: Only orders whose text contains this word, e.g. "heparin".
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("status", status), ("_sort", "-authoredon")]
        if text:
            params.append(("code:text", text))
        return self._table("MedicationRequest", params, limit, tables.medication_row)

    @tool(ToolKind.READ)
    def search_procedures(
        self, patient: str = "", code: str = "", since: str = "", until: str = "", limit: int = 10
    ) -> str:
        """List a patient's procedures, newest first. Each row is time, code and name.

        Args:
            patient: Medical record number; the chart last opened if left out.
            code: One code, or several separated by commas, e.g. "IMGCT0491,IMGIL0001".
            since: Earliest time, e.g. "2023-11-12".
            until: Latest time, in the same form.
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("code", code)]
        return self._dated("Procedure", params, since, until, limit, tables.procedure_row)

    @tool(ToolKind.READ)
    def search_conditions(self, patient: str = "", code: str = "", limit: int = 20) -> str:
        """List a patient's diagnoses. Each row is onset, ICD-10 code and name.

        Args:
            patient: Medical record number; the chart last opened if left out.
            code: Only this code, e.g. "E11.9".
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("code", code)]
        return self._table("Condition", params, limit, tables.condition_row)

    @tool(ToolKind.READ)
    def search_service_requests(
        self, patient: str = "", code: str = "", status: str = "", limit: int = 20
    ) -> str:
        """List a patient's orders for tests, referrals and nursing, with their ids.

        Args:
            patient: Medical record number; the chart last opened if left out.
            code: Only orders with this code.
            status: Only orders of this status, e.g. "active".
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("code", code), ("status", status)]
        return self._table("ServiceRequest", params, limit, tables.service_request_row)

    @tool(ToolKind.READ)
    def next_page(self, token: str) -> str:
        """Show the next rows of an earlier search.

        Args:
            token: The token the search named after "next_page".
        """
        result = self.world.store.next_page(token)
        return tables.table(result, _ROWS.get(result.resource_type, tables.compact_json), "rows")

    @tool(ToolKind.READ)
    def search_fhir(self, query: str) -> str:
        """Run any FHIR R4 search and show the resources as JSON, five a page.

        Args:
            query: Type and parameters, e.g. "Observation?patient=S7012345&code=K&_sort=-date".
        """
        resource_type, _, text = query.strip().lstrip("/").partition("?")
        # "+" in an offset such as 10:15:00+00:00 is meant literally; FHIR has no spaces there.
        params = parse_qsl(text.replace("+", "%2B"), keep_blank_values=True)
        if not any(name == "_count" for name, _ in params):
            params.append(("_count", _RAW_PAGE))
        result = self.world.store.search(unquote_plus(resource_type), params)
        return tables.table(result, tables.compact_json, "matches")

    @tool(ToolKind.READ)
    def read_resource(self, resource_type: str, id: str) -> str:
        """Show one resource as FHIR JSON.

        Args:
            resource_type: FHIR type, e.g. "MedicationRequest".
            id: Its id, as a search shows it.
        """
        return tables.compact_json(self.world.store.read(resource_type, id))

    @tool(ToolKind.READ, takes=timedelta(0))
    def calculate(self, expression: str) -> str:
        """Work out an arithmetic expression.

        Args:
            expression: Numbers with + - * / and parentheses, mean(...), sum(...), min(...),
                max(...) or round(x, digits), e.g. "mean(131, 118, 140)".
        """
        return evaluate(expression)

    # -- changing the record -------------------------------------------------------------------

    @tool(ToolKind.WRITE)
    def record_observation(
        self, flowsheet: str, value: str, patient: str = "", time: str = ""
    ) -> str:
        """Record a vital sign that was just measured.

        Args:
            flowsheet: Flowsheet id of the measurement, e.g. "BP".
            value: The measurement with its unit, e.g. "118/77 mmHg".
            patient: Medical record number; the chart last opened if left out.
            time: When it was measured, ISO 8601; now if left out.
        """
        coding = {
            "system": "http://hl7.org/fhir/observation-category",
            "code": "vital-signs",
            "display": "Vital Signs",
        }
        resource: dict[str, Any] = {
            "resourceType": "Observation",
            "category": [{"coding": [coding]}],
            "code": {"text": _short("flowsheet", flowsheet)},
            "effectiveDateTime": self._time("time", time),
            "status": "final",
            "valueString": _short("value", value),
            "subject": self._subject(patient),
        }
        return self._create(resource, "Recorded")

    @tool(ToolKind.WRITE)
    def create_medication_request(
        self,
        patient: str = "",
        medication: str = "",
        code: str = "",
        system: str = "http://hl7.org/fhir/sid/ndc",
        dose: float = 0.0,
        dose_unit: str = "",
        route: str = "",
        rate: float = 0.0,
        rate_unit: str = "",
        frequency: str = "",
    ) -> str:
        """Order a medication; the order is signed at once.

        Args:
            patient: Medical record number; the chart last opened if left out.
            medication: Name of the medication, e.g. "potassium chloride".
            code: Its code, e.g. an NDC such as "40032-917-01".
            system: Code system of the code.
            dose: Amount per dose, e.g. 40.
            dose_unit: Unit of the dose, e.g. "mEq".
            route: Route, e.g. "oral" or "IV".
            rate: Duration of an infusion, e.g. 2.
            rate_unit: Unit of the duration, e.g. "h".
            frequency: How often, e.g. "q8h" or "daily".
        """
        if not medication and not code:
            raise ToolError("Name the medication or give its code.")
        if bool(dose) != bool(dose_unit) or bool(rate) != bool(rate_unit):
            raise ToolError("A dose and a rate each need a number and a unit.")
        concept: dict[str, Any] = {}
        if code:
            concept["coding"] = [{"system": _short("system", system), "code": _short("code", code)}]
        concept["text"] = _short("medication", medication or code)
        amounts: dict[str, Any] = {}
        if dose:
            amounts["doseQuantity"] = {"value": dose, "unit": _short("dose_unit", dose_unit)}
        if rate:
            amounts["rateQuantity"] = {"value": rate, "unit": _short("rate_unit", rate_unit)}
        dosage: dict[str, Any] = {}
        if frequency:
            dosage["timing"] = {"code": {"text": _short("frequency", frequency)}}
        if route:
            dosage["route"] = {"text": _short("route", route)}
        if amounts:
            dosage["doseAndRate"] = [amounts]
        resource: dict[str, Any] = {
            "resourceType": "MedicationRequest",
            "status": "active",
            "intent": "order",
            "medicationCodeableConcept": concept,
            "subject": self._subject(patient),
            "authoredOn": self._time("", ""),
        }
        if dosage:
            resource["dosageInstruction"] = [dosage]
        return self._create(resource, "Ordered")

    @tool(ToolKind.WRITE)
    def create_service_request(
        self,
        code: str,
        patient: str = "",
        system: str = "",
        text: str = "",
        priority: Literal["routine", "urgent", "asap", "stat"] = "routine",
        note: str = "",
        occurrence: str = "",
    ) -> str:
        """Order a laboratory test, an imaging study, a referral or a nursing task.

        Args:
            code: Code of what is ordered, e.g. "2823-3".
            patient: Medical record number; the chart last opened if left out.
            system: Code system of the code, e.g. "http://loinc.org".
            text: Name of what is ordered.
            priority: How urgent it is.
            note: Free text for whoever carries it out.
            occurrence: When it is to be done, e.g. "2023-11-14T08:00:00+00:00", "tomorrow 08:00" or
                "today 18:30".
        """
        coding = {"code": _short("code", code)}
        if system:
            coding = {"system": _short("system", system), **coding}
        concept: dict[str, Any] = {"coding": [coding]}
        if text:
            concept["text"] = _short("text", text)
        resource: dict[str, Any] = {
            "resourceType": "ServiceRequest",
            "status": "active",
            "intent": "order",
            "priority": priority,
            "code": concept,
            "subject": self._subject(patient),
            "authoredOn": self._time("", ""),
        }
        if occurrence:
            resource["occurrenceDateTime"] = self._time("occurrence", occurrence)
        if note:
            resource["note"] = [{"text": _short("note", note)}]
        return self._create(resource, "Ordered")

    @tool(ToolKind.WRITE)
    def stop_medication_request(self, id: str) -> str:
        """Discontinue a medication order.

        Args:
            id: Id of the order, as search_medication_requests shows it.
        """
        resource = self.world.store.read("MedicationRequest", id)
        if resource.get("status") != "active":
            raise ToolError(f"Order {id} is not active; its status is {resource.get('status')}.")
        self.world.store.update({**resource, "status": "stopped"})
        return f"Stopped: MedicationRequest {id}."

    # -- handing in ----------------------------------------------------------------------------

    @tool(ToolKind.SUBMIT)
    def finish(self, value: list) -> str:  # type: ignore[type-arg]
        """Hand in the answer and end the task.

        Args:
            value: The answer as a list, in the form the question asks for, e.g. [3.4] or [-1].
        """
        return "Finished."

    # -- helpers -------------------------------------------------------------------------------

    def _table(
        self,
        resource_type: str,
        params: list[tuple[str, str]],
        limit: int,
        row: Callable[[dict[str, Any]], str],
    ) -> str:
        if not 1 <= limit <= _MOST_ROWS:
            raise ToolError(f"limit lies between 1 and {_MOST_ROWS}, not {limit}.")
        about_patient = params[0][0] == "patient"
        if about_patient:
            params = [("patient", self._open(params[0][1])), *params[1:]]
        asked = [(name, value) for name, value in params if value]
        asked += [("_count", str(limit)), _TOTAL]
        result = self.world.store.search(resource_type, asked)
        if about_patient and not result.resources:
            # Perhaps a record number, which is not always the id, or nobody's at all.
            self.world.open_patient = self._patient_id(asked[0][1])
            if self.world.open_patient != asked[0][1]:
                asked[0] = ("patient", self.world.open_patient)
                result = self.world.store.search(resource_type, asked)
        elif about_patient:
            self.world.open_patient = asked[0][1]
        return tables.table(result, row, "matches")

    def _open(self, patient: str) -> str:
        """Return the patient named, or else the one whose chart is open."""
        key = patient.strip().removeprefix("Patient/") or self.world.open_patient
        if not key:
            raise ToolError("Name a patient by record number: no chart is open yet.")
        return key

    def _dated(
        self,
        resource_type: str,
        params: list[tuple[str, str]],
        since: str,
        until: str,
        limit: int,
        row: Callable[[dict[str, Any]], str],
    ) -> str:
        bounds = [("date", f"ge{since}" if since else ""), ("date", f"le{until}" if until else "")]
        return self._table(resource_type, [*params, *bounds, ("_sort", "-date")], limit, row)

    def _subject(self, patient: str) -> dict[str, str]:
        """Return the reference to a patient known to the record system."""
        self.world.open_patient = self._patient_id(self._open(patient))
        return {"reference": f"Patient/{self.world.open_patient}"}

    def _patient_id(self, patient: str) -> str:
        """Return the id of the patient with an id or a record number."""
        key = _short("patient", patient)
        for parameter in ("_id", "identifier"):
            found = self.world.store.search("Patient", [(parameter, key)]).resources
            if len(found) == 1:
                return str(found[0]["id"])
        raise ToolError(f"There is no patient {key[:80]!r}; search_patients finds record numbers.")

    def _time(self, argument: str, value: str) -> str:
        now = self.world.clock.now
        if not value:
            return now.isoformat()
        spoken = _SPOKEN_TIME.fullmatch(value.strip())
        if spoken:
            day = now + timedelta(days=spoken[1] == "tomorrow")
            value = f"{day:%Y-%m-%d}T{spoken[2]}"
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ToolError(
                f"{argument} is a time such as 2023-11-14T08:00:00+00:00 or 'tomorrow 08:00', "
                f"not {value[:60]!r}."
            ) from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()

    def _create(self, resource: dict[str, Any], verb: str) -> str:
        stored = self.world.store.create(resource)
        return f"{verb}: {stored['resourceType']} {stored['id']}."


_ROWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "Patient": tables.patient_row,
    "Observation": tables.observation_row,
    "MedicationRequest": tables.medication_row,
    "Procedure": tables.procedure_row,
    "Condition": tables.condition_row,
    "ServiceRequest": tables.service_request_row,
}


def _short(argument: str, value: str) -> str:
    text = value.strip()
    if not text or len(text) > _MOST_TEXT:
        raise ToolError(f"{argument} is a text of 1 to {_MOST_TEXT} characters.")
    return text
