"""From text to items: the words of radiology, longest phrase first, each with what it may say.

``data/words.json`` lists phrases under the features they carry, such as
``"side:bilateral zone:lower": ["bibasilar", ...]``. Words in square brackets are alternatives, and
a star stands for either side. A word that is not in it has no feature, and nothing that holds it
has been read completely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from healthgym.envs.xray_correction.claims import SIDES, load

Features = Mapping[str, str]

#: Dots in a row are a word, and none that is known: they leave something unsaid.
_TOKEN = re.compile(r"<[a-z-]+>|[a-z][a-z0-9'/-]*|\d+(?:\.\d+)?|\.(?: ?\.){2,}|\S")
_STUDY = r"(?:chest )?(?:radiographs?|stud(?:y|ies)|exam(?:ination)?s?|films?|x-?rays?|images?)"
#: What a comparison is made with.
_PRIOR = re.compile(
    r"(?:(?:as |when )?compared (?:with|to)|in comparison (?:with|to)|relative to|since|from|"
    r"than(?: on| in| was seen on| it was)?|to|with|"
    r"(?P<same>as(?: seen)? (?:on|in)|as(?= before))) "
    r"(?:that (?:of|on) )?(?:the |a |an )?"
    rf"(?:most recent )?(?:(?:prior|previous|preceding|earlier|last|comparison)(?: {_STUDY}\b|"
    r"(?! ?[a-z]))|(?:before|previously)\b)"
)
#: Alternatives in a phrase of the lexicon.
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
#: What stands before a sentence in a report with headings, and says nothing.
_HEADING = re.compile(
    r"^(?:cardiac|cardiovascular|(?:cardio)?mediastinum|pleura|pleural spaces?|bones?|osseous "
    r"structures|bony thorax|chest wall|soft tissues|(?:support )?devices|hardware|"
    r"lines(?:(?: and |, | ?/ ?)tubes)?|tubes(?:(?: and |, | ?/ ?)lines)?): +(?=[a-z0-9])"
)
#: A tube's height above the carina.
_HEIGHT = re.compile(
    r"(?:approximately |about |roughly )?(?<!\d)(\d+(?:\.\d+)?) ?(cm|mm) "
    r"(?:above|superior to|from|proximal to|cranial to) (?:the )?(?:level of the )?carina\b"
)
#: Heights above the carina that are in order, in centimetres (tip of an endotracheal tube).
_PROPER = (2.0, 7.0)
_MARKS: Mapping[str, Features] = {
    "<prior>": {"prior": "1"},
    # "As before", and nothing else, says that nothing has changed.
    "<same>": {"prior": "1", "change": "unchanged"},
    "<low>": {"place": "low"},
    "<appropriate>": {"place": "appropriate"},
    "<high>": {"place": "high"},
}


@dataclass(frozen=True, slots=True)
class Item:
    """A phrase of a sentence.

    Attributes:
        text: Its words.
        features: What it may say, by kind; none if it is not known.
    """

    text: str
    features: Features

    def says(self, *kinds: str) -> bool:
        """Return whether it has a feature of one of these kinds."""
        return not self.features.keys().isdisjoint(kinds)


def scan(sentence: str) -> list[Item]:
    """Return the items of a sentence, in their order."""
    tokens = _split_compounds(_TOKEN.findall(_marked(sentence)))
    found, place = [], 0
    index = _index()
    while place < len(tokens):
        width, features = 1, _MARKS.get(tokens[place], {})
        for phrase, known in index.get(tokens[place], ()):
            if tuple(tokens[place : place + len(phrase)]) == phrase:
                width, features = len(phrase), known
                break
        found.append(Item(" ".join(tokens[place : place + width]), features))
        place += width
    return found


def _marked(sentence: str) -> str:
    """Return a sentence in lower case, comparisons and heights in it replaced by marks."""
    lower = " ".join(sentence.lower().replace("\u2019", "'").replace("\u2013", "-").split())
    lower = _HEADING.sub("", lower)
    return _PRIOR.sub(_compared, _HEIGHT.sub(_height, lower))


def _compared(match: re.Match[str]) -> str:
    return "<same>" if match["same"] else "<prior>"


def heights(text: str) -> tuple[float, ...]:
    """Return the heights above the carina that a text tells, in centimetres."""
    return tuple(map(_centimetres, _HEIGHT.finditer(text.lower())))


def _centimetres(match: re.Match[str]) -> float:
    return float(match[1]) / (10.0 if match[2] == "mm" else 1.0)


def _height(match: re.Match[str]) -> str:
    height, (low, high) = _centimetres(match), _PROPER
    return "<low>" if height < low else "<high>" if height > high else "<appropriate>"


def _split_compounds(tokens: Sequence[str]) -> list[str]:
    """Return tokens with compounds that are not known cut at their hyphens, if that helps."""
    index = _index()
    whole: list[str] = []
    for token in tokens:
        parts = re.split("[-/]", token)
        known = token in index or len(parts) < 2 or not all(part in index for part in parts)
        whole += [token] if known else [part for part in re.split("-|(/)", token) if part]
    return whole


@cache
def _index() -> Mapping[str, Sequence[tuple[tuple[str, ...], Features]]]:
    """Return the phrases with their features by first word, the longest first."""
    found: dict[str, list[tuple[tuple[str, ...], Features]]] = {}
    for phrase, features in lexicon():
        tokens = tuple(_TOKEN.findall(phrase))
        found.setdefault(tokens[0], []).append((tokens, features))
    for entries in found.values():
        entries.sort(key=lambda entry: -len(entry[0]))
    return found


def lexicon() -> Iterator[tuple[str, Features]]:
    """Yield the phrases of the lexicon, written out, with their features."""
    for key, phrases in load("words.json").items():
        sides = SIDES if "*" in key else ("",)
        for side in sides:
            features = dict(part.split(":", 1) for part in key.replace("*", side).split())
            for phrase in phrases:
                for text in dict.fromkeys(_written_out(phrase.replace("*", side))):
                    yield text, features


def _written_out(phrase: str) -> Iterator[str]:
    """Yield a phrase with each choice of its alternatives: "in [the|a|] lung"."""
    match = _CHOICE.search(phrase)
    if match is None:
        yield " ".join(phrase.split())
        return
    for choice in match[1].split("|"):
        yield from _written_out(phrase[: match.start()] + choice + phrase[match.end() :])
