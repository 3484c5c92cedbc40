"""The swap principles on sentences of real reports: one claim changes, and the grammar holds.

As in the source nothing that is there is made absent. A sentence that cannot be changed by a rule
for which there is a grammatical form is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from healthgym.envs.xray_correction.claims import load
from healthgym.envs.xray_correction.reading.reader import Reading, read_text

_ARTICLE = re.compile(r"\b(an?)(?= (?:\w))", re.IGNORECASE)
_SEEN = r"(?:seen|present|identified|noted|visualized|demonstrated|evident|appreciated|detected)"
_NOUN = r"[a-z][a-z-]*(?: [a-z][a-z-]*){0,4}?"
_VERB = rf"(?: (?:is|are|was|were))?(?P<seen> {_SEEN})?"
#: Before what is denied: "convincing evidence for a".
_EVIDENCE = r"(?:(?:[a-z]+ )?evidence (?:of|for) (?:an? )?)?"
_THERE = re.compile(
    rf"[Tt]here (?:is|are|was|were) no {_EVIDENCE}(?P<noun>{_NOUN})"
    rf"(?: or (?P<other>{_NOUN}))?(?P<seen> {_SEEN})?\."
)
_NONE = re.compile(rf"No {_EVIDENCE}(?P<noun>{_NOUN})(?: or (?P<other>{_NOUN}))?{_VERB}\.")
#: Nouns that take no article in the singular.
_MASS = re.compile(
    r"(?:edema|oedema|atelectasis|emphysema|air|gas|fluid|disease|pneumonia|cardiomegaly|"
    r"consolidation|opacification|hyperinflation|elevation)$"
)

#: Parts of a lung that are called so only after its name or side ("the base of the heart").
_PARTS = frozenset({"apex", "apices", "base", "bases"})
#: Where what a noun is about begins.
_ABOUT = re.compile(r" (?:to|of|in|on|at|within|with|for|along) ")


def literal_swaps(sentence: str) -> list[tuple[str, str]]:
    """Return what a sentence reads after each change of one of its claims.

    Returns:
        Pairs of a principle and the new sentence.
    """
    before = read_text(sentence)
    candidates = [*_substituted(sentence), *_asserted(sentence)]
    return [
        (name, text) for name, text in candidates if _one_changed(before, read_text(text), name)
    ]


def _one_changed(before: Reading, after: Reading, principle: str) -> bool:
    """Return whether the same is spoken of, in the same words, and one claim is another.

    What is said to be absent has no other side or size ("no large effusion").
    """
    old_claims, new_claims = (
        sorted(reading.claims, key=lambda claim: claim.entity) for reading in (before, after)
    )
    same = [claim.entity for claim in old_claims] == [claim.entity for claim in new_claims]
    if not same or sorted(before.unread) != sorted(after.unread):
        return False
    changed = [(a, b) for a, b in zip(old_claims, new_claims, strict=True) if a != b]
    if len(changed) != 1:
        return False
    old, new = changed[0]
    if principle == "P3" and old.entity == "heart" and old.present is not True:
        # A silhouette does not get worse.
        return False
    return old.present is not False or new.present is not False or principle == "P3"


def _substituted(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the sentence with one word for another, in the forms that keep its grammar."""
    for principle, pairs in load("literal.json").items():
        for old, new in [*pairs, *([b, a] for a, b in pairs)]:
            # There is no left middle lobe and no right lingula; nothing is "enlarged and contour",
            # "severely to moderately enlarged", "not enlarged but stable", "mildly normal",
            # "grossly worsening" or "within enlarged".
            end = r"(?![\w-]| (?:middle\b|lingula|(?:but|and|or|to)\b))"
            start = r"(?<![\w-])(?<!within )"
            if new.startswith(("normal", "wors", "improv")):
                start += r"(?<!ly )"
            if old in _PARTS:
                start += r"(?:(?<=left )|(?<=right )|(?<=lung ))"
            match = re.search(rf"{start}{re.escape(old)}{end}", sentence, re.IGNORECASE)
            if match is not None:
                put = _capital(new) if match[0][0].isupper() else new
                text = sentence[: match.start()] + put + sentence[match.end() :]
                if principle == "P1" and re.search(rf"\b{new}\b", sentence, re.IGNORECASE):
                    # "Moderate left and small right effusion": one of the two would be twice there.
                    continue
                if len(re.findall(r"\bsize\b", text)) <= max(sentence.count("size"), 1):
                    yield principle, _with_articles(text)


def _asserted(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the sentence with what it denies said to be there (P7), one of two where it is two."""
    for pattern, there in ((_THERE, True), (_NONE, False)):
        match = pattern.fullmatch(sentence.strip())
        if match is None:
            continue
        noun, other, seen = match["noun"], match["other"], match["seen"] or ""
        if other and not all(read_text(f"No {each}.").claims for each in (noun, other)):
            # "No clavicle or rib fracture."
            continue
        for named, rest in ((noun, other), (other, noun)):
            if not named:
                continue
            verb = "are" if _plural(named) else "is"
            if there:
                text = f"There {verb} {_article(named)}{named}{seen}"
            elif seen:
                text = f"{_article(named)}{named} {verb}{seen}"
            else:
                text = named
            yield "P7", _capital(f"{text} but no {rest}." if rest else f"{text}.")


def _plural(noun: str) -> bool:
    named = _ABOUT.split(noun)[0]
    return named.endswith("s") and not named.endswith("sis")


def _article(noun: str) -> str:
    if _plural(noun) or _MASS.search(_ABOUT.split(noun)[0]):
        return ""
    return "an " if noun[0] in "aeiou" else "a "


def _with_articles(text: str) -> str:
    """Return a text in which "a" and "an" fit the word that follows."""

    def fit(match: re.Match[str]) -> str:
        vowel = text[match.end() + 1].lower() in "aeiou"
        return match[1][0] + ("n" if vowel else "")

    return _ARTICLE.sub(fit, text)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
