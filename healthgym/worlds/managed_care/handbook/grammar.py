"""Sentences drawn from a bank: alternatives, names, numbers.

A bank is text: ``@name`` begins a rule, and the lines under it are its alternatives, set apart by
``|``. Within an alternative ``{a|b}`` is a choice, ``<name>`` another rule, and ``<#3-90>`` a
number between two bounds, both included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from healthgym.errors import DamagedDataError

Maker = Callable[[], str]

_TOKEN = re.compile(r"<#(\d+)-(\d+)>|<([a-z.]+)>|([{}|])|([^<{}|]+)")
_BATCH = 1 << 16
#: How often something else is drawn where a sentence would say the same twice.
_TRIES = 5


class Writer:
    """Writes sentences of a bank.

    Args:
        files: The files of the bank.

    Raises:
        DamagedDataError: If a file is broken or names a rule that is not there; it names the file
            and the line on which the rule begins.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._texts: dict[str, tuple[str, str]] = {}
        for path in files:
            for name, where, text in _rules(path):
                if name in self._texts:
                    raise DamagedDataError(f"{where}: @{name} is there twice.")
                self._texts[name] = (where, text)
        self._numbers: Iterator[int] = iter(())
        self._rng = np.random.Generator(np.random.PCG64(0))
        self._bound: dict[str, tuple[str, int]] = {}
        self._options: dict[str, tuple[Maker, ...]] = {}
        self._used: dict[str, set[int]] = {}
        self._said: dict[str, set[str]] = {}
        for name in self._texts:
            self._options[name] = self._compiled(name)

    def begin(self, rng: np.random.Generator) -> None:
        """Begin a page, with nothing bound.

        Args:
            rng: What it is drawn from.
        """
        self._rng, self._numbers = rng, iter(())
        self.release()

    def release(self) -> None:
        """Let every rule give any of its alternatives again, and begin a section."""
        self._bound, self._used = {}, {}

    def bind(self, rule: str, text: str, tenths: int) -> None:
        """Let a rule mostly give one text, so that what stands together is about one thing.

        Args:
            rule: The rule.
            text: What it is to give.
            tenths: In how many of ten mentions it gives that.
        """
        self._bound[rule] = (text, tenths)

    def mention(self, rule: str) -> str:
        """Draw from a rule, or give what is bound to it.

        Within a sentence a rule gives something else each time, as far as it can.
        """
        bound = self._bound.get(rule)
        if bound is not None and bound[1] >= 10:
            return bound[0]
        said = self._said.setdefault(rule, set())
        if bound is not None and bound[0] not in said and self.below(10) < bound[1]:
            text = bound[0]
        else:
            text = self._drawn(rule)
            for _ in range(_TRIES):
                if text not in said:
                    break
                text = self._drawn(rule)
        said.add(text)
        return text

    def _drawn(self, rule: str) -> str:
        options = self._options[rule]
        return options[self.below(len(options))]()

    def below(self, bound: int) -> int:
        """Draw a number below a bound."""
        # Drawing one by one from a numpy generator would be most of the time.
        drawn = next(self._numbers, None)
        if drawn is None:
            self._numbers = iter(self._rng.integers(1 << 31, size=_BATCH >> 3).tolist())
            drawn = next(self._numbers)
        return drawn % bound

    def write(self, rule: str) -> str:
        """Draw an alternative of a rule, beginning with a capital.

        Within a section none is drawn twice before all of them were.
        """
        self._said = {}
        options, used = self._options[rule], self._used.setdefault(rule, set())
        if len(used) == len(options):
            used.clear()
        free = [number for number in range(len(options)) if number not in used]
        chosen = free[self.below(len(free))]
        used.add(chosen)
        text = options[chosen]()
        return text[:1].upper() + text[1:]

    def alternatives(self, rule: str) -> list[str]:
        """Return the alternatives of a rule that holds plain names, in the order of the bank."""
        return self._texts[rule][1].split("|")

    def _compiled(self, name: str) -> tuple[Maker, ...]:
        where, text = self._texts[name]
        tokens = list(_TOKEN.finditer(text))
        if sum(len(token[0]) for token in tokens) != len(text):
            raise DamagedDataError(f"{where}: @{name} has a broken mark.")
        options, end = self._alternatives(tokens, 0, where)
        if end != len(tokens):
            raise DamagedDataError(f"{where}: @{name} closes a brace that it did not open.")
        return options

    def _choice(self, tokens: list[re.Match[str]], at: int, where: str) -> tuple[Maker, int]:
        options, at = self._alternatives(tokens, at, where)
        if len(options) == 1:
            return options[0], at
        return (lambda: options[self.below(len(options))]()), at

    def _alternatives(
        self, tokens: list[re.Match[str]], at: int, where: str
    ) -> tuple[tuple[Maker, ...], int]:
        options: list[Maker] = []
        parts: list[str | Maker] = []
        while at < len(tokens) and tokens[at][4] != "}":
            low, high, rule, mark, plain = tokens[at].groups()
            at += 1
            if mark == "|":
                options.append(_sequence(parts))
                parts = []
            elif mark == "{":
                inner, at = self._choice(tokens, at, where)
                if at >= len(tokens):
                    raise DamagedDataError(f"{where}: a brace is not closed.")
                parts.append(inner)
                at += 1
            elif rule:
                parts.append(self._mention(rule, where))
            else:
                parts.append(plain or self._number(int(low), int(high)))
        options.append(_sequence(parts))
        return tuple(options), at

    def _mention(self, rule: str, where: str) -> Maker:
        if rule not in self._texts:
            raise DamagedDataError(f"{where}: there is no rule @{rule}.")

        return lambda: self.mention(rule)

    def _number(self, low: int, high: int) -> Maker:
        return lambda: str(low + self.below(high - low + 1))


def _sequence(parts: list[str | Maker]) -> Maker:
    if all(isinstance(part, str) for part in parts):
        plain = "".join(part for part in parts if isinstance(part, str))
        return lambda: plain
    kept = tuple(parts)
    return lambda: "".join([part if isinstance(part, str) else part() for part in kept])


def _rules(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, place and text of the rules of a file."""
    name, where = "", ""
    lines: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("@"):
            if name:
                yield name, where, "|".join(lines)
            name, where, lines = line[1:].strip(), f"{path}:{number}", []
        elif line and not name:
            raise DamagedDataError(f"{path}:{number}: a bank begins with a rule, '@name'.")
        elif line:
            lines.append(line)
    if name:
        yield name, where, "|".join(lines)
