"""Whether free words beside an order say another thing than the order itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache

from healthgym.envs.fhir_record.orders.denial import sentences
from healthgym.envs.fhir_record.orders.items import has_name, item_of
from healthgym.envs.fhir_record.orders.quantities import Amount, Dimension, amount, same, unit_names
from healthgym.envs.fhir_record.orders.shorthand import written_out
from healthgym.envs.fhir_record.orders.sig import plain, read_words
from healthgym.envs.fhir_record.orders.tables import read_table
from healthgym.envs.fhir_record.task import OrderSpec
from healthgym.envs.fhir_record.view import parse_time

_YEAR = re.compile(r"\b20\d\d\b")
#: A season is named by the year it begins in.
_SEASON = re.compile(r"\b(20\d\d)[-/](?:20)?(\d\d)(?![-/\w])")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_TIME = "|".join(unit_names(Dimension.TIME))
_AHEAD = re.compile(rf"\b(?:in|after) (\d+|an?) ?({_TIME})\b(?! ago)")
_NEXT = re.compile(r"\bnext (week|month|year)\b")
_NEXT_HOURS = {"week": 168.0, "month": 730.5, "year": 8766.0}
_MULTIPLE = re.compile(
    r"\b(?:double|triple|quadruple|halve|half|twice|thrice|\d+ ?x|\d+ times)"
    r" (?:the |this |that |of |as much )*(?:dose|amount|quantity|medication|order)\b"
)
_PART_OF_ONE = re.compile(
    r"\b(?:half|quarter|third)s?(?! (?:an )?hour|[ -]life| (?:past|normal))\b"
)
#: What somebody takes besides.
_TAKEN = re.compile(
    rf"\b(?:(?:on|takes|taking|receiving|home|chronic|current(?:ly)?|continue[sd]?|uses|using) "
    rf"(?:[a-z/-]+ ){{1,3}}?|[a-z-]+(?= [\d.]+ ?mg [\w ]*\bactive))"
    rf" ?[\d.]+ ?(?:{'|'.join(unit_names(Dimension.MASS))}|units?|meq)\b"
    rf"(?: (?:daily|bid|tid|qid|qhs|prn|nightly|weekly|q ?\d+ ?h|q\w*))*"
)
#: What a patient weighs is no dose.
_WEIGHT = re.compile(r"\b(?:wt|weigh\w*|bw|ibw)\b\D{0,12}[\d.]+ ?(?:kg|lbs?|g)?\b|[\d.]+ ?kg\b")
#: How a dose is worked out: so much for each step of a deficit.
_PER_STEP = re.compile(
    r"[\d.]+ ?[a-z]+ (?:per|for each|for every|/) ?[\d.]+(?: ?(?:mmol/l|meq/l|mg/dl))?"
)
#: A sum by which a dose is worked out.
_SUM = re.compile(r"= ?\([\d.\s+-]+\)(?: ?[/x*\u00d7\u00f7] ?[\d.]+)+(?: ?\w+)?")
#: One dose of those that are repeated.
_ONE_OF_MANY = re.compile(
    r"\bonly (?:the |an? )?(?:first|1|single|next|initial|loading)\b.{0,20}\bdoses?\b"
    r"|\b(?:single|1|first|initial|next|loading) doses? only\b"
)
#: Longest interval, in hours, of a dose that is repeated if it did not work.
REPEATED = 0.1
#: Words that an order which was ended goes on, or was not to be ended.
_GOES_ON = re.compile(
    r"\b(?:continue|keep|restart|resume|reinstate|reactivate)"
    r"(?:$| (?:this|it|now|as|giving|orders?)\b)"
    r"|\b(?:not|never|n't)(?: \w+){0,2} (?:stop|discontinu|end|cancel)"
    r"|\b(?:in error|by mistake|(?:still|remains?|stays?) active|on request|temporar\w*)\b"
    r"|\b(?:(?:may|can|will|could|should|to) (?:be )?)?(?:still |again )?"
    r"(?:given|administered|taken|used|started|dosed) again\b"
    r"|\b(?:may|can|could|will) still\b|\b(?:only|just|merely) (?:paused|held|on hold|for)\b"
    r"|\bpaus(?:e|ed|ing)\b|\bnot (?:a |an |really |actually |truly |yet )*(?:real|meant|final)\b"
    r"|(?<!not )(?<!stop )(?<!never )\b(?:give|administer|take|use|dispense|start|begin|finish)\b"
)
#: What is said of another order beside one that was ended; of the order itself it goes on.
_LASTING = re.compile(r"(?:please )?(?:continue|keep|maintain)\b")
#: The pause before a second dose of what is given for need, and before a meal.
_BETWEEN = re.compile(
    r"\bwait\w* (?:for )?(?:\d ?(?:-|to|or) ?)?\d ?(?:s|sec\w*|min\w*)\b"
    r"|\bwait\w* [\d-]+ ?min\w* (?:before|prior to) (?:eating|breakfast|food|lying|coffee|meals)\b"
)
#: Kinds of words that make another order of one for a service.
_OF_SERVICES = ("standing", "hanging", "later", "others", "counts")
#: Those that are read of a drug, whose times are read with its dose.
_OF_DRUGS = ("standing", "hanging", "later")
#: Words of a clause about looking again, which has times and rates of its own.
_CHECKING = ("check", "monitor", "level", "draw", "lab", "measure", "repeat tsh", "last", "prior")


def puts_off(text: str, begin: datetime, latest: datetime) -> bool:
    """Return whether a text names a time after an order is due.

    Args:
        text: The free text.
        begin: When the question was asked.
        latest: When the order is due at the latest.
    """
    for clause in clauses(text):
        clause = _SEASON.sub(_begun, clause)
        if any(int(year) > latest.year for year in _YEAR.findall(clause)):
            return True
        if any(word in clause for word in _CHECKING):
            continue
        moments = [parse_time(date) for date in _DATE.findall(clause)]
        spans = [
            amount(1.0 if count[0] == "a" else float(count), unit)
            for count, unit in _AHEAD.findall(clause)
        ]
        hours = [span.value for span in spans if span is not None]
        hours += [_NEXT_HOURS[word] for word in _NEXT.findall(clause)]
        moments += [begin + timedelta(hours=count) for count in hours if count < 1e6]
        if any(moment is not None and moment > latest for moment in moments):
            return True
    return False


def _begun(season: re.Match[str]) -> str:
    """Return the first year of a season, such as 2023-2024, and other numbers as they are."""
    return season[1] if int(season[2]) == (int(season[1]) + 1) % 100 else season[0]


def changes_order(spec: OrderSpec, text: str) -> str:
    """Return how free words make another order of one; empty if they do not.

    They may say that it does not stand (a draft, done already, only on a condition), that it can
    wait, that it is for somebody else, that it is done more than once, or the opposite of it. Of
    a medication only the first two are read here; how often it is given is read with its dose.

    Args:
        spec: The order.
        text: The free text.
    """
    against, kinds = item_of(spec).against, _kinds()
    for clause in clauses(text):
        if against and against.search(clause):
            return "opposite"
        clause = kinds["neither"].sub(" ", clause)
        if spec.dose:
            clause = _BETWEEN.sub(" ", clause)
        free = {"hanging"} if spec.as_needed else set()
        if spec.dose and any(word in clause for word in _CHECKING):
            free.add("later")
        for kind in _OF_DRUGS if spec.dose else _OF_SERVICES:
            if kind in free:
                continue
            found = kinds[kind].search(clause)
            told = kind == "hanging" and found and _telling().search(clause[: found.start()])
            if found and not told:
                return kind
    return ""


def ending_of(drug: str, text: str) -> str:
    """Return a text in the form it is scanned in, less the drug where the text ends it.

    Args:
        drug: The full name of the drug that is ended.
        text: Free text, such as ``"Please stop giving ondansetron."``.
    """
    words = "|".join(re.escape(word) for word in plain(drug).split())
    ended = r"\b(stop|discontinue|cancel|end|hold)(?:\w+)?(?: (?:giving|taking|the|this|of|order))*"
    return re.sub(rf"{ended}(?: (?:{words})(?![\w-]))+", r"\1", written_out(text))


def ending_clauses(text: str) -> list[str]:
    """Return the clauses of a text but those by which another order goes on."""
    return [clause for clause in clauses(text) if not _LASTING.match(clause)]


def goes_on(text: str) -> bool:
    """Return whether free words beside an order that was ended say that it goes on."""
    return any(_GOES_ON.search(clause) for clause in clauses(text))


def is_for_others(text: str) -> bool:
    """Return whether free words say that an order is somebody else's."""
    others = _kinds()["others"]
    return any(others.search(clause) for clause in clauses(text))


