"""Whether free words beside an order ask for something else to be done.

Whoever carries the order out reads them and does what they say. So what they state is free, and
what they ask for has to be the order itself: whatever an instruction names besides fails it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from healthgym.envs.fhir_record.orders.denial import sentences
from healthgym.envs.fhir_record.orders.items import CLOCK, DATE, item_of, without_names
from healthgym.envs.fhir_record.orders.quantities import Dimension, filler, unit_names
from healthgym.envs.fhir_record.orders.remarks import REPEATED
from healthgym.envs.fhir_record.orders.sig import read_words, sites_of
from healthgym.envs.fhir_record.task import OrderSpec

#: What stands after a word that is no command: "order placed", "check is due", "do not".
_NOUN = r"(?! (?:not|is|was|are|were|has|have|had|of|pending|[a-z]{2,}(?:ed|en))\b)(?![\w'/-])"
_PART = r"[,()\u2013\u2014]+| - |:(?!\d)|(?<=\w)/(?= )"
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d(?:t[\d:.+z-]*)?")
_WEEKDAY = re.compile(r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")
_DURATION = re.compile(rf"[\d.]+ ?-?(?:{'|'.join(unit_names(Dimension.TIME))})")
_HOUR = re.compile(r"\b(?:[01]\d|2[0-3])[0-5]\d\b(?: ?h(?:ours|rs)?\b)?")
_SPREAD = re.compile(rf"[\d.]+ ?(?:to|or|-) ?(?={_DURATION.pattern})")
#: Of so many words a part is an item of the list before it.
_LISTED = 2
#: What "repeat" must not be said of where one dose is asked for.
_AGAIN = re.compile(r"^\W*$|\b(?:doses?|infusions?|bolus|orders?|administration|it|this|x\d)\b")


def asks_otherwise(spec: OrderSpec, clauses: list[str]) -> bool:
    """Return whether free words ask for anything that is not the order.

    Args:
        spec: The order.
        clauses: Their clauses, in the form in which text is scanned.
    """
    return any(_is_otherwise(spec, part) for clause in clauses for part in _asked(spec, clause))


def _asked(spec: OrderSpec, clause: str) -> Iterator[str]:
    """Yield what is asked for in a clause; a verb that turns to other work as it stands."""
    forms = _forms()
    asking = False
    for part in forms["parting"].split(clause):
        part = " ".join(without_names(spec, part).strip(" -\"'").split())
        found = forms["command"].match(part) or forms["modal"].search(part)
        added = forms["adding"].search(part) is not None and not forms["stating"].search(part)
        if found:
            said = part[found.end() :].removeprefix(" for")
            if found.re is forms["modal"] and " be " in found[0]:
                said = f"{part[: found.start()]} {said}"
            if found["verb"] == "repeat" and spec.dose and not spec.as_needed:
                yield "another dose" if _AGAIN.search(forms["until"].split(said)[0]) else said
            yield said
        elif forms["turning"].match(part):
            yield part
        elif added or (asking and part and len(part.split()) <= _LISTED):
            yield forms["adding"].sub(" ", part)
        asking = bool(found) or (asking and len(part.split()) <= _LISTED)


def _is_otherwise(spec: OrderSpec, asked: str) -> bool:
    """Return whether what is asked for holds a word that is not the order's."""
    if asked == "another dose" or _forms()["turning"].match(asked):
        return True
    item = item_of(spec)
    asked = _forms()["until"].split(asked)[0]
    asked = _HOUR.sub(" ", _SPREAD.sub(" ", _MOMENT.sub(" ", asked)))
    asked = CLOCK.sub(_hour, DATE.sub(" ", asked))
    asked = _WEEKDAY.sub(" ", asked, count=1)
    sig = read_words(asked)
    own = read_words(" ".join(sorted(item.words))).routes
    if not spec.dose and (sig.doses or sig.strengths or sig.routes - own):
        return True
    if spec.as_needed and any(hours > REPEATED for hours in sig.intervals):
        return True
    kind = "prescription" if spec.dose else "service"
    known = item.words | filler(kind) | filler("service") | frozenset(sentences()["rest"])
    known |= {code.lower() for code in spec.codes}
    known |= set(sentences()["acting"]) | sites_of(spec.route)
    said = " ".join(word for word in sig.unread if not _DURATION.fullmatch(word))
    unread = {word.strip(".'-/") for word in said.split()}
    return bool(unread - known - {""})


def _hour(found: re.Match[str]) -> str:
    """Return nothing in place of an hour of the day, and a bare number as it is."""
    return " " if found[2] or found[3] else found[0]


@cache
def _forms() -> dict[str, re.Pattern[str]]:
    table = {kind: "|".join(words) for kind, words in sentences().items()}
    lead = rf"(?:(?:{table['leads']}) (?:to )?)*"
    return {
        "command": re.compile(rf"{lead}(?P<verb>{table['acting']}){_NOUN}"),
        "modal": re.compile(
            rf"\b(?:{table['modals']}) (?:be |also |then )*(?P<verb>{table['acting']})\w{{0,4}}\b"
        ),
        "parting": re.compile(
            rf"{_PART}|\b(?:and|then|but) (?=(?:{table['acting']}|{table['turning']}){_NOUN})"
        ),
        "turning": re.compile(rf"{lead}(?:{table['turning']}){_NOUN}"),
        "adding": re.compile(rf"\b(?:{table['adding']})(?!\w)"),
        "stating": re.compile(rf"\b(?:{table['stating']})\b"),
        "until": re.compile(rf"\b(?:{table['until']})\b"),
    }
