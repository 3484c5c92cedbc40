"""What tasks are drawn, and whether what they hold right follows from policy, packet and rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.utilization_management.choices import (
    PATHS,
    UNREVIEWED,
    canonical_ask,
    canonical_cases,
    choices_of,
)
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    PUBLISHED_PATHS,
    PUBLISHED_STAGES,
    WORDS,
    Path,
    ReviewConfig,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.packets import Packet, read_packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.postures import combined, decisive
from healthgym.worlds.managed_care.staff import WorkerRole
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    CriterionResult,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    NurseReviewRecommendation,
    Posture,
    TriageDisposition,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.drawing import canonical, drawn, generator

DRAWS = 4_000
STANCES = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
    CriterionResult.UNCLEAR: Posture.ABSENT,
}
OPEN = (Posture.INSUFFICIENT, Posture.ABSENT)


def packet_of(task: ReviewInstance) -> Packet:
    """Return what the payer's own reader sees in the packet, by the book of the task."""
    world = ManagedCareWorld(task.start)
    wanted = task.reference
    day = world.cases.get(wanted.case_id).created_at.date()
    return read_packet(world, wanted.case_id, wanted.policy, day)


# -- how often which -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", PRESETS)
def test_every_stage_is_as_likely_as_another_and_every_path_with_a_review(level: str) -> None:
    choices, kept = choices_of(PRESETS[level]), PRESETS[level].unreviewed
    rng = np.random.default_rng(7)
    ways = Counter(choices.way(rng) for _ in range(DRAWS))
    assert set(ways) == set(choices.known)
    stages = Counter(way.stage for way in ways.elements())
    share = DRAWS / len(choices.ways)
    assert all(abs(stages[stage] - share) < 5 * share**0.5 for stage in PRESETS[level].stages)
    for paths in choices.ways:
        own = share / len(paths)
        reviewed = [path for path in paths if path[0].path not in UNREVIEWED]
        more = (1 - kept) * own * (len(paths) - len(reviewed)) / len(reviewed)
        for path in paths:
            count = sum(ways[way] for way in path)
            due = own + more if path in reviewed else kept * own
            assert abs(count - due) < 5 * due**0.5


def test_a_case_with_a_review_is_what_it_is_however_many_without_one_are_kept() -> None:
    few, all_of_them = (
        choices_of(replace(PRESETS["easy"], unreviewed=share)) for share in (0.0, 1.0)
    )
    for seed in range(200):
        kept = all_of_them.way(np.random.default_rng(seed))
        drawn_again = few.way(np.random.default_rng(seed))
        assert drawn_again.path not in UNREVIEWED
        assert (kept == drawn_again) is (kept.path not in UNREVIEWED)


def test_what_is_possible_is_drawn_and_nothing_else() -> None:
    choices = choices_of(PRESETS["medium"])
    assert {(way.stage, way.path) for way in choices.known} == {
        (stage, path) for stage in PUBLISHED_STAGES for path in PATHS[stage]
    }
    kinds = {(task.reference.stage, task.reference.path) for task in drawn()}
    assert kinds <= {(way.stage, way.path) for way in choices.known}
    assert {stage for stage, _ in kinds} == set(PUBLISHED_STAGES)
    assert {path for _, path in kinds} == set(PUBLISHED_PATHS)


@pytest.mark.parametrize(
    ("stage", "path"),
    [(stage, path) for stage, paths in PATHS.items() for path in paths],
    ids=lambda each: str(each),
)
def test_every_possible_pair_gives_a_task(stage: StartStage, path: Path) -> None:
    config = replace(PRESETS["medium"], stages=(stage,), paths=(path,), cases=0, patients=2)
    task = generator(config).generate(Split.TRAIN, 3)
    assert (task.reference.stage, task.reference.path) == (stage, path)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="lane is possible from none"):
        generator(ReviewConfig(stages=(StartStage.MD_REVIEW,), paths=(Path.LANE, Path.DENIED)))
    with pytest.raises(ConfigurationError, match="taken over at p2p"):
        generator(ReviewConfig(stages=(StartStage.PEER_TO_PEER,), paths=(Path.DENIED,)))
    with pytest.raises(ConfigurationError, match="another member's"):
        ReviewConfig(patients=3, cases=4)
    with pytest.raises(ConfigurationError, match="stages: 'audit' is not one of"):
        ReviewConfig(stages=("audit",))  # type: ignore[arg-type]


