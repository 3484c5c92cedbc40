"""How questions are put into words: data, and the function that fills it in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources

import numpy as np

from healthgym.envs.fhir_record.task import Facts


class Style(StrEnum):
    """How much a question says.

    Each style prints the time. ``terse`` and ``full`` always state the form of the finish value;
    the published benchmarks leave parts of it to be guessed.
    """

    TERSE = "terse"  #: one short, fixed form
    FULL = "full"  #: several natural forms
    BENCHMARK = "benchmark"  #: says what the published context says
    AUDITED = "audited"  #: the published context as repaired by the audit


@cache
def _forms() -> Mapping[str, Mapping[str, str | list[str]]]:
    folder = resources.files(__package__).joinpath("data/wording")
    forms: dict[str, Mapping[str, str | list[str]]] = {}
    for name in ("v1.json", "v2.json"):
        forms.update(json.loads(folder.joinpath(name).read_text(encoding="utf-8")))
    return forms


def phrase(kind: str, facts: Facts, style: Style, rng: np.random.Generator) -> str:
    """Return a question in words.

    Args:
        kind: The task type.
        facts: Its parameters.
        style: How much it says. A type without an audited form has its benchmark form.
        rng: Chooses among several forms.
    """
    forms = _forms()[kind]
    if style is Style.AUDITED and style not in forms:
        style = Style.BENCHMARK
    form = forms[style]
    text = form if isinstance(form, str) else form[int(rng.integers(len(form)))]
    return text.format(
        now=facts.now.isoformat(),
        patient=facts.patient,
        codes=facts.codes,
        details=facts.details,
    )
