"""Tasks of care management: what is drawn, and that it follows from chart, referral and rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import product

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.care_management.answers import SOCIAL
from healthgym.envs.managed_care.care_management.choices import (
    canonical_episodes,
    draw_choice,
    ways,
)
from healthgym.envs.managed_care.care_management.conditions import care_conditions
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    USUAL_ENDINGS,
    CareConfig,
    CareInstance,
    Ending,
    Strength,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.apps.care_management.evidence import rules as section_rules
from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.control import controls
from healthgym.worlds.managed_care.conversation.persona import PersonaKind, Willingness
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.care import (
    CMCaseStatus,
    CMInterventionOwner,
    CMPriority,
    CMProblemCategory,
    CMProgram,
    EscalationReason,
    RiskLevel,
)
from healthgym.worlds.managed_care.voices import Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def generator(config: CareConfig | str = "medium", *, canonical: bool = False) -> CareGenerator:
    chosen = PRESETS[config] if isinstance(config, str) else config
    name = "care-management-canonical" if canonical else "care-management"
    return CareGenerator(chosen, "medium", name, Rules.STRICT, canonical=canonical)


@cache
def drawn(split: Split, count: int, difficulty: str = "medium") -> tuple[CareInstance, ...]:
    made = generator(difficulty)
    return tuple(made.generate(split, index) for index in range(count))


def meant(instance: CareInstance) -> CMReferral:
    return next(
        record
        for record in instance.start.records
        if isinstance(record, CMReferral) and record.referral_id == instance.reference.referral_id
    )


def chart_of(instance: CareInstance) -> PatientChart:
    return instance.start.charts[instance.reference.patient_id]


def test_a_task_is_the_same_whoever_draws_it() -> None:
    for index in (0, 7):
        one, other = (generator().generate(Split.TRAIN, index) for _ in range(2))
        assert one.task == other.task
        assert one.reference == other.reference
        assert one.start.content_hash() == other.start.content_hash()
    first, second = drawn(Split.TRAIN, 2)
    assert first.start.content_hash() != second.start.content_hash()


def test_the_kind_of_a_task_is_known_without_drawing_it() -> None:
    for canonical in (False, True):
        made = generator(canonical=canonical)
        for split in Split:
            assert made.kind(split, 3) == made.generate(split, 3).task.kind


def test_splits_share_no_patient_and_no_start() -> None:
    people: dict[Split, set[str]] = {}
    hashes: dict[Split, set[str]] = {}
    for split in Split:
        found = drawn(split, 60)
        people[split] = {str(chart.patient.id) for x in found for chart in x.start.charts.values()}
        # A start is read in full for it, every note of every chart.
        hashes[split] = {x.start.content_hash() for x in found[:8]}
        assert len(hashes[split]) == 8
    for one, other in ((Split.TRAIN, Split.TEST), (Split.TRAIN, Split.VALIDATION)):
        assert not people[one] & people[other]
        assert not hashes[one] & hashes[other]


def test_everything_that_is_possible_is_drawn() -> None:
    found = drawn(Split.TRAIN, 400)
    seen = {(x.reference.program, x.task.kind) for x in found}
    possible = {(program, name) for program, names in ways(PRESETS["medium"]) for name in names}
    assert seen == possible
    assert {name for _, name in possible} == set(care_conditions())
    pairs = {(x.reference.persona.kind, x.reference.ending) for x in found}
    assert pairs == set(product(PersonaKind, USUAL_ENDINGS))


@pytest.mark.parametrize(
    ("program", "condition"),
    [(program, name) for program, names in ways(CareConfig()) for name in names],
    ids=str,
)
def test_each_programme_is_right_where_it_is_asked_for(program: CMProgram, condition: str) -> None:
    config = CareConfig(programs=(program,), conditions=(condition,))
    for index, kind in enumerate(PersonaKind):
        ending = list(Ending)[index % 3]
        made = generator(replace(config, kinds=(kind,), endings=(ending,)))
        reference = made.generate(Split.TEST, index).reference
        assert (reference.program, reference.persona.kind) == (program, kind)
        assert reference.ending is ending


def test_programmes_kinds_and_endings_have_their_shares() -> None:
    found = [x.reference for x in drawn(Split.TRAIN, 400)]
    endings = Counter(x.ending for x in found)
    # Three standard deviations of shares of 0.6, 0.15 and 0.25 of 400.
    assert abs(endings[Ending.PLANNED] - 240) < 30
    assert abs(endings[Ending.DECLINED] - 60) < 22
    assert abs(endings[Ending.BLOCKED] - 100) < 26
    assert min(Counter(x.program for x in found).values()) > 70
    assert min(Counter(x.persona.kind for x in found).values()) > 55
    levels = Counter(x.risk_level for x in found)
    assert min(levels.values()) > 20, levels
    priorities = Counter(x.priority for x in found)
    assert min(priorities.values()) > 35, priorities


def test_of_the_refusals_a_share_is_kept_and_all_else_stays() -> None:
    easy, counted = PRESETS["easy"], Counter[tuple[Ending, Ending]]()
    for seed in range(600):
        kept, whole, none = (
            draw_choice(replace(easy, declined=share), np.random.default_rng(seed))
            for share in (easy.declined, 1.0, 0.0)
        )
        assert replace(kept, ending=none.ending) == none
        counted[whole.ending, kept.ending] += 1
    stayed, went = (counted[Ending.DECLINED, new] for new in (Ending.DECLINED, Ending.PLANNED))
    assert {old for old, new in counted if old is not new} == {Ending.DECLINED}
    # Three standard deviations of a share of 0.3 of some 150.
    assert abs(stayed - easy.declined * (stayed + went)) < 18


def test_who_refuses_for_good_and_who_breaks_off_is_as_the_ending_says() -> None:
    for reference in (x.reference for x in drawn(Split.TRAIN, 200)):
        persona = reference.persona
        refuses = persona.willingness is Willingness.REFUSES
        assert refuses is (reference.ending is Ending.DECLINED)
        assert (persona.breaks is not None) is (reference.ending is Ending.BLOCKED)
        assert (reference.needs is not None) is (reference.ending is Ending.PLANNED)
        if persona.breaks is not None:
            assert persona.breaks.before in reference.asked
        assert (
            reference.status
            is {
                Ending.PLANNED: CMCaseStatus.CLOSED,
                Ending.DECLINED: CMCaseStatus.DISENROLLED,
                Ending.BLOCKED: CMCaseStatus.ASSESSMENT_BLOCKED,
            }[reference.ending]
        )


def test_canonical_episodes_are_composed_like_the_published_ones() -> None:
    made = generator(canonical=True)
    assert made.size(Split.TEST) == len(canonical_episodes()) == 25
    found = [made.generate(Split.TEST, index) for index in range(25)]
    kinds = Counter((row.kind, row.strength) for row in canonical_episodes())
    assert kinds == {
        (PersonaKind.REFUSING, Strength.HARD): 15,
        (PersonaKind.ANXIOUS, Strength.MODERATE): 4,
        (PersonaKind.LOW_COOPERATION, Strength.LOW): 2,
        (PersonaKind.TENTATIVE, Strength.MODERATE): 2,
        (PersonaKind.TENTATIVE, Strength.LOW): 1,
        (PersonaKind.RELUCTANT, Strength.MODERATE): 1,
    }
    conditions = Counter(row.condition for row in canonical_episodes())
    assert set(conditions) == set(care_conditions())
    assert {name: n for name, n in conditions.items() if n > 1} == {"dm": 3, "mdd": 2}
    assert {x.reference.ending for x in found} == {Ending.PLANNED}
    hard = [x for x in found if x.reference.persona.kind is PersonaKind.REFUSING]
    assert {x.reference.persona.willingness for x in hard} == {Willingness.INITIALLY_REFUSES}
    for row, x in zip(canonical_episodes(), found, strict=True):
        assert x.task.kind == row.condition
        assert x.reference.persona.kind is row.kind


# -- what is right, worked out again from the records ---------------------------------------------


def stays_of(chart: PatientChart, kind: str) -> list[date]:
    """Return the days on which stays of a type ended, as the encounters say."""
    found = []
    for each in chart.encounters:
        if each.encounter_type == kind:
            left = re.search(r"discharged (\d{4}-\d\d-\d\d)", each.summary)
            found.append(date.fromisoformat(left[1]) if left else each.occurred_at.date())
    return found


def flagged(referral: CMReferral, words: str) -> list[date]:
    """Return the days of the stays that a referral lists."""
    return [
        date.fromisoformat(_DAY.findall(flag)[0])
        for flag in referral.utilization_flags
        if flag.startswith(words)
    ]


def row_of(code: str) -> str:
    """Return the name of the row of the handbook's table that has a code."""
    able = [(len(s), row.name) for row in controls() for s in row.codes if code.startswith(s)]
    return max(able)[1] if able else ""


