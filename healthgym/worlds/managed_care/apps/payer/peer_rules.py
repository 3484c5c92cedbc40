"""What a peer-to-peer call needs: times that can be kept, and a talk before its outcome."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def moment(text: str) -> datetime | None:
    """Return a time, UTC where it names no zone; None if it is none."""
    try:
        time = datetime.fromisoformat(text.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def require_time(text: str) -> datetime:
    """Return a time.

    Raises:
        Refusal: If none is given, or it is none.
    """
    if not text:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            "The provider has picked no time; name one as scheduled_at, or wait for the reply.",
        )
    time = moment(text)
    if time is None:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"scheduled_at: {text[:40]!r} is no time such as 2026-03-16T15:00:00.",
        )
    return time


def outcome_of(text: PeerToPeerOutcome | str) -> PeerToPeerOutcome:
    """Return an outcome by its name.

    Raises:
        Refusal: If it is none.
    """
    try:
        return PeerToPeerOutcome(text)
    except ValueError:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"{text[:60]!r} is no outcome of a call; accepted: {', '.join(PeerToPeerOutcome)}.",
        ) from None


def require_offer(
    world: ManagedCareWorld, request: PayerPeerToPeerRequest, contact: str, slots: tuple[str, ...]
) -> None:
    """Refuse times that cannot be kept, and offers after the call, in a strict world.

    Raises:
        Refusal: If the call is fixed or over, or a time is none, past, repeated, or outside of
            the contact's hours.
    """
    if request.status not in (PeerToPeerStatus.REQUESTED, PeerToPeerStatus.SLOTS_OFFERED):
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Request {request.id} is {request.status}; times are offered before one is picked.",
        )
    if not slots or len({moment(slot) for slot in slots}) < len(slots):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            "slots: offer one or more different times, such as 2026-03-16T15:00:00.",
        )
    for slot in slots:
        time = moment(slot)
        if time is None or time <= world.clock.now:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"slots: {slot[:40]!r} is no time after {world.clock.now:%Y-%m-%dT%H:%M} UTC.",
            )
        if not _in_hours(world, contact, time):
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"slots: {contact} does not work at {slot}; offer times in working hours.",
            )


def _in_hours(world: ManagedCareWorld, contact: str, time: datetime) -> bool:
    on_duty: Callable[[str, datetime], bool] | None = getattr(world, "on_duty", None)
    if on_duty is not None:
        return on_duty(contact, time)
    return time.weekday() < 5


def require_answerable(
    request: PayerPeerToPeerRequest, case_id: str, slot: str | None, note: str
) -> None:
    """Refuse an answer of the provider that answers nothing.

    Raises:
        Refusal: If the request is of another case or over, nothing is said, or the time was not
            offered.
    """
    if request.case_id != case_id:
        raise Refusal(
            RefusalCode.WRONG_OWNER, f"Request {request.id} is not about case {case_id[:60]!r}."
        )
    if request.status is PeerToPeerStatus.COMPLETED:
        raise Refusal(RefusalCode.WRONG_STATE, f"The call of request {request.id} is over.")
    if not slot and not note.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "Give a note, or pick a time as selected_slot.")
    if slot and request.offered_slots and slot not in request.offered_slots:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"selected_slot: {slot[:40]!r} was not offered; offered: "
            f"{', '.join(request.offered_slots)}.",
        )


def require_agreed(world: ManagedCareWorld, request: PayerPeerToPeerRequest, when: str) -> None:
    """Refuse a time that was not offered and picked, or is past, in a strict world.

    Raises:
        Refusal: If it is none of these.
    """
    if request.provider_selected_slot is None:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"The provider has picked none of the times of request {request.id}; wait for the "
            "reply, or offer others.",
        )
    if moment(when) != moment(request.provider_selected_slot):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"scheduled_at: {when[:40]!r} is not the time that the provider picked, "
            f"{request.provider_selected_slot}.",
        )
    if require_time(when) <= world.clock.now:
        raise Refusal(
            RefusalCode.WRONG_STATE, f"{when} is past; offer other times and have one picked."
        )


def require_begun(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> None:
    """Refuse to talk before the time of the call, in a strict world.

    Raises:
        Refusal: If it has not come.
    """
    time = moment(request.scheduled_at or "")
    if time is not None and world.clock.now < time:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"The call of request {request.id} begins at {time:%Y-%m-%dT%H:%M} UTC; wait until "
            "then.",
        )


def require_held(
    world: ManagedCareWorld,
    request: PayerPeerToPeerRequest,
    session: P2PSessionRecord | None,
    contact: str,
) -> None:
    """Refuse an outcome of a call that nobody held, in a strict world.

    Raises:
        Refusal: If the line is not open, its time has not come, nothing was said, or somebody
            else held it.
    """
    if request.status is not PeerToPeerStatus.EVENT_OPEN or session is None:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Request {request.id} is {request.status}; an outcome follows a call that was held.",
        )
    require_begun(world, request)
    if session.agent_turns_used == 0:
        raise Refusal(
            RefusalCode.UNSUPPORTED_CLAIM,
            f"Nothing was said on the call of request {request.id} yet; talk before recording "
            "what came of it.",
        )
    if contact != request.payer_contact_id:
        raise Refusal(
            RefusalCode.WRONG_OWNER,
            f"The call of request {request.id} is {request.payer_contact_id}'s; nobody else "
            "records its outcome.",
        )