# -- determinism, and who is in which split --------------------------------------------------------


@pytest.mark.parametrize("index", range(6))
def test_a_task_is_the_same_whenever_it_is_drawn(index: int) -> None:
    first, again = drawn()[index], generator().generate(Split.TRAIN, index)
    assert first.start.content_hash() == again.start.content_hash()
    assert first.reference == again.reference
    assert first.task == again.task


def test_no_member_who_is_meant_in_one_split_is_meant_in_another() -> None:
    def meant(tasks: tuple[ReviewInstance, ...]) -> set[str]:
        return {
            record.patient_id
            for task in tasks
            for record in ManagedCareWorld(task.start).cases.cases.values()
            if record.id == task.reference.case_id
        }

    held_out = meant(drawn("easy", Split.TEST)) | meant(canonical())
    assert not meant(drawn()) & held_out


# -- what is right follows from what can be read ---------------------------------------------------


def test_findings_are_those_of_the_payers_own_reader() -> None:
    for task in (*drawn(), *canonical()):
        wanted, packet = task.reference, packet_of(task)
        found = evaluate(wanted.policy, packet.facts, packet.request, packet_day(task))
        assert {name: each.result for name, each in found.criteria.items()} == wanted.results
        assert {name: each.posture for name, each in found.criteria.items()} == wanted.postures


def packet_day(task: ReviewInstance) -> date:
    """Return the day of the request."""
    return ManagedCareWorld(task.start).cases.get(task.reference.case_id).created_at.date()


def test_a_path_is_the_one_that_packet_and_rules_give() -> None:
    for task in (*drawn(), *canonical()):
        wanted, packet = task.reference, packet_of(task)
        found = evaluate(wanted.policy, packet.facts, packet.request, packet_day(task))
        named = decisive(wanted.policy.criteria, wanted.postures)
        alone = len(named) == 1 and wanted.postures[named[0]] in OPEN
        lacking = bool(found.missing_documents)
        match wanted.path:
            case Path.NURSE_APPROVES:
                assert found.posture is Posture.SATISFIED
                assert wanted.policy.nurse_may_approve
                assert not lacking
            case Path.PHYSICIAN_APPROVES:
                assert found.posture is Posture.SATISFIED
                assert not lacking
                reserved = not wanted.policy.nurse_may_approve
                assert reserved or wanted.stage is StartStage.MD_REVIEW
            case Path.PARTLY:
                assert found.approved_quantity == wanted.units
                assert wanted.units is not None
                assert packet.request.quantity is not None
                assert wanted.units < packet.request.quantity
            case Path.DENIED:
                assert found.posture is Posture.CONTRADICTS
                assert found.approved_quantity is None
            case Path.INFORMED:
                assert found.posture in OPEN
            case Path.UNINFORMED:
                assert found.posture in OPEN or lacking
                assert wanted.lapses or (not alone and not lacking)
            case Path.UPHELD | Path.OVERTURNED:
                assert found.posture in OPEN
                assert alone
                assert not lacking
            case Path.LANE:
                lanes = wanted.policy.lanes
                assert lanes.gold_card or lanes.notification_only
            case Path.RETURNED:
                request = packet.request
                named = wanted.policy.requires_authorization(request.procedure_code)
                network = request.in_network or wanted.policy.out_of_network
                assert not (named and network and request.coverage_active)


def test_a_reply_carries_where_it_is_said_to() -> None:
    for task in drawn():
        wanted = task.reference
        if wanted.path is not Path.INFORMED:
            assert wanted.final == wanted.results
            for names in wanted.bearing.values():
                assert not names & set(wanted.reply)
            continue
        assert wanted.reply
        assert not set(wanted.reply) & set(wanted.packet)
        assert wanted.final != wanted.results
        stances = {name: STANCES[result] for name, result in wanted.final.items()}
        assert combined(wanted.policy.criteria, stances) is Posture.SATISFIED
        assert task.start.provider_desk is not None
        (answer,) = task.start.provider_desk.answers[wanted.case_id]
        assert answer.documents == wanted.reply


