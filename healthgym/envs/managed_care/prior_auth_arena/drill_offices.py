"""The offices of the drill: a coordinator and a physician are played, the rest is staff's.

The payer's clerks confirm and sort what comes, and file what the physician decides, each in their
hours; a provider is told what is asked, and how it ended. Turns pass by where the case lies, so
that nobody has to wait for the other in so many words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar

from healthgym.core.clock import Due
from healthgym.core.state import table
from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.worlds.managed_care.apps.payer import pends
from healthgym.worlds.managed_care.apps.payer.intake_rules import WITH_PAYER
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.parley import Limits
from healthgym.worlds.managed_care.payer_desk import PayerDesk
from healthgym.worlds.managed_care.policies.pages import page_path
from healthgym.worlds.managed_care.provider_desk import ProviderDesk
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import PayerSeat, ProviderSeat, SharedOffices
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    ProviderNetworkStatus,
    TriageDisposition,
)

#: How long a physician is still in who is handed a case: the longest review takes half of it.
_TIME = timedelta(hours=2)
#: Where a case lies that is the provider's to take further.
_WITH_PROVIDER = (
    CaseStatus.DRAFT,
    CaseStatus.DOCS_NEEDED,
    CaseStatus.READY_TO_SUBMIT,
    CaseStatus.PENDED_ACTION_REQUIRED,
)


class Lies(StrEnum):
    """Where a case lies that has come to the physician."""

    NEXT = "next"  #: it comes to the desk once that is free
    HERE = "here"
    AWAY = "away"


class DrillPayer(PayerSeat):
    """The payer's people but the physician, who is played."""

    world: DrillOffices

    def take_in(self, case_id: str, *, reply: bool = False) -> None:
        """Have the clerks begin."""
        if not reply:
            self.bind(case_id)
        self._later(case_id, "intake", reply=reply)

    def on_due(self, due: Due) -> None:
        """Do a step of the staff's, in the name of whose it is."""
        case_id, worker = str(due.facts["case_id"]), str(due.facts["worker"])
        with self.world.acting_as(worker):
            match due.facts["step"]:
                case "intake" if self._is_here(case_id):
                    self._confirm(case_id, reply=bool(due.facts["reply"]))
                case "triage" if self._is_here(case_id):
                    self._sort(case_id, worker, TriageDisposition.MD_REVIEW)
                    self._put(self._at_desk(), case_id, "physician", self.world.physician)
                case "physician" if self._is_here(case_id):
                    if self.world.waiting:  # one case at a time
                        self.world.lies[case_id] = Lies.NEXT
                    else:
                        self._hand_over(case_id)
                case "determine":
                    super().on_due(due)
                case "letter":
                    status = self.world.cases.get(case_id).status
                    self.world.notify(PROVIDER, f"The payer has decided: {case_id} is {status}.")

    def concluded(self, case_id: str) -> None:
        """File what the physician decides."""
        self.put_away(case_id)
        made = self.world.medical.active(case_id)
        if made is not None:
            self._later(case_id, "determine", worker=made.reviewer_id)

    def put_away(self, case_id: str) -> None:
        """Take a case from the physician's desk, and see to it that the next one comes there."""
        lies = self.world.lies
        lies[case_id] = Lies.AWAY
        for name in [name for name, where in lies.items() if where is Lies.NEXT][:1]:
            lies[name] = Lies.AWAY
            self._put(self._at_desk(), name, "physician", self.world.physician)

    def _is_here(self, case_id: str) -> bool:
        return self.world.cases.get(case_id).status in WITH_PAYER

    def _confirm(self, case_id: str, *, reply: bool) -> None:
        self.world.intake.confirm(
            case_id,
            request_complete=True,
            member_eligible=True,
            service_covered=True,
            network=ProviderNetworkStatus.IN_NETWORK,
        )
        if reply:
            self._put(self._at_desk(), case_id, "physician", self.world.physician)
        else:
            self._later(case_id, "triage")

    def _at_desk(self) -> datetime:
        """Return from when on the physician is in, for long enough and until the same date."""
        worker = self.world.staff.workers[self.world.physician]
        calendar, at = office_calendar(worker.region, worker.hours), self.world.clock.now
        while not (calendar.is_open(at) and calendar.is_open(at + _TIME)):
            at = calendar.next_opening(at + _TIME)
        return at

    def _hand_over(self, case_id: str) -> None:
        """Give the physician a case, with what was sent since it was last handed over."""
        world = self.world
        policy = world.start.policies.policies[0] if world.start.policies else None
        page = page_path(policy.id) if policy else ""
        listed = tuple(page.id for page in world.intake.sent(case_id))
        new = listed[world.shown.get(case_id, 0) :]
        world.shown[case_id], world.lies[case_id] = len(listed), Lies.HERE
        world.notify(
            PAYER,
            f"{case_id} is yours, {world.physician}; its policy is {page}. What is asked for can "
            f"be sent until {pends.due(world):%Y-%m-%d}. Sent: {self._texts(new) or 'nothing.'}",
        )

    def _texts(self, names: Iterable[str]) -> str:
        pages = map(self.world.documents.get, names)
        return "\n".join(f"{page.id}, {page.title}:\n{page.content}" for page in pages)


