"""What an episode did to the world, as the checks ask about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from healthgym.envs.managed_care.cases.situations import OWN_KINDS, Bar
from healthgym.envs.managed_care.prior_authorization.reasons import Reason, read_reason
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate, settles
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    ProviderDeterminationRecord,
    SubmissionPacket,
)
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_DECIDED = frozenset(
    {
        CaseStatus.APPROVED,
        CaseStatus.PARTIALLY_APPROVED,
        CaseStatus.DENIED,
        CaseStatus.APPEALED,
        CaseStatus.APPEAL_UPHELD,
        CaseStatus.APPEAL_OVERTURNED,
        CaseStatus.EXTERNAL_APPEALED,
        CaseStatus.EXTERNAL_APPEAL_UPHELD,
        CaseStatus.EXTERNAL_APPEAL_OVERTURNED,
        CaseStatus.CLOSED,
    }
)
_OWN = frozenset(map(str, OWN_KINDS)) | {str(DocumentKind.OTHER)}


class Inspection:
    """Looks at a world after an episode, beside the same world before it.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
    """

    def __init__(
        self,
        before: ManagedCareWorld,
        after: ManagedCareWorld,
        reference: AuthorizationReference,
    ) -> None:
        self.before, self.after, self.reference = before, after, reference

    @cached_property
    def opened(self) -> tuple[PriorAuthCase, ...]:
        """The cases that the episode opened."""
        old = self.before.cases.cases
        return tuple(case for case in self.after.cases.cases.values() if case.id not in old)

    @cached_property
    def case(self) -> PriorAuthCase | None:
        """The case of the patient who is meant; the first, if several were opened."""
        for case in self.opened:
            if case.patient_id == self.reference.patient_id:
                return case
        return None

    @property
    def case_id(self) -> str:
        """Its id; empty if there is none."""
        return self.case.id if self.case else ""

    @property
    def status(self) -> str:
        """Where it stands."""
        return str(self.case.status) if self.case else "no case"

    @cached_property
    def case_right(self) -> bool:
        """Whether the one case that was opened is for the order as it is on file."""
        case, wanted = self.case, self.reference
        if case is None or len(self.opened) != 1 or case.service_request_id != wanted.order_id:
            return False
        lines = self.after.cases.lines_of(case.id)
        return (
            case.urgency == wanted.urgency
            and len(lines) == 1
            and lines[0].procedure_code == wanted.procedure_code
            and set(lines[0].diagnosis_codes) >= set(wanted.diagnosis_codes)
            and str(lines[0].site_of_service) == str(wanted.site)
        )

    @cached_property
    def determination(self) -> ProviderDeterminationRecord | None:
        """What the provider decided last."""
        return self.after.authorizations.determination(self.case_id) if self.case else None

    @cached_property
    def grounds_named(self) -> bool:
        """Whether the reason of that decision names the right grounds, and what they rest on."""
        made, wanted = self.determination, self.reference
        if made is None:
            return False
        book = self.before.start.policies
        named = read_reason(
            made.override_reason, {policy.id for policy in book.policies} if book else ()
        )
        right = named.policies == {wanted.policy.id}
        if wanted.bar is not None:
            return self._bar_named(named, wanted.bar, right)
        return right and named.kinds == wanted.missing and self._gaps_named(named.criteria)

    def _gaps_named(self, named: frozenset[str]) -> bool:
        """Return whether closing just these gaps would be enough, and each of them is one."""
        wanted = self.reference
        whole = settles(wanted.policy.criteria, wanted.postures, named)
        return whole and named <= wanted.gaps

    def _bar_named(self, named: Reason, bar: Bar, policy: bool) -> bool:
        """Return whether a reason names a bar, no other, and what shows it."""
        if named.codes != {str(bar)}:
            return False
        wanted = self.reference
        coverage = self.before.charts[wanted.patient_id].coverage
        match bar:
            case Bar.INACTIVE:
                return coverage is not None and coverage.termination_date in named.days
            case Bar.OUT_OF_NETWORK:
                return policy and coverage is not None and named.names(coverage.plan_name)
            case Bar.NOT_REQUIRED:
                return policy and named.names(wanted.procedure_code)
            case Bar.CONTRADICTED:
                return policy and bool(named.criteria) and named.criteria <= wanted.gaps

    # -- what was sent ---------------------------------------------------------------------------

    @cached_property
    def sent(self) -> bool:
        """Whether anything was sent for the case."""
        return bool(self.case) and self.after.authorizations.packet(self.case_id) is not None

    @cached_property
    def bundled(self) -> bool:
        """Whether a packet was made for the case."""
        return self.after.documents.newest_bundle(self.case_id) is not None if self.case else False

    @cached_property
    def packet_shows(self) -> bool:
        """Whether what was sent shows everything that the policy asks for."""
        if not self.sent or self.case is None:
            return False
        policy = self.reference.policy
        if policy.lanes.gold_card or policy.lanes.notification_only:
            return True
        today = self.case.created_at.date()
        packet = read_packet(self.after, self.case_id, policy, today)
        found = evaluate(policy, packet.facts, packet.request, today)
        carried = found.posture is Posture.SATISFIED or found.approved_quantity is not None
        return carried and not found.missing_documents

    @cached_property
    def channel_right(self) -> bool:
        """Whether each packet went by the channel that the rules of the day give it."""
        sent = [p for p in self.after.authorizations.packets.values() if p.case_id == self.case_id]
        return bool(sent) and all(
            packet.channel
            is self.after.operations.channel(self.reference.urgency, len(self._inside(packet)))
            for packet in sent
        )

    def _inside(self, packet: SubmissionPacket) -> tuple[DocumentReference, ...]:
        """Return the documents that a packet lists, whether or not they arrived."""
        bundle = packet.payload.get("bundle_document_id")
        return self.after.documents.included_in(bundle) if isinstance(bundle, str) else ()

    @cached_property
    def needless(self) -> tuple[str, ...]:
        """Documents that were sent without need: no bearing, or before they were asked for."""
        asked = set(self.reference.on_request)
        chart = self.after.charts[self.reference.patient_id]
        kinds = {document.id: str(document.kind) for document in chart.documents}
        found: list[str] = []
        packets = [
            p for p in self.after.authorizations.packets.values() if p.case_id == self.case_id
        ]
        for place, packet in enumerate(packets):
            inside = self._inside(packet) if place == 0 else ()
            first = {document.id for document in inside}
            for name in (*first, *packet.attached_document_ids):
                kind = kinds.get(name)
                if kind is None or name in self.reference.documents:
                    continue
                if kind in asked and name not in first:
                    continue
                found.append(name)
        return tuple(dict.fromkeys(found))

    @cached_property
    def invented(self) -> tuple[str, ...]:
        """Documents that the agent made up, or that state numbers nobody else states."""
        old = self.before.documents.documents
        found = []
        for document in self.after.documents.documents.values():
            if document.id in old or document.kind is DocumentKind.SUBMISSION_BUNDLE:
                continue
            if str(document.kind) not in _OWN or (
                document.id.startswith("DOC-UP") and self._states_more(document.content)
            ):
                found.append(document.id)
        return tuple(found)

    def _states_more(self, text: str) -> bool:
        return bool(set(_NUMBER.findall(text)) - self._numbers)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """Every number that chart, coverage, order and policy state."""
        chart = self.after.charts[self.reference.patient_id]
        parts: Iterable[object] = (
            chart.patient,
            *chart.coverages,
            *chart.conditions,
            *chart.observations,
            *chart.procedures,
            *chart.medications,
            *chart.allergies,
            *chart.encounters,
            *chart.documents,
            *chart.orders,
            *self.after.cases.cases.values(),
            self.after.staff.practitioners[self.reference.practitioner_id],
            self.after.clock.now,
            self.before.clock.now,
        )
        texts = [*map(repr, parts), *map(str, parts), render_page(self.reference.policy)]
        plain = {number for text in texts for number in _NUMBER.findall(text)}
        return frozenset(plain | {number.lstrip("0") for number in plain})

    # -- what else changed -----------------------------------------------------------------------

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Other cases and orders that were opened or changed."""
        own = self.case_id
        found = [case.id for case in self.opened if case.id != own]
        for app, table in _TABLES:
            before = getattr(getattr(self.before, app), table)
            after = getattr(getattr(self.after, app), table)
            found += _changed(before, after, own, self.reference.patient_id)
        return tuple(dict.fromkeys(found))

    @cached_property
    def ended(self) -> bool:
        """Whether the case stands where the right work leads."""
        return self.case is not None and self.case.status == self.reference.status

    @property
    def stage(self) -> int:
        """How many stages of the work were reached, right or wrong; 0 to 5."""
        case = self.case or next(iter(self.opened), None)
        if case is None:
            return 0
        world = self.after
        decided = world.authorizations.determination(case.id) is not None
        sent = world.authorizations.packet(case.id) is not None
        held = decided and case.status in (CaseStatus.CLOSED, CaseStatus.DOCS_NEEDED)
        answered = any(
            entry.action in _DECIDED for entry in world.history.of(case.id, EntryKind.TRANSITION)
        )
        return 1 + decided + (sent or held) + (answered or held) + (case.status in _DECIDED or held)


#: Tables that a coordinator's work changes, and whose records name a case or a patient.
_TABLES = (
    ("cases", "cases"),
    ("cases", "lines"),
    ("cases", "orders"),
    ("documents", "documents"),
    ("documents", "responses"),
    ("authorizations", "determinations"),
    ("authorizations", "packets"),
    ("appeals", "appeals"),
    ("peer", "requests"),
)


def _changed(
    before: Mapping[str, object], after: Mapping[str, object], own: str, patient: str
) -> list[str]:
    found = []
    for key, record in after.items():
        if before.get(key) == record:
            continue
        case = getattr(record, "case_id", None) or getattr(record, "id", "")
        if case == own or (not own and getattr(record, "patient_id", "") == patient):
            continue
        if (
            getattr(record, "case_id", None) is None
            and getattr(record, "patient_id", "") == patient
        ):
            continue
        found.append(key)
    return found
