"""Questions about real charts: a folder of FHIR files, and the published task files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.kinds import recording, referral
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.official import OfficialSource
from healthgym.envs.fhir_record.people import FOLDS, Person, read_folder
from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.store import FhirStore

__all__ = ["BundleSource", "OfficialSource"]

T = TypeVar("T")

#: Codes under which real charts hold what a question asks about, the likeliest first.
BINDINGS: Mapping[str, tuple[str, ...]] = {
    "magnesium": ("19123-9", "2601-3", "MG"),
    "glucose": ("2339-0", "2345-7", "41653-7", "GLU"),
    "potassium": ("6298-4", "2823-3", "K"),
    "a1c": ("4548-4", "17856-6", "A1C"),
    "tsh": ("3016-3", "11580-8", "TSH"),
    "ft4": ("3024-7", "FT4"),
    "heart_rate": ("8867-4", "HEARTRATE"),
    "qtc": ("8634-8", "QTCINTERVAL"),
}

#: Task type -> the concepts without which a chart says nothing, and the ages of a reading at which
#: its branch may change.
_LAB_TYPES: Mapping[str, tuple[tuple[str, ...], tuple[timedelta, ...]]] = {
    "v1-t4": (("magnesium",), (timedelta(hours=24),)),
    "v1-t5": (("magnesium",), (timedelta(hours=24),)),
    "v1-t6": (("glucose",), (timedelta(hours=24),)),
    "v1-t7": (("glucose",), ()),
    "v1-t9": (("potassium",), ()),
    "v1-t10": (("a1c",), (timedelta(days=365), timedelta(days=366))),
    "v2-t3": (("heart_rate",), (timedelta(hours=6), timedelta(hours=12))),
    "v2-t6": (("tsh", "ft4"), ()),
}
_DICTATED = {"v1-t3": recording.draw_details, "v1-t8": referral.draw_details}
_LOOKUP, _AGE = "v1-t1", "v1-t2"

_MINUTE = timedelta(minutes=1)
#: How long after a patient's last row a question may still be asked.
_AFTERWARDS = timedelta(days=600)
#: A question is asked at most this long after a row of the patient.
_LONGEST = timedelta(days=400)
#: Readings of a patient that are tried as anchors; the newest count.
_MOST_ANCHORS = 40
#: Patients of a split that are looked up: each look-up searches the whole folder.
_MOST_LOOKUPS = 300
_MOST_TRIES = 40


class _Span(NamedTuple):
    """Minutes, both ends included, at which a question falls into one branch."""

    first: datetime
    last: datetime
    facts: Facts


#: Spans by branch and patient id.
_Plan = dict[str, dict[str, list[_Span]]]


class BundleSource:
    """Draws questions about the patients of a folder of FHIR R4 files, such as Synthea's.

    The chart decides: a moment is looked for at which the branch asked for applies, just after or
    long after a real reading, and the patient's later rows are hidden. Patients are divided among
    the splits by their id alone. The dead are not asked about.

    Args:
        folder: Folder with Bundles or resources as JSON or NDJSON, gzip-compressed or not.
        fold: Which fifth of the patients is the test split, 0 to 4; the fifth before it is
            validation.

    Raises:
        ConfigurationError: If there is no such fold.
        MissingDataError: If there is no such folder, or no such files in it.
        DamagedDataError: If a file cannot be read; nothing is loaded.
    """

    def __init__(self, folder: Path | str, fold: int = 0) -> None:
        if not 0 <= fold < FOLDS:
            raise ConfigurationError(f"fold is 0 to {FOLDS - 1}, not {fold}.")
        self.folder, self.fold = Path(folder), fold
        self._data = read_folder(folder)
        self._by_id = {person.id: person for person in self._data.people}
        self._alike = Counter((p.name, p.birth_date) for p in self._data.people)
        self._plans: dict[tuple[str, Split], _Plan] = {}
        self._bound = {concept: self._binding(concept) for concept in BINDINGS}

    def __reduce__(self) -> tuple[type[BundleSource], tuple[Path, int]]:
        """Rebuild from the folder: what was read is not sent along."""
        return BundleSource, (self.folder, self.fold)

    @property
    def base(self) -> Base:
        """Everything in the folder."""
        return self._data.base

    def people(self, split: Split) -> list[Person]:
        """Return the living patients of a split."""
        return [p for p in self._data.people if p.alive and p.split(self.fold) is split]

    def bound(self) -> dict[str, str]:
        """Return the codes under which the folder has what questions ask about, by concept."""
        return {concept: code for concept, code in self._bound.items() if code is not None}

    def possible(self, kinds: Mapping[str, TaskKind]) -> dict[str, dict[Split, tuple[str, ...]]]:
        """Return the branches that each type has in each split; types without any are left out."""
        found = {
            name: {split: tuple(b.name for b in self.branches(kind, split)) for split in Split}
            for name, kind in kinds.items()
        }
        return {name: splits for name, splits in found.items() if any(splits.values())}

    def branches(self, kind: TaskKind, split: Split | None = None) -> Sequence[Branch]:
        """Return the branches of a type that the folder can bring about.

        Args:
            kind: The task type.
            split: The split; all of them, where it is None, so that a branch counts if any split
                has a patient for it.
        """
        splits = tuple(Split) if split is None else (split,)
        names = {name for each in splits for name in self._plan(kind, each)}
        return [branch for branch in kind.branches if branch.name in names]

    def lacking(self, kind: TaskKind) -> str:
        """Return why a type cannot be asked of this folder; empty if it can."""
        if self.branches(kind):
            return ""
        concepts = _LAB_TYPES[kind.name][0] if kind.name in _LAB_TYPES else ()
        missing = [concept for concept in concepts if self._bound[concept] is None]
        if missing:
            wanted = "; ".join(f"{c} as one of {', '.join(BINDINGS[c])}" for c in missing)
            return f"{kind.name} ({kind.title}) needs {wanted}: {self.folder} has none."
        if not concepts and kind.name not in (_LOOKUP, _AGE, *_DICTATED):
            return f"{kind.name} ({kind.title}) is asked of synthetic charts only."
        return f"{kind.name} ({kind.title}) fits no living patient of {self.folder}."

    def require(self, kind: TaskKind) -> None:
        """Make sure that a type can be asked of this folder.

        Raises:
            ConfigurationError: If it cannot, saying what is missing.
        """
        reason = self.lacking(kind)
        if reason:
            raise ConfigurationError(reason)

    def draw(
        self, kind: TaskKind, branch: str, split: Split, rng: np.random.Generator
    ) -> tuple[Facts, Base]:
        """Return facts on which ``branch`` applies, and the chart as it stood at that time.

        A branch that no patient of the split offers is replaced by one that some patient does:
        small folders do not have everything three times.

        Raises:
            ConfigurationError: If no patient of the split offers any branch.
        """
        plan = self._plan(kind, split)
        if not plan:
            reason = self.lacking(kind) or f"No patient of the {split} split fits {kind.name}."
            raise ConfigurationError(reason)
        chosen = branch if branch in plan else _choose(rng, sorted(plan))
        for _ in range(_MOST_TRIES):
            person_id = _choose(rng, sorted(plan[chosen]))
            span = _choose(rng, plan[chosen][person_id])
            person = self._person(person_id)
            now = _moment(span, person, rng)
            facts = replace(span.facts, now=now)
            if kind.name in _DICTATED:
                facts = replace(facts, details=_DICTATED[kind.name](rng))
            chart = person.chart_at(self.base, now)
            if kind.decide(_view(chart, now), facts).branch == chosen:
                return facts, chart
        raise ConfigurationError(f"{self.folder}: no moment found for {kind.name}, {chosen}.")

    # -- which question can be asked of whom, and when ------------------------------------------

    def _plan(self, kind: TaskKind, split: Split) -> _Plan:
        key = (kind.name, split)
        if key not in self._plans:
            self._plans[key] = self._make_plan(kind, split)
        return self._plans[key]

    def _make_plan(self, kind: TaskKind, split: Split) -> _Plan:
        plan: _Plan = {}
        concepts: tuple[str, ...] = ()
        if kind.name in _LAB_TYPES:
            concepts = _LAB_TYPES[kind.name][0]
            if any(self._bound[concept] is None for concept in concepts):
                return {}
        elif kind.name not in (_LOOKUP, _AGE, *_DICTATED):
            return {}
        people = [person for person in self.people(split) if person.rows]
        measured = False
        if kind.name == _LOOKUP:
            for person in people[:_MOST_LOOKUPS]:
                self._plan_lookups(plan, kind, person, people)
            return plan
        for person in people:
            if kind.name == _AGE and person.birth_date is None:
                continue
            codes = self._codes(kind, person, concepts)
            anchors = _anchors(kind.name, person, [codes[concept] for concept in concepts])
            measured = measured or bool(concepts and anchors)
            for span, branch in _spans(kind, person, codes, anchors):
                plan.setdefault(branch, {}).setdefault(person.id, []).append(span)
        # Charts in which nobody was ever measured would only ever ask about an absence.
        return plan if measured or not concepts else {}

    def _plan_lookups(
        self, plan: _Plan, kind: TaskKind, person: Person, people: Sequence[Person]
    ) -> None:
        """Add the look-ups of a person, of a wrong birth date, and of a name nobody bears."""
        if person.name is None or person.birth_date is None:
            return
        family, given = person.name
        born = person.birth_date
        first, last = _period(person)
        strangers = [p.name[1] for p in people if p.name is not None and p.id != person.id]
        asked = [(family, given, born)]
        asked += [(family, given, day) for day in (born + timedelta(days=1), _year_later(born))]
        asked += [(family, other, born) for other in strangers[:3]]
        for family, given, day in asked:
            details = {"family": family, "given": given, "birth_date": day.isoformat()}
            facts = Facts(first, details=details)
            decision = kind.decide(_view(self.base, first), facts)
            if decision.branch.startswith("found") and self._alike[person.name, born] > 1:
                continue  # two charts of one person, or two people alike: there is no one answer
            span = _Span(first, last, facts)
            plan.setdefault(decision.branch, {}).setdefault(person.id, []).append(span)

    def _codes(self, kind: TaskKind, person: Person, concepts: Sequence[str]) -> dict[str, str]:
        """Return the type's codes, those of its concepts as this patient's chart has them."""
        codes = dict(kind.codes)
        view = _view(person.chart, person.rows[-1].when)
        for concept in concepts:
            own = [code for code in BINDINGS[concept] if view.readings(person.id, code)]
            codes[concept] = own[0] if own else str(self._bound[concept])
        return codes

    def _binding(self, concept: str) -> str | None:
        """Return the first code of a concept that any chart of the folder has."""
        for code in BINDINGS[concept]:
            params = [("code", code), ("_count", "1")]
            moment = datetime(2000, 1, 1, tzinfo=UTC)
            store = FhirStore(self.base, clock=Clock(moment))
            if store.search("Observation", params).resources:
                return code
        return None

    def _person(self, person_id: str) -> Person:
        return self._by_id[person_id]


def _view(base: Base, now: datetime) -> ChartView:
    return ChartView(FhirStore(base, clock=Clock(now)))


def _period(person: Person) -> tuple[datetime, datetime]:
    """Return the first and last minute at which a question about a patient makes sense."""
    first = _next_minute(person.rows[0].when)
    return first, _next_minute(person.rows[-1].when) + _AFTERWARDS


def _anchors(kind: str, person: Person, codes: Sequence[str]) -> list[datetime]:
    """Return the moments at which a patient's answer may change."""
    if kind == _AGE and person.birth_date is not None:
        first, last = _period(person)
        born, years = person.birth_date, range(first.year - 1, last.year + 1)
        days = [_in_year(born, year) for year in years]
        turns = [d + timedelta(days=n) for d in days for n in (0, 1, 183)]
        return [datetime.combine(day, time(), UTC) for day in turns]
    view = _view(person.chart, person.rows[-1].when)
    readings = [reading.time for code in codes for reading in view.readings(person.id, code)]
    return sorted(readings)[-_MOST_ANCHORS:]


