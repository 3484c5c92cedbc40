"""One verdict per role and profile: judged once, and what every face shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from healthgym.core.action import text_of
from healthgym.core.env import HealthEnv
from healthgym.core.episode import AnyEpisode, Episode
from healthgym.core.family import EpisodeConfig, Evidence
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Judgement, Profile
from healthgym.errors import EpisodeStateError, InfrastructureError
from healthgym.integrations.trl.environment import environment_class
from healthgym.presentation.render import transcript
from healthgym.rewards import PotentialReward, SparseReward, resolve
from healthgym.testing import replay
from tests.core.playing import CONFIG, MOVE, READ, open_episode, oracle, play, snapshot_of
from tests.core.toys import LETTERS, Desk, DeskVerifier, Ledger, LedgerVerifier, Market
from tests.core.toys.ledger import MOVED, REPORTED

AnyEvidence = Evidence[Any, Any, Any]


class Fickle(LedgerVerifier):
    """Answers differently each time it is asked, as a model that judges may."""

    def __init__(self, first: bool) -> None:
        self.mood = first
        self.judged: list[tuple[str, Profile]] = []
        self.asked: list[str] = []

    def judge(self, evidence: AnyEvidence, profile: Profile) -> Judgement:
        self.judged.append((evidence.role, profile))
        passed, self.mood = self.mood, not self.mood
        return Judgement.of([REPORTED.result(passed), MOVED.result(passed)])

    def progress(self, evidence: AnyEvidence, profile: Profile, part: str = "") -> float:
        self.asked.append(part)
        return super().progress(evidence, profile, part)


class FickleLedger(Ledger):
    def __init__(self, first: bool) -> None:
        super().__init__()
        self.verifier: Fickle = Fickle(first)


ANSWER = call("submit", answer=0)


@pytest.mark.parametrize("reward", ["sparse", "shaped"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("profile", Profile)
def test_every_face_shows_the_same_verdict(reward: str, first: bool, profile: Profile) -> None:
    family = FickleLedger(first)
    config = EpisodeConfig(max_turns=5, profile=profile)
    env = HealthEnv(family, resolve(reward), config=config)
    env.reset(seed=0)
    env.step(READ)
    *_, earned, terminated, _, info = env.step(ANSWER)
    assert terminated
    said = info["success"]
    # The profiles are judged in their order: the second one gets the other answer.
    assert said == (first if profile is Profile.PAPER else not first)
    total = env.episode.total_reward()
    assert (total == 1.0) == (earned == 1.0) == said
    for _ in range(3):
        env.episode.settle()  # there is nothing left to settle
        record = env.trajectory()
        assert env.episode.verdict().success == said
        assert env.episode.verdict() is env.episode.verdict(profile=profile)
        assert record.verdicts["agent"] == info["verdict"] == env.episode.verdicts()
        assert record.rewards == {"agent": total}
        assert ("=== agent: success" in transcript(env.episode)) == said
    assert env.episode.clone().verdict() is env.episode.verdict()
    assert family.verifier.judged == [("agent", each) for each in Profile]


@pytest.mark.parametrize("first", [True, False])
def test_trl_is_told_the_verdict_that_was_paid_for(first: bool) -> None:
    family = FickleLedger(first)
    env = HealthEnv(family, SparseReward(), config=CONFIG)
    slot = environment_class(env, name="Fickle")()
    slot.reset(split="train", index=0)
    slot.ledger__submit(answer=0)
    outcomes = [slot._outcome() for _ in range(3)]
    assert outcomes[0] is outcomes[1] is outcomes[2]
    assert outcomes[0].verdict is not None
    assert outcomes[0].verdict.success == (outcomes[0].reward == 1.0) == (not first)
    assert len(family.verifier.judged) == len(Profile)


def test_each_role_is_judged_once_under_each_profile() -> None:
    family = Market()
    judged: list[tuple[str, Profile]] = []
    inner = family.verifier.judge

    def judge(evidence: AnyEvidence, profile: Profile) -> Judgement:
        judged.append((evidence.role, profile))
        return inner(evidence, profile)

    family.verifier.judge = judge  # type: ignore[method-assign]
    instance = family.generator.generate(Split.TRAIN, 0)
    episode = Episode(family, instance, SparseReward(), CONFIG)
    for role in episode.roles:
        assert judged == []
        episode.step(call("agree", price=1), role)
    assert judged == [(role, profile) for role in episode.roles for profile in Profile]


def test_there_is_no_verdict_before_the_end() -> None:
    episode = open_episode()
    for _ in range(2):
        with pytest.raises(EpisodeStateError, match=r"is not over.*stop\(\) a clone"):
            episode.verdict()
        with pytest.raises(EpisodeStateError, match="is not over"):
            episode.settle()
        episode.step(READ)
    assert not episode.settled
    twin = episode.clone()
    twin.stop()
    assert twin.verdict().success is False
    assert not episode.settled


def test_a_judge_out_of_reach_may_be_asked_again() -> None:
    class Away(LedgerVerifier):
        away = True

        def judge(self, evidence: AnyEvidence, profile: Profile) -> Judgement:
            if self.away:
                raise InfrastructureError("the judge is away")
            return super().judge(evidence, profile)

    family = Ledger()
    family.verifier = verifier = Away()
    episode = open_episode(family=family)
    *before, last = oracle()
    play(episode, before)
    with pytest.raises(InfrastructureError):
        episode.step(last)
    assert episode.done()
    with pytest.raises(EpisodeStateError, match="has no score"):
        episode.verdict()
    verifier.away = False
    episode.settle()
    assert episode.verdict().success


# -- progress ----------------------------------------------------------------------------------


def desk(reward: Any = None) -> tuple[AnyEpisode, Desk]:
    family = Desk()
    instance = family.generator.generate(Split.TRAIN, 0)
    return Episode(family, instance, reward or PotentialReward(), family.rules), family


def test_progress_is_asked_for_what_was_touched() -> None:
    episode, family = desk()
    asked = family.verifier.asked
    assert asked == list(LETTERS)
    steps: list[tuple[Any, list[str], float]] = [
        (call("open_letter", letter="a"), [], 0.0),
        (call("answer", letter="b", text="yes"), ["b"], 1 / 3),
        (call("refuse"), [], 0.0),
        ("nonsense", [], 0.0),
        (call("recite", words=3), [], 0.0),
        ([call("answer", letter="a", text="x"), call("answer", letter="b", text="")],
         ["a", "b"], 1 / 3),
        (call("crash", text="d"), list(LETTERS), -1 / 3),
    ]  # fmt: skip
    for action, parts, reward in steps:
        asked.clear()
        assert episode.step(action).reward == pytest.approx(reward)
        assert sorted(asked) == parts, action
    assert family.verifier.judged == []


def test_what_falls_due_touches_progress_too() -> None:
    episode, family = desk()
    episode.step(call("plan", name="answer", minutes=30, text="c"))
    family.verifier.asked.clear()
    assert episode.step(call("rest", minutes=10)).reward == 0.0
    assert family.verifier.asked == []
    assert episode.step(call("rest", minutes=60)).reward == pytest.approx(1 / 3)
    assert family.verifier.asked == ["c"]


def test_closing_a_case_may_be_worth_something() -> None:
    episode, family = desk()
    family.verifier.asked.clear()
    episode.step(call("close_letter", letter="a"))
    assert "a" in family.verifier.asked


def test_progress_costs_what_was_touched_not_the_history() -> None:
    episode, family = desk()
    episode.config = EpisodeConfig(max_turns=400)
    family.verifier.asked.clear()
    for number in range(300):
        episode.step(call("answer", letter=LETTERS[number % 3], text=str(number)))
    assert len(family.verifier.asked) == 300


def test_the_sparse_reward_never_asks_for_progress() -> None:
    episode, family = desk(SparseReward())
    for action in family.oracle(episode._instance, None):
        last = episode.step(action)
    assert (last.reward, family.verifier.asked) == (1.0, [])
    assert len(family.verifier.judged) == len(Profile)


def test_the_last_step_pays_the_difference_to_the_verdict() -> None:
    family = FickleLedger(first=False)  # judged: paper fails, strict succeeds
    episode = Episode(family, MOVE, PotentialReward(), CONFIG)
    first, second, _ = oracle()
    rewards = [episode.step(action).reward for action in (first, second, ANSWER)]
    assert rewards == [0.0, 0.5, 0.5]
    assert episode.verdict().progress == episode.total_reward() == 1.0
    asked = len(family.verifier.asked)
    assert asked == 2  # at the start and after the transfer, not at the end


@pytest.mark.parametrize("reward", [SparseReward(), PotentialReward()], ids=["sparse", "shaped"])
def test_what_is_judged_later_is_paid_and_on_record(reward: Any) -> None:
    class Away(DeskVerifier):
        away = True

        def judge(self, evidence: AnyEvidence, profile: Profile) -> Judgement:
            if self.away:
                raise InfrastructureError("the judge is away")
            return super().judge(evidence, profile)

    def at_desk(away: bool) -> HealthEnv:
        family = Desk()
        family.verifier = verifier = Away()
        verifier.away = away
        env = HealthEnv(family, reward)
        env.reset(options={"index": 0})
        return env

    late, sound = at_desk(True), at_desk(False)
    *before, last = [call("answer", letter=x, text="yes") for x in "abc"] + [call("submit")]
    for action in before:
        assert late.step(action)[1] == sound.step(action)[1]
    with pytest.raises(InfrastructureError):
        late.step(last)
    assert [turn.action for turn in late.episode.turns][-1] == text_of(last)
    twin = late.episode.clone()
    late.family.verifier.away = False
    expected = sound.step(last)[1]
    for episode in (late.episode, twin):
        assert episode.settle() == {"agent": expected}
        assert episode.settle() == {}
        assert episode.total_reward() == 1.0
        assert episode.turns == sound.episode.turns
    assert replay(late.trajectory(), sound).success


def test_a_step_that_cannot_be_paid_for_is_not_taken() -> None:
    class Fussy(PotentialReward):
        def __call__(self, transition: Any) -> float:
            if transition.progress:
                raise KeyError("no coins")
            return 0.0

    episode, _ = desk(Fussy())
    before = snapshot_of(episode)
    for _ in range(2):
        with pytest.raises(KeyError, match="no coins"):
            episode.step(call("answer", letter="a", text="yes"))
        assert snapshot_of(episode) == before
    assert episode.step(call("who")).reward == 0.0


def test_a_verdict_to_which_nothing_applies_is_no_success() -> None:
    class Silent(LedgerVerifier):
        def judge(self, evidence: AnyEvidence, profile: Profile) -> Judgement:
            return Judgement((REPORTED.not_applicable(), MOVED.not_applicable()))

    family = Ledger()
    family.verifier = Silent()
    family.hand_in = replace(family.hand_in, paper=False)
    episode = Episode(family, MOVE, SparseReward(), replace(CONFIG, profile=Profile.PAPER))
    episode.step(ANSWER)
    verdict = episode.verdict()
    assert [result.passed for result in verdict.checks] == [None, None]
    assert not verdict.success
    assert episode.total_reward() == 0.0
