"""What could be seen of a case, and whether a word or a person stands in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from healthgym.worlds.managed_care.claim_words import STEM, inflected, stems
from healthgym.worlds.managed_care.short_forms import known_short, spelled_out
from healthgym.worlds.managed_care.texts import Texts

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_SEASONS = {
    "winter": frozenset({"December", "January", "February", "March"}),
    "spring": frozenset({"March", "April", "May", "June"}),
    "autumn": frozenset({"September", "October", "November", "December"}),
    "easter": frozenset({"March", "April"}),
    "thanksgiving": frozenset({"November"}),
    "christmas": frozenset({"December"}),
}
#: Fewest and most letters of a word cut short.
_CUT = 3, 4
#: What a compound may begin with.
_PREFIXES = frozenset({"post", "pre", "non", "anti", "mid", "self", "re", "co", "per"})
#: How pages say that an entry no longer holds.
CORRECTED = ("correction of an earlier", "no longer held", "in error", "corrected report")
#: What is before a place within a word, compounds being one, and what is after the end of one.
_INSIDE, _ENDED = re.compile(r".?[a-z]|[a-z][-']", re.DOTALL), re.compile(r"(?:'s)?(?![-']?[a-z])")
#: Who is called by a field of medicine, and those whose field has another name.
_OF_A_FIELD = ("ologist", "ologists")
_FIELDS = {
    "therapist": "therap", "dietitian": "diet", "nutritionist": "nutrition",
    "surgeon": "surg", "pediatrician": "pediatric", "psychiatrist": "psychiatr",
    "internist": "internal medicine", "physiatrist": "physical medicine", "podiatrist": "podiatr",
    "obstetrician": "obstetric", "geriatrician": "geriatric",
}  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What could be seen of a case.

    Words are looked for in its texts one by one: most of what is written is of the office or of
    everyday language, and a file is far longer than a note.

    Attributes:
        texts: Everything that was sent, recorded, printed in the policy or said.
        policy: Returns what the policy says.
        talked: Whether anybody of the office may have spoken with the other side.
        months: Returns the months of the days that could be seen, in words.
        free: Words for people whom anybody of this desk may bring in.
        pages: Folders of the handbook whose words are the desk's own.
        sent: Whether documents were sent.
        wrote: Whether those to whom is written wrote something themselves.
        spoken_with: Whether they were spoken with.
        heard: Whether the other side said something on a call.
        ago: Returns how many days before today something on file was.
        other_words: Returns other words for somebody: a teacher "taught".
    """

    texts: Texts
    policy: Callable[[], str]
    talked: bool
    months: Callable[[], Set[str]] = lambda: frozenset(MONTHS)
    free: frozenset[str] = frozenset()
    pages: tuple[str, ...] = ("payer-um", "platform", "medical-library/utilization-review")
    sent: bool = False
    wrote: bool = False
    spoken_with: bool = False
    heard: bool = False
    ago: Callable[[], Set[int]] = frozenset
    other_words: Callable[[str], tuple[str, ...]] = lambda word: ()

    def has(self, word: str) -> bool:
        """Return whether a word, in small letters, stands in it."""
        return any(_ENDED.match(text, end) for text, end in self._ends(word))

    def stands(self, word: str) -> bool:
        """Return whether a word, or each part of a compound, begins as one does that it has.

        So does what an abbreviation is short for: an echo is an echocardiogram.
        """
        parts = word.split("-")
        told = [part for part in parts if part not in _PREFIXES]
        if self._begins(word) or (len(parts) > 1 and all(map(self._begins, told))):
            return True
        return known_short(word) and any(spelled_out(word, text) for text in self.texts)

    def begins(self, word: str) -> bool:
        """Return whether a word that is cut short stands in it in full: "sess", "BUP"."""
        return _CUT[0] <= len(word) <= _CUT[1] and next(self._ends(word), None) is not None

    @cached_property
    def corrected(self) -> bool:
        """Whether somebody has taken back what a page said."""
        return any(word in text for text in self.texts for word in CORRECTED)

    def has_form(self, word: str) -> bool:
        """Return whether a word stands in it in any of its forms."""
        return any(map(self.has, sorted(inflected(word))))

    def _begins(self, word: str) -> bool:
        stem = word[:STEM]
        if len(stem) < STEM:  # the whole of a short word
            return self.has(stem)
        return next(self._ends(stem), None) is not None

    def _ends(self, part: str) -> Iterator[tuple[str, int]]:
        """Yield a text, and where in it a part of a word ends, each time that a word begins so."""
        for text in self.texts if part else ():
            at = text.find(part)
            while at >= 0:
                if not _INSIDE.fullmatch(text, max(at - 2, 0), at):
                    yield text, at + len(part)
                at = text.find(part, at + 1)

    @cached_property
    def policy_stems(self) -> frozenset[str]:
        """The beginnings of the policy's words."""
        return stems(self.policy())

    def knows(self, person: str) -> bool:
        """Return whether somebody, or a day, is spoken of: the word itself, or a doctor's field."""
        if person in _SEASONS:
            return not _SEASONS[person].isdisjoint(self.months())
        single = person.removesuffix("s")
        names = (person, single, f"{single}s", *self.other_words(person))
        if any(each in self.free or self.has(each) for each in names):
            return True
        field = _FIELDS.get(single, single.removesuffix("ist"))
        named = single in _FIELDS or person.endswith(_OF_A_FIELD)
        return named and next(self._ends(field), None) is not None
