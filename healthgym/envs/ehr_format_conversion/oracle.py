"""Scripted policies: the one that knows what is meant, and those that do not read the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.core.family import Script
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.ehr_format_conversion.clauses import (
    Clause,
    ClauseKind,
    Op,
    changed_sections,
)
from healthgym.envs.ehr_format_conversion.defaults import DefaultConfig, parsed_section, sectioned
from healthgym.envs.ehr_format_conversion.grammar import RequestGrammar, published_request
from healthgym.envs.ehr_format_conversion.task import ConversionInstance, ConversionReference
from healthgym.envs.ehr_format_conversion.wording import COHORT, CUSTOM_CONFIG, DEFAULT_CONFIG

_FLOODED = 40


def solve(reference: ConversionReference) -> Script:
    """Return the calls of a careful engineer: look, copy, edit event by event, run, check."""
    default = sectioned(reference.default)
    touched = dict.fromkeys(clause.table for clause in reference.clauses)
    return [
        *(
            call("show_events", config=DEFAULT_CONFIG, table=table)
            if table in default.sections
            else call("describe_table", table=table)
            for table in touched
        ),
        call("copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG),
        *(step for clause in reference.clauses for step in carried_out(clause)),
        call("run_etl", config=CUSTOM_CONFIG),
        call("inspect_cohort", search=_sought(default, reference.clauses[0])),
        call("submit"),
    ]


def _sought(default: DefaultConfig, clause: Clause) -> str:
    """Return what codes of the events begin with that a wish is about."""
    blocks = [change.value for change in clause.changes if change.op is Op.ADD_EVENT]
    blocks += [
        {"code": change.value}
        for change in clause.changes
        if change.op is Op.SET and change.key == "code"
    ]
    if not blocks:
        blocks = [parsed_section(default.sections[clause.table])[clause.event]]
    code = blocks[0]["code"]
    first = str(code if isinstance(code, str) else code[0])
    return "" if first.startswith("col(") else first


def carried_out(clause: Clause) -> list[ToolCall]:
    """Return the calls that make the changes of a wish in the copied configuration."""
    calls = []
    for (table, event), changes in groupby(clause.changes, lambda each: (each.table, each.event)):
        keys: JsonDict = {}
        removed: list[str] = []
        place = {"config": CUSTOM_CONFIG, "table": table, "event": event}
        for change in changes:
            match change.op:
                case Op.DROP_EVENT:
                    calls.append(call("drop_event", **place))
                case Op.ADD_EVENT:
                    keys |= change.value
                case Op.SET:
                    keys[change.key] = change.value
                case Op.REMOVE:
                    removed.append(change.key)
        parts = {"keys": keys, "remove": removed}
        if keys or removed:
            calls.append(call("set_event", **place, **{k: v for k, v in parts.items() if v}))
    return calls


def edits(default: DefaultConfig, sections: Mapping[str, str]) -> list[ToolCall]:
    """Return the calls that copy the configuration and put other sections into the copy."""
    calls = [call("copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)]
    last = list(default.sections)[-1]
    end = sections.get(last, default.sections[last])
    for table, body in sections.items():
        old = default.sections.get(table)
        if old is not None:
            calls.append(call("edit_file", path=CUSTOM_CONFIG, old=old, new=body))
    for table, body in sections.items():
        if table not in default.sections:
            added = f"{end}\n{body}"
            calls.append(call("edit_file", path=CUSTOM_CONFIG, old=end, new=added))
            end = body
    return calls


def _run_and_submit(calls: Sequence[ToolCall], config: str = CUSTOM_CONFIG) -> Script:
    return [*calls, call("run_etl", config=config, out=COHORT), call("submit")]


def flood(instance: ConversionInstance, rng: np.random.Generator) -> Script:
    """Ask for everything at once: a wish for as many events as the grammar has, of every kind."""
    default = _default(instance)
    tables = instance.start.pipeline.raw.names
    clauses = RequestGrammar(default, Split.TRAIN, tables).draw(rng, _FLOODED, tuple(ClauseKind))
    return _run_and_submit(edits(default, changed_sections(default, clauses)))


def prior(instance: ConversionInstance, rng: np.random.Generator) -> Script:
    """Carry out the published request, whatever is asked."""
    default = _default(instance)
    sections = changed_sections(default, published_request(default))
    return _run_and_submit(edits(default, sections))


def default_copy(instance: ConversionInstance, rng: np.random.Generator) -> Script:
    """Copy the default configuration and run the copy as it is."""
    return _run_and_submit([call("copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)])


def default_run(instance: ConversionInstance, rng: np.random.Generator) -> Script:
    """Run the default configuration without a copy."""
    return _run_and_submit([], DEFAULT_CONFIG)


def submit_only(instance: ConversionInstance, rng: np.random.Generator) -> Script:
    """Hand in nothing."""
    return [call("submit")]


def _default(instance: ConversionInstance) -> DefaultConfig:
    return sectioned(instance.start.files[DEFAULT_CONFIG].decode())
