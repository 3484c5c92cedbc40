"""How questions are put into words: data, and the function that fills it in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib import resources

import numpy as np

from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.stated import published
from healthgym.envs.fhir_record.task import Facts

#: Share of the test split's questions in words that no other split has.
_UNSEEN = 0.5


class Style(StrEnum):
    """How much a question says.

    Each style prints the time. ``terse`` and ``full`` always state the form of the finish value;
    the published benchmarks leave parts of it to be guessed, and :func:`answer_form` has them.
    """

    TERSE = "terse"  #: one short, fixed form
    FULL = "full"  #: many natural forms, some of them for testing only
    BENCHMARK = "benchmark"  #: says what the published context says
    AUDITED = "audited"  #: the published context as repaired by the audit


@cache
def _forms() -> Mapping[str, Mapping[str, str | list[str]]]:
    """Return the forms of each task type by style; ``held_out`` are the full ones for testing."""
    folder = resources.files(__package__).joinpath("data/wording")
    forms: dict[str, dict[str, str | list[str]]] = {}
    for name in ("v1.json", "v2.json", "own_v1.json", "own_v2.json", "own_folders.json"):
        rows = json.loads(folder.joinpath(name).read_text(encoding="utf-8"))
        for kind, row in rows.items():
            forms.setdefault(kind, {}).update(row)
    return forms


def answer_form(kind: str, style: Style) -> str:
    """Return the form of the finish value, where the words of a style leave it out; else ``""``."""
    forms = _forms()[kind]
    silent = style is Style.BENCHMARK or (style is Style.AUDITED and style not in forms)
    return str(forms.get("answer", "")) if silent else ""


def phrase(
    kind: str,
    facts: Facts,
    style: Style,
    rng: np.random.Generator,
    split: Split = Split.TRAIN,
) -> str:
    """Return a question in words.

    Args:
        kind: The task type.
        facts: Its parameters.
        style: How much it says. A type without an audited form has its benchmark form.
        rng: Chooses among several forms.
        split: Where it is asked. Half of the test split's natural forms occur in no other split.
    """
    forms = _forms()[kind]
    if style is Style.AUDITED and style not in forms:
        style = Style.BENCHMARK
    form = forms[style]
    if style is Style.FULL and split is Split.TEST and rng.random() < _UNSEEN:
        form = forms["held_out"]
    text = form if isinstance(form, str) else form[int(rng.integers(len(form)))]
    return text.format(
        now=facts.now.isoformat(),
        patient=facts.patient,
        codes=facts.codes,
        details=facts.details,
        n={**published(kind).numbers, **facts.numbers},
    )
