"""What the practice answers when it is asked for more, and when that must not be asked."""

from __future__ import annotations

import numpy as np

from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Gap
from healthgym.envs.managed_care.utilization_management.choices import Way
from healthgym.envs.managed_care.utilization_management.packet import Sent, call_due
from healthgym.envs.managed_care.utilization_management.task import Path, StartStage
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.provider_plan import PendAnswer

#: What is written where nothing more is on file.
NOTHING = "We have looked, and there is nothing on this beyond what you have."
_ATTACHED = "We have gone through the chart again; what we found is attached."
#: Chance that a reply which settles nothing comes with a document all the same.
_SPARE = 0.6


def answer_of(
    way: Way, case: DrawnCase, sent: Sent, rng: np.random.Generator
) -> tuple[bool, PendAnswer]:
    """Return whether a request for information lapses, and what the practice answers.

    Args:
        way: Where the case is taken over, and how it is decided.
        case: The case.
        sent: What was sent, and what was held back.
        rng: Where chance comes from.
    """
    hours = int(rng.integers(2, 7))
    if way.path is Path.INFORMED:
        return False, PendAnswer(documents=sent.held_back, sentence=_ATTACHED, hours=hours)
    # Something comes in reply about as often where it settles nothing.
    spare = sent.spare if rng.random() < _SPARE else ()
    said = _ATTACHED if spare else NOTHING
    answer = PendAnswer(documents=spare, sentence=said, hours=hours)
    if way.path is not Path.UNINFORMED:
        return False, answer
    late = way.stage in (StartStage.MD_REVIEW, StartStage.PEER_TO_PEER)
    # Where one criterion alone is open, an answer would lead to a call.
    leads_on = bool(sent.found.missing_documents) or call_due(case, sent.found)
    silent = not late and (leads_on or bool(rng.random() < 0.5))
    if case.drawn.ending is Gap.DOCUMENT or silent:
        return True, PendAnswer(silent=True)
    return False, answer


def require_due(way: Way, case: DrawnCase, sent: Sent, *, lapses: bool) -> None:
    """Refuse a case in which a call would be due although the path has none.

    Args:
        way: Where the case is taken over, and how it is decided.
        case: The case.
        sent: What was sent.
        lapses: Whether a request for information lapses.

    Raises:
        ConfigurationError: If one would be.
    """
    if way.path is not Path.UNINFORMED or lapses:
        return
    if sent.found.missing_documents or call_due(case, sent.found):
        raise ConfigurationError("One criterion alone is open, so that a call is due.")
