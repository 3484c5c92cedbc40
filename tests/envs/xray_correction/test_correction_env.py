from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from healthgym.core.episode import AnyEpisode
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.xray_correction.claims import SEVERITIES, Claim, compare, entities
from healthgym.envs.xray_correction.env import XrayCorrectionEnv
from healthgym.envs.xray_correction.family import CorrectionFamily
from healthgym.envs.xray_correction.generator import canonical_cases
from healthgym.envs.xray_correction.reading.reader import read
from healthgym.envs.xray_correction.task import CorrectionReference, CorrectionStart, ReportConfig
from healthgym.envs.xray_correction.thresholds import limit, thresholds
from healthgym.envs.xray_correction.wording import Wording
from healthgym.errors import ConfigurationError

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_BASE = """
import sys
for name in ("PIL", "scipy", "nibabel", "polars", "pyarrow", "openslide", "tifffile", "torch"):
    sys.modules[name] = None
import gymnasium as gym
import healthgym
env = gym.make("HealthAgent/XrayCorrection-v1")
observation, info = env.reset(seed=0)
for action in (
    healthgym.call("show_draft"), healthgym.call("view_image", study=1),
    healthgym.call("measure", what="heart"), healthgym.call("submit"),
):
    observation, reward, terminated, truncated, info = env.step(action)
    assert "error" not in info, info
assert terminated
"""


def tasks(
    difficulty: str, split: Split, count: int
) -> list[tuple[CorrectionStart, CorrectionReference]]:
    generator = CorrectionFamily(difficulty).generator
    instances = [generator.generate(split, index) for index in range(count)]
    return [(instance.start, instance.reference) for instance in instances]


def solve(env: XrayCorrectionEnv, split: str, index: int) -> AnyEpisode:
    episode = env.open_episode(split, index)
    play = env.family.solvers()["solver"](episode.instruction())
    action = next(play)
    while not episode.done():
        outcome = episode.step(action)
        assert not outcome.errors
        if not episode.done():
            action = play.send(outcome.observation)
    return episode


def test_runs_on_the_base_install() -> None:
    subprocess.run([sys.executable, "-c", _BASE], check=True, timeout=600)


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_drafts_have_the_errors_that_the_reference_says(difficulty: str) -> None:
    counts = []
    for start, reference in tasks(difficulty, Split.VALIDATION, 25):
        assert len(start.draft) == len(reference.truth)
        counts.append(len(reference.swapped))
        for number, (text, truth) in enumerate(zip(start.draft, reference.truth, strict=True)):
            assert set(read(truth.text)) == set(truth.claims), truth.text
            wrong = set(read(text)) != set(truth.claims)
            assert wrong is (number in reference.swapped), (text, truth.text)
            assert len(read(text)) == len(truth.claims)
    low, high = {"easy": (1, 2), "medium": (3, 5), "hard": (4, 8)}[difficulty]
    assert (min(counts), max(counts)) == (low, high)


def test_canonical_tasks_are_composed_like_the_source() -> None:
    generator = CorrectionFamily(canonical=True).generator
    assert generator.size(Split.TEST) == 10
    swaps = []
    for index, case in enumerate(canonical_cases()):
        instance = generator.generate(Split.TEST, index)
        swaps.append(len(instance.reference.swapped))
        said = {claim.entity for s in instance.reference.truth for claim in s.claims}
        assert {entry.partition(":")[0] for entry in case.theme} <= said
        assert len(instance.start.radiographs.studies) == case.studies
    assert swaps == [4, 3, 7, 8, 5, 4, 3, 4, 7, 6]
    with pytest.raises(ConfigurationError, match="no number 10"):
        generator.generate(Split.TEST, 10)


def test_in_canonical_training_neither_theme_nor_length_goes_with_how_much_is_wrong() -> None:
    generator = CorrectionFamily(canonical=True).generator
    tasks = [generator.generate(Split.TRAIN, index) for index in range(400)]
    wrong = {
        length: [len(x.reference.swapped) for x in tasks if len(x.start.draft) == length]
        for length in {len(x.start.draft) for x in tasks}
    }
    assert {swaps for each in wrong.values() for swaps in each} == {3, 4, 5, 6, 7, 8}
    usual = np.mean([case.swaps for case in canonical_cases()])
    for swaps in (each for each in wrong.values() if len(each) > 30):
        assert abs(np.mean(swaps) - usual) < 4 * np.std(swaps) / len(swaps) ** 0.5
    studies = [[len(x.start.radiographs.studies), len(x.reference.swapped)] for x in tasks]
    assert abs(np.corrcoef(np.array(studies).T)[0, 1]) < 0.15