def status_in(chart: PatientChart, code: str, day: date, rules: OperatingRules) -> str:
    """Return how well a condition is controlled by the observations."""
    row = next(row for row in controls() if row.name == row_of(code))
    known = [
        (each.observed_at, each.value_quantity)
        for each in chart.observations
        if each.code == row.loinc
        and each.value_quantity is not None
        and months_before(day, rules.control_months) <= each.observed_at.date() <= day
    ]
    if not known:
        return "unknown"
    value = max(known)[1]
    good, bad = (
        getattr(rules, bound) if isinstance(bound, str) else bound
        for bound in (row.controlled, row.uncontrolled)
    )
    if (value < good) if row.lower else (value > good):
        return "controlled"
    return "uncontrolled" if ((value > bad) if row.lower else (value < bad)) else "suboptimal"


def within(days: list[date], day: date, months: int) -> int:
    return sum(months_before(day, months) <= each <= day for each in days)


def level_by(
    *, score: float | None, admissions: int, visits: int, safety: bool, rules: OperatingRules
) -> bool:
    """Return whether the level is high by score, stays, visits and safety."""
    return (
        (score is not None and score * 100 >= rules.high_risk_score - 1e-6)
        or admissions >= rules.admissions_least
        or visits >= rules.ed_visits_least
        or safety
    )


