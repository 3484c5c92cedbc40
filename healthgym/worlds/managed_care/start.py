"""What a managed-care world begins with: people, charts, and records that were there before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from healthgym.core.seeding import content_hash
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.desk_plan import DeskPlan
from healthgym.worlds.managed_care.handbook.edition import written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.provider_plan import ProviderPlan
from healthgym.worlds.managed_care.records.people import Organization
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.staff import Staff
from healthgym.worlds.managed_care.vocabulary.authorization import PayerMode
from healthgym.worlds.managed_care.voices import PatientVoice


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldStart:
    """The beginning of a world.

    Attributes:
        now: When the episode begins, in UTC.
        provider: The provider's organization.
        payer: The payer's organization.
        staff: Everybody one can name.
        charts: The patients' charts.
        records: Records of any application that were there before: cases, lines, policies of
            cases, intakes, reviews, referrals.
        history: The log of what was done before.
        rules: Which rules the offices keep.
        payer_mode: Whether the payer decides by itself at submission, or somebody plays it.
        letters_queued: Whether a request for information is only queued as a letter, for whoever
            plays the payer to write.
        front_doors: Whether what comes by fax, EDI or telephone waits at its front door until the
            payer's people have taken it in; for worlds in which somebody plays the payer.
        contracts: What the other side of a peer-to-peer call holds, by case.
        voices: The person on the phone, by episode of care management; where there is none,
            nobody answers.
        counters: First numbers of identifiers, by prefix.
        actor: The worker who uses the tools, unless a call names another.
        operations: The numbers that operations run on; the handbook states the same.
        handbook: The handbook, with the pages that the task has changed.
        policies: The payer's policies; what a new case is judged by follows from them.
        desk: What the payer's staff goes by; None where somebody plays the payer.
        provider_desk: What the provider's staff goes by; None where somebody plays the provider.
    """

    now: datetime
    provider: Organization
    payer: Organization
    staff: Staff
    charts: ChartLibrary
    records: tuple[object, ...] = ()
    history: tuple[Entry, ...] = ()
    rules: Rules = Rules.STRICT
    payer_mode: PayerMode = PayerMode.AGENT
    letters_queued: bool = False
    front_doors: bool = False
    contracts: Mapping[str, PeerContract] = field(default_factory=dict)
    voices: Mapping[str, PatientVoice] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    actor: str = "provider"
    operations: OperatingRules = field(default_factory=OperatingRules)
    handbook: Library = field(default_factory=written_library)
    policies: PolicyBook | None = None
    desk: DeskPlan | None = None
    provider_desk: ProviderPlan | None = None

    def content_hash(self) -> str:
        """Return a digest of what somebody in the offices could find there."""
        found = [
            self.now.isoformat(),
            self.actor,
            self.charts.content_hash(),
            self.handbook.digest,
            *map(repr, self.records),
            *map(repr, self.history),
        ]
        return content_hash(found)
