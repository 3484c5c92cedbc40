"""The source's rubrics: nobody is asked by default, and whoever is asked decides one check each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.task import Instance, Task
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.task import CareReference
from healthgym.envs.managed_care.checks.rubrics import Desk, Judge, questions
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.errors import EndpointError
from healthgym.rewards import SparseReward
from healthgym.rewards.rubrics import Finding, Record, Rubric
from healthgym.worlds.managed_care.start import WorldStart

_FAMILIES = {
    Desk.REQUEST: AuthorizationFamily,
    Desk.REVIEW: ReviewFamily,
    Desk.CARE: CareFamily,
}


@dataclass
class Asked:
    """A judge that notes what it is asked, and fails the rubrics it was told to."""

    failing: frozenset[str] = frozenset()
    seen: list[tuple[Rubric, Record]] = field(default_factory=list)

    def ballot(self, rubric: Rubric, record: Record) -> str:
        self.seen.append((rubric, record))
        return "said"

    def count(self, ballot: str, rubric: Rubric, record: Record) -> Finding:
        assert ballot == "said"
        return Finding(rubric.name not in self.failing, 3, 3, 0, ())


class Out:
    """A judge that cannot be reached."""

    def ballot(self, rubric: Rubric, record: Record) -> str:
        raise EndpointError("nobody answers")

    def count(self, ballot: str, rubric: Rubric, record: Record) -> Finding:
        raise AssertionError("nobody answered")


def reviewed(instance: Instance[Task, object, WorldStart]) -> bool:
    """Return whether an instance has a stage about which a rubric asks."""
    wanted = instance.reference
    return isinstance(wanted, (CareReference, AuthorizationReference)) or (
        isinstance(wanted, ReviewReference) and wanted.recommendation is not None
    )


def played(desk: Desk, judge: Judge | None) -> dict[str, bool]:
    """Return the checks of the paper profile at the oracle's end."""
    family = _FAMILIES[desk]("easy", judge=judge)
    drawn = (family.generator.draw(Split.TEST, index) for index in range(20))
    instance = next(filter(reviewed, drawn))
    episode = Episode(family, instance, SparseReward(), family.rules)
    for action in family.oracle(instance, np.random.default_rng(0)):
        episode.step(action)
    verdict = episode.verdict(profile=Profile.PAPER)
    return {each.check.name: bool(each.passed) for each in verdict.checks}


@pytest.mark.parametrize("desk", Desk)
def test_nobody_is_asked_unless_somebody_is_named(desk: Desk) -> None:
    assert not any(name.startswith("judge.") for name in played(desk, None))
    assert not any(
        check.name.startswith("judge.")
        for check in _FAMILIES[desk]("easy").verifier.checks(Profile.PAPER)
    )


@pytest.mark.parametrize("desk", Desk)
def test_each_rubric_of_the_episode_is_asked_once_and_is_a_check(desk: Desk) -> None:
    judge = Asked()
    found = played(desk, judge)
    names = [rubric.name for rubric, _ in judge.seen]
    assert names
    assert len(set(names)) == len(names)
    assert all(found[name] for name in names)
    assert set(names) <= {each.check.name for each in questions(desk)}
    assert all(rubric.expected and any(record.texts.values()) for rubric, record in judge.seen)


@pytest.mark.parametrize("desk", Desk)
def test_a_rubric_that_is_not_met_fails_its_check_alone(desk: Desk) -> None:
    first = Asked()
    played(desk, first)
    name = first.seen[0][0].name
    found = played(desk, Asked(frozenset({name})))
    judged = {each for each, passed in found.items() if each.startswith("judge.") and not passed}
    assert judged == {name}


def test_a_judge_that_is_out_of_reach_is_no_verdict() -> None:
    with pytest.raises(EndpointError, match="nobody answers"):
        played(Desk.REVIEW, Out())


def test_what_is_right_is_for_the_judge_and_not_in_the_record() -> None:
    judge = Asked()
    played(Desk.REVIEW, judge)
    for rubric, record in judge.seen:
        assert rubric.expected not in "\n".join(record.texts.values())


def test_the_agent_is_told_nothing_of_a_judge() -> None:
    plain, judged = (ReviewFamily("easy", judge=each) for each in (None, Asked()))
    instance = plain.generator.draw(Split.TEST, 0)
    told = []
    for family in (plain, judged):
        episode = Episode(family, instance, SparseReward(), family.rules)
        told.append(episode.step(call("payer_intake_hub.list_intake_queue")).observation)
    assert told[0] == told[1]