_SAFETY = ("ending it all", "better off alone", "not wanting to wake up")


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
def test_programme_priority_and_level_follow_from_the_records(difficulty: str) -> None:
    for x in drawn(Split.VALIDATION, 120, difficulty):
        reference, rules = x.reference, x.start.operations
        referral, chart = meant(x), chart_of(x)
        day = referral.referral_date
        inpatient, emergency = flagged(referral, "inpatient"), flagged(referral, "emergency")
        safety = any(words in (referral.notes or "") for words in _SAFETY)
        months = rules.utilization_months
        codes = [each.code for each in chart.conditions if each.active]
        statuses = {code: status_in(chart, code, day, rules) for code in codes if row_of(code)}
        rows = {row_of(code) for code in codes} - {""}
        assert rows == {row_of(code) for code in referral.diagnosis_codes} - {""}
        admissions = within(inpatient, day, months)
        if any(0 <= (day - left).days <= rules.transition_program_days for left in inpatient):
            program = CMProgram.TRANSITIONS_OF_CARE
        elif re.match(r"F[1-6]\d", referral.diagnosis_codes[0]):
            program = CMProgram.BEHAVIORAL_HEALTH
        elif (
            len(rows) >= rules.complex_conditions_least and "uncontrolled" in statuses.values()
        ) or admissions >= rules.admissions_least:
            program = CMProgram.COMPLEX_CARE
        else:
            program = CMProgram.CHRONIC_DISEASE
        assert program is reference.program, referral
        visits = within(emergency, day, months)
        high = level_by(
            score=referral.risk_score,
            admissions=admissions,
            visits=visits,
            safety=safety,
            rules=rules,
        )
        soon = any(0 <= (day - left).days <= rules.urgent_discharge_days for left in inpatient)
        if safety or (high and soon):
            priority = CMPriority.URGENT
        else:
            priority = CMPriority.HIGH if high else CMPriority.STANDARD
        assert priority is reference.priority, referral
        high = level_by(
            score=referral.risk_score,
            admissions=within(stays_of(chart, "inpatient"), day, months),
            visits=within(stays_of(chart, "emergency"), day, months),
            safety=safety,
            rules=rules,
        )
        active = [each for each in chart.medications if each.status == "active"]
        score = referral.risk_score
        moderate = (
            (score is not None and score * 100 >= rules.moderate_risk_score - 1e-6)
            or len(active) >= rules.polypharmacy_medicines
            or "uncontrolled" in statuses.values()
        )
        level = RiskLevel.MODERATE if moderate else RiskLevel.LOW
        assert reference.risk_level is (RiskLevel.HIGH if high else level)
        assert {code: str(each) for code, each in reference.control.items()} == statuses


