"""What somebody may file as text: readable, and no more than anybody would read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Final

from healthgym.worlds.managed_care.apps.texts import within
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

#: Most characters of one message on the phone; a person has stopped listening long before.
LONGEST_MESSAGE: Final = 2_000
#: Most characters of one field of a record.
LONGEST_FIELD: Final = 4_000
#: Most entries of one list.
LONGEST_LIST: Final = 60
_SHOWN_CONTROLS = "\n\r\t"


def require_message(text: str) -> None:
    """Refuse to say what nobody could say on the phone.

    Raises:
        Refusal: If a message is blank, too long, or no readable text.
    """
    if not text.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "The message is blank; say something.")
    _require_readable("message", text, LONGEST_MESSAGE)


def require_reasonable(record: object) -> None:
    """Refuse a record in which a text or a list is longer than anybody would file.

    Raises:
        Refusal: Naming the field.
    """
    if any(map(_wants_a_look, within((record,)))):
        _require_reasonable("", record)


def _wants_a_look(value: object) -> bool:
    """Return whether a value may be refused; most are not, and nobody asks where they stand."""
    if isinstance(value, str):
        return len(value) > LONGEST_FIELD or not value.isprintable()
    return isinstance(value, tuple) and len(value) > LONGEST_LIST


def _require_reasonable(name: str, value: object) -> None:
    if isinstance(value, str):
        _require_readable(name, value, LONGEST_FIELD)
    elif isinstance(value, tuple):
        if len(value) > LONGEST_LIST:
            raise Refusal(
                RefusalCode.UNREASONABLE_TEXT,
                f"{name} has {len(value)} entries; at most {LONGEST_LIST} are accepted.",
            )
        for item in value:
            _require_reasonable(name, item)
    elif is_dataclass(value):
        for item in fields(value):
            _require_reasonable(item.name, getattr(value, item.name))


def require_reason(text: str, what: str) -> None:
    """Refuse a reason that tells the next reader nothing.

    Args:
        text: The reason.
        what: What it is a reason for.

    Raises:
        Refusal: If it has fewer than three words, or is not readable.
    """
    _require_readable(what, text, LONGEST_FIELD)
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    if len(words) < 3:
        raise Refusal(
            RefusalCode.MISSING_TEXT,
            f"The {what} needs a reason that the next reader understands, of three words or more.",
        )


def require_filled(texts: Mapping[str, str]) -> None:
    """Refuse blank texts.

    Args:
        texts: The texts by what they are called.

    Raises:
        Refusal: Naming the first that is blank.
    """
    for name, text in texts.items():
        if not text.strip():
            raise Refusal(RefusalCode.MISSING_TEXT, f"{name} is blank; fill it in.")


def _require_readable(name: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise Refusal(
            RefusalCode.UNREASONABLE_TEXT,
            f"{name} has {len(text)} characters; at most {longest} are accepted.",
        )
    if not text.isprintable() and any(
        not letter.isprintable() and letter not in _SHOWN_CONTROLS for letter in text
    ):
        raise Refusal(
            RefusalCode.UNREASONABLE_TEXT,
            f"{name} holds characters that are no text; plain text is accepted.",
        )
