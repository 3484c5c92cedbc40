"""What has happened: one log, in order, and the only history there is.

The source keeps three tables (audit, transitions, stages), each with its own ids. Here they are
kinds of entries of one log, whose numbers only rise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from healthgym.core.borders import Json
from healthgym.core.clock import Clock
from healthgym.core.state import Stateful, log


class EntryKind(StrEnum):
    """What an entry records."""

    AUDIT = "audit"  #: somebody used an application
    TRANSITION = "transition"  #: a case changed its status
    STAGE = "stage"  #: a stage of the work ended
    EVENT = "event"  #: something happened by itself when it fell due


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the log.

    Attributes:
        number: Its place, from 1.
        kind: What it records.
        at: When.
        case_id: The case; empty if it is about none.
        actor: Who: the id of a worker, or the name of an office.
        app: The application, or the stage's name.
        action: What was done; of a transition the new status, of a stage its outcome.
        source: Of a transition, the status before.
        details: What else is worth keeping.
    """

    number: int
    kind: EntryKind
    at: datetime
    case_id: str
    actor: str
    app: str
    action: str
    source: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Application and action, as in ``triage.set_disposition``."""
        return f"{self.app}.{self.action}"


class History(Stateful):
    """The log of a world.

    Attributes:
        entries: What changed something.
        looks: Who looked at what: no content, since reading changes nothing.
    """

    entries = log[Entry]()
    looks = log[Entry](content=False)

    def __init__(self, clock: Clock) -> None:
        self.clock = clock

    def audit(self, app: str, action: str, case_id: str, actor: str, **details: Json) -> None:
        """Note that somebody changed something."""
        self._add(EntryKind.AUDIT, case_id, actor, app, action, details=details)

    def looked(self, app: str, action: str, case_id: str, actor: str) -> None:
        """Note that somebody read something."""
        number = self._next()
        self.looks.append(
            Entry(
                number=number,
                kind=EntryKind.AUDIT,
                at=self.clock.now,
                case_id=case_id,
                actor=actor,
                app=app,
                action=action,
            )
        )

    def moved(self, case_id: str, source: str, target: str, actor: str, app: str = "case") -> None:
        """Note that a case changed its status."""
        self._add(EntryKind.TRANSITION, case_id, actor, app, target, source=source)

    def stage(self, case_id: str, stage: str, outcome: str, actor: str, **details: Json) -> None:
        """Note that a stage of the work ended."""
        self._add(EntryKind.STAGE, case_id, actor, stage, outcome, details=details)

    def happened(self, name: str, case_id: str, **details: Json) -> None:
        """Note that something fell due."""
        self._add(EntryKind.EVENT, case_id, "calendar", "agenda", name, details=details)

    def of(self, case_id: str, kind: EntryKind | None = None) -> list[Entry]:
        """Return the entries of a case, oldest first.

        Args:
            case_id: The case.
            kind: Only entries of this kind.
        """
        found = [entry for entry in self.entries if entry.case_id == case_id]
        return found if kind is None else [entry for entry in found if entry.kind is kind]

    def audited(self, case_id: str, name: str) -> bool:
        """Return whether an application did something about a case: ``triage.route_case``."""
        return any(entry.name == name for entry in self.of(case_id, EntryKind.AUDIT))

    def _add(
        self,
        kind: EntryKind,
        case_id: str,
        actor: str,
        app: str,
        action: str,
        *,
        source: str = "",
        details: Mapping[str, Json] | None = None,
    ) -> None:
        self.entries.append(
            Entry(
                number=self._next(),
                kind=kind,
                at=self.clock.now,
                case_id=case_id,
                actor=actor,
                app=app,
                action=action,
                source=source,
                details=details or {},
            )
        )

    def _next(self) -> int:
        return len(self.entries) + len(self.looks) + 1
