"""The offices of a provider, a payer and a care-management programme, as one world."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from healthgym.core.clock import Clock, Counters, Due
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.care_management.assessment import Assessments
from healthgym.worlds.managed_care.apps.care_management.care_plan import CarePlans
from healthgym.worlds.managed_care.apps.care_management.chart import CareChart
from healthgym.worlds.managed_care.apps.care_management.intake import CareIntake
from healthgym.worlds.managed_care.apps.care_management.outreach import Outreach
from healthgym.worlds.managed_care.apps.payer import peer_lapses
from healthgym.worlds.managed_care.apps.payer.appeals import AppealsDesk
from healthgym.worlds.managed_care.apps.payer.audit import ComplianceAudit
from healthgym.worlds.managed_care.apps.payer.determination import Determinations
from healthgym.worlds.managed_care.apps.payer.front_doors import FrontDoors
from healthgym.worlds.managed_care.apps.payer.intake_hub import IntakeHub
from healthgym.worlds.managed_care.apps.payer.letter_center import LetterCenter
from healthgym.worlds.managed_care.apps.payer.medical_director_review import MedicalDirectorReview
from healthgym.worlds.managed_care.apps.payer.nurse_review import NurseReview
from healthgym.worlds.managed_care.apps.payer.peer_to_peer import PeerToPeer
from healthgym.worlds.managed_care.apps.payer.policy_library import PolicyLibrary
from healthgym.worlds.managed_care.apps.payer.triage_and_routing import TriageAndRouting
from healthgym.worlds.managed_care.apps.provider import deadlines as lapses
from healthgym.worlds.managed_care.apps.provider.authorizations import Authorizations
from healthgym.worlds.managed_care.apps.provider.benefits import BenefitCheck
from healthgym.worlds.managed_care.apps.provider.chart import ChartReader
from healthgym.worlds.managed_care.apps.provider.documents_and_forms import DocumentsAndForms
from healthgym.worlds.managed_care.apps.provider.inbox_and_directory import InboxAndDirectory
from healthgym.worlds.managed_care.apps.provider.orders_and_cases import OrdersAndCases
from healthgym.worlds.managed_care.deferred import kind_of
from healthgym.worlds.managed_care.history import History
from healthgym.worlds.managed_care.payer_desk import STEP, PayerDesk
from healthgym.worlds.managed_care.provider_desk import STEP as PROVIDER_STEP
from healthgym.worlds.managed_care.provider_desk import ProviderDesk
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.start import WorldStart
from healthgym.worlds.managed_care.wording import Draft, Wording


class ManagedCareWorld(World):
    """Twenty applications over one log and one clock.

    Everything that does not change (people, charts, policies, handbook) is shared between worlds;
    a world holds what its episode added.

    Args:
        start: What it begins with.

    Attributes:
        actor: The worker who uses the tools, unless a call names another.
        history: The log.
        counters: Where identifiers come from.
        wording: Finds words for the people of the world; None for their own.
    """

    #: Who works at the desks of a side; where somebody plays both, others receive what is sent.
    payer_side: ClassVar[type[PayerDesk]] = PayerDesk
    provider_side: ClassVar[type[ProviderDesk]] = ProviderDesk

    actor = state("provider", content=False)
    wording: Wording | None = None

    def __init__(self, start: WorldStart) -> None:
        self.clock = Clock(start.now)
        self.start = start
        self.rules = start.rules
        self.payer_mode = start.payer_mode
        self.staff = start.staff
        self.charts = start.charts
        self.operations = start.operations
        self.handbook = start.handbook
        self.actor = start.actor
        self.counters = Counters(start.counters)
        self.history = History(self.clock)
        for entry in start.history:
            self.history.entries.append(entry)
        # The provider's desk.
        self.chart = ChartReader(self)
        self.cases = OrdersAndCases(self)
        self.documents = DocumentsAndForms(self)
        self.authorizations = Authorizations(self)
        self.inbox = InboxAndDirectory(self)
        self.benefits = BenefitCheck(self)
        # The payer's.
        self.doors = FrontDoors(self)
        self.intake = IntakeHub(self)
        self.triage = TriageAndRouting(self)
        self.nursing = NurseReview(self)
        self.medical = MedicalDirectorReview(self)
        self.peer = PeerToPeer(self)
        self.determinations = Determinations(self)
        self.letters = LetterCenter(self)
        self.appeals = AppealsDesk(self)
        self.library = PolicyLibrary(self)
        self.compliance = ComplianceAudit(self)
        # Care management's.
        self.referrals = CareIntake(self)
        self.care_chart = CareChart(self)
        self.outreach = Outreach(self)
        self.assessments = Assessments(self)
        self.plans = CarePlans(self)
        # Whoever does the work of a side that nobody plays.
        self.desk = self.payer_side(self)
        self.practice = self.provider_side(self)
        self.begin_with(start.records)
        if start.rules is Rules.STRICT:
            deadlines.watch_all(self)
        self.practice.begin()

    def happen(self, due: Due) -> None:
        """Carry out what has fallen due: a step of somebody's staff, a deadline, a lapse."""
        if due.name == STEP:
            self.desk.on_due(due)
        elif due.name == PROVIDER_STEP:
            self.practice.on_due(due)
        elif due.name in deadlines.NAMES:
            deadlines.on_due(self, due)
        elif due.name in peer_lapses.NAMES:
            peer_lapses.on_due(self, due)
        elif due.name in lapses.NAMES:
            told = lapses.on_due(self, due)
            if told and self.start.desk is not None:
                self.notify(self.start.desk.listener, told)
            self.practice.lapsed(due, told)
        else:
            super().happen(due)

    def knows(self, patient_id: str) -> bool:
        """Return whether whoever uses the applications has anything to do with a patient."""
        return True

    def words(self, text: str, draft: Callable[[], Draft]) -> str:
        """Return how something is said: as it is, unless somebody finds other words.

        Args:
            text: It in words of ours.
            draft: Returns what whoever finds other words is given.
        """
        return text if self.wording is None else self.wording.worded(draft(), self)

    def apps(self) -> Iterator[App]:
        """Return the applications, in the order in which they are declared."""
        for part in vars(self).values():
            if isinstance(part, App):
                yield part

    def begin_with(self, records: Iterable[object]) -> None:
        """Keep records that were there before the episode began."""
        found: dict[type, list[object]] = {}
        for record in records:
            found.setdefault(kind_of(record), []).append(record)
        keepers = {kind: app for app in self.apps() for kind in app.keeps} if found else {}
        for kind, own in found.items():
            keepers[kind].begin_with(kind, own)
