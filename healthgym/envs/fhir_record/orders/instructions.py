"""Whether free words beside an order ask for something else to be done.

Whoever carries the order out reads them and does what they say. So what they state is free, and
what they ask for has to be the order itself: whatever an instruction names besides fails it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache

from healthgym.envs.fhir_record.orders.denial import sentences
from healthgym.envs.fhir_record.orders.items import (
    CLOCK,
    DATE,
    has_name,
    is_of,
    item_of,
    names_other,
    without_names,
)
from healthgym.envs.fhir_record.orders.phrases import as_command, participles
from healthgym.envs.fhir_record.orders.planned import is_at_another_time, without_span
from healthgym.envs.fhir_record.orders.quantities import Dimension, filler, unit_names
from healthgym.envs.fhir_record.orders.remarks import REPEATED
from healthgym.envs.fhir_record.orders.sig import read_words, sites_of
from healthgym.envs.fhir_record.task import OrderSpec

#: What stands after a word that is no command: "order placed", "check is due", "do not".
_NOUN = (
    r"(?! (?:not|is|was|are|were|has|have|had|of|pending|(?!when|then|often)[a-z]{2,}(?:ed|en))\b)"
    r"(?![\w'/-])"
)
_PART = r"[,()\u2013\u2014]+| - |:(?!\d)|(?<=\w)/(?= )"
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d(?:t[\d:.+z-]*)?")
_DAY_OF_MONTH = re.compile(
    r"\b(?:\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2})(?:,? \d{4})?\b"
)
_WEEKDAY = re.compile(r"\b(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b")
_DURATION = re.compile(rf"[\d.]+ ?-?(?:{'|'.join(unit_names(Dimension.TIME))})")
_HOUR = re.compile(r"\b(?:[01]\d|2[0-3])[0-5]\d\b(?: ?h(?:ours|rs)?\b)?")
_AT_HOUR = re.compile(
    r"\b(?:at|by|before|around) (?:\d|1\d|2[0-3])(?= |$)(?! ?(?:times?|sites?|places?|[%a-z]+/)\b)"
)
_SPREAD = re.compile(rf"[\d.]+ ?(?:to|or|-) ?(?={_DURATION.pattern})")
#: How a clause begins that goes on with what is ordered: "and a ferritin", "w/ diff".
_JOINED = re.compile(r"^(?:and|then|with|including)\b")
_ABLE = re.compile(r"\b(?:can|could|may|might|should|will|would|we|patient|he|she|they)\b")
#: A clause that is a condition and nothing else: "once he is walking".
_WHEN = re.compile(r"^(?:only )?(?:once|when|whenever|as soon as|until)\b")
#: When whoever carries out an order is to do so.
_HANGING = re.compile(r"\b(?:when|once|as soon as|until) (?P<what>.+)")
_PURPOSE = re.compile(r"^(?:(?:good|use|give|take|spray|only) )*for (?P<what>.+)")
_OCCASION = re.compile(r"\b(?:every|each)(?! (?:\d|nostril|time|spray|other nostril))\b")
_WATER = re.compile(r"\b\d+ ?(?:ml|oz|ounces?|cups?|glass(?:es)?) (?:of )?(?:water|juice)\b")
#: Nothing that is ordered waits for somebody's leave.
_LEAVE = re.compile(
    r"\b(?:when|once|whenever|as soon as|until)\b(?![^,;]*\b(?:was|were|had)\b)[^,;]*"
    r"\b(?:consent\w*|agree[sd]?|approv\w+|permission|authori[sz]\w+)\b"
)
#: What is asked for under its name, and when: "remove catheter once he walks".
_NAMED_WHEN = re.compile(
    r"^(?:once|when|whenever|as soon as) (?P<what>(?!.*\b(?:was|were|had)\b).+)"
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
#: What a need is said with, whatever it is.
_BEING = re.compile(r"\b(?:does|do|is|are|has|have|not|no|still|remains)\b")
#: Of so many words a part is an item of the list before it.
_LISTED = 2
#: What is looked at before a service is carried out or a dose is given, and asks for nothing else.
_ASSURED = re.compile(
    r"^(?:(?:please|pls|kindly|nursing|rn|first|always) )*"
    r"(?:(?:check|screen|confirm|verify|ask|assess|make sure|ensure|rule out|exclude|review)\b"
    r"|(?=obtain consent|provide the vaccine))"
    r"(?P<what>(?: ?(?:for|about|of|that|there is|the patient has|and|or|any|no|a|an|the|current|"
    r"recent|latest|known|adequate|severe|prior|history of|(?:\w+ )?allerg(?:y|ies)|"
    r"(?:acute )?febrile illness|fever|reactions?|hydration|"
    r"temperature|temp|pregnancy|pregnancy status|creatinine|egfr|renal function|kidney function|"
    r"(?:two )?identifiers|identity|(?:obtain )?consent|blood pressure|iv access|"
    r"contraindications?|provide|(?:vaccine )?information (?:statement|sheet)|"
    r"(?:metal )?implants?|pacemaker)(?=\s|$))+)"
    r"(?P<when>| first| (?:before|prior to) (?P<act>(?:(?! and )[\w ])+?))"
    r"(?: and (?:observe|monitor|watch)"
    r"(?: (?:the patient|for|vitals?|\d+|minutes?|afterwards?|after))*)?$"
)
#: Examples of what is looked at.
_EXAMPLES = re.compile(
    r"\((?:e\.?g\.?|such as|i\.?e\.?|including),? "
    r"(?:(?:\w+ ){0,3}(?:allergy|reaction|fever|illness)(?:, | or |, or )?)+\)"
)
#: Studies that are compared with if there are any; nothing hangs on it.
_OLD_ONES = re.compile(
    r"\b(?:prior|previous|old|outside|earlier|last) (?:studies|study|imaging|films?|tracings?|"
    r"scans?|results?|ecgs?|exams?|cts?|ct scans?) (?:if|when|where) available\b"
)
#: What is alone needed.
_ONLY = re.compile(
    r"^only (?P<what>.+?) (?:is|are) (?:necessary|needed|required|wanted|indicated|due|enough)\b"
)
#: Acts before which it is looked at, whatever is ordered.
#: A way of giving that stands alone.
_WAY = re.compile(r"(?:only )?(?P<what>[\w.-]+)(?: (?:route|only|use|administration))*")
_ACTS = frozenset({"the", "it", "this", "giving", "administering", "administration", "each", "of"})
#: A question to a specialist, who is asked for an opinion.
_QUESTION = re.compile(
    r"^(?:(?:please|pls|kindly|requesting|request|for|to|inpatient|outpatient) )*"
    r"(?:evaluat\w+|assess\w*|consult\w*|consideration|consider|opinion|candidacy)"
    r"(?: (?:and|&) (?:treat\w*|manage\w*|advi\w+|recommend\w*))?"
    r"(?: (?:for|of|on|regarding|about|whether)\b|$)"
)
#: A verb that is a noun here, of something that was ordered before.
_ORDERED = re.compile(
    r"^(?:repeat|order|request|consult|draw|test|check|screen|scan|culture|sample)"
    r"(?: [\w-]+){0,3} (?:has|have|was|were|is|are) (?:already |been |also )*"
    r"(?:ordered|placed|scheduled|requested|sent|collected|drawn|pending|resulted|due|overdue)$"
)
#: Once more of what is given once.
_SECOND = re.compile(
    r"^(?:an? |the )?(?:second|third|2nd|3rd|next|further|repeat|another|additional) "
    r"(?:doses?|infusions?|bags?|bolus|tablets?)\b"
)
#: What "repeat" must not be said of where one dose is asked for.
_AGAIN = re.compile(r"^\W*$|\b(?:doses?|infusions?|bolus|orders?|administration|it|this|x\d)\b")


def asks_otherwise(spec: OrderSpec, clauses: list[str], begin: datetime | None = None) -> bool:
    """Return whether free words ask for anything that is not the order.

    What is allowed, preferred or enough is asked for, too: "an ultrasound will do" is another
    order as much as "do an ultrasound". A condition may be set to telling somebody, to what is
    watched, and to the need of what is given for need; on anything else it is one of the order.

    Args:
        spec: The order.
        clauses: Their clauses, in the form in which text is scanned.
        begin: When the question was asked, by which times are read; none are if None.
    """
    clauses = [_OLD_ONES.sub(" ", clause) for clause in clauses if not _is_assured(spec, clause)]
    forms = _forms()
    return any(
        forms["settling"].search(clause)
        or forms["undoing"].search(clause)
        or _is_conditional(spec, clause)
        or _is_of_another(spec, clause)
        or any(
            _is_otherwise(spec, part) or (begin and is_at_another_time(spec, begin, part))
            for part in _asked(spec, clause)
        )
        for clause in clauses
    )


def _is_of_another(spec: OrderSpec, clause: str) -> bool:
    """Return whether a clause without a verb is of another way, or of another order alone."""
    only = _ONLY.match(clause)
    if only and names_other(spec, only["what"]):
        return True
    way = _WAY.fullmatch(clause)
    own = read_words(" ".join(sorted(item_of(spec).words))).routes
    return way is not None and not spec.dose and bool(read_words(way["what"]).routes - own)


def _is_assured(spec: OrderSpec, clause: str) -> bool:
    """Return whether a clause has somebody look first, before just what is ordered is done."""
    clause = _EXAMPLES.sub(" ", clause)
    plain = re.sub(r"[()]", " ", clause).replace(",", " and ")
    found = _ASSURED.match(" ".join(plain.split()))
    if found is None:
        return False
    act = set((found["act"] or "").split()) - _ACTS
    return _is_known(spec, " ".join(sorted(act)))


def _is_conditional(spec: OrderSpec, clause: str) -> bool:
    """Return whether a clause makes the order, or something else that is done, hang on anything."""
    forms = _forms()
    if spec.as_needed and _is_for_another_need(spec, clause):
        return True
    if _LEAVE.search(clause) or (_WHEN.match(clause) and _hangs(spec, clause)):
        return True
    for before, _, after in _split_at(forms["conditions"], clause):
        if forms["telling"].search(before or after) or forms["wondering"].search(before):
            continue
        need = _BEING.sub(" ", re.split(_PART, after)[0])
        if not (spec.as_needed and _is_known(spec, need)):
            return True
    return False


def _hangs(spec: OrderSpec, clause: str) -> bool:
    """Return whether a clause that begins with a condition has the order hang on it."""
    condition, *rest = re.split(_PART, clause)
    if not rest:
        return not (spec.as_needed and _is_known(spec, _BEING.sub(" ", clause)))
    named = any(has_name(spec, part) for part in rest)
    ordered = any(_forms()["command"].match(part.strip()) for part in rest)
    return (named or ordered) and not _is_known(spec, _WHEN.sub(" ", _BEING.sub(" ", condition)))


def _is_for_another_need(spec: OrderSpec, clause: str) -> bool:
    """Return whether what is given for need is said to be for another, or for every occasion."""
    purpose = _PURPOSE.match(clause)
    named = purpose is not None and not set(purpose["what"].split()) & item_of(spec).words
    return named or _OCCASION.search(clause) is not None


def _split_at(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before each match in its part of a clause, the match, and what follows."""
    for found in pattern.finditer(text):
        before = re.split(_PART, text[: found.start()])[-1].strip()
        yield before, found[0], text[found.end() :]


