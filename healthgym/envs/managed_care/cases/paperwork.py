"""What may be wrong with the paper of a case, drawn so that whoever trusts it decides wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import cache, partial
from types import MappingProxyType
from typing import Protocol

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import ALIKE, person, workforce
from healthgym.envs.managed_care.cases.patients import CasePatient, unopened
from healthgym.envs.managed_care.cases.situations import Situation
from healthgym.envs.managed_care.cases.subjects import Subject
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.chart import PatientChart, opened
from healthgym.worlds.managed_care.charts.misleading import Press, Stated, draft, misfile, misstate
from healthgym.worlds.managed_care.charts.prose import day_of
from healthgym.worlds.managed_care.facts import Finding, Measurement
from healthgym.worlds.managed_care.policies.criteria import (
    REQUEST_KINDS,
    AnyCriterion,
    FindingCriterion,
    MeasurementCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment, posture
from healthgym.worlds.managed_care.policies.planting import plant
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.units import other_units, value_range
from healthgym.worlds.managed_care.records.chart import Patient
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

#: Facts of pages that do not count are numbered from here.
_FIRST = 701
#: A correction is written this many days after what it corrects, at least: the rule for two
#: statements of one week is another.
_LATER = 8
#: Values to try in place of the true one, as a share of the threshold.
_BESIDE = (0.7, 1.4, 0.85, 1.2, 0.5, 2.0)


class Chances(Protocol):
    """How likely the paper of a chart is wrong."""

    @property
    def corrected(self) -> float:
        """Chance that a note gives a wrong value that a later one puts right."""

    @property
    def drafted(self) -> float:
        """Chance that a draft which nobody signed gives another value."""

    @property
    def misfiled(self) -> float:
        """Chance that a page of another patient lies in the chart."""

    @property
    def converted(self) -> float:
        """Chance that documents give values in another unit than the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What is wrong with the paper of a case.

    Attributes:
        units: Unit in which documents give a measurement, by the fact's id.
        corrected: Whether a note is wrong, and corrected.
        drafted: Whether there is a draft.
        misfiled: Whether there is a page of another patient.
    """

    units: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    corrected: bool = False
    drafted: bool = False
    misfiled: bool = False


def draw_trouble(drawn: Situation, chances: Chances, rng: np.random.Generator) -> Trouble:
    """Return what is to be wrong with the paper of a case.

    Args:
        drawn: What the request deserves.
        chances: How likely each is.
        rng: Where chance comes from.
    """
    corrected, drafted, misfiled, converted = rng.random(4).tolist()
    units = dict(_converted(drawn, rng)) if converted < chances.converted else {}
    return Trouble(
        units=units,
        corrected=corrected < chances.corrected,
        drafted=drafted < chances.drafted,
        misfiled=misfiled < chances.misfiled,
    )


def _converted(drawn: Situation, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
    for fact in drawn.facts:
        if isinstance(fact, Measurement):
            units = other_units(fact.code, fact.unit)
            if units:
                yield fact.id, units[int(rng.integers(len(units)))]


@dataclass(frozen=True, slots=True)
class Paper:
    """Puts pages that do not count into the chart of a case.

    Attributes:
        subject: Which of the clinic's patients it is.
        drawn: What the request deserves.
        found: What the facts show of the policy.
        kept: Kinds of documents of which the chart must get no other page: what is missing, and
            what the payer will ask for.
        today: The day of the request.
        rng: Where chance comes from.
    """

    subject: Subject
    drawn: Situation
    found: PolicyAssessment
    kept: frozenset[str]
    today: date
    rng: np.random.Generator

    def disturbed(self, patient: CasePatient, trouble: Trouble) -> CasePatient:
        """Return the patient with the pages that a case is to have, as far as it gives cause.

        They are put into the chart when somebody opens it.

        Args:
            patient: The patient with the finished chart.
            trouble: What is to be wrong.
        """
        filings = tuple(self._filings(trouble))
        if not filings:
            return patient

        def filed() -> CasePatient:
            chart, void, erring = opened(patient.chart), [], ""
            for file in filings:
                chart, page = file(chart)
                void.append(page)
                if file.func is misstate:
                    erring = page
            return replace(patient, chart=chart, void=frozenset(void), erring=erring)

        return unopened(patient, cache(filed))

    def _filings(self, trouble: Trouble) -> Iterator[partial[tuple[PatientChart, str]]]:
        """Yield what puts a page into a chart, and returns its id: all chance is taken now."""
        if trouble.corrected:
            for fact, wrong in self._errors():
                latest = (self.today - day_of(fact)).days
                day = day_of(fact) + timedelta(days=int(self.rng.integers(_LATER, latest)))
                press = self._press(2)
                yield partial(misstate, fact=fact, wrong=wrong, corrected_on=day, press=press)
                break
        claims = self._claims()
        if trouble.drafted:
            for claim in claims:
                yield partial(draft, claim=claim, press=self._press())
                break
        if trouble.misfiled:
            for claim in claims:
                whose = self._alike()
                yield partial(misfile, whose=whose, claim=claim, press=self._press())
                break

    def _press(self, pages: int = 1) -> Press:
        return Press.drawn(workforce(), self.rng, pages)

    def _alike(self) -> Patient:
        """Return somebody who is easily taken for the patient."""
        places = [place for place in range(ALIKE) if place != self.subject.place]
        return person(self.subject.group, places[int(self.rng.integers(len(places)))]).patient

    def _errors(self) -> Iterator[tuple[Stated, Stated]]:
        """Yield facts of the case with what they must not be taken for, old ones only."""
        for criterion in self._criteria():
            for fact in self.drawn.facts:
                if not isinstance(fact, Measurement | Finding) or not self._open(fact):
                    continue
                if (self.today - day_of(fact)).days > _LATER:
                    wrong = self._contrary(criterion, fact)
                    if wrong is not None:
                        yield fact, wrong

    def _contrary(self, criterion: AnyCriterion, fact: Stated) -> Stated | None:
        """Return a fact with another value by which a criterion would be judged otherwise."""
        true = self.found.criteria[criterion.id].posture
        others = tuple(x for x in self.drawn.facts if x.id != fact.id)
        for wrong in _values(criterion, fact):
            seen = posture(criterion, (*others, wrong), self.drawn.request, self.today)
            if seen.posture is not true:
                return wrong
        return None

    def _claims(self) -> Iterator[Stated]:
        """Yield what would change a criterion if it were true, and counted."""
        for criterion in self._criteria():
            true = self.found.criteria[criterion.id].posture
            wanted = (
                (Posture.CONTRADICTS, Posture.INSUFFICIENT)
                if true is Posture.SATISFIED
                else (Posture.SATISFIED,)
            )
            for stance in wanted:
                try:
                    facts = plant(
                        criterion, stance, self.drawn.request, self.today, self.rng, _FIRST
                    )
                except ConfigurationError:
                    continue
                claim = facts[0] if len(facts) == 1 else None
                if isinstance(claim, Measurement | Finding) and self._open(claim):
                    yield claim

    def _criteria(self) -> list[AnyCriterion]:
        """Return the criteria that facts decide: those that are open first, the rest by chance."""
        known = [
            item
            for item in criteria(self.drawn.policy.criteria)
            if not isinstance(item, REQUEST_KINDS)
        ]
        order = [known[int(place)] for place in self.rng.permutation(len(known))]
        satisfied = Posture.SATISFIED
        return sorted(order, key=lambda x: self.found.criteria[x.id].posture is satisfied)

    def _open(self, fact: Stated) -> bool:
        """Return whether the chart may get another page of the kind that notes a fact."""
        return bool(fact.noted_in) and str(fact.noted_in[0]) not in self.kept


def _values(criterion: AnyCriterion, fact: Stated) -> Iterator[Stated]:
    """Yield a fact with other values that it could have."""
    match criterion, fact:
        case MeasurementCriterion(code=code, unit=unit), Measurement() if (code, unit) == (
            fact.code,
            fact.unit,
        ):
            low, high = value_range(code, unit)
            whole = float(fact.value).is_integer()
            for share in _BESIDE:
                value = round(criterion.threshold * share, 0 if whole else 1)
                if low <= value <= high and value != fact.value:
                    yield replace(fact, value=value)
        case FindingCriterion(key=key, scale=scale), Finding() if key == fact.key:
            yield from (replace(fact, value=grade) for grade in scale if grade != fact.value)


__all__ = ["Chances", "Paper", "Trouble", "draw_trouble"]
