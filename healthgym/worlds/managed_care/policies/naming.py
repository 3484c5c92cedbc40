"""Which criteria a text names, in whatever words stand around them."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: A criterion's id; the beginning of a diagnosis code such as C34.90 is none.
_CRITERION = re.compile(r"(?<![a-z0-9.])c0*([1-9]\d{0,2})(?![a-z0-9]|\.\d)")
#: A number that counts criteria, and not weeks, points or percents.
_COUNTED = (
    r"0*[1-9]\d{0,2}(?!\d|[./-]\d| ?%| of \d|[ -](?:hours?|days?|weeks?|months?|years?|points?|"
    r"sessions?|visits?|treatments?|doses?|units?|agents?|m[mg]|cm)\b)"
)
#: Criteria by number in words, as the handbook's own examples have it: "criterion 3", "criteria 1,
#: 2 and 6".
_NUMBERED = re.compile(
    rf"(?<![a-z])criteri(?:on|a) (?:no\. ?|number |# ?)?({_COUNTED}"
    rf"(?:(?:, ?(?:and |or )?| and | or | & ){_COUNTED})*)"
)
#: Several of them in a row, of which is said that they are shown.
_ONE = r"(?:c|criteri(?:on|a) )?0*[1-9]\d{0,2}"
_CONCEDED = re.compile(
    rf"(?<![a-z0-9.])((?:c|criteri(?:on|a) )0*[1-9]\d{{0,2}}(?:(?:, and |, | and ){_ONE})*)"
    r"(?: for [^().;]{1,40})?\)? (?:is|are|was|were|has been|have been)"
    r"(?: (?:now|also|indeed|clearly|rightly|all|both|found(?: to be)?|said to be))* "
    r"(?:met|shown|satisfied|fulfilled|proven|established)\b"
)
_ROW = rf"((?:c|criteri(?:on|a) )0*[1-9]\d{{0,2}}(?:(?:, and |, | and ){_ONE})*)"
#: Where what is conceded and what is held against it part: "C1 is open, although C4 is shown".
_PARTS = re.compile(
    r"[;\n]+|\.(?=\s|$)|,? \b(?:although|though|while|whereas|whilst|but|however|yet|even if)\b|"
    r", (?:so|hence|thus|therefore|leaving|which leaves|since|because)\b"
)
#: What says that something is shown, and what says anything else of it.
_SHOWN = re.compile(
    r"\b(?:met|meets|shown|satisfied|satisfies|fulfilled|fulfills|undisputed|fine|in order|"
    r"(?:is|are) present|opens (?:the|its|an) (?:exception|way|branch|alternative))\b"
)
_UNDISPUTED = re.compile(r"\bnot (?:at issue|in (?:dispute|question|doubt)|disputed)\b")
_NOT_SHOWN = re.compile(
    r"\b(?:no|not|never|neither|nor|nothing|none|only|un(?:met|shown|clear|proven)|cannot|without|"
    r"hardly|barely|nearly|lack\w*|missing|open|absen\w+|fail\w*|if|unless|until|whether|once|must|"
    r"shall|should|would|needed|needs? to|requir\w+|asks?|wants?|to be|remain\w*|insufficient|"
    r"\w+n't)\b"
)
#: Criteria that a text names in passing, as being there and not enough.
_PASSED_BY = re.compile(
    rf"\b(?:besides?|next to|apart from|other than) {_ROW}|"
    rf"(?<!\bon )(?<!\bupon )(?<!\bfor )(?<!\bby )(?<![a-z0-9.]){_ROW} alone\b"
    r"(?! (?:still |now |then )?(?:decid|carr|settl|turn|stand|remain|matter|lack|fail|keep|stays|"
    r"speaks against|is (?:left|open|missing|unmet|unclear)))"
)
#: Criteria that a text names as not deciding: not shown, or not needed.
_LEFT = re.compile(
    rf"\b(?:without|instead of|in place of|rest(?:s|ed)? on|rel(?:ies|ied) on) {_ROW}|"
    rf"(?<![a-z0-9.]){_ROW} (?:(?:is|are|was|were|remains?)(?: \w+)? (?:not (?:met|shown|needed|"
    r"satisfied|proven)|needless|unmet|open)|need(?:s)? not\b|does not matter)"
)


def criteria_conceded(text: str) -> frozenset[str]:
    """Return the ids of the criteria that a text says are shown: "although C2 is now met"."""
    flat = " ".join(text.lower().split())
    lines = (" ".join(line.split()) for line in text.lower().splitlines())
    parts = _PARTS.split(_UNDISPUTED.sub("undisputed", "\n".join(lines)))
    shown = (part for part in parts if _SHOWN.search(part) and not _NOT_SHOWN.search(part))
    conceded = frozenset(name for part in shown for name in criteria_named(part))
    return _ids(_CONCEDED, flat) | _ids(_PASSED_BY, flat) | conceded


def criteria_left(text: str) -> frozenset[str]:
    """Return the ids of the criteria of which a text says that they do not carry the request."""
    return _ids(_LEFT, " ".join(text.lower().split()))


def _ids(kind: re.Pattern[str], flat: str) -> frozenset[str]:
    rows = ("".join(filter(None, found.groups())) for found in kind.finditer(flat))
    return frozenset(f"C{int(number)}" for row in rows for number in re.findall(r"\d+", row))


def criteria_named(text: str) -> frozenset[str]:
    """Return the ids of the criteria that a text names, as C3 or as criterion 3."""
    return frozenset(f"C{number}" for number in _numbers(" ".join(text.lower().split())))


def _numbers(flat: str) -> Iterator[int]:
    yield from map(int, _CRITERION.findall(flat))
    for listed in _NUMBERED.findall(flat):
        yield from map(int, re.findall(r"\d+", listed))
