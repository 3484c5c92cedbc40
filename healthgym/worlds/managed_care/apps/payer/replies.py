"""What the provider answered to requests for information, as the payer's people read it.

It is read from the log, where each reply stands with its words and what came with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.history import EntryKind

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: The stage of the log that a reply is.
STAGE = "pend_reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderReply:
    """A reply to a request for information.

    Attributes:
        received_at: When it came, in UTC.
        sent_by: Id of who answered, such as 'W-039'.
        text: What the provider says.
        new_documents: Documents that came with it, by id and title; blank where none did.
    """

    received_at: datetime
    sent_by: str
    text: str
    new_documents: tuple[str, ...] = ()


def keep(world: ManagedCareWorld, case_id: str, text: str, document_ids: Iterable[str]) -> None:
    """Note that somebody of the provider's answered.

    Args:
        world: The world.
        case_id: The case.
        text: What is said.
        document_ids: What comes with it.
    """
    world.history.stage(
        case_id, STAGE, "answered", world.actor, note=text, documents=list(document_ids)
    )


def replies(world: ManagedCareWorld, case_id: str) -> tuple[ProviderReply, ...]:
    """Return what the provider answered about a case, oldest first."""
    return tuple(
        ProviderReply(
            received_at=entry.at,
            sent_by=entry.actor,
            text=str(entry.details.get("note", "")),
            new_documents=tuple(
                f"{name} ({world.documents.get(name).title})"
                for name in entry.details.get("documents", ())
            ),
        )
        for entry in world.history.of(case_id, EntryKind.STAGE)
        if entry.app == STAGE
    )
