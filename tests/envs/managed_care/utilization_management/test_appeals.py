"""Appeals: what is drawn, what has to be read, and what cannot be had without reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import gymnasium as gym
import pytest

from healthgym.core.family import CEILING
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management import solver
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.guessing import guess
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    PUBLISHED_STAGES,
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.testing import (
    check_clone,
    check_declared_checks,
    check_non_interference,
    check_oracle,
)
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.payer import appeal_rules
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
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
    only_appeals,
    partial,
    played_by,
    truth,
)
from tests.envs.managed_care.utilization_management.playing import (
    EXTENDED,
    FAMILY,
    FINISH,
    Script,
    changed,
    fails,
    first_of,
    play,
    rows,
    solution,
    without,
)
from tests.envs.managed_care.utilization_management.reading_play import Reads

COUNT = 60


def opened(level: str = "medium") -> list[tuple[ReviewInstance, ManagedCareWorld]]:
    return [(task, ManagedCareWorld(task.start)) for task in appeals(level, COUNT)]


# -- what is drawn ---------------------------------------------------------------------------------


def test_the_extended_surface_draws_appeals_and_the_published_one_none() -> None:
    drawn = [EXTENDED.generator.generate(Split.TRAIN, index) for index in range(40)]
    assert {one.reference.stage for one in drawn} == set(StartStage)
    assert {one.task.key.family for one in drawn} == {"utilization-management-extended"}
    usual = [FAMILY.generator.generate(Split.TRAIN, index) for index in range(40)]
    assert {one.reference.stage for one in usual} == set(PUBLISHED_STAGES)
    assert {one.task.key.family for one in usual} == {"utilization-management"}


@pytest.mark.parametrize("arguments", [{"difficulty": "easy"}, {"canonical": True}], ids=str)
def test_what_has_no_appeals_is_the_same_on_either_surface(arguments: dict[str, object]) -> None:
    here, there = (
        ReviewFamily(tools=tools, **arguments).generator  # type: ignore[arg-type]
        for tools in ("published", "extended")
    )
    for index in range(3):
        one, other = (each.generate(Split.TEST, index) for each in (here, there))
        assert one.task == other.task
        assert one.start.content_hash() == other.start.content_hash()


def test_appeals_without_their_desk_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="extended surface"):
        ReviewFamily(only_appeals("easy"))
    with pytest.raises(ConfigurationError, match="extended surface"):
        ReviewFamily(only_appeals("easy"), tools="extended", canonical=True)


@pytest.mark.parametrize("level", PRESETS)
def test_either_outcome_is_drawn_as_often_and_documents_do_not_tell_which(level: str) -> None:
    found = Counter(
        (one.reference.path, bool(truth(one).brought)) for one in appeals(level, 2 * COUNT)
    )
    overturned = sum(count for (path, _), count in found.items() if path is OVERTURNED)
    assert 0.4 <= overturned / (2 * COUNT) <= 0.6
    for brings in (True, False):
        of_these = {path: found[path, brings] for path in (UPHELD, OVERTURNED)}
        assert 0.3 <= of_these[OVERTURNED] / sum(of_these.values()) <= 0.7


def test_no_member_who_is_meant_in_one_split_is_meant_in_another() -> None:
    def meant(split: Split) -> set[str]:
        drawn = (EXTENDED.generator.generate(split, index) for index in range(30))
        worlds = ((one, ManagedCareWorld(one.start)) for one in drawn)
        return {world.cases.get(one.reference.case_id).patient_id for one, world in worlds}

    assert not meant(Split.TRAIN) & meant(Split.TEST)


@pytest.mark.parametrize("index", range(3))
def test_an_appeal_is_the_same_whenever_it_is_drawn(index: int) -> None:
    again = ReviewFamily(only_appeals("medium"), tools="extended").generator
    first, other = appeals("medium", COUNT)[index], again.generate(Split.TRAIN, index)
    assert first.task == other.task
    assert first.reference == other.reference
    assert first.start.content_hash() == other.start.content_hash()


# -- where the agent begins ------------------------------------------------------------------------


def test_the_case_was_denied_told_and_appealed_by_people_in_their_hours() -> None:
    for task, world in opened():
        case_id = task.reference.case_id
        case, appeal = world.cases.get(case_id), world.appeals.open(case_id)
        assert appeal is not None
        assert (case.status, appeal.status) == (CaseStatus.APPEALED, "filed")
        made = world.determinations.active(case_id)
        assert made is not None
        assert made.final_decision is DeterminationDecision.DENIED
        letter = world.letters.of(case_id)[-1]
        assert letter.letter_type == LetterType.DENIAL
        assert letter.delivery_channel is case.submission_channel
        assert made.created_at < letter.created_at < appeal.filed_at <= world.clock.now
        assert case.appeal_due_at is not None
        assert appeal.filed_at < case.appeal_due_at
        assert f"{case.appeal_due_at:%Y-%m-%d}" in letter.body
        assert f"{letter.created_at:%Y-%m-%d}" in letter.body
        for entry in world.history.of(case_id, EntryKind.AUDIT):
            worker = world.staff.workers.get(entry.actor)
            if worker is not None:
                assert office_calendar(worker.region, worker.hours).is_open(entry.at), entry


def test_what_came_with_the_appeal_is_in_the_file_and_named_in_it() -> None:
    for task, world in opened():
        appeal, brought = filed(task), truth(task).brought
        listed = [page.id for page in appeal_rules.enclosed(world, appeal)]
        assert tuple(listed) == brought
        assert set(brought) <= {page.id for page in world.intake.sent(appeal.case_id)}
        assert all(name in appeal.rationale for name in brought)


@pytest.mark.parametrize("level", PRESETS)
def test_the_outcome_follows_from_the_file_and_the_grounds(level: str) -> None:
    for task, world in opened(level):
        wanted, appeal = task.reference, filed(task)
        policy = wanted.policy
        day = world.cases.get(wanted.case_id).created_at.date()
        packet = read_packet(world, wanted.case_id, policy, day)
        found = evaluate(policy, packet.facts, packet.request, day)
        words = {word.strip(".,") for word in appeal.rationale.split()}
        named = policy.id in words and policy.version in words
        assert named is truth(task).grounded
        carried = found.posture is Posture.SATISFIED and not found.missing_documents
        assert (wanted.path is OVERTURNED) is (carried and named)
        assert {name: each.result for name, each in found.criteria.items()} == wanted.final


def test_the_denial_errs_in_most_appeals_and_on_something_in_each() -> None:
    """Whoever copies its findings is wrong somewhere; else a constant would uphold rightly."""
    for task, _ in opened():
        assert task.reference.slipped or truth(task).turned or truth(task).brought


def test_some_denials_were_signed_by_a_director_who_may_not_hear_the_appeal() -> None:
    covered = [task for task, _ in opened() if partial(task)]
    assert COUNT // 8 <= len(covered) <= COUNT // 2
    for task, world in opened()[:20]:
        directors = world.staff.with_role(*world.operations.may_decide_appeal)  # type: ignore[arg-type]
        able = [one for one in directors if not appeal_rules.had_part(world, filed(task), one)]
        assert len(able) >= 2


def test_there_is_time_for_the_work() -> None:
    for level in PRESETS:
        for task, world in opened(level):
            limit = deadlines.appeal_deadline(world, filed(task))
            assert office_calendar("IL").business_time(world.clock.now, limit).total_seconds() > 0


# -- who solves it ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", PRESETS)
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


@pytest.mark.parametrize("level", PRESETS)
def test_the_reader_solves_nearly_every_appeal(level: str) -> None:
    missed = [one.task.key.index for one in appeals(level, 20) if read(one, solver.solve)]
    assert len(missed) <= 2, missed


def test_numbers_known_by_heart_fail_where_they_decide() -> None:
    tasks = appeals("medium", 30)
    assert sum(not read(one, solver.solve_by_heart) for one in tasks) <= 0.8 * len(tasks)


def test_who_opens_no_document_decides_no_appeal() -> None:
    tasks = appeals("medium", 40)
    assert sum(not read(one, guess) for one in tasks) <= CEILING * len(tasks)


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
        assert episode.total_reward() == 0.0


@pytest.fixture(scope="module")
def registered() -> Iterator[str]:
    """Register the extended surface for as long as it is checked."""
    known = gym.spec("HealthAgent/UtilizationManagement-v0")
    name = "HealthAgent/UtilizationManagementExtended-v0"
    gym.register(name, known.entry_point, kwargs={**known.kwargs, "tools": "extended"})
    yield name
    del gym.registry[name]


@pytest.mark.parametrize(
    "check", [check_declared_checks, check_oracle, check_clone, check_non_interference]
)
def test_the_extended_surface_conforms(registered: str, check: Callable[[str], object]) -> None:
    check(registered)


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
