"""Reads sentences, and whole reports, into claims."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from healthgym.core.cache import short_text_cache
from healthgym.envs.xray_correction.claims import Claim, Statement
from healthgym.envs.xray_correction.reading.merging import merged
from healthgym.envs.xray_correction.reading.parser import Parser
from healthgym.envs.xray_correction.reading.segments import cut
from healthgym.envs.xray_correction.reading.words import scan


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says.

    Attributes:
        claims: What it claims, in its order.
        unread: Words that say more, or something that is not known; none of them is lost.
    """

    claims: tuple[Claim, ...]
    unread: tuple[str, ...] = ()


_STUDY = r"(?:chest )?(?:radiographs?|stud(?:y|ies)|exam(?:ination)?s?|films?|x-?rays?|images?)"
_PRIOR = rf"(?:prior|previous|earlier|comparison)(?: (?:one|{_STUDY}))?"
#: Sentences about the prior studies themselves, and whether they say that there are any.
_COMPARISONS = (
    (
        False,
        rf"(?:there (?:is|are) )?no (?:{_PRIOR}|priors|comparisons?)(?: {_STUDY})?"
        r"(?: (?:is|are))?(?: (?:currently )?available)?"
        r"(?: for (?:direct )?comparison| to compare(?: (?:with|to))?)?",
    ),
    (False, rf"comparison(?: (?:is|with (?:a|the) {_PRIOR} is))? ?(?:: )?"
            r"(?:none(?: available)?|not possible|unavailable)"),
    (False, rf"(?:a )?{_PRIOR} (?:is|are) not available(?: for comparison)?"),
    (True, rf"comparison (?:is|was) made (?:with|to) (?:the |a )?{_PRIOR}"),
    (True, rf"comparison: (?:the )?{_PRIOR}"),
    (True, rf"compared (?:with|to) (?:the |a )?{_PRIOR}"),
    (True, rf"(?:the |this )?(?:current )?(?:study|examination|radiograph) (?:is|was) compared"
           rf" (?:with|to) (?:the |a )?{_PRIOR}"),
    (True, rf"(?:the |a )?{_PRIOR} (?:is|are) available(?: for comparison)?"),
)  # fmt: skip
_COMPARED = tuple((present, re.compile(pattern)) for present, pattern in _COMPARISONS)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, each with its full stop, white space collapsed."""
    flat = " ".join(text.split())
    parts = re.split(r"(?<=[.!?])\s+(?=[A-Z0-9_(\[{\"'])", flat)
    return [part.strip() for part in parts if part.strip()]


@short_text_cache(4096, 600)
def read_sentence(text: str) -> Reading:
    """Return what one sentence says."""
    plain = " ".join(text.lower().split()).removesuffix(".")
    for present, pattern in _COMPARED:
        if pattern.fullmatch(plain):
            return Reading((Claim("comparison", present),))
    parser = Parser()
    parser.read(cut(scan(text)))
    said = [mention.claim() for mention in parser.mentions]
    claims = merged(claim for claim in said if claim.present is not None or claim.change)
    unread = [word for mention in parser.mentions for word in mention.unread]
    return Reading(tuple(claims), (*unread, *parser.unread))


def read_text(text: str) -> Reading:
    """Return what the sentences of a text say together."""
    readings = [read_sentence(sentence) for sentence in split_sentences(text)]
    claims = merged(claim for reading in readings for claim in reading.claims)
    return Reading(tuple(claims), tuple(word for r in readings for word in r.unread))


def read(text: str) -> tuple[Claim, ...]:
    """Return the claims of a text."""
    return read_text(text).claims


def statements(sentences: Iterable[str]) -> tuple[Statement, ...]:
    """Return sentences with their claims."""
    readings = ((sentence, read_text(sentence)) for sentence in sentences)
    return tuple(Statement(text, reading.claims, reading.unread) for text, reading in readings)
