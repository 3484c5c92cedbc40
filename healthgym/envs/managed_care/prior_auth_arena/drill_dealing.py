"""How a drill is dealt: what becomes of each request, and which of its papers shows what."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import product

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.drill_note import note_of
from healthgym.envs.managed_care.cases.drills import CASE, NOTE, SECOND, Drill, draw_standing
from healthgym.envs.managed_care.utilization_management.packet import seen
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, DocumentKind, Posture


@dataclass(frozen=True, slots=True)
class Held:
    """A case of a drill, and the ids of what is on file about it.

    Attributes:
        case: Its id.
        note: Id of the note, which the provider has read.
        papers: Ids of the report and of a paper that shows nothing, in either order.
    """

    case: str
    note: str
    papers: tuple[str, str]


#: The two cases.
HELD = (
    Held(CASE, NOTE, ("DOC-7002", "DOC-7003")),
    Held(SECOND, "DOC-7004", ("DOC-7005", "DOC-7006")),
)
REPORT_TITLE = "Report"
_BLANKS = ("Invoice", "Appointment card", "Consent form", "Visitor pass")
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a request between two honest sides.

    Attributes:
        name: Its name, for the kind of the task.
        note: How the note stands to its criterion.
        report: How the report stands to the other.
        packed: Whether the report is in the packet from the beginning.
    """

    name: str
    note: Posture
    report: Posture
    packed: bool

    @property
    def sent(self) -> bool:
        """Whether it is to be sent."""
        return self.note is Posture.SATISFIED

    @property
    def status(self) -> CaseStatus:
        """Where the case ends."""
        if not self.sent:
            return CaseStatus.CLOSED
        good = self.report is Posture.SATISFIED
        return CaseStatus.APPROVED if good else CaseStatus.DENIED


_YES, _NO = Posture.SATISFIED, Posture.CONTRADICTS
_WITHHELD = Outcome("withheld", _NO, _YES, True), Outcome("withheld", _NO, _YES, False)
_APPROVED = Outcome("approved", _YES, _YES, True)
_DENIED = Outcome("denied", _YES, _NO, True)
_ASKED_APPROVED = Outcome("asked-approved", _YES, _YES, False)
_ASKED_DENIED = Outcome("asked-denied", _YES, _NO, False)
#: What stands beside what, as often as it stands here. In none of them is it right to send both or
#: neither unread, to approve or to deny what comes unread, or to leave what is asked unanswered.
PAIRS: tuple[tuple[Outcome, Outcome], ...] = (
    # Twice, so that who sends everything and reads only what is asked is right in a quarter.
    *2 * tuple(product(_WITHHELD, (_ASKED_APPROVED, _ASKED_DENIED, _DENIED))),
    *product((_APPROVED, _DENIED), (_ASKED_APPROVED, _ASKED_DENIED)),
)


@dataclass(frozen=True, slots=True)
class Dealt:
    """A drawn drill whose facts are told in two documents.

    Attributes:
        drill: The drill, its chart rewritten.
        outcome: What becomes of it.
        held: Its ids.
        report: Id of the report.
        noted: The criterion that the note is about.
    """

    drill: Drill
    outcome: Outcome
    held: Held
    report: str
    noted: str

    @property
    def packed(self) -> tuple[str, ...]:
        """Ids of what the packet has."""
        return (self.held.note, *((self.report,) if self.outcome.packed else ()))


def deal(
    outcomes: Sequence[Outcome], now: datetime, split: Split, rng: np.random.Generator
) -> tuple[Dealt, Dealt]:
    """Return two drills under one policy that end as they are to.

    Args:
        outcomes: What becomes of each.
        now: When they are worked on, in UTC.
        split: Whose patients they may be about.
        rng: Where everything is drawn from.

    Raises:
        ConfigurationError: If no policy gives them, which does not happen.
    """
    for _ in range(_TRIES):
        with suppress(ConfigurationError):
            first = _dealt(outcomes[0], HELD[0], None, now, split, rng)
            return first, _dealt(outcomes[1], HELD[1], first.drill, now, split, rng)
    names = " and ".join(one.name for one in outcomes)
    raise ConfigurationError(f"No policy gives drills that are {names}.")


def _dealt(
    outcome: Outcome,
    held: Held,
    beside: Drill | None,
    now: datetime,
    split: Split,
    rng: np.random.Generator,
) -> Dealt:
    """Return a drill whose facts are told in two documents.

    Raises:
        ConfigurationError: If it does not end as it is to.
    """
    first = bool(rng.integers(2))
    wanted = (outcome.note, outcome.report)
    drill = draw_standing(wanted if first else wanted[::-1], now, split, rng, beside)
    names = list(drill.drawn.found.criteria)
    noted, reported = names if first else names[::-1]
    dealt = _told(drill, outcome, held, noted, reported, rng)
    if not _as_dealt(dealt, reported):
        raise ConfigurationError(f"A drill is not {outcome.name}.")
    return dealt


def _told(
    drill: Drill,
    outcome: Outcome,
    held: Held,
    noted: str,
    reported: str,
    rng: np.random.Generator,
) -> Dealt:
    """Return a drill with a note on one criterion, a report on the other, and a blank paper."""
    drawn = drill.drawn
    chart, order = drawn.patient.chart, drawn.patient.order
    about = set(drawn.found.criteria[reported].facts)
    report, blank = (held.papers[int(place)] for place in rng.permutation(len(held.papers)))

    shown = tuple(fact for fact in chart.facts if fact.id in about)
    rest = tuple(fact for fact in chart.facts if fact.id not in about)

    def page(name: str, facts: tuple[AnyFact, ...]) -> DocumentReference:
        made = note_of(facts, order, drawn.today, rng, name=name, case_id=held.case)
        return replace(made, content=f"{chart.patient.id}\n{made.content}")

    pages = [page(held.note, rest), replace(page(report, shown), title=REPORT_TITLE)]
    pages.append(replace(page(blank, ()), title=_BLANKS[int(rng.integers(len(_BLANKS)))]))
    papers = {each.id: replace(each, kind=DocumentKind.OTHER) for each in pages[1:]}
    told = replace(
        chart,
        documents=(pages[0], *(papers[name] for name in held.papers)),
        shows={held.note: frozenset(fact.id for fact in rest), report: frozenset(about)},
    )
    patient = replace(drawn.patient, chart=told)
    told_so = replace(drill, drawn=replace(drawn, patient=patient))
    return Dealt(told_so, outcome, held, report, noted)


def _as_dealt(dealt: Dealt, reported: str) -> bool:
    """Return whether note and report show what they are to, and the note nothing of the report."""
    case, note = dealt.drill.drawn, dealt.held.note
    alone, both = seen(case, (note,), ()), seen(case, (note, dealt.report), ())
    return (
        alone.criteria[dealt.noted].posture is dealt.outcome.note
        and alone.criteria[reported].posture in (Posture.INSUFFICIENT, Posture.ABSENT)
        and both.criteria[dealt.noted].posture is dealt.outcome.note
        and both.criteria[reported].posture is dealt.outcome.report
        and not both.missing_documents
    )
