"""What clinicians can do: read their own half, talk, and make the list."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.envs.medication_reconciliation.wording import section
from healthgym.errors import ToolError
from healthgym.worlds.reconciliation.formulary import find, formulary
from healthgym.worlds.reconciliation.world import (
    AGREE,
    DISAGREE,
    TITLES,
    Disposition,
    Reason,
    ReconciliationWorld,
    describe,
    other_role,
)

_MESSAGE_TIME = timedelta(minutes=5)
_MOST_SHOWN = 30


class _HalfToolset(Toolset[ReconciliationWorld]):
    def _read(self, name: str) -> str:
        role = self.caller.role
        self.world.look(role, name)
        return section(self.world.record, role, name)


class ChartToolset(_HalfToolset):
    """The hospital's half of the record."""

    @tool(ToolKind.READ)
    def read_admission_list(self) -> str:
        """Read what the patient is said to take: dose, when it was confirmed, where it is from."""
        return self._read("read_admission_list")

    @tool(ToolKind.READ)
    def read_ward_orders(self) -> str:
        """Read what the ward started and means to go on after discharge."""
        return self._read("read_ward_orders")

    @tool(ToolKind.READ)
    def read_results(self) -> str:
        """Read the patient's conditions and kidney function."""
        return self._read("read_results")


class PharmacyToolset(_HalfToolset):
    """The community pharmacy's half of the record."""

    @tool(ToolKind.READ)
    def read_dispensing(self) -> str:
        """Read the dispensing history: dose on the label, date of prescription, last collection."""
        return self._read("read_dispensing")

    @tool(ToolKind.READ)
    def read_counter(self) -> str:
        """Read the patient's allergies, and what was bought without a prescription."""
        return self._read("read_counter")

    @tool(ToolKind.READ)
    def read_letters(self) -> str:
        """Read the letters of the practice about medicines that it stopped."""
        return self._read("read_letters")


class ListToolset(Toolset[ReconciliationWorld]):
    """The list, and the talk about it; the same for both clinicians."""

    @tool(ToolKind.READ)
    def look_up_medicine(self, medicine: str) -> str:
        """Look a medicine up: its class, the allergy that covers it, its renal limit.

        Args:
            medicine: Generic name, e.g. "metformin".
        """
        found = find(medicine)
        if found is None:
            names = ", ".join(formulary())
            raise ToolError(f"{medicine[:60]!r} is not in the formulary, which has {names}.")
        parts = [f"class {found.group}"]
        if found.allergy:
            parts.append(f"covered by an allergy to {found.allergy}")
        if found.renal is not None:
            most = f"at most {found.renal.most:g} mg a day" if found.renal.most else "to be avoided"
            parts.append(f"{most} below an eGFR of {found.renal.below}")
        doses = ", ".join(f"{dose:g}" for dose in found.doses)
        return f"{found.name}: {'; '.join(parts)}; usual doses {doses} mg a day"

    @tool(ToolKind.READ)
    def read_messages(self) -> str:
        """Read all messages, oldest first."""
        said = [f"{TITLES[role]}: {text}" for role, text in self.world.messages]
        return "\n".join(said[-_MOST_SHOWN:]) or "No messages."

    @tool(ToolKind.READ)
    def show_list(self) -> str:
        """Show the list: each line, who proposed it, what the other says to it, and who signed."""
        lines = [
            f"- {describe(line)} (proposed by the {TITLES[line.by]})"
            for line in self.world.lines.values()
        ]
        signed = ", ".join(TITLES[role] for role in self.world.signed) or "nobody"
        return "\n".join([*(lines or ["No lines yet."]), f"Signed by {signed}."])

    @tool(ToolKind.WRITE, takes=_MESSAGE_TIME)
    def send_message(self, text: str) -> str:
        """Send a message to your colleague and hand the turn over until an answer comes.

        Args:
            text: What to say, at most 2000 characters, e.g. "What do you have on metformin?".
        """
        role = self.caller.role
        self.world.say(role, text)
        return f"Sent to the {TITLES[other_role(role)]}."

    @tool(ToolKind.WRITE)
    def propose_line(
        self,
        medicine: str,
        disposition: Literal["continue", "change", "stop", "clarify"],
        reason: Literal[
            "current",
            "newer_dose",
            "not_collected",
            "duplicate",
            "renal",
            "stopped_by_gp",
            "allergy",
        ],
        daily_dose: float = 0.0,
    ) -> str:
        """Propose a line of the list, in place of the medicine's earlier one.

        Args:
            medicine: Generic name, e.g. "metformin".
            disposition: What is to become of it.
            reason: The rule that decides.
            daily_dose: Dose in mg a day after discharge, e.g. 1000; left out to stop or clarify.
        """
        line = self.world.propose(
            self.caller.role, medicine, Disposition(disposition), daily_dose, Reason(reason)
        )
        return describe(line)

    @tool(ToolKind.WRITE)
    def agree(self, medicines: list[str]) -> str:
        """Agree to lines that your colleague proposed.

        Args:
            medicines: Generic names, e.g. ["metformin", "ramipril"].
        """
        if not medicines:
            raise ToolError("medicines: at least one.")
        role = self.caller.role
        lines = [self.world.answer(role, name, AGREE) for name in medicines]
        return f"Agreed to {', '.join(line.medicine for line in lines)}."

    @tool(ToolKind.WRITE)
    def disagree(self, medicine: str, why: str) -> str:
        """Disagree with a line that your colleague proposed.

        Args:
            medicine: Generic name, e.g. "metformin".
            why: The reason, at most 300 characters, e.g. "The eGFR is 24.".
        """
        if len(why) > 300:
            raise ToolError(f"why: at most 300 characters, not {len(why)}.")
        line = self.world.answer(self.caller.role, medicine, DISAGREE, why)
        return f"You disagree with the line for {line.medicine}."

    @tool(ToolKind.SUBMIT)
    def sign(self) -> str:
        """Sign the list as it stands and finish; what is changed later is not what you signed."""
        self.world.sign(self.caller.role)
        return "Signed."
