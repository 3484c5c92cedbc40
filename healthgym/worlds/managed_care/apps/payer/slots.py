"""Which of the times that are offered for a call the provider takes."""

from __future__ import annotations

from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.vocabulary.authorization import SlotRule


def pick(contract: PeerContract, slots: tuple[str, ...]) -> str | None:
    """Return which of the times offered a provider takes; None if none can be made.

    Args:
        contract: What it can make, and which of these it takes.
        slots: The times offered.
    """
    made = [slot for slot in slots if slot in contract.offered_slots or not contract.offered_slots]
    if not made:
        return None
    if contract.slot_rule is SlotRule.FIRST_OFFERED:
        return made[0]
    return made[-1] if contract.slot_rule is SlotRule.LAST_OFFERED else made[len(made) // 2]
