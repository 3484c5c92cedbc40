"""Clinicians' shorthand written out: a sentence and its short form are read alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from healthgym.core.borders import JsonDict
from healthgym.envs.fhir_record.orders.quantities import squeezed
from healthgym.envs.fhir_record.orders.tables import read_table

#: What ends a line or an item of a list; without it a second line would be part of the first.
_LINE = re.compile(r"\s*[\r\n]+\s*(?:[-*\u2022]+\s+|\d+[.)]\s+)?|[\u2022|]|\s-+>\s|\s=+>\s")
#: "D/c" is the end of a stay after these.
_STAY = re.compile(
    r"\b(after|before|at|on|since|until|prior to|post|day of) (?:d/c|dc)\b"
    r"(?=$|[.,;]| (?:home|to|from|on|with)\b)"
)
#: The element, where no number says that it is the unit.
_MAGNESIUM = re.compile(r"(?<![\d/])(?<!\d )\bMg\b(?! ?/)")
_ENOUGH_LETTERS = 4
_AFTER = re.compile(rf"(?<=[a-z] )p(?= [a-z]{{{_ENOUGH_LETTERS},}})")


def written_out(text: str) -> str:
    """Return a text in lower case with each line a sentence and its shorthand in full.

    Args:
        text: Free text, such as ``"dont hang w/ K, recheck p infusion"``.
    """
    text = _MAGNESIUM.sub("magnesium", _LINE.sub(". ", text.strip()))
    text = squeezed(text).replace("\u2019", "'")
    text = re.sub(r"\b(?:cannot|can't|cant)\b", "can not", text)
    text = re.sub(r"\b(?:won't|wont)\b", "will not", text)
    text = re.sub(rf"\b({'|'.join(_table()['negated'])})n'?t\b", r"\1 not", text)
    text = re.sub("|".join(_table()["printed"]), "", text)  # by ICD-10 behind a diagnosis
    text = _AFTER.sub("after", _STAY.sub(r"\1 discharge", text))
    return _short().sub(lambda found: _full()[found[0]], text)


@cache
def _short() -> re.Pattern[str]:
    forms = "|".join(re.escape(form) for form in sorted(_full(), key=len, reverse=True))
    # "5000 u" is an amount, and "k+" a potassium.
    return re.compile(rf"(?<![\w/'.+-])(?<!\d )(?:{forms})(?![\w/'+-])|(?<=\s)w/(?=\w)")


@cache
def _full() -> Mapping[str, str]:
    return {form: full for full, forms in _table()["words"].items() for form in forms}


@cache
def _table() -> JsonDict:
    table: JsonDict = read_table("shorthand")
    return table