def test_a_document_that_comes_tells_nothing_of_what_it_shows() -> None:
    asked = [task for task in drawn() if task.reference.wanted and not task.reference.lapses]
    settles = [task.reference.path is Path.INFORMED for task in asked if task.reference.reply]
    assert 0.1 < sum(settles) / len(settles) < 0.6
    said = {
        answer.sentence
        for task in asked
        if task.reference.reply and task.start.provider_desk is not None
        for answer in task.start.provider_desk.answers[task.reference.case_id]
    }
    assert len(said) == 1


def test_what_ends_how_is_said_the_same_everywhere() -> None:
    ends = {
        CaseStatus.APPROVED: (DeterminationDecision.APPROVED, LetterType.APPROVAL),
        CaseStatus.PARTIALLY_APPROVED: (
            DeterminationDecision.PARTIALLY_APPROVED,
            LetterType.PARTIAL_APPROVAL,
        ),
        CaseStatus.DENIED: (DeterminationDecision.DENIED, LetterType.DENIAL),
    }
    for task in (*drawn(), *canonical()):
        wanted = task.reference
        if wanted.status in ends:
            word, letter = ends[wanted.status]
            assert (wanted.determination, wanted.letters[-1]) == (word, letter)
        else:
            assert wanted.determination is None
            assert wanted.lapses is (wanted.status is CaseStatus.CLOSED)
        pends = LetterType.PEND in wanted.letters
        assert pends is bool(wanted.wanted)
        assert not (pends and wanted.answered)
        assert len(wanted.letters) == len(wanted.notices)
        adverse = wanted.determination is DeterminationDecision.DENIED
        assert not adverse or wanted.denied_on
        assert wanted.paper.target_status is wanted.status
        assert wanted.paper.target_case_id == wanted.case_id


def test_who_speaks_follows_stage_and_policy() -> None:
    for task in (*drawn(), *canonical()):
        wanted = task.reference
        nurse = wanted.stage in (
            StartStage.INTAKE,
            StartStage.TRIAGE,
            StartStage.NURSE_REVIEW,
        )
        if not nurse or not wanted.policy.nurse_may_approve:
            assert wanted.recommendation is None
        if wanted.path in (Path.DENIED, Path.PARTLY) and wanted.recommendation:
            assert wanted.recommendation is NurseReviewRecommendation.ESCALATE
        if wanted.path in (Path.UPHELD, Path.OVERTURNED):
            assert wanted.call is not None
            calls = wanted.decision is MdReviewDecision.P2P_REVIEW
            assert calls or wanted.stage is StartStage.PEER_TO_PEER
            assert bool(wanted.call.required_points) is (wanted.path is Path.OVERTURNED)
        else:
            assert wanted.call is None
        if wanted.triage is not None and not wanted.policy.nurse_may_approve:
            lane = wanted.path is Path.LANE
            assert lane or wanted.triage.disposition is TriageDisposition.MD_REVIEW


def test_the_instruction_names_the_case_and_nothing_of_what_is_right() -> None:
    for task in drawn():
        told, wanted = task.task.instruction, task.reference
        assert wanted.case_id in told
        assert wanted.policy.id not in told
        for word in ("approv", "den", "escalat", "pend"):
            assert f" {word}" not in told.replace("depend", "").replace("denied", "")
        assert task.start.handbook.read("payer-um/operational/roster.md").text.count("| W-") > 20


def test_whoever_decides_holds_the_licence_that_the_roster_names() -> None:
    page = drawn()[0].start.handbook.read("payer-um/operational/roster.md").text
    rows = [line.strip("| ").split(" | ") for line in page.split("\n") if line.startswith("| W-")]
    licences = {row[0]: row[-1].partition(": ")[::2] for row in rows}
    staff = drawn()[0].start.staff
    states = {
        chart.patient.address_state for task in drawn() for chart in task.start.charts.values()
    }
    for worker, role in ((row[0], staff.role_of(row[0])) for row in rows):
        kind, held = licences[worker]
        match role:
            case WorkerRole.PHYSICIAN_REVIEWER | WorkerRole.APPEALS_MEDICAL_DIRECTOR:
                assert kind == "MD"
            case WorkerRole.UM_NURSE | WorkerRole.CARE_MANAGER:
                assert kind == "RN"
            case _:
                assert kind == "-"
                continue
        assert states <= set(held.split(", "))


