"""What a good caller says to whoever is not the person, and when to try again.

It is one manner for whoever calls: what it needs is who has the telephone, as the caller takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import Final

from healthgym.envs.managed_care.care_management.speech import PhraseBook, to_others
from healthgym.worlds.managed_care.conversation.acts import Meant
from healthgym.worlds.managed_care.conversation.speaking import words_in
from healthgym.worlds.managed_care.conversation.surroundings import Answering
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

#: Hours at which one tries in turn: morning, afternoon, evening.
_TRIED_AT: Final = (time(10, 5), time(14, 5), time(17, 35))


@dataclass(slots=True)
class Reaching:
    """How far a caller has come with reaching somebody.

    Attributes:
        book: Whose phrase book it is.
        caller: Name of the caller.
        name: Name of the person.
        rules: Today's numbers.
        proxy: Name of whoever decides for the person, as the referral has it; empty if nobody.
        hour: Hour at which somebody was there; None if that is not known.
        missed: Calls that nobody took.
        left: Messages that were left.
        last: When the last call was that nobody took.
        put_off: Whether a relative has said when to call.
        spoke: Messages said to whoever has the telephone, of this call.
        waiting: What is still to be said of what did not go into one message.
    """

    book: str
    caller: str
    name: str
    rules: OperatingRules
    proxy: str = ""
    hour: int | None = None
    missed: int = 0
    left: int = 0
    last: datetime | None = None
    put_off: bool = False
    spoke: int = 0
    waiting: list[Meant] = field(default_factory=list)

    def begins(self) -> None:
        """Forget what holds for one call only."""
        self.spoke = 0
        self.waiting.clear()

    def not_taken(self, at: datetime) -> None:
        """Note a call that nobody took."""
        self.missed += 1
        self.last = at

    def next_try(self, at: datetime) -> datetime:
        """Return when to call after calls that nobody took, at another time of day.

        Args:
            at: The earliest time, on the person's clock.
        """
        if self.last is None:
            return at
        day = self.last.date() + timedelta(days=self.rules.outreach_spacing_days)
        then = datetime.combine(day, _TRIED_AT[self.missed % len(_TRIED_AT)])
        return max(at, then) if self.hour is None else at

    def to(self, answering: Answering) -> str:
        """Return what to say to somebody else; empty if nothing is.

        Args:
            answering: Who or what has the telephone.
        """
        self.spoke += 1
        match answering:
            case Answering.STRANGER:
                return self._say("relative" if self.spoke == 1 else "stranger")
            case Answering.MACHINE:
                if self.left >= self.rules.voicemails_most:
                    return ""
                self.left += 1
                return self._say("machine")
            case Answering.RELATIVE:
                return self._say("again" if self.put_off else "relative")
            case _:
                return self._say("proxy" if self.proxy else "unable")

    def beside(self, key: str) -> str:
        """Return what is said beside the script, such as ``help``."""
        return self._say(key)

    def _say(self, key: str) -> str:
        return to_others(
            self.book,
            key,
            caller=self.caller,
            name=self.name,
            number=self.rules.outreach_line,
            proxy=self.proxy,
        )


def portion(
    acts: Sequence[Meant], book: PhraseBook, said: dict[Meant, int], most: int
) -> list[Meant]:
    """Return as many acts as go into a message of so many words: the first ones, one at least.

    Args:
        acts: What is to be said.
        book: In which words.
        said: How often each was said before.
        most: Words of a message; 0 for any number.
    """
    chosen: list[Meant] = []
    for each in dict.fromkeys(acts):
        if chosen and most and words_in(book.say([*chosen, each], said)) > most:
            break
        chosen.append(each)
    return chosen