def _asked(spec: OrderSpec, clause: str) -> Iterator[str]:
    """Yield what is asked for in a clause; a verb that turns to other work as it stands."""
    forms = _forms()
    asking = questioned = False
    refers = "refer" in item_of(spec).words
    for place, part in enumerate(forms["parting"].split(clause)):
        joined = not place and _JOINED.match(part) is not None
        part = " ".join(without_names(spec, as_command(spec, part)).strip(" -\"'").split())
        ordered = forms["command"].match(part)
        listed = questioned and len(part.split()) <= _LISTED and not ordered
        questioned = refers and (listed or _QUESTION.match(part) is not None)
        if questioned or _ORDERED.match(part):
            continue
        found = ordered or forms["modal"].search(part)
        told = forms["telling"].search(part) is not None
        stated = forms["stating"].search(part) is not None
        bidden = forms["bidding"].search(part) is not None
        bidden |= forms["limiting"].search(part) is not None and not stated
        added = forms["adding"].search(part) is not None and not stated
        added |= joined and not stated
        if not (ordered or told or _WHEN.match(clause) or (stated and place)):
            yield from _waited_for(part)
        if forms["turning"].match(part):
            yield part
        elif found:
            said = part[found.end() :].removeprefix(" for")
            if found.re is forms["modal"] and " be " in found[0]:
                said = f"{part[: found.start()]} {said}"
            if found["verb"] == "repeat" and spec.dose and not spec.as_needed:
                yield "another dose" if _AGAIN.search(forms["until"].split(said)[0]) else said
            hanging = _HANGING.search(said)
            if hanging and not told:
                yield _ABLE.sub(" ", hanging["what"])
            yield said
        elif _SECOND.match(part) and spec.dose and not (spec.as_needed or stated):
            yield "another dose"
        elif forms["wanting"].search(part) and not told:
            yield forms["wanting"].sub(" ", part)
        elif forms["urging"].search(part) and not told:
            yield _ABLE.sub(" ", part)
        elif bidden and not told:
            yield _ABLE.sub(" ", forms["bidding"].sub(" ", part))
        elif added or (asking and 0 < len(part.split()) <= _LISTED and not told):
            yield _JOINED.sub(" ", forms["adding"].sub(" ", part))
        asking = bool(found) or (asking and len(part.split()) <= _LISTED)


