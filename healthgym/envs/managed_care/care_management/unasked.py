"""Lists of what was not asked, not found or not spoken of: none of their items is told of.

"Not asked: mood, the bus, phone and internet" says nothing of any of these, as far as they are
things: an item with somebody in it, or with a verb, is a claim wherever it stands.
"""

from __future__ import annotations

import re
from typing import Final

from healthgym.core.cache import short_text_cache
from healthgym.worlds.managed_care.claim_words import kinds

_LACK = (
    r"(?:asked|discussed|covered|found|seen|gone (?:into|over|through)|raised|mentioned|"
    r"spoken (?:of|about)|talked (?:of|about)|known|on file|shown|assessed|told|recorded)"
)
#: What opens such a list, at the beginning of a sentence.
_OPENS = re.compile(
    rf"(?P<head>(?:^|(?<=[.;\n]))[\s\-*]*(?:(?:also|still|yet|what was|topics|subjects) )*"
    rf"(?:(?:not|nowhere) (?:yet )?{_LACK}|(?:could|can) ?not be (?:found|seen)|"
    rf"still to (?:ask|be asked)|(?:still )?(?:missing|unknown|open)|"
    rf"(?:(?:asked|gave|given|got|had|with) )?(?:for )?permission"
    rf"(?: (?!for|before|about)\w+){{0,4}})"
    rf"(?: (?:in|on|at|by|so far)\b[^:.;\n]{{0,40}})?"
    rf"(?::| about| for| before) )(?P<items>(?:[^.;:\n]|\.(?=\d| [a-z]))+)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()\n]{0,200}\)")
#: The same with what is listed before it.
_CLOSES = re.compile(
    rf"(?:^|(?<=[.;\n]))(?P<items>[^.;:\n]{{3,160}}?) (?:was|were|is|are) (?:also |still )?"
    rf"not (?:yet )?{_LACK}(?: about| of)?(?=\s*(?:[.;\n]|$))",
    re.IGNORECASE,
)
#: Subjects of a talk: those that are nobody's trouble, and those that may be somebody's.
_PLAIN = (
    r"(?:mood|safety|money|finances?|food|meals|housing|home|transport\w*|rides?|work|hours|"
    r"reading|literacy|(?:tele)?phones?|internet|language|sleep|medicines?|medications?|meds|"
    r"readiness|help|support|caregivers?|family|appointments?|phq-?9|gad-?7|screens?|stage|"
    r"consent|identity|purpose|bad days?|(?:home )?readings|follow-?up|questionnaires?|"
    r"(?:the |social |other |last |remaining |further |everyday )*questions)"
)
_TENDER = (
    r"(?:alcohol|drinking|drugs|(?:other )?substances?|substance use|tobacco|smoking|self-harm|"
    r"harm|suicide|depression|anxiety|worry)"
)
_SUBJECT = rf"(?:(?:about|asked|before|for|her|his|of|on|the|then) ){{0,2}}(?:{_PLAIN}|{_TENDER})"
#: Subjects side by side, with nothing said of them behind.
_LISTED = re.compile(
    rf"\b{_SUBJECT}"
    rf"(?:(?:\s*[,/&;]|\s+(?=and|or|then))\s*(?:(?:and|or|then) ){{0,2}}{_SUBJECT}){{1,11}}"
    r"(?=\s*(?:[.;:)\n]|$)|"
    r" (?:(?:was|were|is|are) )?(?:asked|covered|discussed|gone|after|before)\b)",
    re.IGNORECASE,
)
#: One of these is in whatever names a subject that may be a trouble.
_TENDER_PARTS: Final = frozenset(
    {"alcohol", "anxiety", "depression", "drinking", "drugs", "harm", "smoking", "substance"}
    | {"suicide", "tobacco", "worry"}
)
#: A subject before the person's own words about it.
_LABEL = re.compile(
    rf"\b{_TENDER}(?:\s*[/&]\s*[\w-]+){{0,2}}\s*:\s*(?=[\"'\u2018\u201c])", re.IGNORECASE
)
_NEUTRAL = re.compile(rf"\b{_PLAIN}\b", re.IGNORECASE)
_MAY_TROUBLE = re.compile(rf"\b{_TENDER}\b", re.IGNORECASE)
#: What says of subjects behind it that there is trouble with them, and how near it stands.
_TROUBLE = re.compile(
    r"\b(?:barriers?|because|concerns?|due to|from|had|has|have|having|history|hx|issues?|positive|"
    r"problems?|risks?|struggl\w+|suffers?|troubles?|trouble|uses?|with|worr\w+|found|reports?|"
    r"admits?|endorses?|into)\b[^.;\n]*$",
    re.IGNORECASE,
)
_NEAR: Final = 60
_PARTS: Final = re.compile(r",\s*(?:and |or |nor )?|\s+(?:and|or|nor)\s+")
_WORD: Final = re.compile(r"[a-z][a-z'-]*")
#: What asks may have a verb: "how medicines are taken".
_ASKS: Final = frozenset({"how", "what", "when", "where", "whether", "which", "who", "why"})
_SOMEBODY: Final = frozenset(
    {"he", "her", "hers", "him", "his", "i", "she", "their", "them", "they", "we", "you"}
)
_VERBS: Final = frozenset(
    {"are", "can", "did", "does", "do", "had", "has", "have", "is", "may", "must", "said", "says"}
    | {"takes", "took", "tells", "told", "was", "were", "will", "would", "lives", "works"}
)
#: Most words of an item that is no more than a thing.
_FEW: Final = 7
#: Characters of a text whose reading is kept.
_LONGEST: Final = 600