class DrillProvider(ProviderSeat):
    """Where the payer's questions arrive, word for word."""

    world: DrillOffices

    def asked(self, case_id: str) -> None:
        """Tell the provider what is wanted."""
        self.world.desk.put_away(case_id)
        made = self.world.medical.active(case_id)
        wanted = made.info_requested if made is not None else ""
        self.world.notify(PROVIDER, f"The payer asks about {case_id}: {wanted}")


class DrillOffices(SharedOffices):
    """Both offices, of which a coordinator and a physician are played.

    Args:
        start: What it begins with.
        limits: How long calls may go on; nobody can call here.
    """

    payer_side: ClassVar[type[PayerDesk]] = DrillPayer
    provider_side: ClassVar[type[ProviderDesk]] = DrillProvider
    desk: DrillPayer

    #: How many documents of a case the physician was shown, and where it lies.
    shown = table[str, int](content=False)
    lies = table[str, Lies](content=False)

    def __init__(self, start: WorldStart, limits: Limits | None = None) -> None:
        super().__init__(start, limits)
        self.physician = physician(start)
        self._people = {**self._people, PAYER: self.physician}

    @contextmanager
    def acting_as(self, worker: str) -> Iterator[None]:
        """Use the applications as a worker, and then as before."""
        before, self.actor = self.actor, worker
        try:
            yield
        finally:
            self.actor = before

    @property
    def waiting(self) -> tuple[str, ...]:
        """Cases that the physician has and has not decided."""
        here = (name for name, where in self.lies.items() if where is Lies.HERE)
        return tuple(name for name in here if self.cases.get(name).status in WITH_PAYER)

    def turn(self, live: Sequence[str]) -> str | None:
        """Return whose turn it is by where the cases lie; None while the staff is at them.

        The provider comes first wherever a case is its own to take further.

        Args:
            live: The roles that are not done and do not wait.
        """
        stand = {case.status for case in self.cases.cases.values()}
        if PROVIDER in live and stand & {*_WITH_PROVIDER}:
            return PROVIDER
        if self.waiting and PAYER in live:
            return PAYER
        if stand & {*WITH_PAYER} and not self.waiting:
            return None
        if PROVIDER in live:
            return PROVIDER
        if CaseStatus.PENDED_ACTION_REQUIRED in stand:
            return None  # until it lapses
        return PAYER if PAYER in live else None


def physician(start: WorldStart) -> str:
    """Return who reviews: the first of those whose day ends on the date on which it began."""
    people = start.staff.with_role(WorkerRole.PHYSICIAN_REVIEWER)
    return min(people, key=lambda one: (start.staff.workers[one].region != REGION, one))
