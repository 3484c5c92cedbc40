"""Encounters before they are written: few of a chart's are ever read.

They are plain tuples, one each: what hangs on a task is what the collector goes through, too.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.staff import Worker


class Named(NamedTuple):
    """A condition that an encounter was about, and the number that was drawn for its name."""

    code: str
    title: str
    number: int


class Told(NamedTuple):
    """The facts by which an encounter is known, with the number drawn for its words."""

    facts: tuple[AnyFact, ...]
    number: int
    noted: bool


About = Named | Told


class Seen(NamedTuple):
    """An encounter before it is written, with all that was drawn for it."""

    place: int
    at: date
    encounter_type: str
    about: About
    author: Worker
    summary: str
    code: str | None
    description: str | None
