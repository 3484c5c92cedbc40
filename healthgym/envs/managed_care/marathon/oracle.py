"""Ways to work a queue: in some order, all at once, one case alone, or without reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from datetime import UTC, datetime, time
from functools import partial

import numpy as np

from healthgym.core.family import Baseline, Script
from healthgym.core.task import Task
from healthgym.core.tool import call
from healthgym.envs.managed_care.marathon.crew import Crew, MarathonEpisode
from healthgym.envs.managed_care.marathon.task import MarathonInstance, MarathonReference, Piece
from healthgym.envs.managed_care.marathon.workers import Job
from healthgym.worlds.managed_care.queue import QueueStart
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.vocabulary.authorization import Urgency

MarathonBaseline = Baseline[Task, MarathonReference, QueueStart]
#: Begins an episode in which a script is worked out.
Rehearse = Callable[[MarathonInstance], MarathonEpisode]
_FINISH = call("finish")


def in_order(
    episode: MarathonEpisode,
    pieces: Sequence[Piece],
    rng: np.random.Generator,
    job: Job,
    most: Sequence[int] | None = None,
) -> tuple[Script, list[int]]:
    """Return the calls of working some cases, each as far as it goes before the next is begun.

    Args:
        episode: Where calls are tried out.
        pieces: The cases, in the order in which they are taken up.
        rng: What is left to chance.
        job: Works one of them.
        most: After how many calls each is left as it is; none is if None.

    Returns:
        The calls, and how many each case took.
    """
    crew = Crew(episode)
    jobs = [partial(job, crew, piece.instance, rng.spawn(1)[0]) for piece in pieces]
    counts = crew.work(jobs, most)
    return [*crew.calls, _FINISH], counts


def baselines(
    rehearse: Rehearse, job: Job, blind: Mapping[str, Job]
) -> Mapping[str, MarathonBaseline]:
    """Return the scripted policies besides the oracle.

    Args:
        rehearse: Begins an episode in which a script is worked out.
        job: Works a case, knowing the answer.
        blind: Work a case without reading what decides, by name.
    """

    def earliest(instance: MarathonInstance, rng: np.random.Generator) -> Script:
        """Take up what is due first."""
        pieces = sorted(instance.reference.pieces.values(), key=due)
        return in_order(rehearse(instance), pieces, rng, job)[0]

    def fan_out(instance: MarathonInstance, rng: np.random.Generator) -> Script:
        """Begin every case rightly, do half of each, and finish none."""
        pieces, same = _queue(instance), deepcopy(rng)
        counts = in_order(rehearse(instance), pieces, same, job)[1]
        halves = [max(1, count // 2) for count in counts]
        return in_order(rehearse(instance), pieces, rng, job, halves)[0]

    def one_case(instance: MarathonInstance, rng: np.random.Generator) -> Script:
        """Finish the first case, and leave the others."""
        return in_order(rehearse(instance), _queue(instance)[:1], rng, job)[0]

    def unread(work: Job) -> MarathonBaseline:
        def play(instance: MarathonInstance, rng: np.random.Generator) -> Script:
            return in_order(rehearse(instance), _queue(instance), rng, work)[0]

        return play

    own = {"earliest": earliest, "fan_out": fan_out, "one_case": one_case}
    return {**own, **{name: unread(work) for name, work in blind.items()}}


def _queue(instance: MarathonInstance) -> list[Piece]:
    return list(instance.reference.pieces.values())


def due(piece: Piece) -> datetime:
    """Return until when something has to be done about a case, or since when it waits."""
    start = piece.instance.start
    for record in start.records:
        if isinstance(record, PriorAuthCase) and record.id == piece.key:
            return record.decision_due_at
        if isinstance(record, CMReferral) and record.case_id == piece.key:
            return datetime.combine(record.referral_date, time(0), UTC)
    (order,) = (one for one in start.charts[piece.patient_id].orders if one.id == piece.key)
    urgent = order.priority is Urgency.EXPEDITED
    return order.requested_date if urgent else start.now
