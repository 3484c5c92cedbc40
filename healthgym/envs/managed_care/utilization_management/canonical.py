"""The cases of prior authorization's canonical test split, drawn here again from the same seeds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.core.seeding import Split, TaskStreams
from healthgym.envs.managed_care.cases.clinic import draw_morning
from healthgym.envs.managed_care.cases.drawing import (
    ENDING,
    PATIENT,
    RULES,
    STREAMS,
    DrawnCase,
    Settings,
    draw_case,
)
from healthgym.envs.managed_care.cases.editions import Ending, able_policies, tries
from healthgym.envs.managed_care.cases.shift import Shift
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.cases.subjects import draw_subject
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.vocabulary.authorization import ServiceTypeCategory

#: The family whose seeds these are.
_FAMILY = "prior-authorization-canonical"
#: Policies of any depth.
_ANY = (1, 20)


def same_draw(
    config: Settings,
    difficulty: str,
    split: Split,
    index: int,
    shift: Shift | None = None,
    opens: datetime | None = None,
) -> tuple[DrawnCase, datetime, Sequence[np.random.Generator]]:
    """Return the case of a canonical task of prior authorization, and when it is sent.

    Args:
        config: What the case is like besides; the same as there.
        difficulty: Name of the configuration.
        split: The split.
        index: Number of the task.
        shift: The cases beside which it is to stand; None if it stands alone.
        opens: When it is sent; as there if None.

    Returns:
        The case, the morning, and the streams as the draw has left them.
    """
    streams = TaskStreams(f"{_FAMILY}/{difficulty}", split, index, STREAMS)
    ending, category = _requests()[index]
    drawn = draw_morning(streams[ENDING])
    opens = opens or drawn
    for policy in tries(able_policies((category,), _ANY, ending), streams[RULES]):
        try:
            subject = draw_subject(streams[PATIENT], policy, split)
            day = opens.date()
            case = draw_case(config, policy, ending, subject, day, streams, shift=shift)
        except ConfigurationError:
            continue
        return case, opens, streams
    raise ConfigurationError(f"No policy gives a request that ends {ending.value!r}.")


@lru_cache(maxsize=1)
def _requests() -> Sequence[tuple[Ending, ServiceTypeCategory]]:
    folder = files("healthgym.envs.managed_care.cases")
    rows = json.loads(folder.joinpath("data/canonical.json").read_text("utf-8"))["requests"]
    known: dict[str, Ending] = {each.value: each for each in (*Course, *Gap, *Bar)}
    return tuple((known[row["ending"]], ServiceTypeCategory(row["category"])) for row in rows)