def sum_on_file(chart: PatientChart, code: str, today: date, days: int) -> int | None:
    known = [
        (each.observed_at, each.value_quantity)
        for each in chart.observations
        if each.code == code and 0 <= (today - each.observed_at.date()).days <= days
    ]
    return int(max(known)[1] or 0) if known else None


def test_what_the_assessment_and_the_plan_need_follows_from_person_and_chart() -> None:
    for x in drawn(Split.VALIDATION, 120):
        reference, rules, chart = x.reference, x.start.operations, chart_of(x)
        tells, today = reference.persona.tells, x.start.now.date()
        points = [each.score or 0 for each in tells[Topic.PHQ9]]
        assert len(points) == 9
        assert all(0 <= each <= 3 for each in points)
        filed = sum_on_file(chart, "44261-6", today, rules.screening_age_days)
        if filed is not None:
            assert sum(points) == filed == reference.phq9
        else:
            assert reference.phq9 == (sum(points) if points[0] + points[1] >= 3 else None)
        worries = [each.score or 0 for each in tells[Topic.GAD7]]
        assert len(worries) == 7
        assert sum(worries) == reference.gad7
        assert tells[Topic.SAFETY][0].present is (points[8] > 0)
        told = {each.item: each for each in tells[Topic.MEDICATION]}
        active = {each.medication_name for each in chart.medications if each.status == "active"}
        assert active <= set(told)
        assert set(reference.adherence) == active
        not_taken = {name for name in active if not told[name].present}
        assert reference.discrepancies == not_taken | (set(told) - active)
        ever = {each.medication_name for each in chart.medications}
        assert not any(same_medicine(name, each) for name in set(told) - active for each in ever)
        if reference.ending is Ending.DECLINED:
            assert not reference.asked
            continue
        coded = {each.code for each in chart.conditions}
        for topic in SOCIAL:
            starts = section_rules().social.get(topic.value, ("-",))
            settled = any(code.startswith(tuple(starts)) for code in coded)
            if topic is Topic.LANGUAGE:
                settled = chart.patient.preferred_language == "English"
            else:
                assert reference.barriers[topic] or not settled
            assert (topic in reference.asked) is not settled, topic
        assert (Topic.PHQ9 in reference.asked) is (filed is None)
        # Item 9 is asked with the others, and those only after a positive screen.
        ninth = filed is None and points[0] + points[1] >= 3
        assert (Topic.SAFETY in reference.asked) is not ninth


def test_the_plan_needs_what_was_found() -> None:
    found = [x for x in drawn(Split.TRAIN, 400) if x.reference.needs is not None]
    owners: Counter[CMInterventionOwner] = Counter()
    for x in found:
        reference, rules, needs = x.reference, x.start.operations, x.reference.needs
        assert needs is not None
        phq9 = reference.phq9 or 0
        owners.update(needs.owners)
        behavioral = CMInterventionOwner.BEHAVIORAL_HEALTH_PROVIDER in needs.owners
        assert behavioral is (phq9 >= rules.phq9_provider)
        due = CMProblemCategory.BEHAVIORAL_HEALTH in needs.categories
        low = phq9 >= rules.phq9_problem or (reference.gad7 or 0) >= rules.gad7_problem
        assert due is (low or reference.program is CMProgram.BEHAVIORAL_HEALTH)
        assert needs.cadence is rules.cadences[reference.program]
        harm = reference.persona.tells[Topic.SAFETY][0].present
        assert (needs.escalation is EscalationReason.SAFETY) is harm
        social = CMProblemCategory.SDOH in needs.categories
        assert social is any(reference.barriers.values())
    assert set(owners) == {
        CMInterventionOwner.PHARMACIST,
        CMInterventionOwner.SOCIAL_WORKER,
        CMInterventionOwner.BEHAVIORAL_HEALTH_PROVIDER,
    }
    assert {x.reference.needs.first for x in found if x.reference.needs} >= {
        CMProblemCategory.SDOH,
        CMProblemCategory.MEDICATION,
        CMProblemCategory.BEHAVIORAL_HEALTH,
    }


