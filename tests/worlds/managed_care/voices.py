"""Voices to test calls with: one who says a script, and one without moods."""

from __future__ import annotations

from dataclasses import dataclass, replace

from healthgym.worlds.managed_care.conversation.acts import Meant
from healthgym.worlds.managed_care.voices import (
    CallContext,
    Consent,
    Disclosure,
    LineDownError,
    Memory,
    Reply,
)


@dataclass(frozen=True, slots=True)
class LineDown:
    """A line of a script at which the call breaks."""


class ScriptedVoice:
    """A person who says one line after the other, for replays of what was recorded.

    Where a script has a line that breaks, the voice counts how often it broke: the recording went
    on after a refused call, which leaves nothing in a world by which to tell. Such a script serves
    one world.

    Args:
        lines: What is said, in turn.
        then: What is said after the last line.
    """

    def __init__(self, lines: tuple[Reply | LineDown, ...] = (), then: str = "All right.") -> None:
        self._lines = lines
        self._then = Reply(text=then)
        self._broke: list[LineDown] = []

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        """Return the next line.

        Raises:
            LineDownError: If it is one that breaks.
        """
        place = heard.exchanges + len(self._broke)
        line = self._lines[place] if place < len(self._lines) else self._then
        if isinstance(line, LineDown):
            self._broke.append(line)
            raise LineDownError("The line broke.")
        return line


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a plain voice tells when it is brought up.

    Attributes:
        cues: Words of which one brings it up, in small letters.
        words: What the person says.
        tells: What is disclosed by it.
    """

    cues: tuple[str, ...]
    words: str
    tells: tuple[Disclosure, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainVoice:
    """A person without moods: agrees or does not when asked, then answers what is brought up.

    Attributes:
        agrees: Whether they take part when asked.
        answers: What they tell once they agreed.
    """

    agrees: bool = True
    answers: tuple[Answer, ...] = ()

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        """Answer a message; hang up when asked again after a refusal."""
        said = message.casefold()
        if "?" in said and ("consent" in said or "agree" in said):
            return self._asked_to_take_part(heard)
        if heard.consent is not Consent.GIVEN:
            return Reply(text="I am listening. What is this about?")
        due = [answer for answer in self.answers if any(cue in said for cue in answer.cues)]
        told = tuple(item for answer in due for item in answer.tells)
        new = tuple(item for item in told if item not in heard.disclosed)
        words = " ".join(answer.words for answer in due) or "I see. Go on."
        return Reply(text=words, memory=replace(heard, disclosed=(*heard.disclosed, *new)))

    def _asked_to_take_part(self, heard: Memory) -> Reply:
        if self.agrees:
            return Reply(text="Yes, that is fine.", memory=replace(heard, consent=Consent.GIVEN))
        again = heard.consent is Consent.REFUSED
        words = "I said no. Goodbye." if again else "No, thank you. I do not want that."
        return Reply(text=words, stop=again, memory=replace(heard, consent=Consent.REFUSED))
