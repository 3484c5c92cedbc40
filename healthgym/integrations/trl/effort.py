"""How much computing a stage took, so that another can be given as much.

The unit is the reading of one token: a forward pass in a large batch. Learning from a token is
worth three (forward, and twice that backward). Clocks would make runs differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from healthgym.core.borders import JsonObject
from healthgym.integrations.trl.config import Reinforced

#: Reading a token and learning from it.
LEARNED = 3.0
#: Drawing a token: one at a time in each conversation, and the environment's answers with it. So
#: much that the control lasts as long as reward by the processor's clock, as was measured with the
#: small model on one thread, rollouts in batches of 64.
DRAWN = 12.0


def of_imitation(lengths: Sequence[int], batch: int) -> float:
    """Return the effort of a step of imitation.

    Args:
        lengths: Tokens of each demonstration.
        batch: Demonstrations of a step.
    """
    return LEARNED * batch * sum(lengths) / len(lengths)


def of_reward(rows: Sequence[JsonObject], settings: Reinforced) -> float:
    """Return the effort of reinforcement learning.

    Where several steps are made of a batch, it is read once more before the first.

    Args:
        rows: What it logged, with the mean tokens of a rollout, and how many of them were drawn;
            the last one tells how far it came.
        settings: Its settings.
    """
    found = [row for row in rows if "rollout/tokens" in row]
    tokens, drawn = (
        sum(float(row[name]) for row in found) / len(found)
        for name in ("rollout/tokens", "rollout/drawn")
    )
    read = 1 + (settings.steps_per_batch > 1)
    each = read * tokens + (DRAWN - 1) * drawn + LEARNED * settings.reuse * tokens
    batches = math.ceil(max(int(row["step"]) for row in rows) / settings.steps_per_batch)
    return batches * settings.batch * each
