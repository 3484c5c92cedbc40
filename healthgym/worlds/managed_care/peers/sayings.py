"""Facts of a chart as a clinician tells them on the phone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.charts.stated import numbers_of
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
from healthgym.worlds.managed_care.policies.units import printed

_GAP = re.compile(r" (?=[,.;])")


def told(
    fact: AnyFact, rng: np.random.Generator, wordings: Mapping[str, list[str]] | None = None
) -> str:
    """Return what a clinician says of a fact: every number and day of it.

    Args:
        fact: The fact.
        rng: Where the wording comes from.
        wordings: Sentences by kind of fact; those of a call if None, two or more for each.
    """
    kind, slots = _slots(fact)
    forms = (wordings or table())[kind]
    form: str = forms[int(rng.integers(len(forms)))]
    capital = {name[0].upper() + name[1:]: upper(text) for name, text in slots.items() if text}
    # A count has no unit, and leaves a gap before what follows.
    return _GAP.sub("", " ".join(form.format(**slots, **capital).split()))


def beside(said: str, rng: np.random.Generator) -> str:
    """Return a fact as it is put forward beside the point."""
    forms = table()["beside"]
    form: str = forms[int(rng.integers(len(forms)))]
    return form.format(said=said)


def upper(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


@cache
def table() -> JsonObject:
    """Return the sentences; shared, not to be changed."""
    read: JsonObject = json.loads((files(__package__) / "data" / "sayings.json").read_text("utf-8"))
    return read


def _slots(fact: AnyFact) -> tuple[str, Mapping[str, str]]:
    match fact:
        case Measurement():
            return "measurement", {
                "display": fact.display,
                "value": numbers_of(fact)[0],
                "unit": printed(fact.unit) if fact.unit else "",
                "day": _day(fact.taken),
            }
        case MedicationCourse():
            return "medication", {
                "medication": fact.medication,
                "dose": fact.dose,
                "frequency": fact.frequency,
                "start": _day(fact.started),
                "end": _end(fact.ended, fact.stop_reason),
            }
        case TherapyCourse():
            return "therapy", {
                "display": fact.display,
                "sessions": str(fact.sessions),
                "start": _day(fact.started),
                "end": _end(fact.ended, fact.stop_reason),
            }
        case Finding():
            value, day = fact.value, _day(fact.found)
            return "finding", {"display": fact.display, "value": value, "day": day}
        case Diagnosis():
            return "diagnosis", {
                "display": fact.display,
                "code": fact.code,
                "day": _day(fact.onset),
                "active": "active" if fact.active else "resolved",
            }
        case ProcedureDone():
            return "procedure", {
                "display": fact.display,
                "code": fact.code,
                "day": _day(fact.performed),
                "result": f"The result: {fact.result.rstrip('.')}." if fact.result else "",
                "Result": f"The result: {fact.result.rstrip('.')}." if fact.result else "",
            }
        case Intolerance():
            return "intolerance", {
                "substance": fact.substance,
                "reaction": fact.reaction or "a reaction that is not described",
                "day": _day(fact.recorded),
                "ban": table()["ban" if fact.contraindication else "no_ban"],
            }


def _end(ended: date | None, reason: StopReason | None) -> str:
    if ended is None:
        return str(table()["ongoing"])
    if reason is None:
        return str(table()["ended_bare"]).format(day=_day(ended))
    words: Mapping[str, str] = table()["reasons"]
    return str(table()["ended"]).format(day=_day(ended), reason=words[str(reason)])


def _day(day: date) -> str:
    return day.isoformat()
