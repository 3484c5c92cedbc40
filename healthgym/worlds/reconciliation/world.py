"""The world of a discharge: two half records, messages, and one list that both sign."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from healthgym.core.clock import Clock, Due
from healthgym.core.lifecycle import Lifecycle, Move
from healthgym.core.state import log, state, table
from healthgym.core.world import World
from healthgym.errors import ToolError
from healthgym.worlds.reconciliation.formulary import find
from healthgym.worlds.reconciliation.record import Record

PHYSICIAN, PHARMACIST = "physician", "pharmacist"
#: The people by role, as they are spoken of.
TITLES = {PHYSICIAN: "ward physician", PHARMACIST: "community pharmacist"}
DISCHARGE = "discharge"
#: Bounds on memory, far beyond an honest conversation.
MAX_MESSAGES, MAX_TEXT = 200, 2000


class Disposition(StrEnum):
    """What is to become of a medicine."""

    CONTINUE = "continue"
    CHANGE = "change"
    STOP = "stop"
    CLARIFY = "clarify"


class Reason(StrEnum):
    """The rule on which a line rests."""

    CURRENT = "current"
    NEWER_DOSE = "newer_dose"
    NOT_COLLECTED = "not_collected"
    DUPLICATE = "duplicate"
    RENAL = "renal"
    STOPPED_BY_GP = "stopped_by_gp"
    ALLERGY = "allergy"


class Standing(StrEnum):
    """What the other clinician says to a line."""

    PROPOSED = "proposed"
    AGREED = "agreed"
    DISPUTED = "disputed"


AGREE, DISAGREE = "agree", "disagree"
#: How a line comes to stand where it stands; a new proposal is a new line.
LINE_LIFE: Lifecycle[Standing, None] = Lifecycle(
    (
        Move(Standing.PROPOSED, Standing.AGREED, AGREE),
        Move(Standing.PROPOSED, Standing.DISPUTED, DISAGREE),
        Move(Standing.DISPUTED, Standing.AGREED, AGREE),
        Move(Standing.AGREED, Standing.DISPUTED, DISAGREE),
    ),
    Standing.PROPOSED,
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the reconciled list.

    Attributes:
        medicine: Generic name.
        disposition: What is to become of it.
        dose: Daily dose in mg after discharge; 0 where it is not continued.
        reason: The rule it rests on.
        by: The role that proposed it.
        standing: What the other role says to it.
    """

    medicine: str
    disposition: Disposition
    dose: float
    reason: Reason
    by: str
    standing: Standing = Standing.PROPOSED


def other_role(role: str) -> str:
    """Return the other clinician's role."""
    return PHARMACIST if role == PHYSICIAN else PHYSICIAN


class ReconciliationWorld(World):
    """Two clinicians at two ends of a line.

    A message hands the turn over. At the time of discharge a list that is not signed by both
    lapses, and nothing can be changed any more.

    Args:
        record: Both halves of the record.
        clock: Start of the episode.
        discharge: When the patient leaves.

    Attributes:
        turn: The role that holds the turn.
        lines: The reconciled list, by medicine.
        messages: What was said, with the role that said it.
        signed: The roles that signed, with the time.
        left: Whether the patient has left.
        looks: The sections each role has opened.
    """

    turn = state(PHYSICIAN)
    lines = table[str, Line]()
    messages = log[tuple[str, str]]()
    signed = table[str, datetime]()
    left = state(False)
    looks = table[tuple[str, str], bool](content=False)

    def __init__(self, record: Record, clock: Clock, discharge: datetime) -> None:
        self.record = record
        self.clock = clock
        self.discharge = discharge
        clock.agenda.put(discharge, DISCHARGE)

    def happen(self, due: Due) -> None:
        """Let the patient leave; tell those who have not signed that the list lapsed."""
        if due.name != DISCHARGE:
            super().happen(due)
        self.left = True
        for role in TITLES:
            if role not in self.signed:
                self.notify(role, "The patient has left before both signed; the list lapsed.")

    def look(self, role: str, section: str) -> None:
        """Note that a role opened a section of its record."""
        self.looks[role, section] = True

    def say(self, role: str, text: str) -> None:
        """Send a message, and hand the turn over.

        Raises:
            ToolError: If it is empty, too long, or there is nobody left to read it.
        """
        self._open()
        text = text.strip()
        other = other_role(role)
        if not 1 <= len(text) <= MAX_TEXT:
            raise ToolError(f"text: from 1 to {MAX_TEXT} characters, not {len(text)}.")
        if len(self.messages) >= MAX_MESSAGES:
            raise ToolError("There have been too many messages; sign, or leave it.")
        if other in self.signed:
            raise ToolError(f"The {TITLES[other]} has signed and reads no more messages.")
        self.messages.append((role, text))
        self.turn = other
        self.notify(other, f"Message from the {TITLES[role]}: {text}")

    def propose(
        self, role: str, name: str, disposition: Disposition, dose: float, reason: Reason
    ) -> Line:
        """Put a line on the list, in place of the medicine's earlier one.

        Raises:
            ToolError: If it makes no line, or is on the list already.
        """
        self._open()
        medicine = find(name)
        if medicine is None:
            raise ToolError(f"{name[:60]!r} is not in the formulary; use a generic name.")
        kept = disposition in (Disposition.CONTINUE, Disposition.CHANGE)
        if kept and not 0 < dose <= 10_000:
            raise ToolError(f"daily_dose: {disposition} needs one, above 0 and up to 10000 mg.")
        if not kept and dose:
            raise ToolError(f"daily_dose: {disposition} has none; leave it out.")
        line = Line(medicine.name, disposition, float(dose), reason, role)
        if self.lines.get(medicine.name) == line:
            raise ToolError("The list says so already.")
        self.lines[medicine.name] = line
        self.notify(other_role(role), f"The {TITLES[role]} proposes: {describe(line)}")
        return line

    def answer(self, role: str, name: str, word: str, why: str = "") -> Line:
        """Agree to a line of the other role, or disagree with it.

        Args:
            role: Who answers.
            name: The line's medicine.
            word: :data:`AGREE` or :data:`DISAGREE`.
            why: The reason, for the other role.

        Raises:
            ToolError: If there is no such line, or nothing would change.
        """
        self._open()
        medicine = find(name)
        line = self.lines.get(medicine.name) if medicine else None
        if line is None:
            raise ToolError(f"There is no line for {name[:60]!r}; show_list names those there are.")
        if line.by == role:
            raise ToolError(f"The line for {line.medicine} is yours; propose another to change it.")
        answered = replace(line, standing=LINE_LIFE.fire(line.standing, word, None))
        self.lines[line.medicine] = answered
        reason = f" ({why.strip()})" if why.strip() else ""
        self.notify(line.by, f"The {TITLES[role]} {word}s: {line.medicine}{reason}")
        return answered

    def sign(self, role: str) -> None:
        """Sign the list as it stands.

        Raises:
            ToolError: If the patient has left.
        """
        self._open()
        other = other_role(role)
        self.signed[role] = self.clock.now
        self.turn = other
        if other not in self.signed:
            self.notify(other, f"The {TITLES[role]} has signed the list.")

    def _open(self) -> None:
        if self.left:
            raise ToolError("The patient has left; nothing can be changed.")


def describe(line: Line) -> str:
    """Return a line of the list in words."""
    dose = f" {line.dose:g} mg a day" if line.dose else ""
    return f"{line.medicine}: {line.disposition}{dose} ({line.reason}); {line.standing}"
