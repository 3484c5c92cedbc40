"""Appeals played: who solves them, right answers in other forms, and what earns nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import gymnasium as gym
import pytest

from healthgym.core.family import CEILING
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management import solver
from healthgym.envs.managed_care.utilization_management.guessing import guess
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.testing import (
    check_clone,
    check_declared_checks,
    check_non_interference,
    check_oracle,
)
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.duty import is_in
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    Posture,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.appeal_play import (
    ACKNOWLEDGE,
    ANSWER,
    ASSIGN,
    OVERTURNED,
    SAVE,
    UPHELD,
    appeals,
    filed,
    grounded,
    in_the_hands_of,
    named,
    partial,
    played_by,
    reasoned,
    truth,
)
from tests.envs.managed_care.utilization_management.playing import (
    EXTENDED,
    FINISH,
    Script,
    after,
    before,
    changed,
    fails,
    first_of,
    play,
    rows,
    solution,
    without,
)
from tests.envs.managed_care.utilization_management.reading_play import Reads
from tests.sized import first_ones, some

COUNT = some(60, 20)


# -- who solves it ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", first_ones(PRESETS))
def test_who_knows_the_answer_solves_every_appeal(level: str) -> None:
    for instance in appeals(level, COUNT):
        episode = play(instance, solution(instance))
        for profile in Profile:
            assert fails(episode, profile) == set(), instance.task.kind


def read(instance: ReviewInstance, reads: Reads) -> set[str]:
    """Return what somebody fails who reads."""
    episode = play(instance, [], shaped=False, stops=False)
    moves = reads(instance.task.instruction)
    made = next(moves)
    while not episode.done():
        observation = episode.step(made).observation
        if not episode.done():
            made = moves.send(observation)
    return fails(episode)


@pytest.mark.parametrize("level", first_ones(PRESETS))
def test_the_reader_solves_nearly_every_appeal(level: str) -> None:
    missed = [one.task.key.index for one in appeals(level, 20) if read(one, solver.solve)]
    assert len(missed) <= 2, missed


@pytest.mark.slow
def test_numbers_known_by_heart_fail_where_they_decide() -> None:
    tasks = appeals("medium", 30)
    assert sum(not read(one, solver.solve_by_heart) for one in tasks) <= 0.8 * len(tasks)


def test_who_opens_no_document_decides_no_appeal() -> None:
    tasks = appeals("medium", some(40, 20))
    assert sum(not read(one, guess) for one in tasks) <= CEILING * len(tasks)


@pytest.mark.slow
@pytest.mark.parametrize("level", PRESETS)
@pytest.mark.parametrize("name", EXTENDED.baselines())
def test_no_habit_is_worth_having(name: str, level: str) -> None:
    tasks = appeals(level, COUNT)
    scripts = [(one, [*played_by(name, one)]) for one in tasks]
    found = sum(not fails(play(one, script, refused=True)) for one, script in scripts)
    assert found <= CEILING * len(tasks)


@pytest.mark.parametrize("profile", Profile)
def test_doing_nothing_earns_nothing(profile: Profile) -> None:
    for instance in appeals("medium", 10):
        episode = play(instance, [FINISH], shaped=True)
        assert fails(episode, profile)
        assert episode.total_reward() < 0.0


@pytest.fixture(scope="module")
def registered() -> Iterator[str]:
    """Register the extended surface for as long as it is checked."""
    known = gym.spec("HealthAgent/UtilizationManagement-v1")
    name = "HealthAgent/UtilizationManagementExtended-v0"
    gym.register(name, known.entry_point, kwargs={**known.kwargs, "tools": "extended"})
    yield name
    del gym.registry[name]


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", [check_declared_checks, check_oracle, check_clone, check_non_interference]
)
def test_the_extended_surface_conforms(registered: str, check: Callable[[str], object]) -> None:
    check(registered)


# -- right answers in other forms ------------------------------------------------------------------


def _halves(instance: ReviewInstance) -> Script:
    """Return a solution in which the findings are written down in two goes."""
    script = solution(instance)
    found = rows(script, SAVE)
    (saved,) = (each for each in script if each.name == SAVE)
    first = call(SAVE, **{**saved.arguments, "evaluations": found[: len(found) // 2]})
    return before(script, SAVE, first)


def _open_as(instance: ReviewInstance, result: str) -> Script:
    """Return a solution in which what is not shown has another of the two results for that."""
    script = solution(instance)
    good = favourable(instance.reference.policy.criteria)
    found = rows(script, SAVE)
    for row in found:
        wanted = good[row["criterion_id"]] is Posture.SATISFIED
        if row["result"] == "unclear" and wanted:
            row["result"] = result
    return changed(script, SAVE, evaluations=found)


def _one_of(instance: ReviewInstance) -> str:
    """Return one of the criteria that an outcome rests on."""
    return min(instance.reference.denied_on or truth(instance).turned)


RIGHT: Mapping[str, Callable[[ReviewInstance], Script]] = {
    "one criterion of several": lambda one: reasoned(one, f"{named(one)}: {_one_of(one)}."),
    "criteria before the policy, in small letters": lambda one: reasoned(
        one,
        f"Criterion {_one_of(one).lower()} decides it. Policy in force: "
        f"{one.reference.policy.id} ({one.reference.policy.version}).",
    ),
    "in two goes": _halves,
    "what is open as not met": lambda one: _open_as(one, "not_met"),
    "acknowledged by a nurse": lambda one: changed(
        solution(one), ACKNOWLEDGE, actor=_somebody(one, WorkerRole.UM_NURSE)
    ),
    "acknowledged last": lambda one: _acknowledged_after(one, SAVE),
    "with looks between": lambda one: before(
        solution(one),
        SAVE,
        call("payer_appeals.get", appeal_id=filed(one).id),
        call("payer_appeals.validate_independence", appeal_id=filed(one).id),
        call("payer_appeals.validate_timeliness", appeal_id=filed(one).id),
    ),
    "given to somebody else first": lambda one: before(
        solution(one),
        ASSIGN,
        call(ASSIGN, appeal_id=filed(one).id, reviewer_id=_another_director(one)),
    ),
}


def _somebody(instance: ReviewInstance, role: WorkerRole) -> str:
    """Return who of a role is in when the agent begins."""
    world = ManagedCareWorld(instance.start)
    return next(one for one in world.staff.with_role(role) if is_in(world, one))


def _acknowledged_after(instance: ReviewInstance, tool: str) -> Script:
    """Return a solution in which the appeal is acknowledged after another step."""
    script = solution(instance)
    (said,) = (each for each in script if each.name == ACKNOWLEDGE)
    return after(without(script, ACKNOWLEDGE), tool, said)


def _another_director(instance: ReviewInstance) -> str:
    """Return a director of appeals who is able, and not the one that the solution takes."""
    world = ManagedCareWorld(instance.start)
    (given,) = (each for each in solution(instance) if each.name == ASSIGN)
    directors = world.staff.with_role(WorkerRole.APPEALS_MEDICAL_DIRECTOR)
    able = (one for one in directors if not appeal_rules.had_part(world, filed(instance), one))
    return next(one for one in able if one != given.arguments["reviewer_id"])


@pytest.mark.parametrize("path", [UPHELD, OVERTURNED])
@pytest.mark.parametrize("form", RIGHT)
def test_a_right_answer_in_another_form_is_right(form: str, path: Path) -> None:
    instance = grounded(path)
    assert fails(play(instance, RIGHT[form](instance), refused=True)) == set()


# -- exploits --------------------------------------------------------------------------------------


def answered(instance: ReviewInstance, outcome: str) -> Script:
    """Return what is done rightly, but for one outcome of every appeal."""
    return changed(solution(instance), ANSWER, outcome=outcome)


@pytest.mark.parametrize("path", [UPHELD, OVERTURNED])
def test_one_outcome_for_every_appeal_is_wrong_for_half(path: Path) -> None:
    tasks = appeals("medium", COUNT)
    wrong = [one for one in tasks if fails(play(one, answered(one, str(path))))]
    assert {one.reference.path for one in wrong} == {UPHELD, OVERTURNED} - {path}
    assert len(wrong) >= 0.4 * COUNT


def test_who_signed_the_denial_is_refused_the_appeal() -> None:
    covered = first_of(StartStage.APPEAL, UPHELD, partial)
    person = str(partial(covered))
    episode = play(covered, in_the_hands_of(covered, person, ASSIGN, SAVE, ANSWER), refused=True)
    assert {"appeal_independent", "appeal_decision_right", "letters_right"} <= fails(episode)


def test_a_letter_without_a_decision_is_none() -> None:
    instance = grounded(UPHELD)
    letters = [
        call(f"payer_letter_center.generate_{kind}", case_id=instance.reference.case_id)
        for kind in ("denial", "approval", "partial_approval")
    ]
    told = call(
        "payer_letter_center.generate_notification",
        case_id=instance.reference.case_id,
        notification_type="appeal_outcome",
    )
    script = [*without(solution(instance), ANSWER)[:-2], *letters, told, FINISH]
    episode = play(instance, script, refused=True)
    assert {"letters_right", "appeal_decision_right", "ends_right"} <= fails(episode)
    assert len(episode.world.letters.of(instance.reference.case_id)) == len(
        ManagedCareWorld(instance.start).letters.of(instance.reference.case_id)
    )


def test_a_decision_without_findings_is_a_guess() -> None:
    for path in (UPHELD, OVERTURNED):
        instance = grounded(path)
        episode = play(instance, without(solution(instance), SAVE))
        assert fails(episode) == {"findings_right", "values_observed", "findings_sourced"}


def test_an_appeal_is_not_read_before_it_is_anybody_s_nor_after_it_is_decided() -> None:
    instance = grounded(OVERTURNED)
    script = solution(instance)
    (saved,) = (each for each in script if each.name == SAVE)
    early = [saved, *without(script, SAVE)]
    assert "findings_right" in fails(play(instance, early, refused=True))
    late = [*without(script, SAVE)[:-1], saved, FINISH]
    assert "findings_right" in fails(play(instance, late, refused=True))


def test_the_findings_of_the_denial_are_no_findings_of_the_appeal() -> None:
    instance = grounded(OVERTURNED)
    world = ManagedCareWorld(instance.start)
    denial = world.medical.reviews_of(instance.reference.case_id)[-1].criteria_evaluations
    results = {one.criterion_id: str(one.result) for one in denial}
    found = rows(solution(instance), SAVE)
    for row in found:
        row["result"] = results[row["criterion_id"]]
    script = changed(solution(instance), SAVE, evaluations=found)
    assert fails(play(instance, script)) == {"findings_right"}


def test_what_is_paid_on_the_way_does_not_tell_what_is_right() -> None:
    instance = grounded(OVERTURNED)
    paid = [
        [each.reward for each in play(instance, script, shaped=True).turns[:-1]]
        for script in (solution(instance), answered(instance, "appeal_upheld"))
    ]
    assert paid[0] == paid[1]
    assert max(paid[0]) > 0.0


def test_a_step_is_taken_once_and_by_whom_it_is_given() -> None:
    instance = grounded(UPHELD)
    script = solution(instance)
    twice = [each for each in script for _ in range(1 + (each.name in (ACKNOWLEDGE, ANSWER)))]
    episode = play(instance, twice, refused=True)
    assert fails(episode) == set()
    assert sum(bool(turn.errors) for turn in episode.turns) == 2


def test_a_reason_is_no_evidence_of_itself() -> None:
    instance = grounded(OVERTURNED)
    right = next(one for one in solution(instance) if one.name == ANSWER).arguments["rationale"]
    told = f"{right} A note of 2019-01-02 says so."
    assert "words_sound" in fails(play(instance, reasoned(instance, told)))


def test_what_an_appeal_is_granted_may_be_named_in_upholding() -> None:
    instance = grounded(UPHELD)
    script, good = solution(instance), favourable(instance.reference.policy.criteria)
    shown = next(
        row["criterion_id"]
        for row in rows(script, SAVE)
        if row["result"] == "met" and good[row["criterion_id"]] is Posture.SATISFIED
    )
    right = next(one for one in script if one.name == ANSWER).arguments["rationale"]
    granted = f"{right} Although {shown} is now found to be met, the denial stands."
    assert not fails(play(instance, reasoned(instance, granted)))
    held = f"{right} {shown} is open, too."
    assert "appeal_decision_right" in fails(play(instance, reasoned(instance, held)))
