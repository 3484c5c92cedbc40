"""What people say on a call beside facts: pools of sentences, by who speaks and what about."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from importlib.resources import files

import numpy as np

from healthgym.worlds.managed_care.contracts import Remark


class Voice(StrEnum):
    """Who is at the other end."""

    CLINICIAN = "clinician"  #: who ordered the service
    PHYSICIAN = "physician"  #: who reviews it for the payer


def pool(voice: Voice, name: str) -> tuple[str, ...]:
    """Return the sentences of a kind; those of a clinician where a physician has no own."""
    own = _pools()[voice]
    return own.get(name) or _pools()[Voice.CLINICIAN][name]


def usual(remark: Remark) -> tuple[str, ...]:
    """Return what a clinician says of a kind where nobody drew an order."""
    return pool(Voice.CLINICIAN, str(remark))


def drawn(voice: Voice, rng: np.random.Generator) -> Mapping[Remark, tuple[str, ...]]:
    """Return the remarks of one person: every kind, in an order of its own.

    Args:
        voice: Who speaks.
        rng: Where the order comes from.
    """
    found = {Remark.CLOSED: pool(voice, Remark.CLOSED)}  # one is said in a call, whichever is first
    for remark in (each for each in Remark if each not in found):
        known = pool(voice, str(remark))
        found[remark] = tuple(known[int(place)] for place in rng.permutation(len(known)))
    return found


def one_of(voice: Voice, name: str, rng: np.random.Generator) -> str:
    """Return one sentence of a kind."""
    known = pool(voice, name)
    return known[int(rng.integers(len(known)))]


@cache
def _pools() -> Mapping[Voice, Mapping[str, tuple[str, ...]]]:
    read: Mapping[str, Mapping[str, list[str]]] = json.loads(
        (files(__package__) / "data" / "remarks.json").read_text("utf-8")
    )
    return {
        voice: {name: tuple(sentences) for name, sentences in read[voice].items()}
        for voice in Voice
    }
