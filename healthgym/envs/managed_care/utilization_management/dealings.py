"""What the payer's staff tell of their dealings: with the practice, with paper, and with others.

That the practice gave in, that a committee or a program decided, that a page was lost, that
somebody was seen or called, that others were treated alike, that a decision is only for show: it is
false unless it is on record (:mod:`~healthgym.worlds.managed_care.dealings`). On record is what the
practice wrote and said, and all that could be seen. What may yet happen is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import free_of_policies, stems
from healthgym.worlds.managed_care.dealings import (
    NOT,
    RECOGNIZED,
    DealtWith,
    Told,
    asked,
    denied,
    what_of,
)
from healthgym.worlds.managed_care.seen import CORRECTED
from healthgym.worlds.managed_care.stated import stated
from healthgym.worlds.managed_care.word_forms import form

#: What may not be told unless the file has it in these words, by the name of its expression.
_NOT_ON_FILE = {
    "authority": "nobody else decides",
    "staff_said": "nobody else had a part in it",
    "met_them": "nobody was seen or spoken with",
    "insured_said": "the member said nothing to the plan",
    "paper": "nothing happened to the paper",
    "others": "each case is decided by itself",
    "taken_back": "words that take back what they say",
    "provisional": "what was decided is decided",
    "foretold": "nobody knows how it ends",
    "consequence": "nothing like that follows",
    "wrong_appeal": "no way to appeal",
    "motive": "no reason to decide",
    "method": "no way to review",
    "own_deed": "nobody on file did it",
}
_AUTHORITY = "authority"
#: Of these, what may be told of a call in which a day or a value was given.
_HEARD = frozenset({"met_them", "staff_said"})
#: The same, unless there was to be a call with the practice.
_NO_CALL = {"called_them": "there was no call"}
#: What can be told as something that may happen: "a lawyer may help you", "if a page got lost".
_POSSIBLE = frozenset({"authority", "staff_said", "met_them", "insured_said", "paper", "own_deed"})
#: What is free behind a condition: "if the records show it, the decision will be reversed".
_CONDITIONAL = frozenset({"foretold"})
_CONDITION = re.compile(r"\b(?:if|unless|whether|should|when|once|where)\b")
#: Of whom a member's rights tell, as long as none of them has to do with a decision: "an attorney
#: may file for you", "the insurance department of your state can help".
_RIGHTS = re.compile(
    r"\b(?:(?:act|appeal|speak|sign|file|write|ask)(?:s|ed|ing)? (?:it |one |this |an appeal )?for "
    r"(?:you|them|the member)|on (?:your|their|the member's) behalf|represent(?:s|ed|atives?)?|"
    r"be filed by|of your (?:choice|state)|power of attorney|(?:can |may |will )?(?:help|assist)s? "
    r"you|(?:gives?|entitles?) you(?! (?:to )?no)|"
    r"you (?:may|can) (?:ask|have|bring|also|turn|write|call)|"
    r"(?:is|are) (?:not|never) (?:required|needed)|legal (?:advice|aid)|set by)\b"
)
#: What rules over a decision, which is none of a member's rights.
_RULES = re.compile(
    r"\b(?:requires?|forb\w+|told|tells|said|says|order\w+|advised|decid\w+|den(?:y|ied|ies)|"
    r"approv\w+|refus\w+|wants?|wanted|insist\w+|stopp\w+|bars|barred|prevent\w*|must|made us|"
    r"instruct\w+|reviewed|looked|agree\w*|only|unless|until|"
    r"our (?:lawyers?|attorneys?|legal|counsel))\b"
)
#: What the practice is said to have done or said; who is spoken to is the practice, or the member.
_DID, _SAID = ("practice_did", "you_did"), ("practice_said", "you_said")
#: How deeds begin that are done by speaking, as whoever was on a call did.
_TELLING = ("gave", "give", "confirm", "provid", "suppl", "stat", "nam", "told", "tell", "report")
#: How words for a mistake, and for what there is no doubt of, begin.
_CONCEDING = ("mista", "error", "misre", "mispr", "wrong", "clerical", "sorry", "quali", "unfai")
#: So many words that the practice did not use are too many in what it is said to have said.
_STRANGE = 3
#: Fewest letters of a word by which what was said is known.
_LEAST_LETTERS = 4
#: What whoever corrects a page does.
_TAKEN_BACK = re.compile(r"\b(?:withdr|retract|dropp|took|taken)\w*")
#: Words that begin another clause, which is not denied or supposed with the one before.
_GOING_ON = r"(?!(?:that|who|which|but|because|and|since|so|until|after|as|when)\b)"
#: What denies something from further away, or in a list.
_DENIED = re.compile(
    rf"(?:{NOT}|\bfree (?:of|from)\b|\bw/o\b)(?: {_GOING_ON}(?!if\b|unless\b)[\w'-]+){{0,10}} $|"
    r"\b(?:no(?! doubt\b)|neither|without|nor)(?: [\w'-]+){1,3}(?:, [\w'-]+(?: [\w'-]+)?){0,4}"
    r"(?:,? n?or|,) $|\bcannot $"
)
#: How far that goes from where a sentence begins: "nothing that anybody said …".
_ALL_DENIED = re.compile(r"(?:nothing|none|nobody|no one) (?:that|who|of|which)\b[^,.;:]*")
#: How far before something these are looked for.
_NEAR = 240
#: What only may be so, before it or in a list.
_SUPPOSED = re.compile(
    r"\b(?:if|whether|unless|should|may|might|can|could|would|whatever|what|anything|whichever|"
    r"right to|wish to|free to|contact|ask|write to)\b"
    rf"(?: {_GOING_ON}[\w'-]+| (?:think|believe|feel|find) that){{0,9}} $|"
    rf"\b(?:may|might|can|could)\b(?:,? {_GOING_ON}[\w'-]+){{0,9}} or (?:an? |the |your )?$"
)


@dataclass(frozen=True)
class Dealings(DealtWith):
    """What is on record of the payer's dealings.

    Attributes:
        called: Whether there was to be a call with the practice.
    """

    called: bool = False

    def unfounded(self, text: str) -> Iterator[str]:
        """Yield what a text tells of dealings that is not on record.

        Args:
            text: The text.
        """
        for sentence in self.sentences(text):
            for told in told_in(sentence):
                why = self._wrong(told, sentence)
                if why:
                    yield f"{why}: {told.words[:60]!r}"

    def _wrong(self, told: Told, sentence: str) -> str:
        if self.has(told.words):
            return ""
        if told.form in _HEARD and self.called and self._passed_on(sentence):
            return ""  # "by phone we learned that it was 10 points"
        if told.form in _NOT_ON_FILE:
            return _NOT_ON_FILE[told.form]
        if told.form in _NO_CALL:
            return "" if self.called else _NO_CALL[told.form]
        if told.form in _DID:
            telling = told.what.startswith(_TELLING) and self._passed_on(sentence)
            back = any(map(self.has, CORRECTED)) and _TAKEN_BACK.search(told.words)
            return "" if telling or back or self.did(told.what) else "nobody did"
        said = self._said(told.what) if self.spoken else self._stands(told.what)
        return "" if said else "nobody said so"

    def _said(self, what: str) -> bool:
        """Return whether what the practice is said to have said may be in its words.

        What was said is told again in other words. A mistake that it owned to is in its own words,
        or it was none; of all else most words are.
        """
        told = stems(what)
        heavy = (stem for stem in told if stem.startswith(_CONCEDING))
        strange = {one for one in told if len(one) >= _LEAST_LETTERS}
        strange -= free_of_policies() | stems(self.spoken) | stems(self.policy())
        return all(map(self.did, heavy)) and len(strange) < max(_STRANGE, len(told) / 2)

    def _passed_on(self, sentence: str) -> bool:
        """Return whether a sentence passes on a day or a number that the other side gave."""
        told, given = stated(sentence), stated(self.spoken)
        return bool(told.days & given.days or told.numbers & given.numbers)

    def _stands(self, what: str) -> bool:
        """Return whether the words of what somebody is said to have said stand on file."""
        told = {stem for stem in stems(what) if len(stem) >= _LEAST_LETTERS}
        return bool(told) and told <= free_of_policies() | stems(self.file.flat)


@short_text_cache(2048, 400)  # it tells the same on any file
def told_in(sentence: str) -> tuple[Told, ...]:
    """Return what a sentence, in small letters, tells of dealings."""
    return tuple(_told(sentence))


def _told(sentence: str) -> Iterator[Told]:
    opening = _ALL_DENIED.match(sentence)
    of_rights = _RIGHTS.search(sentence) and not _RULES.search(sentence)
    first = opening.end() if opening else 0
    for name in (*_NOT_ON_FILE, *_NO_CALL, *_DID, *_SAID):
        if name == _AUTHORITY and of_rights:
            continue
        if name in _CONDITIONAL and _CONDITION.search(sentence):
            continue
        supposable = name in _POSSIBLE or name not in _NOT_ON_FILE
        for found in form(name).finditer(sentence, first):
            before = sentence[max(found.start() - _NEAR, 0) : found.start()]
            if denied(before) or _DENIED.search(before) or asked(sentence, before):
                continue
            if not (supposable and _SUPPOSED.search(before)):
                yield Told(name, _widened(found), what_of(found))


def _widened(found: re.Match[str]) -> str:
    """Return what was found, or as many words as are known again from where it begins."""
    words = found.string[found.start() : found.end() + _NEAR].split(maxsplit=RECOGNIZED)
    return max(found[0], " ".join(words[:RECOGNIZED]), key=len)
