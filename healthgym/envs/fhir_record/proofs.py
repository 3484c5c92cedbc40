"""How the verifier of answers and orders is put to the proof."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from healthgym.core.borders import Json, JsonDict
from healthgym.core.family import Script
from healthgym.core.proofs import Operator, Proofs
from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.task import FhirInstance

_ORDER, _SERVICE, _FINISH = "create_medication_request", "create_service_request", "finish"
_WRITES = (_ORDER, _SERVICE, "record_observation")
#: Routes, and other words for them.
_ROUTES = {"IV": "intravenously", "subcutaneous": "SC", "nasal": "intranasal", "oral": "by mouth"}

_Change = Callable[[JsonDict], JsonDict | None]


# Environments hold these and are pickled, so that none is a lambda or made inside a function.


def _changing(name: str, change: _Change) -> Operator:
    """Return what makes the first call of a tool otherwise, where that can be."""
    return partial(_changed, name, change)


def _changed(
    name: str, change: _Change, instance: FhirInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    steps = list(script)
    for place, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.name == name:
            arguments = change(dict(step.arguments))
            if arguments is None:
                return None
            return [*steps[:place], ToolCall(name, arguments), *steps[place + 1 :]]
    return None


def _times(count: int) -> Operator:
    """Return what makes the first entry so many times."""
    return partial(_repeated, count)


def _repeated(
    count: int, instance: FhirInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    steps = list(script)
    for place, step in enumerate(steps):
        if isinstance(step, ToolCall) and step.name in _WRITES:
            return [*steps[:place], *[step] * count, *steps[place + 1 :]]
    return None


def _answer(change: Callable[[object], object]) -> Operator:
    """Return what changes the first element of the answer."""
    return _changing(_FINISH, partial(_answered, change))


def _answered(change: Callable[[object], object], arguments: JsonDict) -> JsonDict | None:
    value = list(arguments["value"])
    first = change(value[0]) if value else None
    return None if first is None else {**arguments, "value": [first, *value[1:]]}


def _unanswered(arguments: JsonDict) -> JsonDict | None:
    return {"value": []} if arguments["value"] else None


def _with(name: str, value: Json, arguments: JsonDict) -> JsonDict:
    return {**arguments, name: value}


def _noted(text: str, arguments: JsonDict) -> JsonDict | None:
    """Add a note; where one is dictated nothing can stand beside it."""
    return None if arguments.get("note") else {**arguments, "note": text}


def _number(value: object) -> float | None:
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


def _more(value: object) -> object:
    number = _number(value)
    return None if number is None else number + max(1.0, 0.1 * abs(number))


def _year_before(value: object) -> object:
    if not isinstance(value, str) or not value[:4].isdigit():
        return None
    return f"{int(value[:4]) - 1}{value[4:]}"


def _dose(factor: float, unit: str = "", of: str = "") -> _Change:
    """Return what gives a dose another number, and another unit if one is named."""
    return partial(_dosed, factor, unit, of)


def _dosed(factor: float, unit: str, of: str, arguments: JsonDict) -> JsonDict | None:
    if "dose" not in arguments or (of and arguments["dose_unit"] != of):
        return None
    return {
        **arguments,
        "dose": arguments["dose"] * factor,
        "dose_unit": unit or arguments["dose_unit"],
    }


def _denied(arguments: JsonDict) -> JsonDict | None:
    name = arguments.get("medication")
    return {**arguments, "medication": f"no {name} please"} if name else None


def _route(arguments: JsonDict) -> JsonDict | None:
    other = _ROUTES.get(str(arguments.get("route")))
    return None if other is None else {**arguments, "route": other}


def _looking_again(
    instance: FhirInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    first = next(iter(script), None)
    known = isinstance(first, ToolCall) and first.name not in (*_WRITES, _FINISH)
    return [first, *script] if known else None


PROOFS = Proofs(
    told={
        "v1-t3": "The measurement to record is in the question.",
        "v1-t8": "The referral to order is in the question.",
    },
    corruptions={
        "a_dose_doubled": _changing(_ORDER, _dose(2)),
        "a_dose_of_another_unit": _changing(_ORDER, _dose(1, "mg", of="g")),
        "every_quarter_hour": _changing(_ORDER, partial(_with, "frequency", "every 15 minutes")),
        "a_name_that_denies": _changing(_ORDER, _denied),
        "planned_for_years_ahead": _changing(
            _SERVICE, partial(_with, "occurrence", "2041-01-01T08:00:00+00:00")
        ),
        "a_service_every_day": _changing(_SERVICE, partial(_noted, "Repeat daily.")),
        "a_service_on_a_condition": _changing(
            _SERVICE, partial(_noted, "Pending insurance approval.")
        ),
        "a_service_for_somebody_else": _changing(
            _SERVICE, partial(_noted, "For the neighbour in bed 4.")
        ),
        "a_service_and_a_treatment": _changing(
            _SERVICE, partial(_noted, "Start dialysis, and check troponin.")
        ),
        "an_entry_left_out": _times(0),
        "an_entry_twice": _times(2),
        "another_number_answered": _answer(_more),
        "another_year_answered": _answer(_year_before),
        "nothing_answered": _changing(_FINISH, _unanswered),
    },
    equivalents={
        "looking_again": _looking_again,
        "a_number_with_a_decimal": _answer(_number),
        "another_unit": _changing(_ORDER, _dose(1000, "mg", of="g")),
        "another_word_for_the_route": _changing(_ORDER, _route),
        "a_service_with_a_reason": _changing(
            _SERVICE, partial(_noted, "Chart reviewed; criteria met.")
        ),
        "a_service_with_a_finding": _changing(
            _SERVICE, partial(_noted, "No fever; has not been seen since last year.")
        ),
    },
)
