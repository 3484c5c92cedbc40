"""From verdicts to numbers: sparse and potential-shaped rewards, costs and shared metrics."""

from healthgym.rewards.functions import Costs, PotentialReward, SparseReward, resolve

__all__ = ["Costs", "PotentialReward", "SparseReward", "resolve"]