@short_text_cache(1024, _LONGEST)
def without_lists(text: str) -> str:
    """Return a text without what it lists as not asked, not found or not spoken of.

    Nor has it lists of subjects left: "mood, alcohol, money" says nothing of any of them.
    """
    left = _OPENS.sub(_told, _ASIDE.sub(_in_one, text) if "(" in text else text)
    left = _CLOSES.sub(_claimed, left) if " not " in left.lower() else left
    if not _may_trouble(left):
        return left
    return ".".join(
        # Most sentences name no such subject, and are not looked through for lists.
        _LISTED.sub(_named, sentence) if _may_trouble(sentence) else sentence
        for sentence in (_LABEL.sub("subject: ", left) if ":" in left else left).split(".")
    )


def _in_one(aside: re.Match[str]) -> str:
    """Return what stands in brackets without marks at which a sentence would end."""
    return re.sub(r"[;:.](?=\s)", ",", aside[0])


def _may_trouble(text: str) -> bool:
    """Return whether a text may name a subject that may be somebody's trouble."""
    small = text.lower()
    return any(part in small for part in _TENDER_PARTS)


def _named(found: re.Match[str]) -> str:
    """Return subjects side by side, if each of them may be a trouble, or is called one.

    "Mood, alcohol, money" is what was talked about; "depression and alcohol" may be what there is.
    """
    before = found.string[max(found.start() - _NEAR, 0) : found.start()]
    both = _NEUTRAL.search(found[0]) and _MAY_TROUBLE.search(found[0])
    return "subjects" if both and not _TROUBLE.search(before) else found[0]


def _told(found: re.Match[str]) -> str:
    """Return a list without its things; what else stands in it stays behind its head."""
    left = _claims(found["items"])
    return found["head"] + ", ".join(left) if left else ""


def _claimed(found: re.Match[str]) -> str:
    """Return what was listed before, if there is more in it than things."""
    return found[0] if _claims(found["items"]) else ""


def _claims(items: str) -> list[str]:
    """Return the items that may claim something."""
    return [item for item in filter(str.strip, _PARTS.split(items)) if not _is_thing(item)]


def _is_thing(item: str) -> bool:
    """Return whether an item is a thing that may be asked about, and nothing that somebody does."""
    words = _WORD.findall(item.lower())
    if len(words) > _FEW or not _SOMEBODY.isdisjoint(words):
        return False
    if any("kin" in kinds(word) for word in words):
        return False
    return bool(words) and (words[0] in _ASKS or _VERBS.isdisjoint(words))
