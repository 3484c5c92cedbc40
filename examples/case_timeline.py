"""Play a prior authorization and write it as a page: the case's timeline beside the policy.

python examples/case_timeline.py 26 hard case.html --policy oracle
"""

import argparse
from pathlib import Path

import gymnasium as gym

from healthgym.core import Split
from healthgym.envs.managed_care.timeline.page import case_page
from healthgym.envs.managed_care.timeline.story import exhibit_of
from healthgym.policies.scripted import resolve


def main(index: int = 26, difficulty: str = "medium", out: str = "", policy: str = "oracle") -> str:
    """Play task ``index`` by a scripted policy and return its page; write it if told where."""
    env = gym.make("healthgym:HealthAgent/PriorAuthorization-v0", difficulty=difficulty).unwrapped
    observation, info = env.reset(options={"index": index})
    player = resolve(policy)
    player.begin(env, observation, info)
    while not env.episode.done():
        observation, *_ = env.step(player.act(observation))
    reference = env.family.generator.generate(Split.TRAIN, index).reference
    page = case_page(exhibit_of(env.episode, reference))
    if out:
        Path(out).write_text(page, encoding="utf-8")
    return page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("index", type=int, nargs="?", default=26)
    parser.add_argument("difficulty", nargs="?", default="medium")
    parser.add_argument("out", nargs="?", default="case.html")
    parser.add_argument("--policy", default="oracle", help="oracle, flood, nop, random, ...")
    given = parser.parse_args()
    size = len(main(given.index, given.difficulty, given.out, given.policy))
    print(f"{given.out}: {size / 1000:.0f} kB")
