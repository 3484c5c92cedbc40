"""The steps of an episode: which were taken twice, and how far they led."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence

from healthgym.worlds.managed_care.apps.payer import peer_lapses
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.records.decision import Appeal
from healthgym.worlds.managed_care.records.review import LineReview
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    IntakeStatus,
    MessageKind,
    PeerToPeerStatus,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Steps that are taken once in a case.
_ONCE = (
    "payer_front_doors.record_note",
    "payer_front_doors.create_callback",
    "payer_triage.set_disposition",
    "payer_routing_engine.route_case",
    "payer_determination.finalize",
    "payer_p2p_scheduler.schedule_p2p",
    "payer_p2p_scheduler.record_p2p_outcome",
    "payer_p2p_scheduler.submit_p2p_summary",
    "payer_appeals.acknowledge_appeal",
    "payer_appeals.decide_internal_appeal",
)
#: Steps that a reply of the provider's calls for again.
_AGAIN = (
    "payer_intake_hub.confirm_intake_decisions",
    "payer_nurse_review.submit_case_recommendation",
    "payer_letter_center.generate_pend_letter",
)
#: A step that is taken again after a reply, and where no call came about that was asked for.
_DECIDED = "payer_md_review.submit_case_decision"


def taken(
    before: ManagedCareWorld, after: ManagedCareWorld, case_id: str, kind: EntryKind
) -> tuple[Entry, ...]:
    """Return what the log has of a case since an episode began.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
        kind: Which entries.
    """
    known = len(before.history.entries)
    return tuple(
        entry
        for entry in tuple(after.history.entries)[known:]
        if entry.case_id == case_id and entry.kind is kind
    )


def replies(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> int:
    """Return how often the provider answered a request for information in an episode."""
    moves = taken(before, after, case_id, EntryKind.TRANSITION)
    return sum(entry.action == CaseStatus.RESUBMITTED for entry in moves)


def repeated(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> tuple[str, ...]:
    """Return what was finished in an episode, and done again.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
    """
    done = Counter(entry.name for entry in taken(before, after, case_id, EntryKind.AUDIT))
    again = replies(before, after, case_id)
    found = [name for name in _ONCE if done[name] > 1]
    found += [name for name in _AGAIN if done[name] > 1 + again]
    anew = again + _uncalled(before, after, case_id)
    found += [_DECIDED] if done[_DECIDED] > 1 + anew else []
    found += _sent_twice(before, after, case_id)
    nursing, medical = before.nursing.reviews, before.medical.reviews
    found += _begun_anew(nursing, after.nursing.reviews_of(case_id), again)
    return (*found, *_begun_anew(medical, after.medical.reviews_of(case_id), anew))


def _uncalled(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> int:
    """Return how often times for a call lapsed in an episode, or none was agreed on."""
    events = taken(before, after, case_id, EntryKind.EVENT)
    return sum(entry.action == peer_lapses.OFFER_LAPSES for entry in events)


def _sent_twice(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> Iterator[str]:
    """Yield what went out twice: a letter by one channel, a notice of one wording."""
    entries = taken(before, after, case_id, EntryKind.AUDIT)
    sent = Counter(
        (str(entry.details.get("letter")), str(entry.details.get("channel")))
        for entry in entries
        if entry.action == "deliver_letter"
    )
    yield from (letter for (letter, _), times in sent.items() if times > 1)


def _begun_anew(known: Container[str], reviews: Iterable[LineReview], again: int) -> Iterator[str]:
    """Yield lines whose review was begun although the round had one."""
    begun = Counter(one.line_number for one in reviews if one.id not in known)
    yield from (f"review of line {line}" for line, times in begun.items() if times > 1 + again)


def reached(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> float:
    """Return the share of the work ahead that was reached, right or wrong; from 0 to 1.

    Intake, triage, findings by their number, a word of a reviewer's or of a call, a determination,
    a letter that went out: of these, what was not done when the episode began. Where a later one
    is reached without an earlier, the earlier counts as well: which of them a case needs must not
    be told by what is paid. Of an appeal: acknowledged, given to a reviewer, findings, a decision,
    the notice to the member.

    Args:
        before: The world as it began.
        after: The world now.
        case_id: The case.
    """
    if (appeal := before.appeals.open(case_id)) is not None:
        return _along(_on_appeal(after, appeal))
    begun = _early(before, case_id)
    ahead = [now for now, then in zip(_early(after, case_id), begun, strict=True) if then < 1]
    decided = after.determinations.active(case_id) is not None
    letters = [one for one in after.letters.of(case_id) if one.delivered_at is not None]
    ahead += [_spoken(before, after, case_id), float(decided), float(decided and bool(letters))]
    return _along(ahead)


def _along(ahead: Sequence[float]) -> float:
    """Return how far somebody came along stages: those before the furthest count as well."""
    furthest = max((place for place, share in enumerate(ahead) if share), default=0)
    return (furthest + ahead[furthest]) / len(ahead)


def _on_appeal(world: ManagedCareWorld, filed: Appeal) -> tuple[float, ...]:
    """Return how far an appeal has come: acknowledged, given, read, decided, the member told."""
    appeal, case_id = world.appeals.appeals[filed.id], filed.case_id
    reviews = world.appeals.reviews_of(case_id)
    answered = {one.criterion_id for each in reviews for one in each.criteria_evaluations}
    listed = {item.criterion_id for item in world.nursing.catalog(case_id)}
    decided = appeal.outcome is not None
    told = any(
        one.kind == MessageKind.MEMBER_NOTIFICATION
        and one.case_id == case_id
        and one.created_at >= (appeal.decided_at or world.clock.now)
        for one in world.inbox.messages.values()
    )
    return (
        float(world.appeals.receipt_of(appeal.id) is not None),
        float(appeal.assigned_reviewer_id is not None),
        len(answered & listed) / len(listed) if listed else float(bool(answered)),
        float(decided),
        float(decided and told),
    )


def _early(world: ManagedCareWorld, case_id: str) -> tuple[float, ...]:
    """Return how far intake, triage and findings have come; 1 where they are done."""
    intake = world.intake.find(case_id)
    routed = world.triage.routing_of(case_id) is not None
    reviews: tuple[LineReview, ...] = world.nursing.reviews_of(case_id)
    reviews += world.medical.reviews_of(case_id)
    answered = {one.criterion_id for review in reviews for one in review.criteria_evaluations}
    listed = {item.criterion_id for item in world.nursing.catalog(case_id)}
    confirmed = intake is not None and intake.status is IntakeStatus.COMPLETE
    share = len(answered & listed) / len(listed) if listed else float(bool(answered))
    # A reply opens the intake again; it was done once.
    return float(confirmed or routed), float(routed), share


def _spoken(before: ManagedCareWorld, after: ManagedCareWorld, case_id: str) -> float:
    """Return 1 if a reviewer or a call came to a word in the episode."""
    words = len(after.nursing.of(case_id)) + len(after.medical.of(case_id))
    earlier = len(before.nursing.of(case_id)) + len(before.medical.of(case_id))
    calls = any(one.status is PeerToPeerStatus.COMPLETED for one in after.peer.of(case_id))
    return float(words > earlier or calls)
