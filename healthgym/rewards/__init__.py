"""From verdicts to numbers: sparse and potential-shaped rewards, costs and shared metrics."""

from healthgym.rewards.functions import (
    CompetitiveReward,
    Costs,
    PotentialReward,
    SparseReward,
    resolve,
)

__all__ = ["CompetitiveReward", "Costs", "PotentialReward", "SparseReward", "resolve"]
