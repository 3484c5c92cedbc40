"""The referrals of a queue, each with whom it is about, and who else is in the queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from datetime import date, timedelta
from functools import lru_cache, partial

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.history import History, draw_history
from healthgym.envs.managed_care.care_management.ledger import NoRoomError
from healthgym.envs.managed_care.care_management.lives import Life
from healthgym.envs.managed_care.care_management.panel import Member, members
from healthgym.envs.managed_care.care_management.referrals import (
    Referred,
    draw_referral,
    draw_score,
    ids_of,
    shown,
)
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.envs.managed_care.cases.clinic import CHARTED, workforce
from healthgym.worlds.managed_care.charts.chart import PatientChart, UnwrittenChart
from healthgym.worlds.managed_care.charts.hours import business_day
from healthgym.worlds.managed_care.charts.rendering import render_chart, render_unopened
from healthgym.worlds.managed_care.deferred import Deferred, varied
from healthgym.worlds.managed_care.handbook.rules import usual_rules
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.vocabulary.care import CMProgram


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One referral of a queue, and whom it is about.

    Attributes:
        history: What befell the person.
        referred: The referral.
        chart: The chart.
    """

    history: History
    referred: Referred
    chart: PatientChart

    def noting(self, note: str) -> Case:
        """Return the case with a remark more on its referral."""
        record = self.referred.record
        noted = varied(record, notes=" ".join(filter(None, (record.notes, note))))
        return replace(self, referred=replace(self.referred, record=noted))


@dataclass(frozen=True, slots=True)
class Beside:
    """What a queue has of somebody else.

    Attributes:
        record: The referral.
        chart: The chart.
    """

    record: CMReferral
    chart: PatientChart


class StandingReferral(Deferred, CMReferral):
    """A referral of somebody else, drawn when somebody reads more of it than whose it is."""

    __slots__ = ("_write",)

    plain = CMReferral
    late = tuple(
        item.name
        for item in fields(CMReferral)
        if item.name not in ("referral_id", "case_id", "patient_id", "referral_date")
    )


class StandingChart(UnwrittenChart):
    """The chart of somebody else, of whom nothing is drawn before somebody opens it."""

    __slots__ = ()

    late = (*UnwrittenChart.late, "coverages", "facts")


def others(
    own: Member, split: Split, twins: int, most: int, rng: np.random.Generator
) -> tuple[Beside, ...]:
    """Return the other referrals of a queue: those who resemble a person, then anybody.

    Args:
        own: The person.
        split: Of the task.
        twins: How many resemble the person, where there are so many.
        most: How many there are in all.
        rng: Stream of what stands around.
    """
    alike = [
        each
        for each in members(split, own.condition)
        if each.group == own.group and each.place != own.place
    ]
    resembling = [alike[int(n)] for n in rng.permutation(len(alike))[:twins]]
    names = tuple(care_conditions())
    found: dict[Member, None] = dict.fromkeys(resembling)
    while len(found) < most:
        able = members(split, names[int(rng.integers(len(names)))])
        member = able[int(rng.integers(len(able)))]
        if (member.condition, member.group) != (own.condition, own.group):
            found[member] = None
    return tuple(map(_beside, found))


def _beside(member: Member) -> Beside:
    patient = member.patient
    referral_id, case_id = ids_of(patient, CHARTED)
    return Beside(
        StandingReferral.later(
            lambda: _standing(member).referred.record,
            referral_id=referral_id,
            case_id=case_id,
            patient_id=patient.id,
            referral_date=CHARTED,
        ),
        StandingChart.later(lambda: _standing(member).chart, patient=patient, orders=()),
    )


def written(
    history: History, program: CMProgram, known: Known, today: date, rng: np.random.Generator
) -> Case:
    """Return the case with its chart, which is written when it is opened, and its referral."""
    home = history.member.background
    chart = render_unopened(
        home.patient, home.coverages, history.facts, workforce(), rng, today, stays=history.stays
    )
    return Case(
        history=history,
        referred=draw_referral(history, program, chart, known, rng),
        chart=chart,
    )


def render(history: History, rng: np.random.Generator, today: date) -> PatientChart:
    """Return the chart of a history as it stands on a day."""
    home = history.member.background
    return render_chart(
        home.patient,
        home.coverages,
        history.facts,
        (),
        workforce(),
        rng,
        today,
        stays=history.stays,
    )


def unopened(
    history: History,
    program: CMProgram,
    known: Known,
    rng: np.random.Generator,
    write: Callable[[], PatientChart],
) -> Case:
    """Return a case whose chart is written when somebody first opens it."""
    home = history.member.background
    chart = UnwrittenChart.later(
        write,
        patient=home.patient,
        coverages=home.coverages,
        orders=(),
        facts=history.facts,
    )
    return Case(
        history=history,
        referred=draw_referral(history, program, chart, known, rng),
        chart=chart,
    )


@lru_cache(maxsize=64)
def _standing(member: Member) -> Case:
    """Return a member's case as it stands in the queues of others; made once for a process."""
    rng, rules = member.stream(), usual_rules()
    programs = care_conditions()[member.condition].programs
    while True:
        program = programs[int(rng.integers(len(programs)))]
        try:
            drawn = draw_history(member, program, CHARTED, rules, Life(), rng)
        except NoRoomError:
            continue
        known = shown(drawn, score=draw_score(rules, rng), safety=False)
        return unopened(drawn, program, known, rng, partial(_standing_chart, drawn))


def _standing_chart(history: History) -> PatientChart:
    return render(history, history.member.chart_stream(), CHARTED)


def apart(record: CMReferral, other: Beside, case: Case) -> CMReferral:
    """Return a referral that the words of the instruction do not fit, too."""
    one, meant = other.chart.patient, case.chart.patient
    alike = (one.sex, one.address_city) == (meant.sex, meant.address_city)
    if not alike or record.referral_date != case.referred.record.referral_date:
        return record
    return varied(record, referral_date=business_day(record.referral_date - timedelta(days=4)))
