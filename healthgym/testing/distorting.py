"""One place of an action made odd: a JSON value, a word or line of a text, JSON inside a text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from healthgym.core.borders import Json, JsonDict
from healthgym.testing.odd_values import pick

#: What Python calls a digit and `int` does not read, what it reads though no ASCII digit, and what
#: is a number and no digit.
_DIGITS = ("²", "③", "५", "٣", "½", "Ⅷ", "一")
#: The same, and what changes its length or becomes another letter with its case.
_SIGNS = (*_DIGITS, "ß", "İ", "\u017f", "\u0345")
#: What ends lines for some readers only, has no width, or turns the direction of writing.
_UNSEEN = ("\x00", "\x1c", "\x85", "\u2028", "\u200f", "\u202e", "\ufeff", "\u0301", "\xa0", "\t")
_NUMBERS = (
    "9" * 5000, "-" + "9" * 400, "0" * 5000 + "1", "1e308", "1e999", "-0.0", "NaN", "inf",
    "-Infinity", "1_000", "0x10", "1,5", ".", "-", "٣", "²", "1e-400", "0", "-1",
)  # fmt: skip
_DAYS = (
    "0001-01-01", "9999-12-31", "0000-00-00", "2024-02-30", "2024-13-01T25:61:61Z",
    "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "2024-02-29T24:00:00Z",
    "२०२४-०१-०१", "2024-W01-1", "20240101", "2024-01-01T00:00:00+99:99", "2024-1-1", "1.1.2024",
)  # fmt: skip
_WORDS = (
    "", " ", "\n", "null", "true", "[]", "{}", '"', "'", "%s", "{0}", "\\", "*", "(", "[", "|",
    "!!python/object:x.Y {}", "&a [*a]", "<<: *x", "? a", "\U0001f600", "\U0001d7d8",
)  # fmt: skip
#: Texts in which a careless pattern tries every way.
_LONG = (
    "a" * 50_000, " " * 20_000, "(" * 5000, "[" * 5000, "," * 5000, "\n" * 5000, "-" * 5000,
    "a-" * 5000, "1 " * 10_000, "no " * 5000, ". " * 10_000, "²" * 5000, "1.1" * 5000,
)  # fmt: skip
_ODD_NUMBERS: tuple[Json, ...] = (
    0, -1, -0.0, 1e308, -1e308, 5e-324, 10**30, -(10**30), 2**63 - 1, -(2**63), 2**53 + 1, 0.5,
    10**400, 1e16,
)  # fmt: skip
#: Python's JSON reader takes these, so where text is read they may come.
_NO_NUMBERS: tuple[Json, ...] = (math.nan, math.inf, -math.inf)
_TOKEN = re.compile(r"[^\W_]+(?:[.:\-][^\W_]+)*")
#: Letters that a pattern may take for others, whatever their case, and that no table has.
_LIKE = (
    str.maketrans("skSK", "\u017f\u212a\u017f\u212a"),
    str.maketrans("iI", "\u0131\u0130"),
    str.maketrans("aeopcxy", "\u0430\u0435\u043e\u0440\u0441\u0445\u0443"),
)
_DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
#: Stands in JSON for what is put there as it is.
_HOLE = "\u0001hole"
#: What no writer of JSON writes and a reader may be given.
_RAW = (
    "1e999", "-1e999", "9" * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 2000 + "1" + "}" * 2000,
    '{"a": 1, "a": [1]}', '"\\ud800"', '"\\udfff\\ud800"', "-0", "1E400", '"\\u0000"',
)  # fmt: skip


def distorted(rng: np.random.Generator, value: Json, *, free: bool = False) -> Json:
    """Return a JSON value with one place in it made odd.

    Args:
        rng: Source of the variety.
        value: The value, such as the arguments of a call.
        free: Whether it is written into a text, where any type and any number may stand; a typed
            value keeps its type as a rule, for otherwise its tool refuses it unread.
    """
    if isinstance(value, Mapping) and value and rng.random() < 0.93:
        return _of_object(rng, dict(value), free)
    if isinstance(value, list | tuple) and value and rng.random() < 0.9:
        return _of_list(rng, list(value), free)
    if isinstance(value, str) and rng.random() < (0.4 if free else 0.9):
        return distorted_text(rng, value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        chance = rng.random()
        if chance < (0.4 if free else 0.6):
            return pick(rng, _ODD_NUMBERS + (_NO_NUMBERS if free else ()))
        if chance < 0.75:
            return _other_digits(rng, str(value))
    return _of_another_type(rng, value, free)


def distorted_text(rng: np.random.Generator, text: str) -> str:
    """Return a text with one place in it made odd; where it holds JSON, mostly a place in that."""
    held = _json_in(text)
    if held is not None and rng.random() < 0.8:
        start, end, value = held
        return text[:start] + _written(rng, distorted(rng, value, free=True)) + text[end:]
    chance = rng.random()
    if chance < 0.25:
        return _odd_text(rng, text)
    if chance < 0.4 and "\n" in text:
        return _other_lines(rng, text)
    tokens = list(_TOKEN.finditer(text))
    if chance < 0.8 and tokens:
        # Numbers and days are what is computed with, and most words of a text are neither.
        counted = [token for token in tokens if any(sign.isdecimal() for sign in token[0])]
        chosen = counted if counted and rng.random() < 0.5 else tokens
        token = chosen[int(rng.integers(len(chosen)))]
        return text[: token.start()] + _odd_text(rng, token[0]) + text[token.end() :]
    place = int(rng.integers(len(text) + 1))
    return text[:place] + str(pick(rng, _SIGNS + _UNSEEN)) + text[place:]


def _of_object(rng: np.random.Generator, value: JsonDict, free: bool) -> JsonDict:
    name = str(pick(rng, sorted(value)))
    chance = rng.random() if free or len(value) > 1 else 1.0
    if chance < 0.05:
        return {key: inner for key, inner in value.items() if key != name}
    if chance < 0.1:
        odd = str(pick(rng, (*_SIGNS, *_UNSEEN, *_WORDS, "resourceType", "value")))
        return {**value, odd: pick(rng, (value[name], None, [odd], {}))}
    if chance < 0.13:
        odd = _odd_text(rng, name)
        return {(odd if key == name else key): inner for key, inner in value.items()}
    return {**value, name: distorted(rng, value[name], free=free)}


def _of_list(rng: np.random.Generator, value: list[Json], free: bool) -> list[Json]:
    place = int(rng.integers(len(value)))
    chance = rng.random()
    if chance < 0.06:
        return [*value, value[place]]
    if chance < 0.1:
        return value * 300
    if chance < 0.13:
        return [*value, *([None, [], {}, "", 0] if free else [value[place]])]
    return [*value[:place], distorted(rng, value[place], free=free), *value[place + 1 :]]


def _of_another_type(rng: np.random.Generator, value: Json, free: bool) -> Json:
    deep: Json = value
    for _ in range(30):
        deep = [deep]
    others: tuple[Json, ...] = (
        None, [value], [[value]], [value, value], {"value": value}, {"²": value}, {}, [], [None],
        [[]], [{}], True, False, "", "²", 0, 1.5, deep, [value] * 500, {"coding": [value]}, 10**30,
        {"reference": value}, {"value": {"value": value}}, str(value),
    )  # fmt: skip
    return pick(rng, others + ((*_NO_NUMBERS, _HOLE, _HOLE, _HOLE) if free else ()))


def _odd_text(rng: np.random.Generator, text: str) -> str:
    """Return what may stand instead of a text: of its own kind as a rule, or anything."""
    chance = rng.random()
    if chance < 0.35 and _DATE.match(text):
        return str(pick(rng, _DAYS))
    if chance < 0.35 and text.strip().isdecimal():
        return str(pick(rng, _NUMBERS))
    if chance < 0.5 and any(sign.isdecimal() for sign in text):
        return _other_digits(rng, text)
    if chance < 0.54:
        return f"{text} {pick(rng, _DAYS + _NUMBERS)}"
    if chance < 0.59:
        return text + str(pick(rng, _SIGNS + _UNSEEN))
    if chance < 0.66:
        return text.translate(pick(rng, _LIKE))
    return str(pick(rng, pick(rng, (_SIGNS, _UNSEEN, _NUMBERS, _DAYS, _WORDS, _LONG))))


def _other_digits(rng: np.random.Generator, text: str) -> str:
    """Return a text with its digits in another script, or one of them a digit that is none."""
    if rng.random() < 0.5:
        zero = int(pick(rng, (0x660, 0x966, 0xFF10, 0x1D7CE)))
        return "".join(chr(zero + int(sign)) if sign.isdecimal() else sign for sign in text)
    places = [place for place, sign in enumerate(text) if sign.isdecimal()]
    place = places[int(rng.integers(len(places)))]
    return text[:place] + str(pick(rng, _DIGITS)) + text[place + 1 :]


def _other_lines(rng: np.random.Generator, text: str) -> str:
    """Return a text with a line gone, twice, very often, empty, or ended in another way."""
    lines = text.split("\n")
    place = int(rng.integers(len(lines)))
    odd: tuple[list[str], ...] = (
        [], [lines[place]] * 2, [lines[place]] * 500, [""], [lines[place] + "\r"],
        [lines[place].replace(",", "\t")], ["," + lines[place]], ['"' + lines[place]],
        ["  " + lines[place]], ["\t" + lines[place]], [str(pick(rng, _WORDS))],
    )  # fmt: skip
    chosen = odd[int(rng.integers(len(odd)))]
    return "\n".join([*lines[:place], *chosen, *lines[place + 1 :]])


def _json_in(text: str) -> tuple[int, int, Json] | None:
    """Return where the first object or list of JSON in a text begins and ends, and what it is."""
    for opening in re.finditer(r"[{\[]", text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        return opening.start(), end, value
    return None


def _written(rng: np.random.Generator, value: Json) -> str:
    """Return a value as JSON text; what cannot be written is put in as it is."""
    text = json.dumps(value, ensure_ascii=bool(rng.integers(2)))
    return text.replace(json.dumps(_HOLE), str(pick(rng, _RAW)))


def placed(rng: np.random.Generator, weights: Sequence[float]) -> int:
    """Return a place, drawn by weights that are not all zero."""
    shares = np.array(weights, dtype=float)
    return int(rng.choice(len(shares), p=shares / shares.sum()))
