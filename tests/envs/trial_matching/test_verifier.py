"""The verdict: parity with the published evaluator, and the holes that strict closes."""

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest

import healthgym
from healthgym.core.verdict import Profile, Verdict
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.task import MatchingReference
from healthgym.envs.trial_matching.verifier import TrialMatchingVerifier, paper_picks
from healthgym.worlds.corpus import Corpus

GOLD = [f"NCT{n:08d}" for n in range(1, 5)]
BARRED = [f"NCT{n:08d}" for n in range(101, 141)]
OTHERS = [f"NCT{n:08d}" for n in range(1001, 1357)]
REFERENCE = MatchingReference(
    {**dict.fromkeys(OTHERS, 0), **dict.fromkeys(BARRED, 1), **dict.fromkeys(GOLD, 2)}
)
OUTSIDE = [f"NCT{n:08d}" for n in range(90_000_001, 90_000_061)]


def verdict(lines, profile, reference=REFERENCE):
    corpus = Corpus(
        tuple(reference.grades),
        lambda id_: TrialRecord(id_, "Not too late", conditions=("stroke",)),
    )
    after = SimpleNamespace(draft=tuple(lines), corpus=corpus)
    evidence = SimpleNamespace(reference=reference, after=after, submission={})
    judgement = TrialMatchingVerifier().judge(evidence, profile)
    return Verdict.from_judgement(profile, judgement)


def paper(lines, **kwargs):
    return verdict(lines, Profile.PAPER, **kwargs)


def strict(lines, **kwargs):
    return verdict(lines, Profile.STRICT, **kwargs)


def failed(found):
    return {result.check.name for result in found.checks if not result.passed}


@pytest.mark.parametrize(
    ("lines", "passes"),
    [
        (GOLD, True),
        ([f"{id_.lower()}  best fit, see section 3" for id_ in GOLD], True),
        (OUTSIDE + GOLD, True),  # sixty unknown numbers are dropped before ranks count
        (GOLD + OTHERS + BARRED, True),
        (GOLD + OTHERS[:40], True),
        (OTHERS[:46] + GOLD, True),
        (OTHERS[:47] + GOLD, False),  # the last at rank 51
        (OTHERS[:56] + GOLD, False),
        (OTHERS + BARRED + GOLD, False),
        (GOLD[:-1], False),
        ([*GOLD[:-1], f"# {GOLD[-1]}"], False),
        ([*GOLD[:-1], f"   # {GOLD[-1]}"], False),
        ([*GOLD[:-1], f"{OTHERS[0]} rather than {GOLD[-1]}"], False),  # the first on a line counts
        ([*OTHERS[:46], *OTHERS[:30], *GOLD], True),  # repeats take up no rank
        (["", *GOLD, "  "], True),
        ([f"not eligible for {id_}" for id_ in GOLD], True),
        ([], False),
    ],
)
def test_paper_profile_is_the_published_rule(lines, passes):
    found = paper(lines)
    assert found.success is passes
    assert (found.progress == 1.0) is passes


def test_picks():
    assert paper_picks(["xNCT00000002", "nct00000001nct00000003", "NCT1"], GOLD) == [
        "NCT00000002",
        "NCT00000001",
    ]


@pytest.mark.parametrize(
    ("hole", "lines", "check"),
    [
        ("the whole pool, gold first", GOLD + BARRED + OTHERS, "precise"),
        ("always fifty", GOLD + OTHERS[:46], "precise"),
        ("one trial that excludes the patient", [*GOLD, BARRED[0]], "precise"),
        ("numbers outside the pool", GOLD + OUTSIDE, "plain_lines"),
        ("a sentence that denies", [*GOLD[1:], f"NOT eligible for {GOLD[0]}"], "plain_lines"),
        ("a denial", [*GOLD[1:], f"{GOLD[0]} - does not qualify"], "plain_lines"),
        ("a doubt", [*GOLD[1:], f"{GOLD[0]}?"], "plain_lines"),
        ("a reservation", [*GOLD[1:], f"{GOLD[0]} eligible, but dialysis"], "plain_lines"),
        ("a heading that denies", ["Do not enrol in:", *GOLD], "plain_lines"),
        ("every trial with a reason", [f"{id_} fits" for id_ in GOLD + OTHERS], "precise"),
    ],
)
def test_holes_pay_under_paper_and_not_under_strict(hole, lines, check):
    assert paper(lines).success, hole
    found = strict(lines)
    assert not found.success, hole
    assert check in failed(found)


@pytest.mark.parametrize(
    "lines",
    [
        [id_.lower() for id_ in GOLD],
        [f"{rank}. {id_}" for rank, id_ in enumerate(GOLD, 1)],
        [f"- {id_}" for id_ in GOLD],
        [f"{id_},".replace(",", ",  ") for id_ in GOLD],
        [f"{id_} | Not too late | stroke" for id_ in GOLD],
        [f"{id_}: meets all criteria, no exclusion criteria met" for id_ in GOLD],
        ["Trials the patient can enter, best first:", "", *GOLD],
        [*GOLD, GOLD[0]],
        ["```", *GOLD, "```"],
    ],
)
def test_lists_are_read_as_a_person_writes_them(lines):
    assert strict(lines).success
    assert paper(lines).success


