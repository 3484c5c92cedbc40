"""Record the golden trajectories anew: python tests/golden/record.py

Do so only when a change of the environments is meant, and say what changed in CHANGELOG.md; if an
agent's score can change by it, the environment's version rises as well.
"""

from __future__ import annotations

from pathlib import Path

import healthgym
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.policies.base import Policy
from healthgym.policies.scripted import resolve
from healthgym.registration import make

FOLDER = Path(__file__).parent
#: Environments whose episodes are recorded; the others' contents are not settled yet.
RECORDED = tuple(
    env_id for env_id in healthgym.ids() if "FhirRecord" in env_id or "MedAgentBench" in env_id
)
POLICIES = ("oracle", "prior", "random")
TASKS = 4


def path_of(env_id: str) -> Path:
    """Return the file that holds an environment's trajectories."""
    return FOLDER / f"{env_id.replace('/', '-')}.jsonl"


def main() -> None:
    """Play a few test tasks of every recorded environment with scripted policies."""
    for env_id in RECORDED:
        path = path_of(env_id)
        path.unlink(missing_ok=True)
        env = make(env_id, {"split": "test"})
        size = env.unwrapped.family.generator.size("test")
        with TrajectoryWriter(path) as writer:
            for name in POLICIES:
                policy: Policy = resolve(name, 0)
                for number in range(TASKS):
                    # Spread over the split: the published ones are in the order of their types.
                    index = number * (size // TASKS) % size
                    observation, info = env.reset(options={"index": index})
                    policy.begin(env.unwrapped, observation, info)
                    done = False
                    while not done:
                        observation, _, terminated, truncated, _ = env.step(policy.act(observation))
                        done = terminated or truncated
                    writer.write(env.unwrapped.trajectory())
        print(path.name)


if __name__ == "__main__":
    main()
