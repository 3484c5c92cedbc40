"""Whether what somebody claims in words of their own is covered by what they could see.

The words of an office are free: its handbook, its letters, what people say to be civil. What is
claimed beyond them has to be there: a name, a quotation, a test, an illness or a drug, somebody
else who knows or says something, a conversation, a deed, a day of the week, what a policy asks.
What is supposed, asked for, offered or said not to be there claims nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from healthgym.worlds.managed_care.word_forms import form

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“(])|[;\n]+")
_CLAUSE = re.compile(r"[,:]\s| - | but | however ")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*[A-Za-z]|[A-Za-z]")
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|St|No|vs)\.")
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
#: Ids of records and codes: no words.
_ID = re.compile(r"\b[A-Za-z]*\d[\w.-]*|\b[A-Z]+-[A-Z0-9-]+\b")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_MONTHS = "|".join(MONTHS)
#: A day is judged where days are.
_DAY = re.compile(
    rf"\b(?:(?:\d+ )?(?:{_MONTHS})(?: \d+(?:st|nd|rd|th)?)?,? \d+|\d+ (?:{_MONTHS}))\b"
)
_MONTH = re.compile(rf"\b(?:in|since|last|of|until|early|late) ({_MONTHS})\b")
_LEAST_QUOTED = 2
_STEM = 5
_LEAST_LETTERS = 4


@dataclass(frozen=True)
class Seen:
    """What could be seen of a case.

    Attributes:
        text: Everything that was sent, recorded, printed in the policy or said.
        policy: What the policy says.
        talked: Whether anybody of the office spoke with the other side.
        months: Months of the days that could be seen, in words.
        free: Words for people whom anybody of this desk may bring in.
    """

    text: str
    policy: str
    talked: bool
    months: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()

    @cached_property
    def stems(self) -> frozenset[str]:
        """The beginnings of its words."""
        return _stems(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words, in small letters."""
        return frozenset(_small(self.text))

    @cached_property
    def flat(self) -> str:
        """Its letters and digits, with one space between words."""
        return _flat(self.text)

    @cached_property
    def policy_stems(self) -> frozenset[str]:
        """The beginnings of the policy's words."""
        return _stems(self.policy)


def uncovered(text: str, seen: Seen, strange: int | None = 3) -> Iterator[str]:
    """Yield what a text claims that could not be seen.

    Args:
        text: What somebody wrote.
        seen: What could be seen.
        strange: How many words that stand nowhere make a sentence one about something else;
            None where other readers count them.
    """
    clean = text.replace("’", "'")
    for quoted in _QUOTED.findall(clean):
        parts = filter(None, map(_flat, re.split(r"\.{3}|…", quoted)))
        if any(len(part.split()) >= _LEAST_QUOTED and part not in seen.flat for part in parts):
            yield f"nobody wrote or said: {quoted[:60]!r}"
    for sentence in _SENTENCE.split(_TITLE.sub(lambda found: found[0][:-1], clean)):
        told = _DAY.sub("0", " ".join(sentence.split()))
        plain = _ID.sub("0", told)
        if plain:
            yield from _names(plain, seen)
            dated = _MONTH.findall(plain)
            yield from (f"nowhere dated: {each}" for each in dated if each not in seen.months)
            plain = _MONTH.sub("", plain)
            yield from _facts(plain.casefold(), seen)
            yield from _accounts(plain.casefold(), seen)
            yield from _clauses(told.casefold(), seen)
            if strange is not None:
                yield from _strange(plain.casefold(), seen, strange)