def _waited_for(part: str) -> Iterator[str]:
    """Yield what has to come first: before a command, or behind the name of what is ordered."""
    found = _NAMED_WHEN.match(part) or _forms()["leading_in"].match(part)
    if found:
        yield found["what"]


def _is_otherwise(spec: OrderSpec, asked: str) -> bool:
    """Return whether what is asked for holds a word that is not the order's."""
    if asked == "another dose" or _forms()["turning"].match(asked):
        return True
    item = item_of(spec)
    asked = _forms()["until"].split(asked)[0]
    asked = without_span(spec, _AT_HOUR.sub(" ", _WATER.sub(" ", asked)))
    asked = _HOUR.sub(" ", _SPREAD.sub(" ", _MOMENT.sub(" ", asked)))
    asked = CLOCK.sub(_hour, DATE.sub(" ", _DAY_OF_MONTH.sub(" ", asked)))
    asked = _YEAR.sub(" ", _WEEKDAY.sub(" ", asked, count=1))
    sig = read_words(asked)
    own = read_words(" ".join(sorted(item.words))).routes
    if not spec.dose and (sig.doses or sig.durations or sig.strengths or sig.routes - own):
        return True
    if spec.as_needed and any(hours > REPEATED for hours in sig.intervals):
        return True
    return not _is_known(spec, " ".join(sig.unread))


