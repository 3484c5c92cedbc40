"""Measure how many people there are on the phone, and how alike, into results/persons.json.

    python benchmarks/persons.py                 ten thousand of the training tasks
    python benchmarks/persons.py --tasks 500     fewer

Two people with one description are one person to a caller. A description has what was drawn of how
somebody is to be talked with, one thing a line: it has no name, birthday or place. Near is who
shares four fifths of the lines that either of two has.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

from _harness import Figures, Run, Suite, at_least, at_most, make, once, timed

_PEOPLE = 10_000
#: Tasks of which the words are timed, how many come before them, the number of the first, and the
#: tool that says something.
_TALKS, _BEFORE, _FIRST, _SAY = 60, 20, 900, "cm_outreach.send_message"
#: Share of lines in common from which on two are near.
_NEAR = 0.8

suite = Suite("persons", __doc__)


def _drawn(preset: str, people: int) -> Figures:
    import numpy as np

    from healthgym.core.seeding import Split
    from healthgym.envs.managed_care.care_management.family import CareFamily
    from healthgym.worlds.managed_care.conversation.described import described, nearest

    generator = CareFamily(preset).generator
    words: list[tuple[str, ...]] = []
    endings: Counter[str] = Counter()

    def draw(index: int) -> None:
        wanted = generator.draw(Split.TRAIN, index).reference
        words.append(described(wanted.persona))
        endings[wanted.ending.value] += 1

    took = timed(draw, range(people))
    alike = nearest(words)
    return {
        "people": people,
        "distinct_share": len(set(words)) / people,
        "near_share": float(np.mean(alike >= _NEAR)),
        "alike_mean": float(np.mean(alike)),
        "alike_p99": float(np.quantile(alike, 0.99)),
        "lines_mean": float(np.mean([len(each) for each in words])),
        "endings": dict(sorted(endings.items())),
        **took.figures("draw"),
    }


@suite.measure(bounds={"distinct_share": at_least(1), "near_share": at_most(0.01)})
def conversations(run: Run) -> Figures:
    """Draw people with all that can stand between a caller and a person."""
    return _drawn("conversations", run.tasks(_PEOPLE))


@suite.measure(bounds={"near_share": at_most(0.05)})
def hard(run: Run) -> Figures:
    """Draw people of the hard tasks, who pick up themselves."""
    return _drawn("hard", run.tasks(_PEOPLE))


@suite.measure(bounds={"cpu_ms": at_most(1)})
def patient_turn(run: Run) -> Figures:
    """Say what the oracle says to people of all kinds, and time what each makes of it."""
    import numpy as np

    env = make("HealthAgent/CareManagement-v1", difficulty="conversations").unwrapped
    taken: list[float] = []
    for index in range(_FIRST - _BEFORE, _FIRST + run.tasks(_TALKS)):
        env.reset(options={"index": index})
        script = env.family.oracle(env.episode._instance, np.random.default_rng(index))
        for action in list(script):
            _, timing = once(partial(env.step, action))
            if action.name == _SAY and index >= _FIRST:
                taken.append(timing.median_cpu())
    return {
        "turns": len(taken),
        "cpu_ms": float(np.median(taken)),
        "p95_cpu_ms": float(np.percentile(taken, 95)),
    }


if __name__ == "__main__":
    raise SystemExit(suite.main())