def _names(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield names, and abbreviations in capitals, that stand nowhere."""
    known = _table()["known_names"]
    words = list(_WORD.finditer(sentence))
    shouted = sum(word[0].isupper() and len(word[0]) > 1 for word in words) * 2 > len(words)
    for word in words[1:]:
        small = word[0].casefold().removesuffix("'s")
        opens = sentence[: word.start()].rstrip().endswith((":", "(", '"'))
        if not word[0][0].isupper() or opens or shouted or known(small):
            continue
        if small not in seen.words and small not in _desk_words():
            yield f"nowhere named: {word[0]}"


def _facts(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield tests, illnesses, drugs and deeds that stand nowhere, unless said not to be there."""
    if form("not_claimed").search(sentence) or sentence.endswith("?"):
        return
    table = _table()
    for clause in _CLAUSE.split(sentence):
        if form("not_there").search(clause):
            continue
        for word in _small(clause):
            named = table["clinical"](word) or table["conduct"](word)
            if named and not _stands(word, seen.stems):
                yield f"nowhere seen: {word}"


def _accounts(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield other people, conversations and days that an account brings in and nothing shows."""
    if form("not_claimed").search(sentence) or form("offered").search(sentence):
        return
    table = _table()
    for clause in _CLAUSE.split(sentence):
        if form("not_there").search(clause):
            continue
        for word in _small(clause):
            brought = table["kin"](word) or table["others"](word) or table["times"](word)
            if brought and word not in seen.free and not _stands(word, seen.stems):
                yield f"nowhere mentioned: {word}"
        if form("of_others").search(clause):
            yield f"of somebody else: {clause[:60]!r}"
        if not seen.talked and form("talked").search(clause):
            yield f"no conversation is on record: {clause[:60]!r}"


def _clauses(sentence: str, seen: Seen) -> Iterator[str]:
    """Yield what a policy is said to ask or to allow that its page does not hold."""
    if form("policy_new").search(sentence):
        yield f"not on the policy's page: {sentence[:60]!r}"
    for found in form("policy_says").finditer(sentence):
        told = _stems(_CLAUSE.split(found["what"])[0]) - _free_of_policies()
        if told - seen.policy_stems:
            yield f"not on the policy's page: {found['what'].strip()[:60]!r}"
    for found in form("policy_part").finditer(sentence):
        if _flat(found[0]) not in seen.flat:
            yield f"no such part: {found[0]!r}"


def _strange(sentence: str, seen: Seen, least: int) -> Iterator[str]:
    """Yield a sentence of which several words stand nowhere at all."""
    free = _table()["everyday"]
    strange = {
        word
        for word in _small(sentence)
        if len(word) >= _LEAST_LETTERS
        and not _stands(word, seen.stems)
        and not _stands(word, _desk_stems())
        and not free(word)
    }
    if len(strange) >= least:
        yield f"nowhere seen: {', '.join(sorted(strange))}"


# -- words -------------------------------------------------------------------------------------


class _Lexicon:
    """Words of one kind; a row is a word, or a beginning or an end with a star beside it."""

    def __init__(self, rows: list[str]) -> None:
        ends = tuple(row[1:] for row in rows if row.startswith("*"))
        begins = tuple(row[:-1] for row in rows if row.endswith("*"))
        whole = frozenset(row for row in rows if "*" not in row)
        self._known = begins, ends, whole

    def __call__(self, word: str) -> bool:
        begins, ends, whole = self._known
        return word in whole or word.startswith(begins or ("\0",)) or word.endswith(ends or ("\0",))


@cache
def _table() -> Mapping[str, _Lexicon]:
    folder = files("healthgym.worlds.managed_care") / "data"
    rows = dict(json.loads((folder / "claim_words.json").read_text("utf-8")))
    return {name: _Lexicon(list(words)) for name, words in rows.items()}


@cache
def _desk() -> str:
    """What an office prints: the handbook of both desks, and its letters."""
    root = files("healthgym.worlds.managed_care")
    pages = root / "handbook" / "pages"
    return "\n".join(
        path.read_text("utf-8")
        for folder in (
            pages / "payer-um",
            pages / "payer-um" / "operational",
            pages / "payer-um" / "examples",
            pages / "platform",
            pages / "medical-library" / "utilization-review",
            root / "data" / "letters",
        )
        for path in folder.iterdir()
        if path.name.endswith((".md", ".json"))
    )


@cache
def _desk_words() -> frozenset[str]:
    return frozenset(_small(_desk()))


@cache
def _desk_stems() -> frozenset[str]:
    return _stems(_desk())


@cache
def _free_of_policies() -> frozenset[str]:
    """What may be said of any policy."""
    return _stems(
        "that this which what they them there with from have been does must criteria criterion "
        "document documents documented documentation record records evidence chart packet notes "
        "review reviewed clinical nurse physician shown show proof member patient service request "
        "requested medical necessity necessary version page case each every more than only also "
        "here such would could should same other both these those when where"
    )


def _small(text: str) -> list[str]:
    return [word.casefold().removesuffix("'s") for word in _WORD.findall(text)]


def _stems(text: str) -> frozenset[str]:
    return frozenset(w[:_STEM] for w in _small(text) if len(w) >= _LEAST_LETTERS) | frozenset(
        w for w in _small(text) if len(w) < _LEAST_LETTERS
    )


def _stands(word: str, stems: frozenset[str]) -> bool:
    parts = word.split("-")
    whole = word[:_STEM] in stems
    return whole or (len(parts) > 1 and all(part[:_STEM] in stems for part in parts))


def _flat(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.casefold()))
