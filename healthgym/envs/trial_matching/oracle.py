"""What an agent that knows the answer does, and what ones that do not read do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import call
from healthgym.envs.trial_matching.task import MatchingInstance

_BATCH = 8


def solve(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """Read the note, search, read the criteria that matter, list and submit."""
    start, eligible = instance.start, instance.reference.eligible
    ids = [id_ for id_ in start.corpus.ids if id_ in eligible]
    batches = [ids[place : place + _BATCH] for place in range(0, len(ids), _BATCH)]
    return [
        call("read_note"),
        call("search_trials", query=start.topic),
        *(call("read_eligibility", nct_ids=batch) for batch in batches),
        call("add_to_shortlist", nct_ids=ids),
        call("show_shortlist"),
        call("submit"),
    ]


def flood(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """List the whole pool in its order."""
    return _list(instance.start.corpus.ids)


def flood_ranked(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """List the whole pool in the order in which a search for the note finds it."""
    start = instance.start
    ranked = start.corpus.search(start.note)
    return _list([*ranked, *(id_ for id_ in start.corpus.ids if id_ not in ranked)])


def prior(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """List the six trials that a search for the note finds first, reading none."""
    start = instance.start
    return _list(start.corpus.search(start.note)[:6])


def prior_fifty(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """List the fifty trials that a search for the note finds first, reading none."""
    start = instance.start
    return _list(start.corpus.search(start.note)[:50])


def first_six(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """List the first six trials of the pool."""
    return _list(instance.start.corpus.ids[:6])


def empty(instance: MatchingInstance, rng: np.random.Generator) -> Script:
    """Submit an empty list."""
    return [call("submit")]


def _list(ids: Sequence[str]) -> Script:
    return [call("write_shortlist", text="\n".join(ids)), call("submit")]