def _is_known(spec: OrderSpec, text: str) -> bool:
    """Return whether all words of a text are of the order, or of how orders are carried out."""
    kind = "prescription" if spec.dose else "service"
    known = item_of(spec).words | filler(kind) | filler("service") | frozenset(sentences()["rest"])
    known |= {code.lower() for code in spec.codes} | (frozenset() if spec.dose else {"1"})
    known |= set(sentences()["acting"]) | participles() | sites_of(spec.route)
    said = " ".join(word for word in read_words(text).unread if not _DURATION.fullmatch(word))
    return all(is_of(known | {""}, word.strip(".'-/")) for word in said.split())


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
            rf"\b(?:{table['modals']}) (?:be |also |then )*"
            rf"(?:(?P<verb>{table['acting']})\w{{0,4}}|sent|hung|begun|brought|fed|made)\b"
        ),
        "leading_in": re.compile(
            rf"(?:after|following|upon|by|over|pending) (?P<what>[^,]+?) (?:{table['acting']})"
            r" (?:it|this|that|them)\b"
        ),
        "parting": re.compile(
            rf"{_PART}|\b(?:and|then|but|so|or) "
            rf"(?=(?:{table['acting']}|{table['turning']}|{table['telling']}){_NOUN})"
        ),
        "turning": re.compile(rf"{lead}(?:{table['turning']}){_NOUN}"),
        "adding": re.compile(rf"\b(?:{table['adding']})(?!\w)"),
        "stating": re.compile(rf"\b(?:{table['stating']})\b"),
        "bidding": re.compile(rf"(?<!\w)(?:{table['bidding']})(?!\w)"),
        "wanting": re.compile(rf"(?<!\w)(?:{table['wanting']})(?!\w)"),
        "undoing": re.compile(rf"\b(?:{table['undoing']})\b"),
        "urging": re.compile(rf"(?<!\w)(?:{table['urging']})"),
        "limiting": re.compile(rf"\b(?:{table['limiting']})"),
        "settling": re.compile(rf"\b(?:{table['settling']})"),
        "conditions": re.compile(rf"\b(?:{table['conditions']})\b"),
        "wondering": re.compile(rf"\b(?:{table['wondering']})$"),
        "telling": re.compile(rf"\b(?:{table['telling']})\b"),
        "until": re.compile(rf"\b(?:{table['until']})\b"),
    }