# -- what can be seen before the call -------------------------------------------------------------


def test_the_instruction_means_one_referral_and_names_nobody() -> None:
    for x in drawn(Split.TRAIN, 80, "hard"):
        referral, chart = meant(x), chart_of(x)
        text = x.task.instruction
        for name in (chart.patient.id, referral.referral_id, chart.patient.last_name):
            assert name not in text
        for program in CMProgram:
            assert program.value not in text
        assert f"{referral.referral_date}" in text
        fitting = [
            record
            for record in x.start.records
            if isinstance(record, CMReferral)
            and record.referral_date == referral.referral_date
            and x.start.charts[record.patient_id or ""].patient.sex == chart.patient.sex
            and x.start.charts[record.patient_id or ""].patient.address_city
            == chart.patient.address_city
        ]
        assert fitting == [referral]


def features(x: CareInstance) -> list[float]:
    """Return what can be counted of a task before the call."""
    referral, chart = meant(x), chart_of(x)
    return [
        1.0,
        referral.risk_score or 0.0,
        len(referral.utilization_flags),
        len(referral.diagnosis_codes),
        len(referral.notes or ""),
        len(referral.reason),
        len(chart.encounters),
        len(chart.conditions),
        len(chart.medications),
        len(chart.documents),
        (x.start.now.date() - chart.patient.dob).days / 365,
        float(chart.patient.sex == "F"),
        len(x.task.instruction),
        x.start.now.hour,
        *(float(x.reference.program is each) for each in list(CMProgram)[1:]),
        *(float(x.reference.priority is each) for each in list(CMPriority)[1:]),
    ]


@pytest.mark.parametrize("ending", [Ending.DECLINED, Ending.BLOCKED])
def test_nothing_before_the_call_tells_how_it_will_end(ending: Ending) -> None:
    found = [*drawn(Split.TRAIN, 800), *drawn(Split.TEST, 800)]
    rows = np.array([features(x) for x in found])
    spread = rows.std(axis=0)
    scaled = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scaled[:, 0] = 1.0
    wanted = np.array([x.reference.ending is ending for x in found], dtype=float)
    # Least squares on the first 800, judged on as many people whom it has not seen.
    weights, *_ = np.linalg.lstsq(scaled[:800], wanted[:800], rcond=None)
    guess = scaled[800:] @ weights
    yes, no = guess[wanted[800:] == 1], guess[wanted[800:] == 0]
    area = np.mean([np.mean(one > no) for one in yes])
    assert 0.42 < area < 0.58, area


def test_the_same_start_goes_with_every_ending() -> None:
    for index in range(12):
        starts = {
            generator(CareConfig(endings=(ending,)))
            .generate(Split.TRAIN, index)
            .start.content_hash()
            for ending in USUAL_ENDINGS
        }
        assert len(starts) == 1


def test_a_world_opens_with_the_queue() -> None:
    for x in drawn(Split.TEST, 5):
        world = ManagedCareWorld(x.start)
        queue = world.referrals.queue()
        assert len(queue) == PRESETS["medium"].referrals + 1
        assert len({row["patient_id"] for row in queue}) == len(queue)
        assert x.reference.case_id in x.start.voices
        assert CMCaseStatus.NEW not in {case.status for case in world.referrals.cases.values()}


def bad() -> Iterator[tuple[dict[str, object], str]]:
    yield {"conditions": ("scurvy",)}, "scurvy"
    yield {"conditions": "dm"}, "no list"
    yield {"programs": ()}, "programs holds at least one"
    yield {"twins": 6}, "twins are among"
    yield {"busy": 1.5}, "busy is a probability"
    yield {"concerns": 0}, "concerns lies between"
    yield {"referrals": 40}, "referrals lies between"
    yield {"kinds": ("rude",)}, "kinds:"


@pytest.mark.parametrize(("change", "message"), list(bad()))
def test_a_configuration_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        CareConfig(**change)  # type: ignore[arg-type]


def test_a_programme_without_a_condition_is_refused() -> None:
    config = CareConfig(programs=(CMProgram.BEHAVIORAL_HEALTH,), conditions=("dm",))
    with pytest.raises(ConfigurationError, match="right for none of dm"):
        generator(config)