def _spans(
    kind: TaskKind, person: Person, codes: Mapping[str, str], anchors: Sequence[datetime]
) -> list[tuple[_Span, str]]:
    """Cut the time a question may be asked at where its branch may change, and name each part."""
    first, last = _period(person)
    ages = _LAB_TYPES[kind.name][1] if kind.name in _LAB_TYPES else ()
    turns = {_next_minute(anchor) for anchor in anchors}
    turns |= {_whole(anchor + age) + _MINUTE for anchor in anchors for age in ages}
    cuts = sorted({first, *(turn for turn in turns if first < turn <= last)})
    spans = []
    for start, end in zip(cuts, [*cuts[1:], last + _MINUTE], strict=True):
        facts = Facts(start, person.id, dict(codes), {})
        if kind.name in _DICTATED:
            facts = replace(facts, details=_DICTATED[kind.name](np.random.default_rng(0)))
        # The rules count no reading after the question, so the patient's whole chart will do.
        decision = kind.decide(_view(person.chart, start), facts)
        spans.append((_Span(start, end - _MINUTE, facts), decision.branch))
    return spans


def _moment(span: _Span, person: Person, rng: np.random.Generator) -> datetime:
    """Return a minute of a span, not too long after one of the patient's rows in it."""
    rows = [row.when for row in person.rows if span.first <= row.when <= span.last]
    anchor = _choose(rng, [span.first, *rows])
    # The minute after a row with seconds may lie past the end of the span.
    anchor = min(_next_minute(anchor), span.last)
    minutes = min(span.last - anchor, _LONGEST) // _MINUTE
    return anchor + int(rng.integers(minutes + 1)) * _MINUTE


def _next_minute(moment: datetime) -> datetime:
    """Return a moment itself if it is a whole minute, else the next whole minute."""
    whole = _whole(moment)
    return whole if whole == moment else whole + _MINUTE


def _whole(moment: datetime) -> datetime:
    return moment.replace(second=0, microsecond=0)


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:  # 29 February
        return date(year, 3, 1)


def _year_later(day: date) -> date:
    return _in_year(day, day.year + 1)


def _choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    return options[int(rng.integers(len(options)))]