@cache
def _telling() -> re.Pattern[str]:
    """Return what somebody is told; on what that hangs is free."""
    return re.compile(rf"\b(?:{'|'.join(sentences()['telling'])})\b")


@cache
def _kinds() -> Mapping[str, re.Pattern[str]]:
    return {
        kind: re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")
        for kind, parts in read_table("remarks").items()
    }


def says_otherwise(spec: OrderSpec, text: str, *, explains: bool = False) -> bool:
    """Return whether free words give another dose, route or timing than a medication order.

    Args:
        spec: The order.
        text: The free text.
        explains: Whether it is a note or a reason: there other amounts may stand beside the right
            one, as where it is worked out.
    """
    assert spec.dose is not None, "asked of orders with a dose"
    wanted = amount(spec.dose.value, spec.dose.unit)
    assert wanted is not None, f"{spec.dose} is not in the table of units"
    route = read_words(spec.route).routes
    intervals = read_words(spec.frequency).intervals if spec.frequency else set()
    for clause in clauses(text):
        if _MULTIPLE.search(clause) or _PART_OF_ONE.search(clause):
            return True
        if spec.frequency and _ONE_OF_MANY.search(clause):
            return True
        clause = _WEIGHT.sub(" ", _PER_STEP.sub(" ", _SUM.sub(" ", clause)))
        if explains:
            clause = _TAKEN.sub(lambda found: found[0] if has_name(spec, found[0]) else " ", clause)
        sig = read_words(clause)
        doses = [dose for dose in sig.doses if dose.of is not Dimension.COUNT]
        counted = [dose for dose in sig.doses if dose.of is Dimension.COUNT]
        if not explains and not all(_makes_a_dose(spec, dose.value, wanted) for dose in counted):
            return True
        right = [dose for dose in doses if same(dose, wanted, spec.dose.tolerance)]
        if doses and (not right if explains else len(right) < len(doses)):
            return True
        if sig.routes - route:
            return True
        if any(word in clause for word in _CHECKING):
            continue
        if spec.as_needed:
            intervals = {hours for hours in sig.intervals if explains or hours <= REPEATED}
        if sig.intervals - intervals:
            return True
        if any(hours != spec.hours for hours in sig.durations):
            return True
    return False


def _makes_a_dose(spec: OrderSpec, count: float, wanted: Amount) -> bool:
    """Return whether so many tablets or sprays can be the dose that is asked for."""
    solids = item_of(spec).solid
    return count == 1 or any(same(Amount(count * one, wanted.of), wanted) for one in solids)


def clauses(text: str) -> list[str]:
    """Return the clauses of a text, in the form in which it is scanned."""
    return [clause for clause in re.split(r"[.;!?](?:\s|$)", plain(text)) if clause]
