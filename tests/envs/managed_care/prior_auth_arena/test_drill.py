"""The arena's drill: small, whole, judged as every other task, and no side wins without work."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.spending import estimate_tokens
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.drills import CASE, NOTE
from healthgym.envs.managed_care.prior_auth_arena.drill import OUTCOMES, PAPERS, TOOLS, TURNS
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import SIDES
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import (
    Making,
    Payer,
    Provider,
    play,
)
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from tests.envs.managed_care.prior_auth_arena.table import failed, joint

FAMILY = ArenaFamily("drill")
KINDS = sorted({each.name for each in OUTCOMES})


@cache
def drawn(index: int, split: Split = Split.TEST) -> ArenaInstance:
    return FAMILY.generator.generate(split, index)


@cache
def first(kind: str) -> ArenaInstance:
    return next(one for one in map(drawn, range(200)) if one.task.kind == kind)


def opened(instance: ArenaInstance) -> ArenaEpisode:
    return Episode(FAMILY, instance, SparseReward(), FAMILY.rules)


def played(
    instance: ArenaInstance, provider: str | Making = "oracle", payer: str | Making = "oracle"
) -> ArenaEpisode:
    chosen = {PROVIDER: provider, PAYER: payer}
    sides = {
        role: SIDES[role][who] if isinstance(who, str) else who for role, who in chosen.items()
    }
    return play(opened(instance), instance, sides)


@pytest.mark.parametrize("split", list(Split))
def test_two_who_know_the_answer_succeed_under_both_profiles(split: Split) -> None:
    for index in range(40):
        episode = played(drawn(index, split))
        for profile in Profile:
            assert joint(episode, profile), [failed(episode, one) for one in episode.roles]
        for role in episode.roles:
            assert sum(event.role == role for event in episode.events) <= TURNS


def test_every_outcome_comes_and_none_too_often() -> None:
    found = Counter(drawn(index).task.kind for index in range(150))
    assert set(found) == set(KINDS)
    assert found["withheld"] < 150 / 2
    assert max(found[kind] for kind in KINDS if kind != "withheld") < 150 / 4


def test_what_is_read_is_short_and_the_tools_few() -> None:
    for index in range(40):
        instance = drawn(index)
        episode = played(instance)
        text = episode.turns[0].observation  # the page
        papers = instance.reference.case.patient.chart.documents
        read = text + "".join(paper.content for paper in papers)
        assert estimate_tokens(len(read)) <= 400
        assert all(estimate_tokens(len(turn.observation)) <= 400 for turn in episode.turns)
    for role, names in TOOLS.items():
        offered = {tool["function"]["name"] for tool in FAMILY.roles[role].catalog.openai()}
        assert {name.replace(".", "__") for name in names} == offered
        assert len(offered) <= 5


BAD = [("absent", "absent"), ("never_submits", "rubber_stamp"), ("submits_all", "deny_all")]


@pytest.mark.parametrize(("provider", "payer"), [*BAD, ("submits_all", "rubber_stamp")])
def test_two_sides_that_do_not_look_hardly_ever_succeed(provider: str, payer: str) -> None:
    hits = sum(joint(played(drawn(index), provider, payer)) for index in range(60))
    assert hits / 60 <= 0.30


#: Which outcomes a side can be right about that errs, whoever sits opposite.
ERRING = {
    (PROVIDER, "absent"): set(),
    (PROVIDER, "submits_all"): {"approved", "denied"},
    (PROVIDER, "never_submits"): {"withheld"},
    (PROVIDER, "silent"): {"withheld", "approved", "denied"},
    (PROVIDER, "wrong_item"): {"withheld", "approved", "denied"},
    (PROVIDER, "over_documents"): {"withheld", "approved", "denied"},
    (PAYER, "absent"): {"withheld"},
    (PAYER, "rubber_stamp"): {"withheld", "approved"},
    (PAYER, "deny_all"): {"withheld", "denied"},
    (PAYER, "never_asks"): {"withheld", "approved", "denied"},
    (PAYER, "always_asks"): {"withheld", "asked-approved", "asked-denied"},
}


@pytest.mark.parametrize(("role", "name"), list(ERRING))
def test_a_side_that_errs_succeeds_only_where_it_happens_to_be_right(role: str, name: str) -> None:
    sides = {"provider": "oracle", "payer": "oracle", role: name}
    for kind in set(KINDS) - ERRING[role, name]:
        assert not joint(played(first(kind), sides["provider"], sides["payer"]))


def test_a_half_reader_misses_what_the_other_criterion_says() -> None:
    lost = {
        drawn(index).task.kind
        for index in range(60)
        if not joint(played(drawn(index), payer="half_reader"))
    }
    assert lost <= {"denied", "asked-approved", "asked-denied"}
    assert len(lost) == 3


@pytest.mark.parametrize(
    ("provider", "check"),
    [
        ("wrong_item", "joint.pends_answered"),
        ("silent", "joint.pends_answered"),
        ("over_documents", "provider.minimum_necessary"),
        ("submits_all", "provider.minimum_necessary"),
    ],
)
def test_an_answer_that_does_not_settle_it_is_found(provider: str, check: str) -> None:
    assert check in failed(played(first("asked-approved"), provider), PROVIDER)


def test_what_is_sent_wrongly_is_the_providers_and_denied_it_is_the_payers_due() -> None:
    episode = played(first("withheld"), "submits_all")
    assert "provider.decision_right" in failed(episode, PROVIDER)
    own = {name for name in failed(episode, PAYER) if name.startswith("payer.")}
    assert own == set()
    assert episode.world.cases.get(CASE).status is CaseStatus.DENIED


@pytest.mark.parametrize("kind", ["denied", "asked-denied"])
def test_the_provider_is_not_blamed_for_a_denial_it_could_not_foresee(kind: str) -> None:
    episode = played(first(kind))
    assert episode.world.cases.get(CASE).status is CaseStatus.DENIED
    assert failed(episode, PROVIDER) == set()


class Elsewhere(Payer):
    """Denies on the criterion that is met."""

    def conclude(self, decision: object, found: object) -> None:
        names = list(self.instance.reference.provider.postures)
        against = [name for name in names if str(found[name]) == "met"]  # type: ignore[index]
        self.seat.do(
            "review.submit_md_case_decision",
            case_id=CASE,
            decision="deny",
            determination_rationale=against[0],
            denial_rationale=against[0],
            signed_off=True,
        )


def test_a_denial_names_the_criterion_that_it_rests_on() -> None:
    wrong = failed(played(first("denied"), payer=Elsewhere), PAYER)
    assert "payer.physician_decision_right" in wrong


class AsksForTheOther(Payer):
    """Asks about the criterion that the note shows."""

    def conclude(self, decision: object, found: object) -> None:
        if str(decision) != "request_info":
            super().conclude(decision, found)  # type: ignore[arg-type]
            return
        shown = next(name for name, one in found.items() if str(one) == "met")  # type: ignore[attr-defined]
        self.seat.do(
            "review.submit_md_case_decision",
            case_id=CASE,
            decision="request_info",
            info_requested=f"document on {shown}",
            info_deadline=f"{self.seat.world.clock.now:%Y-%m-%d}",
        )


def test_a_question_is_about_what_is_open() -> None:
    assert not joint(played(first("asked-approved"), payer=AsksForTheOther))


def test_turns_pass_with_the_case() -> None:
    instance = first("asked-approved")
    episode = opened(instance)
    assert episode.to_act() == PROVIDER
    wrong = episode.step(call("finish"), PAYER)
    assert wrong.errors == ("It is not your turn; provider acts now.",)
    script = FAMILY.together(instance, np.random.default_rng(0))
    for each in script[PROVIDER][:3]:
        assert not episode.step(each, PROVIDER).errors
    assert episode.to_act() == PAYER
    told = episode.news(PAYER)
    assert f"{CASE} is yours" in told
    report = instance.reference.case.patient.chart.documents
    assert report[0].content in told
    assert all(paper.content not in told for paper in report[1:])


def test_the_payer_reads_nothing_of_what_was_not_sent() -> None:
    instance = first("asked-approved")
    episode = played(instance, "silent")
    shown = "".join(f"{t.news}{t.observation}" for t in episode.turns if t.role == PAYER)
    papers = instance.reference.case.patient.chart.documents
    lines = {line for paper in papers[1:] for line in paper.content.splitlines()[1:]}
    assert all(line not in shown for line in lines)


def test_nobody_is_told_the_answer() -> None:
    for index in range(40):
        instance = drawn(index)
        for role in FAMILY.roles:
            text = FAMILY.instruction(role, instance)
            assert instance.task.kind not in text.split()
            papers = {page.id: page for page in instance.reference.case.patient.chart.documents}
            unread = [papers[name].content.splitlines()[1:] for name in PAPERS]
            assert all(
                line not in text
                for lines in unread
                for line in lines
                if line != "- Nothing of note."
            )
        assert NOTE in FAMILY.instruction(PROVIDER, instance)
        assert CASE not in FAMILY.instruction(PAYER, instance)


@pytest.mark.parametrize("role", [PROVIDER, PAYER])
def test_a_script_of_a_seat_does_not_win_against_one_that_knows(role: str) -> None:
    family = ArenaFamily("drill", role=role)
    for name in ("prior", "flood"):
        hits = 0
        for index in range(24):
            instance = drawn(index)
            script = family.baselines()[name](instance, np.random.default_rng(0))
            other = PAYER if role == PROVIDER else PROVIDER
            hits += joint(scripted(instance, role, list(script), other))
        assert hits / 24 <= 0.65  # a third is rightly not sent, which asks nothing of a payer


def scripted(instance: ArenaInstance, role: str, script: list[object], other: str) -> ArenaEpisode:
    """An episode of a script against a side that knows the answer."""

    class Scripted(Provider):
        def turn(self) -> None:
            made = script.pop(0) if script else call("finish")
            assert isinstance(made, ToolCall)
            self.seat.do(made.name, **made.arguments)

    sides: dict[str, Making] = {role: Scripted, other: SIDES[other]["oracle"]}
    return play(opened(instance), instance, sides)


def test_a_clone_goes_on_as_the_episode_does() -> None:
    instance = first("asked-denied")
    script = FAMILY.together(instance, np.random.default_rng(0))
    episode = opened(instance)
    for each in script[PROVIDER][:3]:
        episode.step(each, PROVIDER)
    twin = episode.clone()
    for one in (episode, twin):
        for each in script[PAYER][:3]:
            assert not one.step(each, PAYER).errors
    assert episode.world.digest() == twin.world.digest()
    assert episode.news(PROVIDER) == twin.news(PROVIDER)


@pytest.mark.parametrize("opponent", [None, *SIDES[PAYER]])
def test_the_other_seat_is_filled_by_name(opponent: str | None) -> None:
    env = PriorAuthArenaEnv(difficulty="drill", opponent=opponent)
    observation, _ = env.reset(options={"split": "test", "index": 0})
    assert CASE in observation
    assert env.episode.roles == (PROVIDER, PAYER)
    env.close()