def test_weights_mix_the_presets() -> None:
    mixed = CorrectionFamily({"easy": 1, "hard": 2}).generator
    alone = {name: CorrectionFamily(name).generator for name in ("easy", "hard")}
    seen = Counter[str]()
    for index in range(30):
        task = mixed.generate(Split.TRAIN, index).task
        level = str(task.metadata["difficulty"])
        assert task == alone[level].generate(Split.TRAIN, index).task
        seen[level] += 1
    assert 5 < seen["easy"] < seen["hard"]


@pytest.mark.parametrize("index", [-1, 2**31])
def test_indices_that_are_none(index: int) -> None:
    with pytest.raises(ConfigurationError, match="no number"):
        CorrectionFamily().generator.generate(Split.TRAIN, index)


def test_truth_is_balanced() -> None:
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for _, reference in tasks("medium", Split.TRAIN, 400):
        for claim in (c for statement in reference.truth for c in statement.claims):
            for name in ("side", "severity", "change"):
                if getattr(claim, name):
                    seen[name, "all"][getattr(claim, name)] += 1
                    seen[name, claim.entity][getattr(claim, name)] += 1
    for (name, entity), counter in seen.items():
        share = counter.most_common()[0][1] / counter.total()
        even = 1 / (3 if name == "change" else 2)
        assert share < even + (0.05 if entity == "all" else 0.22), (name, entity, counter)


def fitted(difficulty: str, count: int) -> dict[Claim, Claim]:
    """Return for each drafted claim what was most often true where it was drafted."""
    truths: dict[Claim, Counter[Claim]] = defaultdict(Counter)
    for start, reference in tasks(difficulty, Split.TRAIN, count):
        for text, statement in zip(start.draft, reference.truth, strict=True):
            for claim in read(text):
                true = next(c for c in statement.claims if c.entity == claim.entity)
                truths[claim][true] += 1
    return {claim: counter.most_common(1)[0][0] for claim, counter in truths.items()}


@pytest.mark.parametrize(("difficulty", "bound"), [("easy", 0.08), ("medium", 0.02)])
def test_a_prior_fitted_to_drafts_fails(difficulty: str, bound: float) -> None:
    best = fitted(difficulty, 240)
    solved = 0
    trials = tasks(difficulty, Split.TEST, 120)
    for start, reference in trials:
        right = True
        for text, statement in zip(start.draft, reference.truth, strict=True):
            for claim in read(text):
                true = next(c for c in statement.claims if c.entity == claim.entity)
                right &= not compare(true, best.get(claim, claim))
        solved += right
    assert solved / len(trials) <= bound


#: What can be told of a drafted statement at a glance.
_LOOKS: dict[str, Callable[[Claim], bool]] = {
    "absent": lambda claim: claim.present is False,
    "present": lambda claim: bool(claim.present),
    "mild": lambda claim: claim.severity == "mild",
    "severe": lambda claim: claim.severity == "severe",
    "compared": lambda claim: bool(claim.change),
    "device": lambda claim: entities()[claim.entity].device,
}


def test_how_a_statement_is_drafted_does_not_tell_whether_it_is_wrong() -> None:
    wrong: dict[str, list[bool]] = defaultdict(list)
    every = []
    for start, reference in tasks("medium", Split.TRAIN, 150):
        for number, text in enumerate(start.draft):
            every.append(number in reference.swapped)
            for name, looks in _LOOKS.items():
                if any(map(looks, read(text))):
                    wrong[name].append(every[-1])
    usual = float(np.mean(every))
    for name, found in wrong.items():
        # Four standard errors: one look in thousands is further off by chance.
        bound = 4 * np.sqrt(usual * (1 - usual) / len(found))
        assert abs(np.mean(found) - usual) < bound, (name, np.mean(found), usual)
    assert len(wrong) == len(_LOOKS)
    assert len(wrong["absent"]) > 150


def _seen_in(text: str, number: int) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower())
    pairs = {f"{a} {b}" for a, b in pairwise(words)}
    claims = {f"{c.entity} {c.present} {c.severity} {c.place} {c.change}" for c in read(text)}
    return {*words, *pairs, *claims, f"number {number}"}


def _ranks(scores: FloatArray) -> FloatArray:
    """Return ranks from 1, equal scores sharing theirs. Shape (n,)."""
    _, place, often = np.unique(scores, return_inverse=True, return_counts=True)
    last = np.cumsum(often)
    return np.asarray((last - (often - 1) / 2)[place], dtype=float)


def _auroc(labels: BoolArray, scores: FloatArray) -> float:
    there = int(labels.sum())
    total = _ranks(scores)[labels].sum() - there * (there + 1) / 2
    return float(total / (there * (len(labels) - there)))


