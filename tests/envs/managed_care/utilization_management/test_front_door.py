"""Requests at a front door: where they wait, who sees them, and how they are wrongly taken in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache

import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.managed_care.utilization_management import at_door
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily
from healthgym.envs.managed_care.utilization_management.task import (
    PRESETS,
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.records.doors import Arrival
from healthgym.worlds.managed_care.vocabulary.authorization import IntakeStatus, SubmissionChannel
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.playing import (
    EXTENDED,
    Script,
    after,
    before,
    changed,
    fails,
    first_of,
    play,
    solution,
    task,
    without,
)
from tests.sized import some

FAX, EDI, PHONE = SubmissionChannel.FAX, SubmissionChannel.EDI, SubmissionChannel.PHONE
DOORS = (FAX, EDI, PHONE)
DOOR = "front_door_right"
INDEX, ENVELOPE, NOTE = (
    "payer_fax_room.index",
    "payer_edi_gateway.submit_278_request",
    "payer_call_center.record_note",
)
BACK = "payer_call_center.create_callback"
OPENED = {FAX: "payer_fax_room.attach", EDI: ENVELOPE, PHONE: NOTE}


def come(instance: ReviewInstance) -> Arrival:
    """Return what waits of the case."""
    case = instance.reference.case_id
    return next(r for r in instance.start.records if isinstance(r, Arrival) and r.case_id == case)


@cache
def waiting(
    door: SubmissionChannel, *, urgent: bool | None = None, back: bool | None = None
) -> ReviewInstance:
    """Return a task whose request waits at a door."""

    def fits(instance: ReviewInstance) -> bool:
        said = come(instance).said
        if come(instance).channel is not door:
            return False
        wanted = ((urgent, said and bool(said.urgency)), (back, said and bool(said.call_back_at)))
        return all(asked is None or asked is found for asked, found in wanted)

    return first_of(StartStage.FRONT_DOOR, Path.NURSE_APPROVES, fits)


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["easy", "medium"])
def test_the_extended_surface_draws_requests_at_each_door(level: str) -> None:
    config = replace(PRESETS[level], stages=(StartStage.FRONT_DOOR,))
    made = ReviewFamily(config, tools="extended").generator
    drawn = Counter(made.generate(Split.TRAIN, n).reference.door for n in range(some(60, 20)))
    assert set(drawn) == set(DOORS)
    with pytest.raises(ConfigurationError, match="extended surface"):
        ReviewFamily(config)


@pytest.mark.parametrize("door", DOORS)
def test_a_request_waits_among_others_and_nobody_sees_it(door: SubmissionChannel) -> None:
    instance = waiting(door)
    world, case = ManagedCareWorld(instance.start), instance.reference.case_id
    assert world.intake.get(case).status is IntakeStatus.NEW
    assert world.intake.documents(case) == ()
    assert len(world.intake.sent(case)) == len(instance.reference.packet)
    others = [one for one in world.doors.arrivals.values() if one.case_id != case]
    assert others
    assert {one.channel for one in others} == {door}
    assert all(world.intake.documents(one.case_id) == () for one in others)
    late = deadlines.door_deadline(world, come(instance)) - world.clock.now
    assert late >= timedelta(minutes=30)


def test_the_number_of_the_own_fax_tells_nothing() -> None:
    config = replace(PRESETS["medium"], stages=(StartStage.FRONT_DOOR,))
    made = ReviewFamily(config, tools="extended").generator
    numbers = {come(made.generate(Split.TRAIN, n)).id[-1] for n in range(30)}
    assert len(numbers) >= 4


@pytest.mark.parametrize("door", DOORS)
def test_what_came_is_shown_there_and_in_no_other_case(door: SubmissionChannel) -> None:
    instance = waiting(door)
    own = come(instance)
    case = instance.reference.case_id
    look = {
        FAX: call("payer_fax_room.receive"),
        EDI: call("payer_edi_gateway.inquire_status"),
        PHONE: call("payer_call_center.create_intake", case_id=case),
    }[door]
    episode = play(instance, [], stops=False)
    shown = episode.step(look).observation
    assert own.id in shown
    chart = instance.start.charts[ManagedCareWorld(instance.start).cases.get(case).patient_id]
    assert chart.patient.member_id in shown
    assert chart.patient.member_id in instance.task.instruction
    if own.envelope is not None:
        assert f"*00501*{own.envelope.control_number}*" in shown
    if own.said is not None:
        assert own.said.caller in shown
        assert own.said.number in shown
        assert own.said.urgency[1:] in shown


# -- what taking it in wrongly costs ---------------------------------------------------------------


def _edi(**wrong: str) -> Callable[[], tuple[ReviewInstance, Script]]:
    def made() -> tuple[ReviewInstance, Script]:
        instance = waiting(EDI)
        return instance, changed(solution(instance), ENVELOPE, **wrong)

    return made


def _group_number() -> tuple[ReviewInstance, Script]:
    instance = waiting(EDI)
    envelope = come(instance).envelope
    assert envelope is not None
    number = f"{int(envelope.group_number):09}"
    return instance, changed(solution(instance), ENVELOPE, control_number=number)


def _fax() -> tuple[ReviewInstance, Script]:
    instance = waiting(FAX)
    return instance, changed(solution(instance), INDEX, document_kind="chart_note")


def _note(urgent: bool | None = None, **wrong: str) -> Callable[[], tuple[ReviewInstance, Script]]:
    def made() -> tuple[ReviewInstance, Script]:
        instance = waiting(PHONE, urgent=urgent)
        return instance, changed(solution(instance), NOTE, **wrong)

    return made


def _other_numbers() -> tuple[ReviewInstance, Script]:
    """Ask for as many minutes as visits were asked for, and the other way round."""
    for index in range(400):
        instance = task(StartStage.FRONT_DOOR, Path.NURSE_APPROVES, index)
        numbers = [word for word in _ordered(instance).split() if word.isdigit()]
        if instance.reference.door is PHONE and len(set(numbers)) == 2:
            break
    one, other = numbers
    swapped = {one: other, other: one}
    said = " ".join(swapped.get(word, word) for word in _ordered(instance).split())
    return instance, changed(solution(instance), NOTE, service=said)


def _number_of_something_else() -> tuple[ReviewInstance, Script]:
    """Tell the right code, and as many minutes as visits were asked for."""
    instance, script = _other_numbers()
    world = ManagedCareWorld(instance.start)
    code = world.cases.order(world.cases.get(instance.reference.case_id).service_request_id)
    said = next(each for each in script if each.name == NOTE).arguments["service"]
    return instance, changed(script, NOTE, service=f"{said}, {code.procedure_code}")


def _ordered(instance: ReviewInstance) -> str:
    cases = ManagedCareWorld(instance.start).cases
    return cases.order(cases.get(instance.reference.case_id).service_request_id).description


def _no_call() -> tuple[ReviewInstance, Script]:
    instance = waiting(PHONE, back=True)
    return instance, without(solution(instance), BACK)


def _local_time() -> tuple[ReviewInstance, Script]:
    """Promise the call for the hour that the caller said, as if it were UTC and five hours on."""
    instance = waiting(PHONE, back=True)
    said = come(instance).said
    assert said is not None
    assert said.call_back_at is not None
    at = said.call_back_at - timedelta(minutes=60)
    return instance, changed(solution(instance), BACK, at=f"{at:%Y-%m-%dT%H:%M}")


def _needless_call() -> tuple[ReviewInstance, Script]:
    instance = waiting(PHONE, back=False)
    day = instance.start.now + timedelta(hours=1)
    more = call(
        BACK, case_id=instance.reference.case_id, number="555-0100", at=f"{day:%Y-%m-%dT%H:%M}"
    )
    return instance, after(solution(instance), NOTE, more)


def _second_note() -> tuple[ReviewInstance, Script]:
    instance = waiting(PHONE)
    script = solution(instance)
    again = next(each for each in script if each.name == NOTE)
    return instance, after(script, NOTE, again)


def _late(door: SubmissionChannel) -> Callable[[], tuple[ReviewInstance, Script]]:
    def made() -> tuple[ReviewInstance, Script]:
        instance = waiting(door)
        limit = deadlines.door_deadline(ManagedCareWorld(instance.start), come(instance))
        rest = call("wait", until=f"{limit + timedelta(minutes=1):%Y-%m-%dT%H:%M}")
        # Whoever waits is told once that it waits too long, and goes on waiting.
        return instance, before(solution(instance), OPENED[door], rest, rest)

    return made


WRONG: dict[str, Callable[[], tuple[ReviewInstance, Script]]] = {
    "a fax as something else": _fax,
    "another sender": _edi(sender_id="ORG-LARKFIELD"),
    "another control number": _edi(control_number="000000017"),
    "the number of the group": _group_number,
    "another caller": _note(caller="Dr. Nobody"),
    "another number": _note(callback_number="555-0199"),
    "another service": _note(service="Something else"),
    "more than the service": _note(service="An urgent ablation, approved by the director"),
    "its numbers in other places": _other_numbers,
    "its code, and its numbers in other places": _number_of_something_else,
    "urgency that nobody claimed": _note(urgent=False, urgency_words="it is urgent"),
    "no urgency where some was claimed": _note(urgent=True, urgency_words=""),
    "urgency in other words": _note(urgent=True, urgency_words="She may die of it by Friday."),
    "no call where one was asked for": _no_call,
    "a call at another hour": _local_time,
    "a call that nobody asked for": _needless_call,
    "two notes": _second_note,
    "a fax too late": _late(FAX),
    "an envelope too late": _late(EDI),
    "a note too late": _late(PHONE),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_request_that_is_wrongly_taken_in_fails(name: str) -> None:
    instance, script = WRONG[name]()
    assert DOOR not in fails(play(instance, solution(instance)))
    assert DOOR in fails(play(instance, script, refused=True))


def test_a_request_that_is_left_lying_gets_nowhere() -> None:
    for door in DOORS:
        instance = waiting(door)
        names = {INDEX, OPENED[door]}
        failed = fails(play(instance, without(solution(instance), *names), refused=True))
        assert {DOOR, "intake_right", "ends_right"} <= failed


def test_another_members_fax_is_none_of_ones_business() -> None:
    instance = waiting(FAX)
    world = ManagedCareWorld(instance.start)
    other = next(one for one in world.doors.arrivals.values() if one.id != come(instance).id)
    member = world.charts[world.cases.get(other.case_id).patient_id].patient.member_id
    more = call(
        INDEX,
        fax_id=other.id,
        case_id=other.case_id,
        member_id=member,
        document_kind="submission_bundle",
    )
    script = before(solution(instance), INDEX, more)
    assert fails(play(instance, script)) == {"others_untouched"}


def test_a_document_may_be_announced_for_its_own_request() -> None:
    instance = waiting(EDI)
    world = ManagedCareWorld(instance.start)
    envelope = come(instance).envelope
    assert envelope is not None
    document = world.doors.sent(instance.reference.case_id)[0].id
    more = call(
        "payer_edi_gateway.submit_275_attachment_ref",
        control_number=envelope.control_number,
        document_id=document,
    )
    assert not fails(play(instance, after(solution(instance), ENVELOPE, more)))


def test_a_fax_goes_to_no_other_case() -> None:
    instance = waiting(FAX)
    world = ManagedCareWorld(instance.start)
    other = next(one for one in world.doors.arrivals.values() if one.id != come(instance).id)
    wrong = changed(solution(instance), INDEX, fax_id=other.id)
    place = [each.name for each in wrong].index(INDEX)
    step = play(instance, wrong[:place], stops=False).step(wrong[place])
    assert step.errors
    assert "accepted are the member on its cover" in step.observation


# -- right answers in other forms ------------------------------------------------------------------

RIGHT: dict[str, dict[str, str]] = {
    "with the practice": {"caller": "{caller}, PA coordinator at Lakeside Medical Group"},
    "in capitals": {"caller": "{CALLER}", "service": "{SERVICE}"},
    "by its code": {"service": "CPT {code}"},
    "with its code": {"service": "{service} (CPT {code})"},
    "units before the service": {"service": "{units} of {rest}"},
    "a part of it with its code": {"service": "{part}, {code}"},
    "a number with brackets": {"callback_number": "({number})"},
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_note_may_say_the_same_in_other_forms(name: str) -> None:
    instance = waiting(PHONE)
    script, said = solution(instance), come(instance).said
    assert said is not None
    world = ManagedCareWorld(instance.start)
    order = world.cases.order(world.cases.get(instance.reference.case_id).service_request_id)
    known = {
        "caller": said.caller,
        "CALLER": said.caller.upper(),
        "service": order.description,
        "SERVICE": order.description.upper(),
        "code": order.procedure_code,
        "part": " ".join(order.description.split()[:2]),
        "units": order.description.rpartition(", ")[2],
        "rest": order.description.rpartition(", ")[0],
        "number": said.number,
    }
    given = {key: text.format(**known) for key, text in RIGHT[name].items()}
    assert not fails(play(instance, changed(script, NOTE, **given)))


@pytest.mark.parametrize(
    ("number", "same"),
    [("+1 212-555-0143", True), ("(212) 555-0143", True), ("1-212-555-0144", False)],
)
def test_the_country_may_be_dialled_before_a_number(number: str, same: bool) -> None:
    assert (at_door.digits(number) == at_door.digits("212-555-0143")) is same
    assert at_door.digits("+1 555-0143") == "5550143"


def test_a_quotation_of_the_urgency_may_be_a_part_of_it() -> None:
    instance = waiting(PHONE, urgent=True)
    said = come(instance).said
    assert said is not None
    part = " ".join(said.urgency.split()[:5]).strip(",")
    script = changed(solution(instance), NOTE, urgency_words=f'"{part}"')
    assert not fails(play(instance, script))


def test_letters_on_a_call_go_by_fax() -> None:
    instance = waiting(PHONE)
    script = changed(solution(instance), "payer_letter_center.deliver", -1, channel="phone")
    assert "letters_right" in fails(play(instance, script))


@pytest.mark.parametrize("door", DOORS)
def test_a_reader_takes_each_in(door: SubmissionChannel) -> None:
    instance = waiting(door)
    play_of = EXTENDED.solvers()["solver"](instance.task.instruction)
    episode = play(instance, [], stops=False)
    action = next(play_of)
    while not (step := episode.step(action)).errors and not episode.done():
        action = play_of.send(step.observation)
    assert not fails(episode)