def test_a_line_of_several_is_read_whole_and_by_the_source_for_its_first():
    assert strict([", ".join(GOLD)]).success
    assert not paper([", ".join(GOLD)]).success
    assert failed(strict([", ".join([*GOLD, BARRED[0]])])) == {"precise"}


def test_mutations_of_the_right_list_fail_the_named_check():
    assert strict(GOLD).success
    assert strict(GOLD[::-1]).success  # eligible trials are eligible in any order
    assert failed(strict(GOLD[1:])) == {"complete"}
    assert failed(strict([*GOLD, OTHERS[0]])) == {"precise"}
    assert failed(strict([])) == {"complete", "precise"}


def test_progress_is_kappa_and_flooding_earns_nothing():
    assert 0.6 < strict(GOLD[:2]).progress < 2 / 3
    assert 0.6 < strict([*GOLD, *OTHERS[:4]]).progress < 2 / 3
    assert strict(GOLD + BARRED + OTHERS).progress == pytest.approx(0.0)
    assert 0.7 < paper(GOLD[:3]).progress < 0.75
    assert strict(OTHERS[:5]).progress < 0.0


def test_judged_data_asks_for_a_share():
    reference = MatchingReference(REFERENCE.grades, min_precision=0.5)
    assert strict(GOLD + OTHERS[:4], reference=reference).success
    assert failed(strict(GOLD + OTHERS[:5], reference=reference)) == {"precise"}


def test_metrics():
    found = paper([*BARRED[:20], *GOLD]).metrics
    assert found["recall"] == 1.0
    assert found["recall_at_20"] == 0.0
    assert found["recall_at_50"] == 1.0
    assert found["precision"] == pytest.approx(4 / 24)
    assert found["submitted_excluded"] == 20


@pytest.mark.parametrize("profile", list(Profile))
def test_shaped_reward_tells_nothing_before_the_list_is_handed_in(profile):
    env = gym.make(
        "HealthAgent/TrialMatching-v1", difficulty="easy", reward="shaped", profile=str(profile)
    )
    env.reset(options={"index": 0})
    ids = env.unwrapped.episode.world.corpus.ids
    rewards = []
    for id_ in ids:  # one by one, as a policy would that tries to find out
        rewards.append(env.step(healthgym.call("add_to_shortlist", nct_ids=[id_]))[1])
        rewards.append(env.step(healthgym.call("remove_from_shortlist", nct_ids=[id_]))[1])
    assert set(rewards) == {0.0}


def test_half_right_lists_are_paid_at_the_end():
    env = gym.make("HealthAgent/TrialMatching-v1", difficulty="easy", reward="shaped")
    env.reset(options={"index": 0})
    episode = env.unwrapped.episode
    key = episode.task.key
    gold = sorted(env.unwrapped.family.generator.generate(key.split, 0).reference.eligible)
    env.step(healthgym.call("add_to_shortlist", nct_ids=gold[:1]))
    _, reward, terminated, _, info = env.step(healthgym.call("submit"))
    assert terminated
    assert not info["success"]
    assert 0.0 < reward < 2 / (1 + len(gold))


def test_running_out_of_turns_fails_under_both_profiles():
    env = gym.make("HealthAgent/TrialMatching-v1", difficulty="easy", max_turns=1)
    env.reset(options={"index": 0})
    generator = env.unwrapped.family.generator
    gold = generator.generate(env.unwrapped.episode.task.key.split, 0).reference.eligible
    *_, truncated, info = env.step(healthgym.call("add_to_shortlist", nct_ids=sorted(gold)))
    assert truncated
    unmet = {"paper": ["recall_at_50"], "strict": ["complete", "precise"]}
    for profile, found in info["verdict"].items():
        wrong = [check["name"] for check in found["checks"] if not check["passed"]]
        assert wrong == ["submitted", *unmet[profile]]
        assert (found["success"], found["progress"], found["metrics"]) == (False, 0.0, {})


@pytest.mark.slow
def test_no_baseline_that_does_not_read_passes_strict():
    env = gym.make("HealthAgent/TrialMatching-v1", split="test")
    for name, script in env.unwrapped.family.scripts().items():
        solved = 0
        for index in range(12):
            env.reset(options={"index": index})
            key = env.unwrapped.episode.task.key
            instance = env.unwrapped.family.generator.generate(key.split, index)
            for action in script(instance, np.random.default_rng(0)):
                *_, info = env.step(action)
            solved += info["success"]
        assert solved == (12 if name == "oracle" else 0), name
