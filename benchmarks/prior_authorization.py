"""Play PriorAuthorization-v0 with and without skill into results/prior_authorization.json.

    python benchmarks/prior_authorization.py                        every policy
    python benchmarks/prior_authorization.py --only readers         these

Figures are shares of test tasks solved under each profile, and the mean progress under strict.
"""

from __future__ import annotations

from _harness import Figures, Run, Suite, make, mean_scores, with_prefix

from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import PRESETS

ENV_ID = "HealthAgent/PriorAuthorization-v0"

suite = Suite("prior_authorization", __doc__)


def _played(policies: tuple[str, ...], tasks: int) -> Figures:
    figures: Figures = {"tasks": tasks}
    for difficulty in PRESETS:
        env = make(ENV_ID, difficulty=difficulty, split="test").unwrapped
        figures |= with_prefix(difficulty, mean_scores(env, policies, tasks))
    return figures


@suite.measure()
def oracle(run: Run) -> Figures:
    """Play the oracle, which is told the right handling."""
    return _played(("oracle",), run.tasks(200))


@suite.measure()
def readers(run: Run) -> Figures:
    """Play who reads today's pages, and who goes by the numbers of the standing edition."""
    return _played(("solver", "remembering"), run.tasks(200))


@suite.measure()
def blind(run: Run) -> Figures:
    """Play those who do not look at the chart."""
    names = ("nop", "random", *AuthorizationFamily("easy").baselines())
    return _played(names, run.tasks(200))


if __name__ == "__main__":
    raise SystemExit(suite.main())
