"""Measure anew what who opens no chart makes: ``python -m tests.envs.fhir_record.record_chance``.

It takes some minutes of one core. The types of our own are left as they are: they need Synthea's
charts.
"""

from __future__ import annotations

import json
from pathlib import Path

import healthgym.envs.fhir_record
from healthgym.envs.fhir_record.chance import chance_by_kind
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.testing import measured_chance

_IDS = ("HealthAgent/FhirRecord-v1", "HealthAgent/MedAgentBenchV3-v1")
_TASKS = 640


def measured(kind: str, tasks: int = _TASKS) -> float:
    """Return the chance of a task type, as the mean over the ids that ask it."""
    found = [
        measured_chance(env_id, tasks, {"task_types": [kind], "difficulty": "easy"}).get(kind, 0.0)
        for env_id in _IDS
    ]
    return round(sum(found) / len(found), 2)


def main() -> None:
    """Write the table."""
    path = Path(healthgym.envs.fhir_record.__file__).parent / "data" / "chance.json"
    table = {kind: found for kind, found in chance_by_kind().items() if kind not in KINDS}
    for kind in KINDS:
        if reached := measured(kind):
            table[kind] = reached
        print(kind, reached, flush=True)
    path.write_text(json.dumps(dict(sorted(table.items())), indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
