"""What a request is approved by stands in documents, and not in its chart's facts alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import PRESETS as REQUESTS
from healthgym.envs.managed_care.utilization_management.generator import ReviewGenerator
from healthgym.envs.managed_care.utilization_management.task import PRESETS as REVIEWS
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.rules import Rules
from tests.sized import FULL

TASKS = range(2000 if FULL else 40)
#: Requests that nobody reviews: neither is anything sent for them.
UNREVIEWED = (Course.GOLD_CARD, Course.NOTIFICATION)

Drawing = AuthorizationGenerator | ReviewGenerator


def drawing(desk: str, level: str) -> Drawing:
    if desk == "provider":
        return AuthorizationGenerator(REQUESTS[level], level, "shown", Rules.STRICT)
    return ReviewGenerator(REVIEWS[level], level, "shown", Rules.STRICT)


def reviewed(generator: Drawing) -> Iterator[DrawnCase]:
    for index in TASKS:
        case = generator.drawn(Split.TRAIN, index)[0]
        if isinstance(case.drawn.ending, Course) and case.drawn.ending not in UNREVIEWED:
            yield case


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
@pytest.mark.parametrize("desk", ["provider", "payer"])
def test_documents_show_what_an_approval_needs(desk: str, level: str) -> None:
    alone = 0
    for case in reviewed(drawing(desk, level)):
        needed = case.drawn.needed(case.found)
        told = stating(case.patient.chart.shows, needed)
        assert frozenset().union(*told.values()) == needed
        # Without one of them a request would often lack something: so this can fail.
        for name in told:
            others = frozenset().union(*(facts for key, facts in told.items() if key != name))
            alone += others != needed
    assert alone > len(TASKS) / 8
