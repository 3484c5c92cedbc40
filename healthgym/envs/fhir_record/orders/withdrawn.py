"""Whether free words take the order itself away, or ask whether to carry it out at all.

"Remove this order.", "Take it off the list.", "Should we draw it?" Words of taking away are also
what a removal is ordered with, and what is drawn from a vein is pulled. So it is what they are said
of that tells: the order, its place on a list, or, beside an order that removes nothing, whatever
was named last.
"""

from __future__ import annotations

import re
from functools import cache

from healthgym.core.borders import JsonDict
from healthgym.envs.fhir_record.orders.denial import sentences
from healthgym.envs.fhir_record.orders.items import item_of
from healthgym.envs.fhir_record.orders.sig import plain
from healthgym.envs.fhir_record.orders.tables import read_table
from healthgym.envs.fhir_record.task import OrderSpec

#: What may be said of an order without taking it away: "discontinue Foley order placed".
_STANDS = (
    r"(?! (?:placed|entered|written|signed|sent|is|are|was|were|has|have|in|active|on|exists?|found"
    r"|below|as)\b)"
)
_IT = r"(?:it|this|that|these|them|this one|that one)\b"
_WHICH = r"the|this|that|these|those|my|our|your|his|her|their|any|all|patient's|active|whole|stat"
_OFF = r"(?:out|off|down|away|back)\b"
#: Where a command begins, and where it ends.
_BEGIN = r"(?:^|[.;!?,:(-] *|\b(?:please|pls|kindly|and|then|just|to|you|must|should|could|now) )"
_END = r"(?= *(?:$|[.,;:!?)]|(?:please|pls|thanks?|now|today|tonight|immediately|asap|again)\b))"
#: Said without an object they are commands to take away, and nothing else.
_BARE = "remove|erase|delete|withdraw|retract|rescind|revoke"


def withdraws(spec: OrderSpec, text: str) -> bool:
    """Return whether a text has the order it stands beside taken away.

    Args:
        spec: The order.
        text: The free text, its shorthand written out.
    """
    said, takes_away = plain(text), bool(item_of(spec).thing)
    taken = _pattern(_words_of(spec), takes_away).search(said)
    return taken is not None or _questioned().search(said) is not None


def _words_of(spec: OrderSpec) -> frozenset[str]:
    """Return the words by which an order is called."""
    item = item_of(spec)
    words = {word for name in item.names for word in re.findall(r"[\w/-]+", name)} | item.words
    return frozenset(words) - {"remove", "discontinue", "of", "the"}


@cache
def _pattern(words: frozenset[str], takes_away: bool) -> re.Pattern[str]:
    table = _table()
    away, apart, ending, gone, kept = (
        "|".join(table[kind]) for kind in ("away", "apart", "ending", "gone", "kept_in")
    )
    own = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    modified = rf"(?:(?:{_WHICH}|{own}) )*"
    acts = "|removal|discontinuation" if takes_away else ""
    order = rf"{modified}(?:{'|'.join(table['called'])}{acts})\b{_STANDS}"
    order += rf"(?: for {modified}(?:{own})\b)?"
    named = rf"(?:{_WHICH}) (?:(?:{own}) ?\b)+"
    place = rf"(?:from|off|off of|out of|out from) (?:(?:{_WHICH}|today's|{own}) )*(?:{kept})\b"
    forms = [
        rf"\b(?:{away}|{ending}) {order}",
        rf"\b(?:{apart}) {order} {_OFF}",
        rf"\b(?:{away}|{apart})(?: {_IT}| {named}| {order})? ?{place}",
        rf"\b(?:come|comes|go) {place}",
        rf"\b{order} (?:\w+ )?(?:to|should|must|may|can|could) be (?:{gone})\b",
        rf"\b(?:have|get|want|need) {order} (?:{gone})\b",
    ]
    if not takes_away:
        forms += [
            rf"{_BEGIN}(?:{away}) (?:{_IT}|{named}){_END}",
            rf"{_BEGIN}(?:{apart}) (?:{_IT}|{named}) {_OFF}{_END}",
            rf"{_BEGIN}(?:{_BARE}){_END}",
            rf"\b(?:{_IT}|{named}) ?(?:\w+ )?(?:to|should|must|may|can|could) be (?:{gone})\b",
            rf"\b(?:have|get|want|need) (?:{_IT}|{named}) ?(?:{gone})\b",
        ]
    return re.compile("|".join(f"(?:{form})" for form in forms))


@cache
def _questioned() -> re.Pattern[str]:
    """Return how a note asks whether, and does not ask to: "should we draw it?", "draw it?"."""
    acting = "|".join(sentences()["acting"])
    what = rf"(?: (?:{_IT}|(?:{_WHICH}) [\w-]+|[\w-]+))? ?(?:out|now|today|again)? ?\?"
    return re.compile(
        rf"(?:^|[.;!?] ?)(?:(?:should|shall|do|does|must|need|why)(?: not)?"
        rf"(?: (?:we|i|you|they|nursing|the \w+))?(?: (?:really|even|need to|have to|still))* )?"
        rf"(?:{acting}){what}"
        rf"|\b(?:is|are) {_IT} (?:really |even |still )?(?:needed|necessary|required|indicated) ?\?"
    )


@cache
def _table() -> JsonDict:
    table: JsonDict = read_table("phrases")
    return table
