"""Ask the same questions of your own FHIR R4 bundles (Synthea's output, or an export).

python examples/your_own_records.py path/to/folder

Without a folder it writes one with synthetic patients first, to show what such a folder holds.
"""

import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import gymnasium as gym

import healthgym


def main(folder: str, episodes: int = 20) -> Counter:
    """Show which task types the folder supports, and one question of each; return the counts."""
    env = gym.make("healthgym:HealthAgent/FhirRecord-v1", source=folder)
    kinds: Counter = Counter()
    for index in range(episodes):
        question, info = env.reset(options={"index": index})
        if not kinds[info["kind"]]:
            print(f"{info['kind']}: {question}\n")
        kinds[info["kind"]] += 1
    scored = healthgym.evaluate(
        "HealthAgent/FhirRecord-v1", "oracle", episodes=episodes, env_kwargs={"source": folder}
    )
    print(scored.to_text())
    return kinds


def synthetic(folder: str, patients: int = 12) -> str:
    """Write synthetic patients as a FHIR bundle into a folder; return the folder."""
    from healthgym.worlds.fhir.cohort.population import population

    now = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
    base = population(0, now=now, data_bearing=patients, patients=patients, records=400 * patients)
    entries = [
        {"resource": base.resource(kind, row)}
        for kind in base.resource_types()
        for row in range(base.size(kind))
    ]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    Path(folder, "bundle.json").write_text(json.dumps(bundle), encoding="utf-8")
    print(f"{patients} synthetic patients, {len(entries)} resources, written to {folder}\n")
    return folder


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as made:
            main(synthetic(made))
