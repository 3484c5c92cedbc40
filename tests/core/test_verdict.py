"""The arithmetic of verdicts: doing nothing is worth nothing, and doing harm never pays."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.verdict import (
    Check,
    CheckResult,
    Combine,
    Judgement,
    Part,
    Profile,
    Verdict,
)

ACTIVE = Check("acted", "The thing asked for was done.")
HEAVY = Check("answered", "The answer is right.", weight=3.0)
IDLE = Check("careful", "Nothing else changed.", idle=True)


def verdict(*results: CheckResult, progress: float | None = None) -> Verdict:
    return Verdict.of(Profile.STRICT, results, progress=progress)


def test_success_means_every_check() -> None:
    won = verdict(ACTIVE.result(True), HEAVY.result(True), IDLE.result(True))
    assert (won.success, won.progress) == (True, 1.0)


def test_progress_is_weighted_over_the_checks_that_ask_for_something() -> None:
    half = verdict(ACTIVE.result(False), HEAVY.result(True), IDLE.result(True))
    assert (half.success, half.progress) == (False, 0.75)


def test_doing_nothing_is_worth_nothing() -> None:
    assert verdict(ACTIVE.result(False), IDLE.result(True)).progress == 0.0


def test_harm_takes_all_progress() -> None:
    harmed = verdict(ACTIVE.result(True), HEAVY.result(True), IDLE.result(False))
    assert (harmed.success, harmed.progress) == (False, 0.0)


def test_partial_credit_is_bounded_and_never_success() -> None:
    assert verdict(ACTIVE.result(False, credit=0.5)).progress == 0.5
    assert verdict(ACTIVE.result(False, credit=7.0)).progress == 0.99
    assert verdict(ACTIVE.result(False, credit=-7.0)).progress == 0.0
    assert verdict(ACTIVE.result(True, credit=0.2)).progress == 1.0


def test_a_given_progress_is_bounded_by_the_outcome() -> None:
    assert verdict(ACTIVE.result(False), progress=1.0).progress == 0.99
    assert verdict(ACTIVE.result(False), progress=-2.0).progress == -1.0
    assert verdict(ACTIVE.result(True), progress=0.3).progress == 1.0


def test_a_verdict_that_nothing_can_fail_is_a_bug() -> None:
    with pytest.raises(ValueError, match="at least one check"):
        verdict()


def test_as_json_values() -> None:
    shown = Verdict.of(
        Profile.PAPER, [IDLE.result(False, "elm changed")], metrics={"f1": 0.5}
    ).to_dict()
    assert shown == {
        "profile": "paper",
        "success": False,
        "progress": 0.0,
        "checks": [
            {
                "name": "careful",
                "requirement": "Nothing else changed.",
                "idle": True,
                "passed": False,
                "detail": "elm changed",
            }
        ],
        "metrics": {"f1": 0.5},
    }


results = st.builds(
    lambda idle, weight, passed, credit: Check("c", "C.", idle=idle, weight=weight).result(
        passed, credit=credit
    ),
    st.booleans(),
    st.floats(0.01, 100),
    st.booleans(),
    st.none() | st.floats(allow_nan=False),
)


@given(st.lists(results, min_size=1, max_size=6), st.none() | st.floats(allow_nan=False))
def test_progress_is_one_exactly_on_success(
    given_results: list[CheckResult], progress: float | None
) -> None:
    judged = verdict(*given_results, progress=progress)
    assert -1.0 <= judged.progress <= 1.0
    assert (judged.progress == 1.0) == judged.success == all(r.passed for r in given_results)


def test_a_check_that_doing_nothing_passes_takes_all_of_the_progress_or_leaves_a_share() -> None:
    done, half = ACTIVE.result(True), HEAVY.result(False, credit=0.5)
    assert verdict(done, half, IDLE.result(False)).progress == 0.0
    whole = verdict(done, half, IDLE.result(True)).progress
    left = verdict(done, half, IDLE.result(False, credit=0.8))
    assert left.progress == pytest.approx(0.8 * whole)
    assert not left.success
    careful = Check("civil", "Nothing rude is said.", idle=True)
    both = verdict(done, IDLE.result(False, credit=0.8), careful.result(False, credit=0.5))
    assert both.progress == pytest.approx(0.4)
    assert verdict(done, IDLE.result(False, credit=0.8), careful.result(False)).progress == 0.0


# -- checks that do not apply ------------------------------------------------------------------


def test_paper_keeps_the_third_value_and_leaves_it_out_of_account() -> None:
    results = [ACTIVE.result(True), HEAVY.not_applicable("no question was asked")]
    judged = Verdict.of(Profile.PAPER, results)
    assert [result.passed for result in judged.checks] == [True, None]
    assert (judged.success, judged.progress, judged.fraction) == (True, 1.0, 1.0)
    assert judged.to_dict()["checks"][1]["passed"] is None
    half = Verdict.of(Profile.PAPER, [*results, Check("c", "C.").result(False)])
    assert (half.success, half.progress, half.fraction) == (False, 0.5, 0.5)


def test_strict_counts_what_does_not_apply_as_not_met() -> None:
    results = [ACTIVE.result(True), HEAVY.not_applicable()]
    judged = Verdict.of(Profile.STRICT, results)
    assert [result.passed for result in judged.checks] == [True, False]
    assert judged.checks[1].detail == "it does not apply yet"
    assert (judged.success, judged.progress, judged.fraction) == (False, 0.25, 0.5)


@given(
    st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6),
    st.integers(0, 5),
)
def test_under_strict_doing_less_never_scores_more(values: list[bool | None], at: int) -> None:
    """Where a check applies and is met, its not applying yet is worth no more."""

    def judged(found: list[bool | None]) -> Verdict:
        named = [Check(str(n), "C.") for n in range(len(found))]
        return Verdict.of(
            Profile.STRICT,
            [
                c.not_applicable() if v is None else c.result(v)
                for c, v in zip(named, found, strict=True)
            ],
        )

    met = [*values[: at % len(values)], True, *values[at % len(values) + 1 :]]
    unmet = [*values[: at % len(values)], None, *values[at % len(values) + 1 :]]
    assert judged(unmet).progress <= judged(met).progress
    assert judged(unmet).success <= judged(met).success


# -- parts -------------------------------------------------------------------------------------


def part(name: str, *passed: bool, weight: float = 1.0) -> Part:
    results = [
        Check(str(n), "C.", failure_mode=f"mode {n}").result(p) for n, p in enumerate(passed)
    ]
    return Part(name, Judgement.of(results), weight)


def whole(combine: Combine, *parts: Part, own: tuple[CheckResult, ...] = ()) -> Verdict:
    return Verdict.from_judgement(Profile.STRICT, Judgement(parts=parts, combine=combine), own)


@pytest.mark.parametrize(("combine", "progress"), [(Combine.MEAN, 0.5), (Combine.SOLVED, 1 / 3)])
def test_parts_are_combined_by_the_declared_rule(combine: Combine, progress: float) -> None:
    judged = whole(combine, part("a", True, True), part("b", True, False), part("c", False))
    assert not judged.success
    assert judged.progress == pytest.approx(progress)
    assert {name: (v.success, v.progress) for name, v in judged.parts.items()} == {
        "a": (True, 1.0),
        "b": (False, 0.5),
        "c": (False, 0.0),
    }
    assert judged.fraction == pytest.approx(3 / 5)
    assert judged.failure_modes == ("mode 1", "mode 0")
    shown = judged.to_dict()
    assert shown["parts"]["b"]["checks"][1]["failure_mode"] == "mode 1"
    assert "parts" not in shown["parts"]["b"]


@pytest.mark.parametrize("combine", Combine)
def test_the_whole_succeeds_when_all_parts_and_its_own_checks_do(combine: Combine) -> None:
    done = (part("a", True), part("b", True, True))
    assert whole(combine, *done).progress == 1.0
    assert whole(combine, *done).success
    assert not whole(combine, *done, own=(ACTIVE.result(False),)).success
    assert not whole(combine, *done, part("c", True, False)).success


def test_parts_have_weights_beside_the_checks_of_the_whole() -> None:
    parts = (part("a", True, weight=3.0), part("b", False, weight=1.0))
    assert whole(Combine.MEAN, *parts).progress == 0.75
    judged = Verdict.from_judgement(
        Profile.STRICT, Judgement((HEAVY.result(False), ACTIVE.result(True)), parts=parts)
    )
    assert judged.progress == pytest.approx((1 + 3) / (3 + 1 + 3 + 1))


def test_harm_to_the_whole_takes_the_progress_of_its_parts() -> None:
    judged = whole(Combine.MEAN, part("a", True), own=(IDLE.result(False),))
    assert judged.progress == 0.0


def test_parts_may_have_parts() -> None:
    inner = Part("stage", Judgement(parts=(part("x", True), part("y", False))))
    judged = whole(Combine.MEAN, inner)
    assert judged.progress == 0.5
    assert judged.to_dict()["parts"]["stage"]["parts"].keys() == {"x", "y"}
    assert [r.passed for r in judged.all_checks()] == [True, False]


def test_a_failure_mode_is_told_once_and_of_failures_only() -> None:
    modes = [Check(n, "C.", failure_mode=m) for n, m in [("a", "late"), ("b", "late"), ("c", "")]]
    failed = Verdict.of(Profile.PAPER, [check.result(False) for check in modes])
    assert failed.failure_modes == ("late",)
    passed = Verdict.of(Profile.PAPER, [check.result(True) for check in modes])
    unasked = Verdict.of(Profile.PAPER, [check.not_applicable() for check in modes[:2]])
    assert passed.failure_modes == unasked.failure_modes == ()


@pytest.mark.parametrize("passed", [np.False_, np.float64(0.5) > 1, 0])
def test_what_numpy_calls_false_is_no_pass(passed: Any) -> None:
    result = ACTIVE.result(passed)
    verdict = Verdict.of(Profile.STRICT, [result])
    assert result.passed is False
    assert (verdict.success, verdict.progress, verdict.fraction) == (False, 0.0, 0.0)
    assert json.loads(json.dumps(verdict.to_dict()))["checks"][0]["passed"] is False
    assert Verdict.of(Profile.STRICT, [ACTIVE.result(np.True_)]).success


@pytest.mark.parametrize("profile", Profile)
def test_a_progress_that_is_no_number_is_a_bug(profile: Profile) -> None:
    nan = float("nan")
    for judged in (
        Judgement.of([ACTIVE.result(False)], progress=nan),
        Judgement.of([ACTIVE.result(False, credit=nan)]),
    ):
        with pytest.raises(ValueError, match="not a number"):
            Verdict.from_judgement(profile, judged)


def test_two_parts_of_one_name_are_a_bug() -> None:
    failed, passed = (Judgement.of([ACTIVE.result(value)]) for value in (False, True))
    with pytest.raises(ValueError, match="one name"):
        Verdict.from_judgement(
            Profile.STRICT, Judgement(parts=(Part("a", failed), Part("a", passed)))
        )
