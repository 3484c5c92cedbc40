"""What a clinician states on a call, taken from the words as a fact: value, day, course, code."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cache

from healthgym.core.seeding import stable_hash
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    StopReason,
    TherapyCourse,
)
from healthgym.worlds.managed_care.peers.sayings import table
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.units import other_units, printed

_DAY = r"\d{4}-\d\d-\d\d"
#: What may stand in a slot of a sentence.
_SLOTS = {
    "value": r"(?P<value>[\w<>=/+ .-]+?)",
    "unit": r"(?P<unit>[^;,]*?)",
    "day": rf"(?P<day>{_DAY})",
    "start": rf"(?P<start>{_DAY})",
    "sessions": r"(?P<sessions>\d+)",
    "code": r"(?P<code>[\w.]+)",
    "active": "(?P<active>active|resolved)",
    "dose": ".+?",
    "frequency": ".+?",
    "display": "(?P<display>.+?)",
    "medication": "(?P<medication>.+?)",
    "substance": "(?P<substance>.+?)",
    "reaction": "(?P<reaction>.+?)",
    "result": "(?: The result: .+?)?",
}
_REPEATED = re.compile(r"\?P<(\w+)>")


#: Sentences by kind of fact.
Wordings = Mapping[str, Sequence[str]]


def heard_facts(
    answer: str, item: AnyCriterion, wordings: Wordings | None = None
) -> tuple[AnyFact, ...]:
    """Return what an answer states on a criterion.

    Args:
        answer: What was said.
        item: The criterion it was asked about.
        wordings: Sentences in which facts may be told beside those of a call.
    """
    found = dict.fromkeys(_heard(answer, item, wordings or {}))
    return tuple(
        replace(fact, id=f"H-{item.id}-{stable_hash(repr(fact)) % 10**8}") for fact in found
    )


def same_fact(one: AnyFact, other: AnyFact) -> bool:
    """Return whether two readings are of one fact, though one of them tells less."""
    if isinstance(one, TherapyCourse) and isinstance(other, TherapyCourse):
        return (one.kind, one.started, one.ended) == (other.kind, other.started, other.ended)
    if isinstance(one, MedicationCourse) and isinstance(other, MedicationCourse):
        known = other.medication, other.started, other.ended
        return (one.medication, one.started, one.ended) == known
    if isinstance(one, Diagnosis) and isinstance(other, Diagnosis):
        return (one.code, one.onset) == (other.code, other.onset)
    return replace(one, id="") == replace(other, id="") if type(one) is type(other) else False


def with_heard(known: Iterable[AnyFact], told: Iterable[AnyFact]) -> tuple[AnyFact, ...]:
    """Return facts with those that were told; a course that is over goes on no more."""
    new = tuple(told)
    over = {_course(fact) for fact in new if _course(fact)}
    kept = (fact for fact in known if getattr(fact, "ended", True) or _course(fact) not in over)
    return (*kept, *new)


def _course(fact: AnyFact) -> tuple[str, date] | None:
    if isinstance(fact, MedicationCourse):
        return fact.medication, fact.started
    return (fact.kind, fact.started) if isinstance(fact, TherapyCourse) else None


def _heard(answer: str, item: AnyCriterion, wordings: Wordings) -> Iterator[AnyFact]:
    for match in _matches(answer, item, wordings):
        words = {name: text.strip() for name, text in match.groupdict().items() if text}
        # What stands where a number or a day belongs and is none (², 2026-13-45) states no fact.
        with suppress(ValueError):
            fact = _fact(item, words)
            if fact is not None:
                yield fact


def _matches(answer: str, item: AnyCriterion, wordings: Wordings) -> Iterator[re.Match[str]]:
    kind, own = _about(item)
    for pattern in _patterns(kind, own, tuple(wordings.get(kind, ()))):
        yield from pattern.finditer(answer)


def _about(item: AnyCriterion) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the kind of sentence, and what is known of its slots."""
    name = (("display", re.escape(item.display)),)
    match item:
        case MeasurementCriterion() | CountCriterion():
            return "measurement", ()
        case StepTherapyCriterion():
            drugs = "|".join(map(re.escape, (*item.drugs, *item.excluded)))
            return "medication", (("medication", f"(?P<medication>{drugs})"),)
        case TherapyCriterion():
            return "therapy", name
        case FindingCriterion():
            return "finding", name
        case DiagnosisCriterion():
            return "diagnosis", ()
        case ProcedureCriterion():
            return "procedure", name
        case ContraindicationCriterion():
            names = "|".join(map(re.escape, item.substances))
            return "intolerance", (("substance", f"(?P<substance>{names})"),)
    return "", ()