# -- the canonical split ---------------------------------------------------------------------------


def test_the_canonical_split_is_composed_as_the_sources() -> None:
    stages = Counter(task.reference.stage for task in canonical())
    assert stages == {
        StartStage.NURSE_REVIEW: 8,
        StartStage.INTAKE: 5,
        StartStage.TRIAGE: 4,
        StartStage.MD_REVIEW: 4,
        StartStage.PEER_TO_PEER: 4,
    }


def test_the_canonical_cases_are_those_of_prior_authorization() -> None:
    theirs = AuthorizationFamily(canonical=True).generator
    for index, task in enumerate(canonical()):
        other = theirs.generate(Split.TEST, index)
        world = ManagedCareWorld(task.start)
        case = world.cases.get(task.reference.case_id)
        assert case.patient_id == other.reference.patient_id
        assert case.service_request_id == other.reference.order_id
        assert task.reference.policy == other.reference.policy
        chart = task.start.charts[case.patient_id]
        again = other.start.charts[case.patient_id]
        assert chart.facts == again.facts
        assert [page.id for page in chart.documents] == [page.id for page in again.documents]
        assert case.created_at.date() == other.start.now.date()


def test_canonical_paths_fit_what_the_request_deserves() -> None:
    kinds = {each.value: each for each in (*Course, *Gap, *Bar)}
    theirs = AuthorizationFamily(canonical=True).generator
    for index, task in enumerate(canonical()):
        ending = kinds[theirs.generate(Split.TEST, index).task.kind.partition("-")[2]]
        path = task.reference.path
        if isinstance(ending, Gap):
            assert path in (Path.UNINFORMED, Path.UPHELD)
        elif isinstance(ending, Bar):
            assert path is (Path.DENIED if ending is Bar.CONTRADICTED else Path.RETURNED)
        else:
            assert path not in (Path.UNINFORMED, Path.UPHELD, Path.DENIED, Path.RETURNED)


@pytest.mark.parametrize("level", ["easy", "hard"])
def test_the_canonical_split_is_there_at_every_difficulty(level: str) -> None:
    made = generator(level, canonical=True)
    stages = Counter(made.generate(Split.TEST, index).reference.stage for index in range(25))
    assert set(stages) == set(PUBLISHED_STAGES)
    assert stages[StartStage.INTAKE] >= 5


def test_canonical_training_goes_as_far_and_approves_as_often_from_every_stage() -> None:
    rng = np.random.default_rng(0)
    drawn = [canonical_ask(rng) for _ in range(5_000)]
    rows = canonical_cases()
    stages = Counter(each.stage for each in drawn)
    for stage, count in Counter(each.stage for each in rows).items():
        assert abs(stages[stage] / 5_000 - count / 25) < 0.03
        words = [WORDS[each.path] for each in drawn if each.stage is stage]
        decided = [word for word in words if word is not None]
        assert abs(decided.count(DeterminationDecision.APPROVED) / len(decided) - 7 / 22) < 0.06
    assert {each.path for each in drawn} == {each.path for each in rows}
    made = generator(canonical=True)
    for index in range(20):
        wanted = made.generate(Split.TRAIN, index).reference
        assert wanted.path in PATHS[wanted.stage]


def test_times_offered_late_in_a_day_can_still_be_chosen() -> None:
    # The offer's own minutes let the practice choose next morning, when all of them were over.
    made = ReviewFamily(canonical=True)
    task = made.generator.generate(Split.TRAIN, 82)
    episode = Episode(made, task, SparseReward(), made.rules)
    for step in made.oracle(task, np.random.default_rng(0)):
        assert not episode.step(step).errors
    assert episode.verdict().success
