"""The arithmetic of verdicts: doing nothing is worth nothing, and doing harm never pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.verdict import Check, CheckResult, Profile, Verdict

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
    assert verdict(ACTIVE.result(False), progress=-1.0).progress == 0.0
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
    assert 0.0 <= judged.progress <= 1.0
    assert (judged.progress == 1.0) == judged.success == all(r.passed for r in given_results)
