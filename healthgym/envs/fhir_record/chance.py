"""How much progress who opens no chart makes, by task type.

The mean over FhirRecord and MedAgentBenchV3 of :func:`healthgym.testing.measured_chance`, over 640
train tasks of each type on charts with little in them: who does not look does not see how much
there is, and rules and shares of branches are the same under every id. Written by
``python -m tests.envs.fhir_record.record_chance``; that of our own types (``own-``) was measured
over 320 tasks on Synthea's charts. To be measured anew where branches change, or a baseline.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources


@cache
def chance_by_kind() -> Mapping[str, float]:
    """Return the progress by task type of who does not look."""
    path = resources.files(__package__).joinpath("data/chance.json")
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    return found
