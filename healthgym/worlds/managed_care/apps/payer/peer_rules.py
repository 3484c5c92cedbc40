"""What a peer-to-peer call needs: times that can be kept, and a talk before its outcome."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PeerToPeerOutcome,
    PeerToPeerStatus,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


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
    return moment(text, "scheduled_at")


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

    A time that was picked and has passed unconfirmed holds up no new offer.

    Raises:
        Refusal: If a time is picked and still to come, the call is fixed or over, there are too
            few times, or one is none, past, repeated, too late, or outside of office hours.
    """
    asked = request.status in (PeerToPeerStatus.REQUESTED, PeerToPeerStatus.SLOTS_OFFERED)
    if not asked and not _missed(world, request):
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Request {request.id} is {request.status}; times are offered before one is picked, "
            "and anew once it has passed without being confirmed.",
        )
    rules = world.operations
    times = [moment(slot, "slots") for slot in slots]
    if len(set(times)) < max(len(times), rules.p2p_slots_least):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"slots: offer {rules.p2p_slots_least} or more different times, such as "
            "2026-03-16T15:00.",
        )
    calendar = office_calendar(region(world, request.case_id))
    now = world.clock.now
    last = calendar.local(calendar.add_business_days(now, rules.p2p_offer_workdays)).date()
    for time in times:
        if not now < time or calendar.local(time).date() > last:
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"slots: {time:%Y-%m-%dT%H:%M} is not after {now:%Y-%m-%dT%H:%M} UTC and by "
                f"{last}, {rules.p2p_offer_workdays} business days from now.",
            )
        if not calendar.is_open(time) or not _works(world, contact, time):
            raise Refusal(
                RefusalCode.BAD_ARGUMENT,
                f"slots: {time:%Y-%m-%dT%H:%M} UTC is outside of the office hours of the member's "
                f"region or of {contact}; offer times in both.",
            )


def _missed(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> bool:
    """Return whether the time that the provider picked passed before anybody confirmed it."""
    picked = request.provider_selected_slot
    if request.status is not PeerToPeerStatus.SLOT_SELECTED or picked is None:
        return False
    return moment(picked, "provider_selected_slot") <= world.clock.now


def region(world: ManagedCareWorld, case_id: str) -> str:
    """Return the state whose office hours count for a case: the member's; blank if unknown."""
    chart = world.charts.get(world.cases.get(case_id).patient_id)
    return chart.patient.address_state if chart else ""


def _works(world: ManagedCareWorld, contact: str, time: datetime) -> bool:
    worker = world.staff.workers.get(contact)
    # Of whom only a directory entry is known, no hours are.
    return worker is None or office_calendar(worker.region, worker.hours).is_open(time)


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


def require_live(world: ManagedCareWorld, case_id: str) -> None:
    """Refuse, in a strict world, to talk about a case that is over.

    Raises:
        Refusal: ``wrong_state``.
    """
    if world.cases.get(case_id).status is CaseStatus.CLOSED:
        raise Refusal(
            RefusalCode.WRONG_STATE, f"Case {case_id} is closed; calls are about cases in review."
        )


def require_news(request: PayerPeerToPeerRequest, slot: str | None, note: str) -> None:
    """Refuse, in a strict world, an answer that was given in the same words before.

    Raises:
        Refusal: ``duplicate``.
    """
    said = not note.strip() or note in request.notes
    picked = not slot or slot == request.provider_selected_slot
    if said and picked:
        raise Refusal(
            RefusalCode.DUPLICATE,
            f"The answer to request {request.id} says that already; send what is new.",
        )


def require_pick(world: ManagedCareWorld, request: PayerPeerToPeerRequest, slot: str) -> None:
    """Refuse a time that is not on offer, in a strict world.

    Raises:
        Refusal: If no offer is open, the time was not offered, or it is past.
    """
    if request.status is not PeerToPeerStatus.SLOTS_OFFERED or slot not in request.offered_slots:
        offered = ", ".join(request.offered_slots) or "none"
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Request {request.id} is {request.status}, times offered: {offered}; a time is picked "
            "once, from an open offer.",
        )
    if moment(slot, "selected_slot") <= world.clock.now:
        raise Refusal(RefusalCode.WRONG_STATE, f"{slot} is past; ask for other times in a note.")


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
    picked = moment(request.provider_selected_slot, "provider_selected_slot")
    if moment(when, "scheduled_at") != picked:
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
    time = require_time(request.scheduled_at or "")
    if world.clock.now < time:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"The call of request {request.id} begins at {time:%Y-%m-%dT%H:%M} UTC; wait until "
            "then.",
        )


def require_held(
    world: ManagedCareWorld,
    request: PayerPeerToPeerRequest,
    talked: bool,
    contact: str,
) -> None:
    """Refuse an outcome of a call that nobody held, in a strict world.

    Args:
        world: The world.
        request: The request for the call.
        talked: Whether anything was said.
        contact: Who records the outcome.

    Raises:
        Refusal: If the line is not open, its time has not come, nothing was said, or somebody
            else held it.
    """
    if request.status is not PeerToPeerStatus.EVENT_OPEN:
        raise Refusal(
            RefusalCode.WRONG_STATE,
            f"Request {request.id} is {request.status}; an outcome follows a call that was held.",
        )
    require_begun(world, request)
    if not talked:
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
