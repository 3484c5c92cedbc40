"""Words beside an order as clinicians write them, hostile and honest, and how many pass.

``python -m tests.envs.fhir_record.fresh_notes [--held-out]``. Terse, misspelt and colloquial, about
a third of them German, French or Spanish; written by somebody who knew the questions and the tools
and had not seen the readers. Of each file a half is held out: whoever changes the readers scores it
once, at the end, and sees shares only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.envs.fhir_record.order_cases import RIGHT, edited
from tests.envs.fhir_record.test_orders import wrong_with

_DATA = Path(__file__).parent / "data"
_SEED = 20231113


@dataclass(frozen=True)
class Note:
    """Words, the order of ``order_cases.RIGHT`` they stand beside, and in which element."""

    base: str
    place: str
    language: str
    text: str

    def order(self) -> dict[str, Any]:
        """Return the order with these words; what is dictated stays beside them."""
        right = RIGHT[self.base][2]
        if self.place == "note":
            return {**right, "note": [*(right.get("note") or []), {"text": self.text}]}
        if self.place == "reasonCode":
            return {**right, "reasonCode": [{"text": self.text}]}
        if self.place == "dosage":
            return self._with("dosageInstruction.0.text")
        where = "dosageInstruction.0." if "dosageInstruction" in right else ""
        return self._with(f"{where}patientInstruction")

    def _with(self, element: str) -> dict[str, Any]:
        order: dict[str, Any] = edited(self.base, {element: self.text})  # type: ignore[no-untyped-call]
        return order

    def passes(self) -> bool:
        """Whether the order with these words is right."""
        return not wrong_with(self.base, self.order())


def notes(kind: str, *, held_out: bool) -> list[Note]:
    """Return a half of the ``hostile`` or the ``honest`` notes."""
    every = list(_read((_DATA / f"fresh_notes_{kind}.txt").read_text()))
    places = np.random.default_rng(_SEED).permutation(len(every))
    middle = len(every) // 2
    return [every[place] for place in sorted(places[middle:] if held_out else places[:middle])]


def _read(text: str) -> Iterator[Note]:
    head: list[str] = []
    for line in text.splitlines():
        if line.startswith("# "):
            head = line.split()[1:]
        elif line:
            base, place, language = head
            yield Note(base, place, language, line)


def main(held_out: bool) -> None:
    """Print how many pass; of the half that is not held out, also what goes wrong."""
    for kind in ("hostile", "honest"):
        half = notes(kind, held_out=held_out)
        passing = {note for note in half if note.passes()}
        for english in (True, False):
            these = [note for note in half if (note.language == "en") is english]
            name = "English" if english else "other languages"
            print(f"{kind}, {name}: {sum(n in passing for n in these)} of {len(these)} pass")
        for note in half if not held_out else ():
            if (note in passing) is (kind == "hostile"):
                print(f"  {note.base} {note.place} {note.language}: {note.text}")


if __name__ == "__main__":
    main("--held-out" in sys.argv)
