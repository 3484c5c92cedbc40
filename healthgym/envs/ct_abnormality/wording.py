"""What the agent reads first."""

from __future__ import annotations

from collections.abc import Sequence

_TEXT = """Read one chest CT and call each finding listed below: yes if it is there, no if not.

Findings:
{labels}

What counts is said by show_criteria. Look and measure as you like, write one call for each \
finding with record_call (lines "finding: yes" or "finding: no"), then submit. The scan passes \
only if every call is right."""


def instruction(labels: Sequence[str]) -> str:
    """Return the instruction for a list of findings."""
    return _TEXT.format(labels="\n".join(f"- {label}" for label in labels))
