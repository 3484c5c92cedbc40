"""Questions about real charts: a folder of FHIR files, and the published task files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from healthgym.core.clock import Clock
from healthgym.core.seeding import Split
from healthgym.envs.fhir_record import asked
from healthgym.envs.fhir_record.asked import view_of
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.official import OfficialSource
from healthgym.envs.fhir_record.people import FOLDS, Person, read_folder
from healthgym.envs.fhir_record.task import Facts
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.store import FhirStore

__all__ = ["BundleSource", "OfficialSource"]

T = TypeVar("T")

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
#: Drugs that a patient had, the last ones, and never had, of those asked about.
_MOST_DRUGS, _MOST_OTHERS = 12, 3


class _Span(NamedTuple):
    """Minutes, both ends included, at which a question falls into one branch."""

    first: datetime
    last: datetime
    facts: Facts


@dataclass(frozen=True, slots=True)
class _Question:
    """What a type asks of a patient, but for the time.

    Attributes:
        facts: Its parameters.
        anchors: The moments at which the answer may change.
        ages: Ages of what happened then at which the branch may change.
    """

    facts: Facts
    anchors: tuple[datetime, ...] = ()
    ages: tuple[timedelta, ...] = ()


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
        self._bound = {concept: self._binding(concept) for concept in asked.BINDINGS}
        self._vaccines = ",".join(filter(self._gives, asked.VACCINES))

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
        """Return the codes under which the folder has what is measured, by concept."""
        return {concept: code for concept, code in self._bound.items() if code is not None}

    def codes(self, kind: TaskKind) -> dict[str, str]:
        """Return the folder's own codes among those that a question of a type states.

        Where any of several counts they stand in one text, with commas.
        """
        if kind.name == asked.VACCINE:
            return {"vaccine": self._vaccines} if self._vaccines else {}
        concepts = asked.READINGS[kind.name].concepts if kind.name in asked.READINGS else ()
        return {concept: code for concept, code in self.bound().items() if concept in concepts}

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
        if kind.name not in asked.ASKED:
            return f"{kind.name} ({kind.title}) is asked of synthetic charts only."
        wanted = self._wanted(kind)
        if wanted:
            return f"{kind.name} ({kind.title}) needs {wanted}: {self.folder} has none."
        return f"{kind.name} ({kind.title}) fits no living patient of {self.folder}."

    def told(self, kinds: Mapping[str, TaskKind]) -> str:
        """Return what the folder can be asked, and what not and why, for people to read."""
        possible = self.possible(kinds)
        lines = [self._holding(), "Asked:"]
        for name, splits in possible.items():
            where = ", ".join(str(split) for split, branches in splits.items() if branches)
            lines.append(f"  {name}: {kinds[name].title} ({where})")
        lacking = [self.lacking(kind) for name, kind in kinds.items() if name not in possible]
        if lacking:
            lines += ["Not asked:", *(f"  {reason}" for reason in lacking)]
        return "\n".join(lines)

    def nobody(self) -> str:
        """Return why the folder can be asked nothing at all; empty if it can."""
        if any(person.rows for split in Split for person in self.people(split)):
            return ""
        return f"{self._holding()} Nothing can be asked of it: questions are about living patients."

    def _holding(self) -> str:
        people = {split: len(self.people(split)) for split in Split}
        counts = sorted(((self.base.size(k), k) for k in self.base.resource_types()), reverse=True)
        held = ", ".join(f"{count} {kind}" for count, kind in counts)
        divided = ", ".join(f"{count} {split}" for split, count in people.items())
        return f"{self.folder} holds {held}. Living patients: {sum(people.values())} ({divided})."

    def _wanted(self, kind: TaskKind) -> str:
        """Return what a type needs and the folder has nowhere; empty if it has all."""
        if kind.name == asked.VACCINE:
            return "" if self._vaccines else f"immunizations (CVX {', '.join(asked.VACCINES)})"
        concepts = asked.READINGS[kind.name].concepts if kind.name in asked.READINGS else ()
        return "; ".join(
            f"{concept} as one of {', '.join(asked.BINDINGS[concept])}"
            for concept in concepts
            if self._bound[concept] is None
        )

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
            if kind.name in asked.DICTATED:
                facts = replace(facts, details=asked.DICTATED[kind.name](rng))
            chart = person.chart_at(self.base, now)
            if kind.decide(view_of(chart, now), facts).branch == chosen:
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
        people = [person for person in self.people(split) if person.rows]
        if kind.name == asked.LOOKUP:
            for person in people[:_MOST_LOOKUPS]:
                self._plan_lookups(plan, kind, person, people)
            return plan
        if kind.name not in asked.ASKED or self._wanted(kind):
            return {}
        charted = False
        for person in people:
            for question in self._questions(kind, person):
                charted = charted or bool(question.anchors)
                for span, branch in _spans(kind, person, question):
                    plan.setdefault(branch, {}).setdefault(person.id, []).append(span)
        # Charts in which nobody ever was measured would only ever ask about an absence.
        return plan if charted or kind.name in asked.DICTATED else {}

    def _questions(self, kind: TaskKind, person: Person) -> Iterator[_Question]:
        """Yield what a type asks of a patient."""
        codes = {**kind.codes, **self.codes(kind)}
        facts = Facts(person.rows[0].when, person.id, codes)
        view = view_of(person.chart, person.rows[-1].when)
        if kind.name in asked.DICTATED:
            details = asked.DICTATED[kind.name](np.random.default_rng(0))
            yield _Question(replace(facts, details=details))
        elif kind.name == asked.AGE:
            if person.birth_date is not None:
                yield _Question(facts, _birthdays(person, person.birth_date))
        elif kind.name == asked.VACCINE:
            times = asked.times_of_doses(view, person.id, self._vaccines)
            yield _Question(facts, tuple(sorted(times)[-_MOST_ANCHORS:]), (asked.VACCINE_AGE,))
        elif kind.name == asked.DRUG:
            drugs = asked.orders_by_drug(view, person.id)
            for drug, written in list(drugs.items())[-_MOST_DRUGS:]:
                yield _Question(replace(facts, details={"drug": drug}), tuple(written))
            others = [drug for drug in self._drugs if drug not in drugs]
            for drug in others[:: max(1, len(others) // _MOST_OTHERS)]:
                yield _Question(replace(facts, details={"drug": drug}))
        else:
            sought = asked.READINGS[kind.name]
            # The chart's own codes, where it has other ones than most of the folder.
            held = {c: asked.code_held(view, person.id, c) or codes[c] for c in sought.concepts}
            times = asked.times_of_readings(view, person.id, held.values())
            facts = replace(facts, codes={**codes, **held})
            yield _Question(facts, tuple(sorted(times)[-_MOST_ANCHORS:]), sought.ages)

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
        wanted = [(family, given, born)]
        wanted += [(family, given, day) for day in (born + timedelta(days=1), _year_later(born))]
        wanted += [(family, other, born) for other in strangers[:3]]
        for family, given, day in wanted:
            details = {"family": family, "given": given, "birth_date": day.isoformat()}
            facts = Facts(first, details=details)
            decision = kind.decide(view_of(self.base, first), facts)
            if decision.branch.startswith("found") and self._alike[person.name, born] > 1:
                continue  # two charts of one person, or two people alike: there is no one answer
            span = _Span(first, last, facts)
            plan.setdefault(decision.branch, {}).setdefault(person.id, []).append(span)

    @cached_property
    def _drugs(self) -> list[str]:
        """The names of all drugs that anybody in the folder was ever ordered."""
        return asked.drugs_of(self._data.people)

    def _binding(self, concept: str) -> str | None:
        """Return the first code of a concept that any chart of the folder has."""
        held = (
            code for code in asked.BINDINGS[concept] if self._holds("Observation", "code", code)
        )
        return next(held, None)

    def _gives(self, vaccine: str) -> bool:
        return self._holds("Immunization", "vaccine-code", vaccine)

    def _holds(self, resource_type: str, parameter: str, code: str) -> bool:
        store = FhirStore(self.base, clock=Clock(datetime(2000, 1, 1, tzinfo=UTC)))
        return bool(store.search(resource_type, [(parameter, code), ("_count", "1")]).resources)

    def _person(self, person_id: str) -> Person:
        return self._by_id[person_id]


def _period(person: Person) -> tuple[datetime, datetime]:
    """Return the first and last minute at which a question about a patient makes sense."""
    first = _next_minute(person.rows[0].when)
    return first, _next_minute(person.rows[-1].when) + _AFTERWARDS


def _birthdays(person: Person, born: date) -> tuple[datetime, ...]:
    """Return the midnights at which a patient's age may change, and some between."""
    first, last = _period(person)
    days = [_in_year(born, year) for year in range(first.year - 1, last.year + 1)]
    turns = [day + timedelta(days=n) for day in days for n in (0, 1, 183)]
    return tuple(datetime.combine(day, time(), UTC) for day in turns)


def _spans(kind: TaskKind, person: Person, question: _Question) -> Iterator[tuple[_Span, str]]:
    """Cut the time a question may be asked at where its branch may change, and name each part."""
    first, last = _period(person)
    turns = {_next_minute(anchor) for anchor in question.anchors}
    turns |= {_whole(a + age) + _MINUTE for a in question.anchors for age in question.ages}
    cuts = sorted({first, *(turn for turn in turns if first < turn <= last)})
    for start, end in pairwise([*cuts, last + _MINUTE]):
        facts = replace(question.facts, now=start)
        # The rules count no row after the question, so the patient's whole chart will do.
        decision = kind.decide(view_of(person.chart, start), facts)
        yield _Span(start, end - _MINUTE, facts), decision.branch


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