@cache
def _patterns(
    kind: str, own: tuple[tuple[str, str], ...], more: tuple[str, ...]
) -> tuple[re.Pattern[str], ...]:
    slots = {**_SLOTS, **dict(own)}
    return tuple(_pattern(form, slots) for form in (*table()[kind], *more)) if kind else ()


def _pattern(form: str, slots: dict[str, str]) -> re.Pattern[str]:
    tails = {
        "end": _ends(),
        "ban": rf"(?P<ban>{re.escape(table()['ban'])})|{re.escape(table()['no_ban'])}",
    }
    parts = []
    # A procedure without a result ends with its code.
    for piece in re.split(r"(\{\w+\})", form.replace(" {Result}", "{Result}")):
        name = piece[1:-1].lower()
        if piece.startswith("{"):
            parts.append(f"(?:{tails[name]})" if name in tails else slots[name])
        else:
            parts.append(re.escape(piece))
    return re.compile("".join(parts), re.IGNORECASE)


def _ends() -> str:
    reasons = "|".join(re.escape(words) for words in table()["reasons"].values())
    ended = re.escape(table()["ended"]).replace(r"\{day\}", rf"(?P<end>{_DAY})")
    ended = ended.replace(r"\{reason\}", f"(?P<why>{reasons})")
    bare = re.escape(table()["ended_bare"]).replace(r"\{day\}", rf"(?P<bare>{_DAY})")
    return f"{ended}|{bare}|{re.escape(table()['ongoing'])}"


def _fact(item: AnyCriterion, words: dict[str, str]) -> AnyFact | None:
    match item:
        case MeasurementCriterion() | CountCriterion():
            unit = _unit(item, words.get("unit", ""))
            if unit is None:
                return None
            return Measurement(
                id="",
                code=item.code,
                display=item.display,
                value=_number(words["value"]),
                unit=unit,
                taken=_date(words["day"]),
            )
        case StepTherapyCriterion():
            return MedicationCourse(
                id="",
                medication=words["medication"].lower(),
                drug_class=item.drug_class,
                dose="",
                frequency="",
                started=_date(words["start"]),
                ended=_ended(words),
                stop_reason=_why(words),
            )
        case TherapyCriterion():
            return TherapyCourse(
                id="",
                kind=item.therapy,
                display=item.display,
                sessions=int(words["sessions"]),
                started=_date(words["start"]),
                ended=_ended(words),
                stop_reason=_why(words),
            )
    return _seen(item, words)


def _seen(item: AnyCriterion, words: dict[str, str]) -> AnyFact | None:
    match item:
        case FindingCriterion():
            return Finding(
                id="",
                key=item.key,
                display=item.display,
                value=words["value"],
                found=_date(words["day"]),
            )
        case DiagnosisCriterion() if words["code"].startswith(tuple(item.prefixes)):
            return Diagnosis(
                id="",
                code=words["code"],
                display=item.display,
                onset=_date(words["day"]),
                active=words["active"].lower() == "active",
            )
        case ProcedureCriterion() if words["code"].rstrip(".") in item.codes:
            return ProcedureDone(
                id="",
                code=words["code"].rstrip("."),
                display=item.display,
                performed=_date(words["day"]),
            )
        case ContraindicationCriterion():
            return Intolerance(
                id="",
                substance=words["substance"].lower(),
                reaction=words.get("reaction", ""),
                recorded=_date(words["day"]),
                contraindication="ban" in words,
            )
    return None


def _unit(item: MeasurementCriterion | CountCriterion, said: str) -> str | None:
    known = (item.unit, *other_units(item.code, item.unit))
    return next((unit for unit in known if printed(unit) == said.strip()), None)


def _number(text: str) -> float:
    """Return a number.

    Raises:
        ValueError: If it is none, or beyond all numbers.
    """
    value = float(text.replace(",", ""))
    if not math.isfinite(value):
        raise ValueError(f"{text[:60]!r} is no number that is measured")
    return value


def _date(text: str) -> date:
    return date.fromisoformat(text)


def _ended(words: dict[str, str]) -> date | None:
    day = words.get("end") or words.get("bare")
    return _date(day) if day else None


def _why(words: dict[str, str]) -> StopReason | None:
    said: dict[str, str] = {text: name for name, text in table()["reasons"].items()}
    found = said.get(words.get("why", ""))
    return StopReason(found) if found else None
