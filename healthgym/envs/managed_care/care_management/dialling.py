"""Who is on the line, and what stands in the way, as a reader hears it: the solver's telephone.

What one knows beforehand is how people answer a telephone, and the page on it; nothing of this
person. Whatever is said to somebody else than the person is not taken for said to them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta

from healthgym.envs.managed_care.care_management import hearing
from healthgym.envs.managed_care.care_management.listening import Listener
from healthgym.envs.managed_care.care_management.manner import next_words
from healthgym.envs.managed_care.care_management.reaching import Reaching, portion
from healthgym.envs.managed_care.care_management.speech import PhraseBook
from healthgym.worlds.managed_care.conversation.acts import Meant
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.conversation.surroundings import UNANSWERED, Answering
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

#: Where it stands how a telephone is answered; in the handbooks of offices that meet with it.
PAGE = "care-manager/operational/on-the-line.md"
_MESSAGES = re.compile(r"left (\w+) times at most")
_NUMBER = re.compile(r"and the number ([\d-]+)")
_WORDS = re.compile(r"at most (\d+) words at a time")
_TIMES = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3, "four": 4}
#: How a referral names who decides for somebody.
_PROXY = re.compile(
    r"(?:proxy on file(?: since last year)?: |Papers on file name )"
    r"(?P<name>[A-Z][^,(.;]+?)(?:,| \()"
)
_NEXT_DAY = time(10, 5)
_OVER = frozenset({Stage.REFUSED_FOR_GOOD, Stage.BROKEN_OFF})


def read_page(text: str, rules: OperatingRules) -> OperatingRules:
    """Return rules with the numbers that the page on the telephone states.

    Args:
        text: The page; a text without the numbers leaves the rules as they are.
        rules: The other numbers.
    """
    left, number, words = _MESSAGES.search(text), _NUMBER.search(text), _WORDS.search(text)
    if not (left and number and words):
        return rules
    return replace(
        rules,
        voicemails_most=_TIMES.get(left[1], 1),
        outreach_line=number[1],
        spoken_words_most=int(words[1]),
    )


def proxy_of(notes: str) -> str:
    """Return whom a referral names to decide for somebody; empty if it names nobody."""
    found = _PROXY.search(notes)
    return found["name"].strip() if found else ""


class Dialling:
    """Keeps account of who is on the line.

    Args:
        listener: What is made of the person.
        reaching: How far one has come with reaching them.
        book: The caller's words.

    Attributes:
        attempts: Calls so far, but for those to a wrong number.
        reached: Whether the person, or who decides for them, was ever on the line.
        unable: Whether the person cannot decide, and nobody may for them.
        struck: Whether an ambulance was called for.
    """

    def __init__(self, listener: Listener, reaching: Reaching, book: PhraseBook) -> None:
        self.listener, self.reaching, self.book = listener, reaching, book
        self.attempts = 0
        self.reached = self.unable = self.struck = False
        self._to = Answering.PERSON
        self._muddled = self._alarmed = self._interpreter = False
        self._most = 0

    @property
    def done(self) -> bool:
        """Whether no further call is needed."""
        return self.unable or self.listener.done

    # -- when to call ----------------------------------------------------------------------------

    def next_time(self, local: datetime) -> datetime:
        """Return when to call, on the person's clock.

        Args:
            local: What their clock shows.
        """
        reaching, rules = self.reaching, self.reaching.rules
        at = reaching.next_try(self.listener.next_time(local, rules))
        if reaching.missed and reaching.hour is not None:
            day = at.date() + timedelta(days=at.time() > time(reaching.hour, 55))
            at = max(at, datetime.combine(day, time(reaching.hour, 5)))
        return self.listener.next_time(at, rules)

    def begin_call(self, at: datetime) -> None:
        """Forget what holds for one call only."""
        self.reaching.begins()
        self.reaching.put_off = False
        self.listener.begin_call(at)
        self.attempts += 1
        self._to, self._alarmed, self._muddled = Answering.PERSON, False, False

    def picked_up(self, heard: str) -> None:
        """Take in what is heard first; nothing where the person is there at once.

        Args:
            heard: What is heard.
        """
        if hearing.sounds(heard, "machine"):
            self._to = Answering.MACHINE
        elif hearing.sounds(heard, "nobody"):
            self._to = Answering.NOBODY
        if self._to in UNANSWERED:
            self.reaching.not_taken(self.listener.now)

    # -- what to say -----------------------------------------------------------------------------

    def next_words(self) -> tuple[Sequence[Meant], str]:
        """Return what to do next and in which words; no words if there is nothing to say."""
        if self._to is Answering.NOBODY:
            return (), ""
        if self._to is not Answering.PERSON:
            return (), self.reaching.to(self._to)
        if self._alarmed:
            return (), self.reaching.beside("help")
        if self._muddled:
            self.unable = not self.reaching.proxy
            return (), self.reaching.to(Answering.PERSON)
        view, reaching, said = self.listener.view, self.reaching, self.listener.said
        first = not view.introduced
        if view.stage in _OVER or view.danger:
            reaching.waiting.clear()
        acts = reaching.waiting or list(next_words(view))
        now = portion(acts, self.book, dict(said), self._most)
        reaching.waiting = acts[len(now) :] if self._most else []
        words = self.book.say(now, said)
        return (
            now,
            f"{reaching.beside('interpreter')} {words}" if self._interpreter and first else words,
        )

    # -- what is heard ---------------------------------------------------------------------------

    def hear(self, text: str, acts: Sequence[Meant]) -> None:
        """Take in an answer, of whoever it is.

        Args:
            text: What is said.
            acts: What was said before, and was meant for the person.
        """
        if self._somebody_else(text) or self._lost(text, acts) or self._sudden(text):
            return
        if self._to is not Answering.PERSON:
            return
        if acts and not self.listener.view.identified and hearing.sounds(text, "muddled"):
            self._muddled = True
            return
        self.reached, self.reaching.hour = True, self.listener.now.hour
        self.listener.hear(hearing.plain(text), acts)

    def _somebody_else(self, text: str) -> bool:
        if hearing.sounds(text, "passed_on"):
            self._to, self._muddled = Answering.PERSON, False
            self.listener.view.introduced = False
            self.reaching.waiting.clear()
        elif self.listener.view.introduced and self._to is Answering.PERSON:
            return False
        elif hearing.sounds(text, "stranger"):
            self.attempts -= self._to is not Answering.STRANGER
            self._to, self.reaching.spoke = Answering.STRANGER, 1
        elif hearing.sounds(text, "away"):
            self._to, self.reaching.put_off = Answering.RELATIVE, True
            self.listener.put_off(hearing.appointment(text))
        elif hearing.sounds(text, "relative"):
            self._to = Answering.RELATIVE
        else:
            return False
        return True

    def _lost(self, text: str, acts: Sequence[Meant]) -> bool:
        """Note that nothing of a message arrived; return whether that is so."""
        if hearing.sounds(text, "foreign"):
            self._interpreter, self.listener.view.introduced = True, False
        elif hearing.sounds(text, "deaf"):
            self._most = self.reaching.rules.spoken_words_most
        elif hearing.sounds(text, "office_word"):
            self.listener.said.update(set(acts))  # which takes other words
        else:
            return False
        self.reaching.waiting.clear()
        return True

    def _sudden(self, text: str) -> bool:
        """Note that an ambulance is called for, or is on its way; return whether that is all."""
        if self._alarmed and hearing.sounds(text, "ambulance"):
            self._alarmed = False
            tomorrow = (self.listener.now + timedelta(days=1)).date()
            self.listener.free_from(datetime.combine(tomorrow, _NEXT_DAY))
        elif hearing.sounds(text, "emergency") or self._alarmed:
            self._alarmed = self.struck = True
        else:
            return False
        return True
