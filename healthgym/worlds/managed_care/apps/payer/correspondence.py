"""E-mails, calendar files and notes about calls, rendered from the records; never kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


def invitation(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> tuple[str, str]:
    """Return subject and text of the notice that a call is wanted."""
    return (
        f"Case {request.case_id}: peer-to-peer call requested",
        f"A physician of {world.start.payer.name} would like to discuss case {request.case_id} "
        f"with the ordering clinician before it is decided. Request {request.id}; times follow.",
    )


def offer(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> str:
    """Return the e-mail that offers times."""
    times = "\n".join(f"- {slot}" for slot in request.offered_slots) or "- at your convenience"
    return _mail(
        address(world, request.payer_contact_id),
        address(world, request.requested_by_contact_id),
        f"Times for a peer-to-peer call, case {request.case_id}",
        f"We can talk at one of these times (UTC):\n{times}\nPlease pick one.",
    )


def reply(
    world: ManagedCareWorld, request: PayerPeerToPeerRequest, slot: str | None, note: str = ""
) -> str:
    """Return the e-mail in which the provider answers."""
    said = f"We take {slot}." if slot else "None of these times can be made." if not note else ""
    return _mail(
        address(world, request.requested_by_contact_id),
        address(world, request.payer_contact_id),
        f"Re: times for a peer-to-peer call, case {request.case_id}",
        " ".join(part for part in (said, note.strip()) if part),
    )


def confirmation(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> str:
    """Return the e-mail that confirms a time."""
    return _mail(
        address(world, request.payer_contact_id),
        address(world, request.requested_by_contact_id),
        f"Peer-to-peer call confirmed, case {request.case_id}",
        f"The call is at {request.scheduled_at} (UTC). An invitation is attached.",
    )


def calendar_file(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> str:
    """Return the calendar file of a call (RFC 5545)."""
    digits = "".join(c for c in (request.scheduled_at or "")[:19] if c not in "-:")
    start = digits.ljust(len("20260406T180000"), "0")
    return "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//healthgym//managed care//EN",
            "BEGIN:VEVENT",
            f"UID:{request.id}",
            f"DTSTAMP:{world.clock.now:%Y%m%dT%H%M%SZ}",
            f"DTSTART:{start}Z",
            f"DURATION:PT{world.operations.p2p_call_minutes}M",
            f"ORGANIZER:mailto:{address(world, request.payer_contact_id)}",
            f"SUMMARY:Peer-to-peer call, case {request.case_id}",
            "END:VEVENT",
            "END:VCALENDAR",
        ]
    )


def outcome_note(world: ManagedCareWorld, request: PayerPeerToPeerRequest) -> str:
    """Return the note on what came of a call."""
    said = "".join(f"\n- {note}" for note in request.notes)
    outcome = (request.outcome or "").replace("_", " ")
    return f"Peer-to-peer {request.id}, case {request.case_id}: {outcome}.{said}"


def summary_note(
    world: ManagedCareWorld, request: PayerPeerToPeerRequest, session: P2PSessionRecord
) -> str:
    """Return the agent's summary as it is filed."""
    return (
        f"Summary of the call on case {request.case_id} ({session.agent_turns_used} turns), by the "
        f"{session.benchmark_side}'s side: {session.submitted_summary}"
    )


def address(world: ManagedCareWorld, person: str | None) -> str:
    """Return somebody's e-mail address; the id where none is known."""
    contact = world.staff.contacts.get(person or "")
    worker = world.staff.workers.get(person or "")
    found = contact.email if contact else worker.email if worker else ""
    return found or person or "unknown"


def _mail(sender: str, receiver: str, subject: str, text: str) -> str:
    return f"From: {sender}\nTo: {receiver}\nSubject: {subject}\n\n{text}"
