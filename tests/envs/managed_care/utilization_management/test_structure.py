"""Records whose fields contradict the request, the packet or each other, however they are worded.

Free words are read elsewhere. Here every text is the oracle's, and one field says something else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import pytest

from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.tool import call
from healthgym.envs.managed_care.utilization_management.entered import entered
from healthgym.envs.managed_care.utilization_management.task import Path, ReviewInstance
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemObservation
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.changes import (
    CONFIRM,
    DATED,
    DENIED,
    DISPOSE,
    INTAKE,
    MEASURED,
    NURSING,
    STAGE,
    dated,
    measured,
)
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    FAMILY,
    NURSE,
    RECOMMEND,
    Script,
    before,
    changed,
    every,
    fails,
    play,
    rows,
    solution,
    task,
)

ANSWERED = task(STAGE.INTAKE, Path.INFORMED)


def entering(instance: ReviewInstance, tool: str, **data: object) -> Script:
    """Return a solution that enters something before the intake is confirmed."""
    more = call(f"payer_intake_hub.{tool}", case_id=instance.reference.case_id, **data)
    return before(solution(instance), CONFIRM, more)


def header(**data: object) -> Callable[[ReviewInstance], Script]:
    return lambda instance: entering(instance, "save_auth_header", data=data)


def line(**data: object) -> Callable[[ReviewInstance], Script]:
    """Return what enters the line of the request with other fields."""

    def made(instance: ReviewInstance) -> Script:
        kept = _plain(asdict(_intake(instance).line_items[0]))
        new = {**kept, **data}
        return entering(instance, "update_line_item", line_number=1, item_data=new)

    return made


def provider(**data: object) -> Callable[[ReviewInstance], Script]:
    def made(instance: ReviewInstance) -> Script:
        named = _intake(instance).requesting_provider
        assert named is not None
        new = {**_plain(asdict(named)), **data}
        return entering(instance, "save_requesting_provider", data=new)

    return made


def diagnoses(name: str, kind: str | None = None) -> Callable[[ReviewInstance], Script]:
    def made(instance: ReviewInstance) -> Script:
        listed = [
            {"name": name.format(one.name), "code": one.code, "is_primary": one.is_primary}
            for one in _intake(instance).diagnoses
        ]
        data = {"diagnoses": listed, "diagnosis_type": kind}
        return entering(instance, "save_diagnoses", data=data)

    return made


def _intake(instance: ReviewInstance) -> Any:
    return FAMILY.open(instance).intake.get(instance.reference.case_id)


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _listed(value) for key, value in row.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_listed(each) for each in value]
    return _plain(value) if isinstance(value, Mapping) else value


_CODE = _intake(INTAKE).line_items[0].procedures[0].code
MISENTERED = {
    "another urgency": header(level_of_urgency="urgent"),
    "another way it came": header(method="mail"),
    "another source": header(request_source="mail"),
    "another day": header(request_date="2025-12-31"),
    "a court that ordered nothing": header(court_ordered=True),
    "a clerk whom nobody knows": header(owner="W-999"),
    "more units": line(requested_units=999),
    "another place": line(place_of_service="hospice"),
    "another kind of request": line(line_item_type="retrospective"),
    "days of its own": line(start_date="2024-01-01", end_date="2024-02-01"),
    "another clinician's name": provider(provider_name="Dr. No"),
    "out of network": provider(in_network=False),
    "another clinician's id": provider(provider_id="W-001"),
    "a telephone nobody has": provider(phone_number="617-555-0100"),
    "another operation under the code": line(
        procedures=[{"name": "Total hip replacement", "code": _CODE}]
    ),
    "somebody else who carries it out": line(
        servicing_provider={"provider_name": "Dr. No", "npi": "1234567893"}
    ),
    "urgent at the member's wish": header(urgency_requested_by="The member"),
    "a state before the request": header(state_date="2019-01-01"),
    "another illness under the code": diagnoses("Common cold"),
    "a matter of the mind": diagnoses("{}", "behavioral"),
}


@pytest.mark.parametrize("name", MISENTERED)
def test_an_intake_says_what_the_request_says_in_every_field(name: str) -> None:
    assert fails(play(INTAKE, MISENTERED[name](INTAKE))) == {"intake_right"}


ENTERED = {
    "a clerk in charge": header(owner="W-048", member_eligibility_verified=True),
    "the line without its kind of unit": line(unit_type=None, request_date=None),
    "the provider without the group": provider(provider_group_name=None),
    "the diagnosis in a few words more": diagnoses("{}, as the request says"),
}


@pytest.mark.parametrize("name", ENTERED)
def test_an_intake_may_be_entered_in_other_words(name: str) -> None:
    assert fails(play(INTAKE, ENTERED[name](INTAKE))) == set()


def test_a_reply_hides_nothing_that_was_entered_wrongly_before() -> None:
    wrong = {"diagnoses": [{"name": "Common cold", "code": "J00"}]}
    script = entering(ANSWERED, "save_diagnoses", data=wrong)
    assert "intake_right" in fails(play(ANSWERED, script))


# -- findings ------------------------------------------------------------------------------------


def test_a_criterion_is_evaluated_once_in_a_review() -> None:
    found = rows(solution(NURSING))
    for twice in ([{**found[0], "result": "not_met"}, *found], [*found, found[0]]):
        episode = _first_refused(NURSING, changed(solution(NURSING), NURSE, evaluations=twice))
        assert "once is accepted" in episode


def _first_refused(instance: ReviewInstance, script: Script) -> str:
    episode = Episode(FAMILY, instance, SparseReward(), EpisodeConfig(max_turns=200))
    for action in script:
        step = episode.step(action)
        if step.errors:
            return step.observation
    return ""


def test_the_result_of_an_item_may_not_contradict_packet_and_finding() -> None:
    found = rows(solution(NURSING))
    for row in found:
        row["item_observations"] = [
            {**item, "item_result": "not_met" if item["item_result"] == "met" else "met"}
            for item in row["item_observations"]
        ]
    assert "values_observed" in fails(
        play(NURSING, changed(solution(NURSING), NURSE, evaluations=found))
    )


@pytest.mark.parametrize(
    ("form", "right"),
    [
        ("{value:g} {unit}", True),
        ("{value:g}{unit}", True),
        ("{value:g} or 7 {unit}", False),
        ("{value:g} ng/dL", False),
    ],
)
def test_a_value_may_stand_with_its_unit_and_with_no_other(form: str, right: bool) -> None:
    key, found = measured(MEASURED)[0], rows(solution(MEASURED))
    for row in found:
        for item in row["item_observations"]:
            if item["item_id"] == key:
                unit = item["observed_unit"]
                item["observed_value"] = form.format(value=item["observed_value"], unit=unit)
                item["observed_unit"] = ""
    failed = fails(play(MEASURED, changed(solution(MEASURED), NURSE, evaluations=found)))
    assert ("values_observed" not in failed) is right


@pytest.mark.parametrize(
    ("value", "unit", "number", "named"),
    [
        ("8.2 %", "", 8.2, "%"),
        ("147 mmHg", "", 147, "mm[Hg]"),
        (66, "mmol/mol", 66, "mmol/mol"),
        ("12 weeks", "", 12, None),
        ("3 to 5 weeks", "", "3 to 5 weeks", None),
        ("stage 3", "", "stage 3", None),
    ],
)
def test_a_quantity_is_a_number_with_a_unit(
    value: Any, unit: str, number: object, named: str | None
) -> None:
    item = ClinicalEvidenceItemObservation(item_id="C1", observed_value=value, observed_unit=unit)
    found = entered(item)
    assert (found.value, found.measured_in) == (number, named)


@pytest.mark.parametrize(
    ("fields", "right"),
    [
        ({"criteria_version": "2024.1"}, False),
        ({"criteria_source": "MP-ZZZ-999"}, False),
        ({"criteria_version": ""}, True),
        ({"criteria_source": "the medical policy in force"}, True),
    ],
)
def test_a_finding_goes_by_the_policy_in_force(fields: dict[str, str], right: bool) -> None:
    failed = fails(play(NURSING, every(solution(NURSING), **fields)))
    assert ("findings_sourced" not in failed) is right


def test_whoever_names_every_day_has_named_none() -> None:
    days = ", ".join(f"2026-01-{day:02d}" for day in range(1, 29))
    found = rows(solution(DATED))
    for row in found:
        if row["criterion_id"] in dated(DATED):
            row["notes"] = f"{row['notes']} {days}"
    failed = fails(play(DATED, changed(solution(DATED), NURSE, evaluations=found)))
    assert "values_observed" in failed


# -- words of decision ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        [{"line_number": 1, "decision": "approve"}],
        [{"line_number": 1, "decision": "deny", "approved_units": 5}],
        [{"line_number": 7, "decision": "deny"}],
        [{"line_number": 1, "decision": "deny"}] * 2,
    ],
    ids=["approved", "units", "no line", "twice"],
)
def test_a_denial_denies_each_line_it_names(lines: list[dict[str, object]]) -> None:
    said = _first_refused(DENIED, changed(solution(DENIED), DECIDE, -1, line_item_decisions=lines))
    assert "line_item_decisions" in said


def test_a_denial_may_say_so_of_its_line() -> None:
    line = {"line_number": 1, "decision": "deny", "approved_units": 0}
    script = changed(solution(DENIED), DECIDE, -1, line_item_decisions=[line])
    assert fails(play(DENIED, script)) == set()


def test_whoever_asks_for_nothing_lists_nothing() -> None:
    script = changed(solution(NURSING), RECOMMEND, -1, info_requested="C1: chart note")
    assert "info_requested" in _first_refused(NURSING, script)


def test_a_disposition_has_a_reason_and_the_office_says_so() -> None:
    script = changed(solution(INTAKE), DISPOSE, disposition_reason=" ")
    assert "disposition_reason" in _first_refused(INTAKE, script)


def test_who_asked_for_the_urgency_may_be_entered_by_name() -> None:
    world = ManagedCareWorld(INTAKE.start)
    person = _intake(INTAKE).line_items[0].urgency_requested_by
    assert person in world.staff.workers
    name = world.staff.workers[person].name
    assert not fails(play(INTAKE, line(urgency_requested_by=name)(INTAKE)))
    assert not fails(play(INTAKE, header(urgency_requested_by=name)(INTAKE)))
    other = next(each.name for each in world.staff.workers.values() if each.id != person)
    assert fails(play(INTAKE, line(urgency_requested_by=other)(INTAKE))) == {"intake_right"}
