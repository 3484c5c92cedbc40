"""How somebody speaks and listens: tone, hesitation, hard words, bad ears, another language."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from healthgym.worlds.managed_care.conversation.mind import Mind
from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.conversation.surroundings import Answering, Manner

_WORDS: Final = re.compile(r"[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}-][^\W_]+)*")
_INTERPRETER: Final = re.compile(r"\binterpret(?:er|ers|ing|ation)\b", re.IGNORECASE)
#: Who translates of the family is no interpreter.
_FAMILY: Final = re.compile(
    r"\b(?:your|the) (?:son|daughter|grandson|granddaughter|niece|nephew|wife|husband|family)\b",
    re.IGNORECASE,
)
#: How often the tone shows.
_SHOWN: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Tones:
    """Words that make a tone.

    Attributes:
        before: What a reply may begin with, by register.
        after: What it may end with, by register.
        hesitations: Sounds that a reply may begin with.
        office: Words of the office, as patterns.
    """

    before: Mapping[str, Sequence[str]]
    after: Mapping[str, Sequence[str]]
    hesitations: Sequence[str]
    office: Sequence[str]


@cache
def tones() -> Tones:
    """Return the words of ``lines/tones.json``."""
    folder = files("healthgym.worlds.managed_care.conversation") / "lines"
    return Tones(**json.loads((folder / "tones.json").read_text("utf-8")))


@cache
def _office() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(tones().office)})\b", re.IGNORECASE)


def missed(persona: Persona, mind: Mind | None, message: str, call: int) -> str:
    """Return why nothing of a message arrives, as the key of what is said; empty if it does.

    Args:
        persona: Who listens.
        mind: What they have in mind.
        message: What is said.
        call: Number of the call.
    """
    if mind is None or mind.answering is not Answering.PERSON:
        return ""
    around = persona.around
    if around.interpreter and mind.interpreted_in != call and not interprets(message):
        return f"foreign.{around.interpreter.lower()}"
    manner = around.manner
    if manner.most_words and words_in(message) > manner.most_words:
        return "hearing"
    return "office_word" if manner.plain_words and _office().search(message) else ""


def words_in(message: str) -> int:
    """Return how many words a message has."""
    return len(_WORDS.findall(message))


def interprets(message: str) -> bool:
    """Return whether a message brings an interpreter to the line, who is none of the family."""
    return bool(_INTERPRETER.search(message)) and not _FAMILY.search(message)


def tone(manner: Manner, seed: int, turn: int) -> tuple[str, str]:
    """Return the sounds before and after a reply; empty where there are none.

    Args:
        manner: How they speak.
        seed: From which their wording is drawn.
        turn: Number of the turn, over all calls.
    """
    opening, closing = tones().before[manner.register], tones().after[manner.register]
    if not (opening or closing or manner.hesitation):
        return "", ""  # who speaks plainly makes no sounds
    draws = np.random.default_rng([seed, turn, 7])
    shown, first, last = draws.random(3)
    before: list[str] = []
    after: list[str] = []
    # One after the other, so that nobody says the same with every breath.
    if shown < _SHOWN and opening:
        before.append(opening[(seed + turn) % len(opening)])
    elif shown > 1 - _SHOWN and closing:
        after.append(closing[(seed + turn) % len(closing)])
    if first < manner.hesitation:
        before.insert(0, _one(tones().hesitations, draws))
    if last < manner.hesitation / 4:
        after.append(_one(tones().hesitations, draws))
    return " ".join(before), " ".join(after)


def _one(options: Sequence[str], draws: np.random.Generator) -> str:
    return options[int(draws.integers(len(options)))]
