"""The verbs that change a record system: measurements and orders."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Literal

from healthgym.core.borders import JsonDict
from healthgym.core.tool import ToolKind, tool
from healthgym.envs.fhir_record.orders.language import is_foreign
from healthgym.envs.fhir_record.toolset_chart import ChartTools, short, system_address
from healthgym.errors import ToolError
from healthgym.worlds.fhir.records import WriteKind

_SPOKEN_TIME = re.compile(r"(today|tomorrow) (\d\d:\d\d)")


class WritingTools(ChartTools):
    """Record what was measured; order, and stop what was ordered."""

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
        resource: JsonDict = {
            "resourceType": "Observation",
            "category": [{"coding": [coding]}],
            "code": {"text": short("flowsheet", flowsheet)},
            "effectiveDateTime": self._time("time", time),
            "status": "final",
            "valueString": short("value", value),
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
        concept: JsonDict = {}
        if code:
            concept["coding"] = [{"system": system_address(system), "code": short("code", code)}]
        concept["text"] = short("medication", medication or code)
        amounts: JsonDict = {}
        if dose:
            amounts["doseQuantity"] = {"value": dose, "unit": short("dose_unit", dose_unit)}
        if rate:
            amounts["rateQuantity"] = {"value": rate, "unit": short("rate_unit", rate_unit)}
        dosage: JsonDict = {}
        if frequency:
            dosage["timing"] = {"code": {"text": short("frequency", frequency)}}
        if route:
            dosage["route"] = {"text": short("route", route)}
        if amounts:
            dosage["doseAndRate"] = [amounts]
        resource: JsonDict = {
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
            system: Code system of the code, e.g. "http://loinc.org" or "LOINC".
            text: Name of what is ordered.
            priority: How urgent it is.
            note: Free text for whoever carries it out.
            occurrence: When it is to be done, e.g. "2023-11-14T08:00:00+00:00", "tomorrow 08:00" or
                "today 18:30".
        """
        coding = {"code": short("code", code)}
        if system:
            coding = {"system": system_address(system), **coding}
        concept: JsonDict = {"coding": [coding]}
        if text:
            concept["text"] = short("text", text)
        resource: JsonDict = {
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
            if is_foreign(note):
                raise ToolError("Notes are read in English here; write this one in English.")
            resource["note"] = [{"text": short("note", note)}]
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

    @tool(ToolKind.WRITE)
    def retract_entry(self, id: str) -> str:
        """Take back an order or a measurement that you wrote by mistake in this session.

        Args:
            id: Id of the entry, as the tool that wrote it showed it.
        """
        own = [write for write in self.world.store.written if write.kind is WriteKind.CREATE]
        for write in own:
            if write.id == id:
                resource = self.world.store.read(write.resource_type, id)
                self.world.store.update({**resource, "status": "entered-in-error"})
                return f"Taken back: {write.resource_type} {id}."
        raise ToolError(f"Entry {id[:80]!r} was not written in this session; only those go back.")

    def _subject(self, patient: str) -> dict[str, str]:
        """Return the reference to a patient known to the record system."""
        self.world.open_patient = self._patient_id(self._open(patient))
        return {"reference": f"Patient/{self.world.open_patient}"}

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

    def _create(self, resource: JsonDict, verb: str) -> str:
        stored = self.world.store.create(resource)
        return f"{verb}: {stored['resourceType']} {stored['id']}."
