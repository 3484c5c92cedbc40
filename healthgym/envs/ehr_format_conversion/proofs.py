"""How the verifier of conversions is put to the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from healthgym.core.family import Script
from healthgym.core.proofs import Allowance, Item, Operator, Proofs
from healthgym.core.tool import ToolCall, call
from healthgym.envs.ehr_format_conversion.clauses import Clause, ClauseKind
from healthgym.envs.ehr_format_conversion.defaults import parsed_section, sectioned
from healthgym.envs.ehr_format_conversion.oracle import carried_out
from healthgym.envs.ehr_format_conversion.resources import grammar
from healthgym.envs.ehr_format_conversion.task import ConversionInstance
from healthgym.envs.ehr_format_conversion.wording import (
    COHORT,
    CUSTOM_CONFIG,
    DEFAULT_CONFIG,
    WIRING,
)

_COPY = call("copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)
_RUN = call("run_etl", config=CUSTOM_CONFIG)
_SUBMIT = call("submit")
_KEPT = "output/kept.txt"


def _work(clauses: Sequence[Clause]) -> list[ToolCall]:
    return [_COPY, *(step for clause in clauses for step in carried_out(clause))]


def _with(*more: ToolCall) -> Operator:
    """Return what does more than was asked for, after the run."""

    def do(instance: ConversionInstance, script: Script, rng: np.random.Generator) -> Script:
        return [*_work(instance.reference.clauses), _RUN, *more, _SUBMIT]

    return do


def _clauses(change: Callable[[list[Clause], np.random.Generator], list[Clause]]) -> Operator:
    """Return what carries out other wishes than those asked for."""

    def do(instance: ConversionInstance, script: Script, rng: np.random.Generator) -> Script | None:
        clauses = change(list(instance.reference.clauses), rng)
        return [*_work(clauses), _RUN, _SUBMIT] if clauses else None

    return do


def _one_forgotten(clauses: list[Clause], rng: np.random.Generator) -> list[Clause]:
    del clauses[int(rng.integers(len(clauses)))]
    return clauses


def _one_half_done(clauses: list[Clause], rng: np.random.Generator) -> list[Clause]:
    """Leave out the first change of a wish that is made of several."""
    several = [number for number, clause in enumerate(clauses) if len(clause.changes) > 1]
    if not several:
        return []
    place = several[int(rng.integers(len(several)))]
    clauses[place] = replace(clauses[place], changes=clauses[place].changes[1:])
    return clauses


def _dropped_too(instance: ConversionInstance, script: Script, rng: np.random.Generator) -> Script:
    """Drop an event nobody spoke of."""
    return [
        *_work(instance.reference.clauses),
        call("drop_event", config=CUSTOM_CONFIG, table="hosp/patients", event="gender"),
        _RUN,
        _SUBMIT,
    ]


def _default_edited(
    instance: ConversionInstance, script: Script, rng: np.random.Generator
) -> Script:
    """Work in the default configuration, and copy it afterwards."""
    work = [
        ToolCall(step.name, {**step.arguments, "config": DEFAULT_CONFIG})
        for clause in instance.reference.clauses
        for step in carried_out(clause)
    ]
    return [*work, _COPY, _RUN, _SUBMIT]


def _changed_after(
    instance: ConversionInstance, script: Script, rng: np.random.Generator
) -> Script:
    """Run first, and change the configuration afterwards."""
    *work, last = _work(instance.reference.clauses)
    return [*work, _RUN, last, _SUBMIT]


def _whole(form: str) -> Operator:
    """Return what writes the configuration asked for in one go.

    Args:
        form: The text, in which ``{config}`` is replaced.
    """

    def do(instance: ConversionInstance, script: Script, rng: np.random.Generator) -> Script:
        text = form.replace("{config}", instance.reference.config)
        return [call("write_file", path=CUSTOM_CONFIG, text=text), _RUN, _SUBMIT]

    return do


def _twice(instance: ConversionInstance, script: Script, rng: np.random.Generator) -> Script:
    """Run the copy before it is changed, too."""
    work = _work(instance.reference.clauses)
    return [work[0], _RUN, *work[1:], _RUN, _SUBMIT]


def _items(instance: ConversionInstance) -> Iterator[Item]:
    """List the events of the default configuration that a request can be about.

    An event's place says nothing of the request, and neither does how the configuration writes it.
    """
    default = sectioned(instance.reference.default)
    asked = {(clause.table, clause.event) for clause in instance.reference.clauses}
    spoken = {(entry[0], entry[1]) for kind in ClauseKind for entry in grammar()[str(kind)]}
    for table, body in default.sections.items():
        for event in parsed_section(body):
            if (table, event) in spoken:
                yield Item("an event changes", (table, event) in asked, key=f"  {event}:")


def _looks(instance: ConversionInstance) -> Script:
    tables = sectioned(instance.reference.default).sections
    return [call("show_events", config=DEFAULT_CONFIG, table=table) for table in tables]


def _file(path: str, text: str = "# added\n") -> ToolCall:
    return call("write_file", path=path, text=text)


PROOFS = Proofs(
    corruptions={
        "a_wish_forgotten": _clauses(_one_forgotten),
        "a_wish_half_done": _clauses(_one_half_done),
        "an_event_dropped_too": _dropped_too,
        "the_default_edited": _default_edited,
        "changed_after_the_run": _changed_after,
        "run_with_the_default": _with(call("run_etl", config=DEFAULT_CONFIG)),
        "a_module_added": _with(_file("etl/sitecustomize.py")),
        "a_raw_table_added": _with(_file("raw_input/hosp/extra.csv", "subject_id\n1\n")),
        "a_configuration_added": _with(_file("etl/configs/event_configs.local.yaml")),
        "the_wiring_changed": _with(_file(WIRING)),
        "a_file_in_the_cohort": _with(_file(f"{COHORT}/data/train/9.parquet")),
    },
    equivalents={
        "in_another_order": _clauses(lambda clauses, rng: clauses[::-1]),
        "written_whole": _whole("{config}"),
        "with_comments": _whole("# For the project.\n{config}\n# End of the request.\n"),
        "run_twice": _twice,
        "tried_elsewhere": _with(call("run_etl", config=CUSTOM_CONFIG, out="output/trial")),
        "a_change_taken_back": _with(
            call("copy_file", source=WIRING, target=_KEPT),
            _file(WIRING),
            call("copy_file", source=_KEPT, target=WIRING),
        ),
    },
    items=_items,
    looks=_looks,
    artefacts={
        "an event changes": Allowance(
            0.75, "Some events have more columns to speak of; the request says which it is about."
        ),
    },
)