@pytest.mark.slow
@pytest.mark.parametrize(("difficulty", "count"), [("easy", 500), ("medium", 260), ("hard", 180)])
def test_a_reader_of_drafts_alone_cannot_tell_what_is_wrong(difficulty: str, count: int) -> None:
    """Naive Bayes over words, pairs of words and claims, fitted on train, tried on test."""
    rows = {
        split: [
            (_seen_in(text, number), number in reference.swapped)
            for start, reference in tasks(difficulty, split, count)
            for number, text in enumerate(start.draft)
        ]
        for split in (Split.TRAIN, Split.TEST)
    }
    seen = {flag: Counter[str]() for flag in (False, True)}
    totals = Counter(flag for _, flag in rows[Split.TRAIN])
    for words, flag in rows[Split.TRAIN]:
        seen[flag].update(words)
    known = {word for word, often in (seen[False] + seen[True]).items() if often >= 8}
    weight = {
        word: np.log((seen[True][word] + 1) / (totals[True] + 2))
        - np.log((seen[False][word] + 1) / (totals[False] + 2))
        for word in known
    }
    scores = np.array([sum(weight.get(w, 0.0) for w in words) for words, _ in rows[Split.TEST]])
    labels = np.array([flag for _, flag in rows[Split.TEST]])
    assert len(labels) >= 1500
    rng = np.random.default_rng(0)
    drawn = [rng.integers(len(labels), size=len(labels)) for _ in range(300)]
    low = np.percentile([_auroc(labels[k], scores[k]) for k in drawn], 2.5)
    assert low <= 0.55, (low, _auroc(labels, scores))


def test_prior_reports_say_nothing_of_what_the_draft_speaks_of() -> None:
    seen = 0
    for start, reference in tasks("medium", Split.TRAIN, 60):
        about = {claim.entity for s in reference.truth for claim in s.claims}
        for study in start.radiographs.studies[:-1]:
            said = {claim.entity for claim in read(study.report.split("FINDINGS:")[1])}
            assert said
            assert not said & about
            seen += 1
        assert start.radiographs.studies[-1].report == ""
    assert seen > 30


def test_headers_do_not_depend_on_the_truth() -> None:
    words: Counter[str] = Counter()
    for start, _ in tasks("easy", Split.TRAIN, 200):
        words[start.header.split("INDICATION:")[1].split("\n")[0].strip()] += 1
        assert {claim.entity for claim in read(start.header)} <= {"comparison"}
    assert len(words) >= 8


def test_every_threshold_says_what_it_is() -> None:
    assert all(row.unit and row.meaning for row in thresholds().values())
    for name in ("heart.left", "heart.right", "effusion", "pneumothorax.tilt", "edema"):
        assert limit(f"{name}.mild") < limit(f"{name}.severe")


def test_the_solver_is_far_above_the_prior() -> None:
    env = XrayCorrectionEnv(difficulty="easy")
    solved = [solve(env, "validation", index).verdict().success for index in range(16)]
    assert 0.3 < np.mean(solved) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize(("difficulty", "least"), [("easy", 0.45), ("medium", 0.15)])
def test_the_solver_on_many_tasks(difficulty: str, least: float) -> None:
    env = XrayCorrectionEnv(difficulty=difficulty)
    solved = [solve(env, "test", index).verdict().success for index in range(100)]
    assert least < np.mean(solved) < 1.0


def test_an_edit_of_every_sentence_into_the_truth_succeeds_under_both_profiles() -> None:
    env = XrayCorrectionEnv(difficulty="hard", max_turns=99)
    for index in range(4):
        instance = env.family.generator.generate(Split.TEST, index)
        episode = env.open_episode("test", index)
        wording = Wording(99)
        for number, statement in enumerate(instance.reference.truth):
            text = wording.sentence(statement.claims, number)
            if text != episode.world.sentences[number]:
                episode.step(call("edit_sentence", number=number + 1, text=text))
        episode.step(call("submit"))
        for profile in Profile:
            assert episode.verdict(profile=profile).success


@pytest.mark.parametrize(
    "arguments",
    [
        {"difficulty": "mild"},
        {"difficulty": {}},
        {"difficulty": {"easy": 1, "mild": 1}},
        {"profile": "lax"},
        {"max_turns": 0},
        {"source": "somewhere", "canonical": True},
    ],
)
def test_arguments_are_checked(arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        XrayCorrectionEnv(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        {"studies": (3, 2)},
        {"errors": (3, 9)},
        {"studies": (1, 13)},
        {"size": 100},
        {"subjects": ("spleen",)},
    ],
)
def test_configs_are_checked(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ReportConfig(**arguments)


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_a_task_says_that_there_are_two_grades_and_has_no_other(difficulty: str) -> None:
    generator = CorrectionFamily(difficulty).generator
    for index in range(20):
        instance = generator.generate(Split.TEST, index)
        assert "small (mild) or large (severe); nothing lies between" in instance.task.instruction
        claims = [claim for statement in instance.reference.truth for claim in statement.claims]
        assert {claim.severity for claim in claims} <= {"", *SEVERITIES}
