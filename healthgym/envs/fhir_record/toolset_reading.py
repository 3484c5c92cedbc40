"""The verbs that look things up in a record system."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Literal
from urllib.parse import parse_qsl, unquote_plus

from healthgym.core.borders import JsonDict
from healthgym.core.tool import ToolKind, tool
from healthgym.envs.fhir_record import tables
from healthgym.envs.fhir_record.calculator import evaluate
from healthgym.envs.fhir_record.toolset_chart import ChartTools
from healthgym.errors import ToolError

_MOST_ROWS = 50
_RAW_PAGE = "5"
_TOTAL = ("_total", "accurate")


class ReadingTools(ChartTools):
    """Search and read; each search shows a table, and raw FHIR is there for the rest."""

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
            text: Only orders whose text begins with this, e.g. "heparin".
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("status", status), ("_sort", "-authoredon")]
        if text:
            params.append(("code:text", _literal(text)))
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

    def _table(
        self,
        resource_type: str,
        params: list[tuple[str, str]],
        limit: int,
        row: Callable[[JsonDict], str],
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

    def _dated(
        self,
        resource_type: str,
        params: list[tuple[str, str]],
        since: str,
        until: str,
        limit: int,
        row: Callable[[JsonDict], str],
    ) -> str:
        bounds = [("date", f"ge{since}" if since else ""), ("date", f"le{until}" if until else "")]
        return self._table(resource_type, [*params, *bounds, ("_sort", "-date")], limit, row)


def _literal(text: str) -> str:
    """Return a text as a search takes it: nothing in it parts it into several."""
    return re.sub(r"([\\,|$])", r"\\\1", text)


class FolderReadingTools(ReadingTools):
    """What real charts hold besides, which the published record system has not."""

    @tool(ToolKind.READ)
    def search_immunizations(
        self, patient: str = "", code: str = "", since: str = "", until: str = "", limit: int = 10
    ) -> str:
        """List a patient's immunizations, newest first. Each row is time, code and vaccine.

        Args:
            patient: Medical record number; the chart last opened if left out.
            code: One code of a vaccine, or several separated by commas, e.g. "140,141".
            since: Earliest time, e.g. "2023-11-12".
            until: Latest time, in the same form.
            limit: Most rows to show, 1 to 50.
        """
        params = [("patient", patient), ("vaccine-code", code)]
        return self._dated("Immunization", params, since, until, limit, tables.immunization_row)


_ROWS: dict[str, Callable[[JsonDict], str]] = {
    "Patient": tables.patient_row,
    "Observation": tables.observation_row,
    "MedicationRequest": tables.medication_row,
    "Procedure": tables.procedure_row,
    "Condition": tables.condition_row,
    "Immunization": tables.immunization_row,
    "ServiceRequest": tables.service_request_row,
}
