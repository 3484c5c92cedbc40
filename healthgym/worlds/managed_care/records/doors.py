"""What lies at a payer's front doors before it is a request: faxes, EDI envelopes, call notes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    SubmissionChannel,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What an EDI request came in.

    Attributes:
        sender: Id of the sender.
        receiver: Id of the receiver.
        control_number: Number of the interchange, nine digits.
        group_number: Number of the group of messages in it, which is another.
    """

    sender: str
    receiver: str
    control_number: str
    group_number: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerWords:
    """What somebody said who asked for a service by telephone.

    Attributes:
        caller: Who called, by name.
        number: Number for calling back.
        urgency: The words in which urgency was claimed; blank if it was not.
        calm: What was said instead where it was not, which claims nothing.
        call_back_at: When a call is wished for, in UTC; blank if none is.
    """

    caller: str
    number: str
    urgency: str = ""
    calm: str = ""
    call_back_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A request that has come in and waits at its door.

    Attributes:
        id: Id of the arrival, such as ``ARR-0001``; of a fax it is the transmission.
        case_id: The case that the sender means; whoever takes the request in finds out.
        channel: The door.
        received_at: When it came in, in UTC: the clock for deciding runs from here.
        pages: How many pages a fax has; zero elsewhere.
        readable: Whether the pages of a fax can be read.
        indexed_to: The case to which a fax was indexed; blank until it is.
        document_kind: What a fax was indexed as; blank until it is.
        envelope: What an EDI request came in.
        said: What a caller said.
        sender: The sender of an EDI request as it was taken in; blank until it is.
        control_number: The envelope's number as it was taken in; blank until it is.
        taken_in_at: When the request was opened at the intake desk; blank while it waits.
    """

    id: str
    case_id: str
    channel: SubmissionChannel
    received_at: datetime
    pages: int = 0
    readable: bool = True
    indexed_to: str = ""
    document_kind: DocumentKind | None = None
    envelope: Envelope | None = None
    said: CallerWords | None = None
    sender: str = ""
    control_number: str = ""
    taken_in_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallNote:
    """What was said in a call to the payer.

    Attributes:
        id: Id of the note.
        case_id: The case it is about.
        caller: Who called, by name.
        callback_number: Number for calling back.
        member_id: Member id that the caller gave.
        service: The service, in the caller's words.
        urgency_words: The words in which urgency was claimed; blank if it was not.
        filed_at: When the note was filed, in UTC.
    """

    id: str
    case_id: str
    caller: str
    callback_number: str
    member_id: str
    service: str
    urgency_words: str
    filed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """A call that the payer has promised.

    Attributes:
        id: Id of the promise.
        case_id: The case it is about.
        number: Number to call.
        at: When, in UTC.
    """

    id: str
    case_id: str
    number: str
    at: datetime
