"""The published tasks themselves, over charts the user has or charts made to fit."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol, cast

from healthgym.core.borders import JsonDict
from healthgym.core.choice import Weighted
from healthgym.core.clock import Clock
from healthgym.core.levels import choose_levels
from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, TaskKey, require_index
from healthgym.envs.fhir_record.draft import PRESETS, ChartConfig, Draft
from healthgym.envs.fhir_record.generator import balanced
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.kinds.base import TaskKind
from healthgym.envs.fhir_record.kinds.lookups import NOT_FOUND
from healthgym.envs.fhir_record.official_file import OfficialRow, read_rows
from healthgym.envs.fhir_record.task import (
    Facts,
    FhirInstance,
    FhirReference,
    FhirTask,
    FhirTaskGenerator,
    RecordStart,
)
from healthgym.envs.fhir_record.view import ChartView
from healthgym.envs.fhir_record.wording import Style, answer_form
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.worlds.fhir.base import Base, Resource
from healthgym.worlds.fhir.bundles import load_bundles
from healthgym.worlds.fhir.documents import DocumentBase
from healthgym.worlds.fhir.store import FhirStore, RecordStore

#: The types the published record system holds about a patient.
_HELD = ("Condition", "Observation", "MedicationRequest", "Procedure", "ServiceRequest")
_PAGE = "5000"
_KEPT_CHARTS = 8


class OfficialCharts(Protocol):
    """Where the chart behind a published task comes from."""

    def chart(self, row: OfficialRow, kind: TaskKind, facts: Facts) -> Base:
        """Return the record system that a row is asked about."""


class OfficialSource(FhirTaskGenerator):
    """The tasks of a published file, held out: there is a test split and no other.

    A question is the context and the question of the file, verbatim. The answer is worked out by
    our rule on whatever chart is used; answers in the file are not trusted, except that they say
    which patients of the look-up task do not exist.

    Args:
        task_file: The published JSON file.
        benchmark: ``"v1"`` or ``"v2"``; told from the questions if None.
        charts: A folder of FHIR files, or a base, that holds the patients; or the address of a FHIR
            server such as the published one, or a record store. From the last two each patient's
            chart is copied when first needed, so that nothing an agent writes reaches the server.
            If None, charts are made up: right patient, right type, and a branch drawn by the row.
        difficulty: How much there is in made-up charts.

    Raises:
        MissingDataError: If the file or the folder is not there.
        DamagedDataError: If the file, a row or a chart file is not what it should be.
    """

    lasting = False

    def __init__(
        self,
        task_file: Path | str,
        *,
        benchmark: str | None = None,
        charts: Path | str | Base | RecordStore | None = None,
        difficulty: str | ChartConfig = "medium",
    ) -> None:
        self.benchmark, self.rows = read_rows(task_file, KINDS, benchmark)
        self.name = f"medagentbench-{self.benchmark}-official"
        self.tests = len(self.rows)
        self._charts: OfficialCharts
        if charts is None:
            (level,) = choose_levels(difficulty, PRESETS)
            self._charts = _MadeCharts(self.name, level.config)
        elif isinstance(charts, str) and charts.startswith(("http://", "https://")):
            from healthgym.worlds.fhir.remote import RemoteStore

            self._charts = _CopiedCharts(RemoteStore(charts))
        elif isinstance(charts, str | Path):
            self._charts = _HeldCharts(load_bundles(charts))
        elif hasattr(charts, "narrow"):  # what a base has and a store has not
            self._charts = _HeldCharts(cast(Base, charts))
        else:
            self._charts = _CopiedCharts(charts)

    def size(self, split: Split) -> int:
        """Return the number of tasks.

        Raises:
            ConfigurationError: For any split but test.
        """
        if split != Split.TEST:
            raise ConfigurationError(
                f"The published tasks are held out for testing; there is no {split} split."
            )
        return len(self.rows)

    def kind(self, split: Split, index: int) -> str:
        """Return the type of a task."""
        require_index(self, split, index)
        return self.rows[index].kind

    def draw(self, split: Split, index: int) -> FhirInstance:
        """Return a task in the order of the file."""
        row = self.rows[index]
        kind = KINDS[row.kind]
        facts = self._facts(row, kind)
        base = self._charts.chart(row, kind, facts)
        view = ChartView(FhirStore(base, clock=Clock(facts.now)))
        if facts.patient and view.patient(facts.patient) is None:
            raise DamagedDataError(f"{row.id}: the charts have no patient {facts.patient}.")
        decision = kind.decide(view, facts)
        metadata = {"title": kind.title, "row": row.id, "clock_stated": row.clock_stated}
        form = answer_form(row.kind, Style.BENCHMARK)
        task = FhirTask(
            TaskKey(self.name, split, index), row.kind, row.text, metadata, row.now, form
        )
        reference = FhirReference(row.kind, facts, decision)
        return Instance(task, reference, RecordStart(base, facts.now))

    @staticmethod
    def _facts(row: OfficialRow, kind: TaskKind) -> Facts:
        return Facts(row.now, row.patient, {**kind.codes, **row.codes}, dict(row.details))


class _HeldCharts:
    """All charts in one base."""

    def __init__(self, base: Base) -> None:
        self._base = base

    def chart(self, row: OfficialRow, kind: TaskKind, facts: Facts) -> Base:
        """Return the base."""
        return self._base


class _CopiedCharts:
    """Charts copied from a record store, one patient at a time, the last few kept."""

    def __init__(self, store: RecordStore) -> None:
        self._store = store
        self._people: list[Resource] | None = None
        self._kept: dict[str, Base] = {}

    def chart(self, row: OfficialRow, kind: TaskKind, facts: Facts) -> Base:
        """Return all Patients of the store with all that it holds about the one asked about."""
        key = facts.patient
        if key not in self._kept:
            if self._people is None:
                self._people = self._all("Patient", [])
            about = [("patient", key)]
            held = [r for kind_ in _HELD for r in self._all(kind_, about)] if key else []
            self._kept[key] = DocumentBase([*self._people, *held])
            while len(self._kept) > _KEPT_CHARTS:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    def _all(self, resource_type: str, params: list[tuple[str, str]]) -> list[Resource]:
        page = self._store.search(resource_type, [*params, ("_count", _PAGE)])
        found = list(page.resources)
        while page.next:
            page = self._store.next_page(page.next)
            found.extend(page.resources)
        return found


class _MadeCharts:
    """Charts drawn for a row: its patient among others, on a branch that nobody misjudges."""

    def __init__(self, name: str, config: ChartConfig) -> None:
        self._name = name
        self._config = config

    def chart(self, row: OfficialRow, kind: TaskKind, facts: Facts) -> Base:
        """Return a chart that follows from the row and nothing else."""
        number = int(row.id.rpartition("_")[2])
        rng = task_rng(f"{self._name}/{row.kind}", Split.TEST, number)
        draft = Draft(rng, row.now, self._config, str(Split.TEST), traps_allowed=False)
        person: Any = {"mrn": row.mrn} if row.mrn else {}
        if row.kind == "v1-t1":
            self._name_patient(draft, row, person)
        else:
            draft.patient = replace(draft.patient, **person)
            kind.plant(draft, self._branch(kind, rng))
        draft.finish_background(kind.omit)
        return draft.builder.build(shuffle=rng)

    @staticmethod
    def _name_patient(draft: Draft, row: OfficialRow, person: JsonDict) -> None:
        """Give the patient the name asked about, unless the file says that there is nobody."""
        if row.solution == (NOT_FOUND,) or not row.mrn:
            return
        draft.patient = replace(
            draft.patient,
            family=row.details["family"],
            given=row.details["given"],
            birth_date=date.fromisoformat(row.details["birth_date"]),
            **person,
        )

    @staticmethod
    def _branch(kind: TaskKind, rng: Any) -> str:
        weights = balanced([branch for branch in kind.branches if not branch.trap])
        return Weighted(weights, "branches").draw(rng)


__all__ = ["OfficialCharts", "OfficialSource"]
