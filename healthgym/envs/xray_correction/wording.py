"""From claims to sentences, in the words of radiology."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.envs.xray_correction.claims import Claim, entities, load

_VOWEL = re.compile(r"\b([Aa]) (?=[aeiou])(?!one\b)")


class Wording:
    """The choices of words of one report: the same claim is worded the same way twice.

    Args:
        seed: Seed of the choices.
        plain: Always take the first wording.
    """

    def __init__(self, seed: int, *, plain: bool = False) -> None:
        self._seed, self._plain = seed, plain

    def sentence(self, claims: Sequence[Claim], key: int) -> str:
        """Return a sentence that says one claim, or two of which a report speaks together.

        Args:
            claims: One or two claims.
            key: Which choice of words; the same key words a swapped claim as the claim before.
        """
        rng = np.random.Generator(np.random.PCG64([self._seed, key]))
        # As many draws whatever is said, so that a swap changes nothing but what it swaps.
        picks = [int(rng.integers(2**31)) for _ in range(24)]
        if len(claims) == 1:
            return _finish(self._single(claims[0], picks))
        return _finish(self._pair(claims[0], claims[1], picks))

    def _pick(self, options: Sequence[str], pick: int) -> str:
        return options[0] if self._plain else options[pick % len(options)]

    def _single(self, claim: Claim, picks: Sequence[int]) -> str:
        table = load("phrases.json")
        forms = table["entities"][claim.entity]
        if claim.present is False:
            text = self._pick(forms["absent"], picks[0])
        else:
            named = next((forms[key] for key in ("any", claim.place) if key in forms), None)
            text = self._pick(named or forms["present"], picks[0])
        return self._fill(text, claim, picks) + self._change(claim, picks)

    def _pair(self, first: Claim, second: Claim, picks: Sequence[int]) -> str:
        """Return a sentence of two findings, present or absent each."""
        forms = load("phrases.json")["entities"]
        nouns = [forms[claim.entity]["noun"] for claim in (first, second)]
        if first.present is False and second.present is False:
            options = [
                f"There is no {nouns[0]} or {nouns[1]}",
                f"No {nouns[0]} or {nouns[1]} is {{seen}}",
                f"There is neither {nouns[0]} nor {nouns[1]}",
                f"There is no evidence of {nouns[0]} or {nouns[1]}",
            ]
            return self._fill(self._pick(options, picks[0]), first, picks)
        if first.present and second.present:
            shorts = [self._short(claim, picks, 6 * n) for n, claim in enumerate((first, second))]
            return f"There is {shorts[0]} and {shorts[1]}"
        there, absent = (first, nouns[1]) if first.present else (second, nouns[0])
        offset = 0 if first.present else 6
        return f"There is {self._short(there, picks, offset)}, but no {absent}"

    def _short(self, claim: Claim, picks: Sequence[int], offset: int) -> str:
        form = load("phrases.json")["entities"][claim.entity]["short"]
        text = self._fill(form, claim, picks[offset:])
        return text + self._change(claim, picks[offset:]).replace(",", "", 1)

    def _change(self, claim: Claim, picks: Sequence[int]) -> str:
        if not claim.change:
            return ""
        return f", {self._pick(load('phrases.json')['change'][claim.change], picks[1])}"

    def _fill(self, text: str, claim: Claim, picks: Sequence[int]) -> str:
        table: JsonDict = dict(load("phrases.json"))
        values = {"side": claim.side, "seen": self._pick(table["seen"], picks[2])}
        words = table["severity"].get(claim.entity, {})
        if claim.severity in words:
            values["severity"] = self._pick(words[claim.severity], picks[3])
        if claim.place in table["zone"] and entities()[claim.entity].zones:
            values["zone"] = self._pick(table["zone"][claim.place], picks[4])
        if claim.place in table["tip"]:
            values["tip"] = self._pick(table["tip"][claim.place], picks[4])
        if claim.count:
            values["number"] = self._pick(table["number"][str(claim.count)], picks[5])
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        # What a claim read from free text leaves open is left open.
        text = re.sub(r"\{\w+\}", "", text)
        many = claim.count > 1
        return text.replace("(s)", "s" if many else "").replace("(is)", "are" if many else "is")


def _finish(text: str) -> str:
    text = _VOWEL.sub(r"\1n ", " ".join(text.split()))
    return f"{text[0].upper()}{text[1:]}."


def nouns() -> dict[str, str]:
    """Return what findings are called, by entity, for those that have a plain name."""
    forms = load("phrases.json")["entities"]
    return {name: form["noun"] for name, form in forms.items() if "noun" in form}
