"""Scripted policies: the one that knows what is meant, and those that do not read the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from healthgym.core.family import Script
from healthgym.core.seeding import Split
from healthgym.core.task import Instance, Reference, Task
from healthgym.core.tool import ToolCall, call
from healthgym.envs.ehr_format_conversion.clauses import ClauseKind, changed_sections
from healthgym.envs.ehr_format_conversion.defaults import DefaultConfig, sectioned
from healthgym.envs.ehr_format_conversion.grammar import RequestGrammar, published_request
from healthgym.envs.ehr_format_conversion.task import ConversionReference
from healthgym.envs.ehr_format_conversion.wording import COHORT, CUSTOM_CONFIG, DEFAULT_CONFIG

_FLOODED = 40


def solve(reference: ConversionReference) -> Script:
    """Return the calls of a careful engineer: read, copy, edit table by table, run, check."""
    default = sectioned(reference.default)
    return [
        call("read_file", path="README.md"),
        call("read_file", path=DEFAULT_CONFIG),
        *(
            call("search_files", text=f"## {clause.table}", folder="docs")
            for clause in reference.clauses[:1]
        ),
        *edits(default, reference.sections),
        call("run_etl", config=CUSTOM_CONFIG, out=COHORT),
        call("inspect_cohort", view="summary"),
        call("submit"),
    ]


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


def flood(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Ask for everything at once: a wish for as many events as the grammar has, of every kind."""
    default = _default(instance)
    tables = instance.start.pipeline.raw.names
    clauses = RequestGrammar(default, Split.TRAIN, tables).draw(rng, _FLOODED, tuple(ClauseKind))
    return _run_and_submit(edits(default, changed_sections(default, clauses)))


def prior(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Carry out the published request, whatever is asked."""
    default = _default(instance)
    sections = changed_sections(default, published_request(default))
    return _run_and_submit(edits(default, sections))


def default_copy(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Copy the default configuration and run the copy as it is."""
    return _run_and_submit([call("copy_file", source=DEFAULT_CONFIG, target=CUSTOM_CONFIG)])


def default_run(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Run the default configuration without a copy."""
    return _run_and_submit([], DEFAULT_CONFIG)


def submit_only(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Hand in nothing."""
    return [call("submit")]


def _default(instance: Instance[Task, Reference]) -> DefaultConfig:
    return sectioned(instance.start.files[DEFAULT_CONFIG].decode())
