"""What an agent that knows the answer does, and what ones that do not read do."""

from __future__ import annotations

import numpy as np

from healthgym.core.family import Script
from healthgym.core.task import Instance, Reference, Task
from healthgym.core.tool import call
from healthgym.envs.trial_matching.task import MatchingReference, MatchingStart

_BATCH = 8


def parts_of(instance: Instance[Task, Reference]) -> tuple[MatchingStart, MatchingReference]:
    """Return start and reference of an instance."""
    assert isinstance(instance.start, MatchingStart)
    assert isinstance(instance.reference, MatchingReference)
    return instance.start, instance.reference


def solve(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Read the note, search, read the criteria that matter, list and submit."""
    start, reference = parts_of(instance)
    ids = [id_ for id_ in start.corpus.ids if id_ in reference.eligible]
    batches = [ids[place : place + _BATCH] for place in range(0, len(ids), _BATCH)]
    return [
        call("read_note"),
        call("search_trials", query=start.topic),
        *(call("read_eligibility", nct_ids=batch) for batch in batches),
        call("add_to_shortlist", nct_ids=ids),
        call("show_shortlist"),
        call("submit"),
    ]


def flood(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """List the whole pool in its order."""
    start, _ = parts_of(instance)
    return _list(start.corpus.ids)


def flood_ranked(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """List the whole pool in the order in which a search for the note finds it."""
    start, _ = parts_of(instance)
    ranked = start.corpus.search(start.note)
    return _list([*ranked, *(id_ for id_ in start.corpus.ids if id_ not in ranked)])


def prior(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """List the six trials that a search for the note finds first, reading none."""
    start, _ = parts_of(instance)
    return _list(start.corpus.search(start.note)[:6])


def prior_fifty(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """List the fifty trials that a search for the note finds first, reading none."""
    start, _ = parts_of(instance)
    return _list(start.corpus.search(start.note)[:50])


def first_six(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """List the first six trials of the pool."""
    start, _ = parts_of(instance)
    return _list(start.corpus.ids[:6])


def empty(instance: Instance[Task, Reference], rng: np.random.Generator) -> Script:
    """Submit an empty list."""
    return [call("submit")]


def _list(ids: list[str] | tuple[str, ...]) -> Script:
    return [call("write_shortlist", text="\n".join(ids)), call("submit")]
