"""Times that the payer offers for calls between the two seats, and whether one could be kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.dates import moment
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.vocabulary.authorization import PeerToPeerStatus

#: What this module puts on the agenda.
PASSED = "offered_times_passed"
#: A time has to lie so long after the provider sees the offer.
_NOTICE = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Times that were offered once.

    Attributes:
        case_id: The case.
        slots: The times.
        made: When they were offered.
        seen: When the provider had the turn first since; None before.
    """

    case_id: str
    slots: tuple[str, ...]
    made: datetime
    seen: datetime | None = None

    @property
    def keepable(self) -> bool:
        """Whether the provider could take one of the times."""
        soonest = (self.seen or self.made) + _NOTICE
        return any(moment(slot, "slots") >= soonest for slot in self.slots)


class Offers(App):
    """What was offered, as a judge looks at it; never shown."""

    name = "offers"
    made = table[str, Offer](content=False)

    def keep(self, request: PayerPeerToPeerRequest) -> None:
        """Keep what a request offers now."""
        now = self.world.clock.now
        offer = Offer(case_id=request.case_id, slots=request.offered_slots, made=now)
        self.made[f"{request.id}/{len(self.made)}"] = offer
        last = max(moment(slot, "slots") for slot in offer.slots)
        self.world.clock.agenda.put(last, PASSED, request_id=request.id)

    def passed(self, request: PayerPeerToPeerRequest) -> bool:
        """Return whether the times on offer are past, and one of them could have been taken."""
        if request.status is not PeerToPeerStatus.SLOTS_OFFERED:
            return False
        offer = [one for name, one in self.made.items() if name.startswith(f"{request.id}/")][-1]
        over = all(moment(slot, "slots") <= self.world.clock.now for slot in offer.slots)
        return over and offer.keepable

    def see(self) -> None:
        """Note that the provider has the turn."""
        for name, offer in list(self.made.items()):
            if offer.seen is None:
                self.made[name] = replace(offer, seen=self.world.clock.now)

    def keepable(self, case_id: str) -> bool:
        """Return whether any time could be kept that was offered for a call about a case."""
        return any(one.keepable for one in self.made.values() if one.case_id == case_id)
