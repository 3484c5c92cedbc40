"""What docstrings say of a function's arguments and of a record's fields, in Google's style."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable

_SECTION = re.compile(r"\n\s*(Args|Returns|Raises):\s*\n")
_CLASS_SECTION = re.compile(r"\n\s*(Attributes|Args|Raises|Examples?):\s*\n")
_ENTRY = re.compile(r"^(\w+):\s*(.*)$")


def describe(function: Callable[..., object]) -> tuple[str, dict[str, str]]:
    """Split a Google-style docstring into its description and its argument descriptions.

    Raises:
        TypeError: If the docstring is missing.
    """
    doc = inspect.getdoc(function)
    if not doc:
        raise TypeError(_missing(f"Tool {function.__name__}"))
    description, sections = _split(doc, _SECTION)
    return description, _entries(sections.get("Args", ""))


def describe_record(cls: type) -> tuple[str, dict[str, str]]:
    """Return a record's description and those of its fields under ``Attributes:``.

    Fields that a base class describes need no second description.

    Raises:
        TypeError: If the class has no docstring of its own.
    """
    doc = inspect.cleandoc(vars(cls).get("__doc__") or "")
    # A dataclass without a docstring is given its signature.
    if not doc or doc.startswith(f"{cls.__name__}("):
        raise TypeError(_missing(f"Record {cls.__name__}"))
    fields: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        text = inspect.cleandoc(vars(base).get("__doc__") or "")
        fields |= _entries(_split(text, _CLASS_SECTION)[1].get("Attributes", ""))
    return _split(doc, _CLASS_SECTION)[0], fields


def _split(doc: str, section: re.Pattern[str]) -> tuple[str, dict[str, str]]:
    parts = section.split("\n" + doc)
    return parts[0].strip(), dict(zip(parts[1::2], parts[2::2], strict=True))


def _entries(section: str) -> dict[str, str]:
    entries: dict[str, str] = {}
    current = ""
    for line in inspect.cleandoc(section).splitlines():
        match = _ENTRY.match(line)
        if match:
            current = match[1]
            entries[current] = match[2].strip()
        elif current and line.strip():
            entries[current] = f"{entries[current]} {line.strip()}".strip()
    return entries


def _missing(whose: str) -> str:
    if sys.flags.optimize > 1:
        return "python -OO strips docstrings, which are the model's manual of tools: leave it out."
    return f"{whose} needs a docstring: it is the model's manual."
