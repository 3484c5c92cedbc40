"""What an episode did to the world, as the checks ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from itertools import pairwise

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.situations import Bar, Course
from healthgym.envs.managed_care.checks.normalize import service_type
from healthgym.envs.managed_care.checks.wording import Flaw
from healthgym.envs.managed_care.prior_authorization.claims import Claims
from healthgym.envs.managed_care.prior_authorization.recorded import (
    alone_again,
    describes,
    has_grounds,
    of_version,
)
from healthgym.envs.managed_care.prior_authorization.sending import Sending
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.prior_authorization.worded import Worded
from healthgym.envs.managed_care.reading.reasons import Reason, read_reason
from healthgym.worlds.managed_care.apps.payer import replies
from healthgym.worlds.managed_care.apps.provider.deadlines import PEND_LAPSES
from healthgym.worlds.managed_care.deemed import DEEMED
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.policies.naming import criteria_conceded
from healthgym.worlds.managed_care.policies.postures import settles
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    ProviderDeterminationRecord,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_DECISION = "auth.finalize_provider_determination"
#: What puts something new on file.
_NEWS = frozenset(
    {
        "doc_center.upload_evidence",
        "doc_center.upload_evidence_file",
        "doc_center.create_submission_bundle",
        "forms.save_form_response",
    }
)
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

_OPEN_POSTURES = (Posture.INSUFFICIENT, Posture.ABSENT)


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
        """The cases that the episode opened, or was given to work on."""
        old = self.before.cases.cases.keys() - {self.reference.drilled}
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
            and self._ordered_by(case.service_request_id)
            and len(lines) == 1
            and lines[0].procedure_code == wanted.procedure_code
            and all(map(self._coded, (lines[0].diagnosis_codes, *self._sent_codes(case.id))))
            and str(lines[0].site_of_service) == str(wanted.site)
        )

    def _ordered_by(self, order_id: str) -> bool:
        """Return whether the order names who ordered, and what kind of service it is, and when.

        Its words may be others, and its day that on which the case was opened.
        """
        order, wanted = self.after.cases.order(order_id), self.reference
        filed = self.before.cases.order(order_id)
        days = {filed.requested_date.date()} | {case.created_at.date() for case in self.opened}
        kind = service_type(order.service_type) == service_type(str(wanted.service_type))
        return (
            kind
            and order.ordering_practitioner_id == wanted.practitioner_id
            and order.requested_date.date() in days
            and describes(order.description, f"{filed.description} {wanted.policy.title}")
        )

    def _coded(self, codes: Iterable[str]) -> bool:
        """Return whether codes are those of the order, and else the patient's own."""
        chart = self.before.charts[self.reference.patient_id]
        wanted, known = set(self.reference.diagnosis_codes), {c.code for c in chart.conditions}
        return wanted <= set(codes) <= wanted | known

    def _sent_codes(self, case_id: str) -> Iterable[Iterable[str]]:
        """Yield the codes that were sent instead of a line's."""
        for packet in self.after.authorizations.packets.values():
            if packet.case_id == case_id:
                yield from filter(None, (packet.payload.get("line_updates") or {}).values())

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
        # What is said to be there is no gap, and C34 is a code.
        asked = {each.id for each in criteria(wanted.policy.criteria)}
        open_ones = named.criteria & asked - criteria_conceded(made.override_reason)
        named = replace(named, criteria=open_ones)
        right = named.policies == {wanted.policy.id}
        right = right and of_version(made.override_reason, wanted.policy.version)
        if wanted.bar is not None:
            return self._bar_named(named, wanted.bar, right)
        # Beside what is listed as missing a visit's note may be spoken of that would close a gap.
        kinds = named.kinds if wanted.missing and not named.listed else named.listed
        return right and kinds == wanted.missing and self._gaps_named(named.criteria)

    @cached_property
    def followed_up(self) -> bool:
        """Whether the reason names the day on which the order is taken up again, and no choice."""
        if self.case is None or self.determination is None:
            return False
        today = self.case.created_at.date()
        day = today + timedelta(days=self.after.operations.follow_up_days)
        return alone_again(self.determination.override_reason, day, today)

    @cached_property
    def misreasoned(self) -> tuple[Flaw, ...]:
        """What the reason of the decision says that nothing on file does."""
        made = self.determination
        if made is None or not made.override_reason:
            return ()
        worded = Worded(Claims(self.before, self.after, self.reference))
        flaw = worded.flaw(made.override_reason, asks=False)
        return (flaw,) if flaw else ()

    def _gaps_named(self, named: frozenset[str]) -> bool:
        """Return whether closing just these gaps would be enough, and each of them is one.

        Beside a document that is missing, the criteria that it would show may be named: nobody
        can see them shown without it.
        """
        wanted = self.reference
        needs = documents_for(wanted.policy.id, wanted.policy.criteria)
        shown = {each for need in needs if need.kind in wanted.missing for each in need.criteria}
        if wanted.missing:  # without it, ways that are open themselves come into question
            shown |= {name for name, one in wanted.postures.items() if one in _OPEN_POSTURES}
        whole = settles(wanted.policy.criteria, wanted.postures, named)
        return whole and named <= wanted.gaps | shown

    def _bar_named(self, named: Reason, bar: Bar, policy: bool) -> bool:
        """Return whether a reason names a bar, no other, and what shows it."""
        if named.codes != {str(bar)}:
            return False
        wanted = self.reference
        coverage = self.before.charts[wanted.patient_id].coverage
        match bar:
            case Bar.INACTIVE:
                others = named.policies - {wanted.policy.id}
                ended = coverage is not None and coverage.termination_date in named.days
                return ended and not others
            case Bar.OUT_OF_NETWORK:
                return policy and coverage is not None and named.names(coverage.plan_name)
            case Bar.NOT_REQUIRED:
                return policy and named.names(wanted.procedure_code)
            case Bar.CONTRADICTED:
                return policy and bool(named.criteria) and named.criteria <= wanted.gaps

    # -- what was sent ---------------------------------------------------------------------------

    @cached_property
    def sending(self) -> Sending | None:
        """What was sent for the case; None without one."""
        if self.case is None:
            return None
        return Sending(self.before, self.after, self.reference, self.case)

    @cached_property
    def sent(self) -> bool:
        """Whether anything was sent for the case."""
        return self.sending is not None and bool(self.sending.packets)

    @cached_property
    def bundled(self) -> bool:
        """Whether a packet was made for the case."""
        return self.after.documents.newest_bundle(self.case_id) is not None if self.case else False

    # -- what else changed -----------------------------------------------------------------------

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Other cases and orders that were opened or changed."""
        own, others = self.case_id, self.reference.beside
        found = [case.id for case in self.opened if case.id != own]
        for app, table in _TABLES:
            before = getattr(getattr(self.before, app), table)
            after = getattr(getattr(self.after, app), table)
            changed = _changed(before, after, own, self.reference.patient_id)
            found += [key for key in changed if _about(after[key]) not in others]
        return tuple(dict.fromkeys(found))

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """Steps that were finished, and taken again; a strict world refuses each of them."""
        if self.case is None or self.sending is None:
            return ()
        history, case = self.after.history, self.case_id
        names = [entry.name for entry in history.of(case, EntryKind.AUDIT)]
        stages = [entry.app for entry in history.of(case, EntryKind.STAGE)]
        pends = [entry.action for entry in history.of(case, EntryKind.TRANSITION)]
        appeals = [a.level for a in self.after.appeals.appeals.values() if a.case_id == case]
        written = [(d.kind, d.title, d.content) for d in self.sending.uploaded]
        found = {
            "decision": _decided_twice(names),
            "document": len(set(written)) < len(written),
            "packet": self._packed_twice(),
            "submission": len(self.sending.packets) > 1,
            "answer": stages.count(replies.STAGE) > pends.count(CaseStatus.PENDED_ACTION_REQUIRED),
            "appeal": len(set(appeals)) < len(appeals),
        }
        return tuple(name for name, again in found.items() if again)

    def _packed_twice(self) -> bool:
        """Return whether a packet holds what the one before it holds, and says the same."""
        packed = [
            (frozenset(data["included_document_ids"]), data["extras"], data["answers"])
            for document in self.after.documents.documents.values()
            if document.case_id == self.case_id
            and (data := document.structured_data).get("package_id")
        ]
        return any(one == next_one for one, next_one in pairwise(packed))

    @cached_property
    def late(self) -> bool:
        """Whether a time passed that was the provider's: to answer a pend, or to appeal."""
        case = self.case
        if case is None:
            return False
        events = self.after.history.of(case.id, EntryKind.EVENT)
        if any(entry.action == PEND_LAPSES for entry in events):
            return True
        denied = case.status in (CaseStatus.DENIED, CaseStatus.APPEAL_UPHELD)
        open_to_appeal = denied and case.status != self.reference.status
        due = case.appeal_due_at
        return open_to_appeal and due is not None and self.after.clock.now > due

    @cached_property
    def ended(self) -> bool:
        """Whether the case stands where the right work leads, and each appeal had its grounds.

        Where a call has to put the payer right, a limit that passes meanwhile does not count: who
        waits for what the law makes of that has done nothing.
        """
        if self.case is None or self.case.status != self.reference.status:
            return False
        policy = self.reference.policy
        filed = (a for a in self.after.appeals.appeals.values() if a.case_id == self.case.id)
        if not all(has_grounds(each.rationale, policy.id, policy.version) for each in filed):
            return False
        return self.reference.course is not Course.PEER_CALL or not self._deemed(self.case.id)

    def _deemed(self, case_id: str) -> bool:
        """Return whether the calendar decided a case, in place of the payer."""
        made = self.after.determinations.active(case_id)
        return made is not None and made.source == DEEMED

    @property
    def stage(self) -> int:
        """How many stages of the work were reached, right or wrong; 0 to 5.

        Of several cases that were opened the furthest counts, whosever it is: which of them is
        meant must not be told by what is paid.
        """
        return max(map(self._stage, self.opened), default=0)

    def _stage(self, case: PriorAuthCase) -> int:
        world = self.after
        decided = world.authorizations.determination(case.id) is not None
        sent = world.authorizations.packet(case.id) is not None
        held = decided and case.status in (CaseStatus.CLOSED, CaseStatus.DOCS_NEEDED)
        answered = any(
            entry.action in _DECIDED for entry in world.history.of(case.id, EntryKind.TRANSITION)
        )
        return 1 + decided + (sent or held) + (answered or held) + (case.status in _DECIDED or held)


def _decided_twice(names: Iterable[str]) -> bool:
    """Return whether a decision followed another with nothing new on file between them."""
    decided = False
    for name in names:
        if name == _DECISION:
            if decided:
                return True
            decided = True
        elif name in _NEWS:
            decided = False
    return False


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


def _about(record: object) -> str:
    """Return the case of a record: the one that it names, or itself."""
    return str(getattr(record, "case_id", None) or getattr(record, "id", ""))


def _changed(
    before: Mapping[str, object], after: Mapping[str, object], own: str, patient: str
) -> list[str]:
    found = []
    for key, record in after.items():
        if before.get(key) == record:
            continue
        if _about(record) == own or (not own and getattr(record, "patient_id", "") == patient):
            continue
        if (
            getattr(record, "case_id", None) is None
            and getattr(record, "patient_id", "") == patient
        ):
            continue
        found.append(key)
    return found
