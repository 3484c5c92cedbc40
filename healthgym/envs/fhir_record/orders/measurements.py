"""The parts of a measurement, such as systole and diastole, against the value it is filed with."""

from __future__ import annotations

import re

from healthgym.core.borders import JsonObject
from healthgym.envs.fhir_record.orders.items import names_in
from healthgym.envs.fhir_record.orders.quantities import number
from healthgym.envs.fhir_record.orders.words import objects

#: Codes of the parts of a blood pressure (LOINC, SNOMED CT).
_PARTS = {"8480-6": 0, "271649006": 0, "8462-4": 1, "271650006": 1}
_NAMES = ("systolic", "diastolic")
_UNITS = frozenset({"mmhg", "mm hg", "mm[hg]"})


def parts_agree(value: str, parts: object) -> bool:
    """Return whether the components of a measurement say what its value says.

    Args:
        value: The value asked for, such as ``"118/77 mmHg"``.
        parts: The components; each is read by its code, or by its name.
    """
    wanted = re.fullmatch(r"(\d+)/(\d+) .+", value)
    given = objects(parts)
    if wanted is None or not isinstance(parts, list) or len(given) < len(parts):
        return False
    read = [_read(part) for part in given]
    told = {read_one for read_one in read if read_one is not None}
    return len(told) == len(given) and told <= {(0, float(wanted[1])), (1, float(wanted[2]))}


#: A pressure in words; small numbers with a slash are dates and fractions.
_PRESSURE = re.compile(r"(?<![\d/])(\d{2,3}) ?/ ?(\d{2,3})(?![\d/])")
#: A number above it before a slash is no month and no day.
_LARGEST_DAY = 31
_BEFORE = re.compile(r"\b(?:previous|prior|last|baseline|earlier|before|home|yesterday|usual)\b")


def corrects(value: str, text: str) -> bool:
    """Return whether words beside a measurement give another value of it, and no earlier one.

    Args:
        value: The value asked for, such as ``"118/77 mmHg"``.
        text: Free text, in small letters.
    """
    for found in _PRESSURE.finditer(text):
        other = not value.startswith(f"{found[1]}/{found[2]} ") and int(found[1]) > _LARGEST_DAY
        if other and not _BEFORE.search(text[: found.start()]):
            return True
    return False


def _read(part: JsonObject) -> tuple[int, float] | None:
    """Return which part a component is, and its number in mmHg; None if that is not sure."""
    code, quantity = part.get("code"), part.get("valueQuantity")
    if not isinstance(code, dict) or not isinstance(quantity, dict):
        return None
    if part.keys() - {"id", "code", "valueQuantity"} or quantity.get("comparator"):
        return None
    which = {_PARTS.get(str(coding.get("code"))) for coding in objects(code.get("coding"))}
    which |= {
        next((place for place, name in enumerate(_NAMES) if name in text.lower()), None)
        for text in names_in(code)
    }
    units = {str(quantity[name]).lower() for name in ("unit", "code") if name in quantity}
    value = number(quantity.get("value"))
    place = which.pop() if len(which) == 1 else None
    return None if place is None or value is None or not units <= _UNITS else (place, value)
