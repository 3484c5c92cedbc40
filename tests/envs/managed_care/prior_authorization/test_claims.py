"""Numbers, days and ages of letters and calls: what follows from the file is known."""

from __future__ import annotations

from datetime import timedelta

import pytest

from healthgym.envs.managed_care.cases.situations import Course
from healthgym.envs.managed_care.prior_authorization.amounts import PracticeAccount
from healthgym.envs.managed_care.prior_authorization.claims import Claims
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.envs.managed_care.prior_authorization.worded import Worded
from healthgym.worlds.managed_care.accounts import unaccounted
from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.facts import Measurement, TherapyCourse
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.prior_authorization.playing import (
    Kind,
    changed,
    chart_of,
    fails,
    first_of,
    play,
    solution,
    task,
)

_POLICY = (
    "Participation in a medically supervised weight program for a minimum of 24 weeks and 6 visits."
)
_NOTE = "Medically supervised weight program, 7 sessions from Oct 9, 2024 until Apr 4, 2025."
#: LOINC code of the heart rate.
PULSE = "8867-4"
TURN, SUM_UP = "p2p_session.send_turn", "p2p_session.submit_summary"


def found(instance: AuthorizationInstance, *texts: str) -> list[str]:
    """Return what is unfounded in texts of a practice that has done nothing yet."""
    before, after = ManagedCareWorld(instance.start), ManagedCareWorld(instance.start)
    claims = Claims(before, after, instance.reference)
    worded = Worded(claims)
    return [each for text in texts for each in (*claims.unfounded(text), *worded.unfounded(text))]


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("The policy asks for 24 weeks and 6 visits (C10).", True),
        ("The policy requires 24 weeks and 6 visits.", True),
        ("C10 requires at least 6 visits.", True),
        ("Six visits are called for.", True),
        ("The weight program had seven visits.", True),
        ("She attended 7 sessions of the weight program.", True),
        ("She is 54 years old.", True),
        ("Her age was 53 years then.", True),
        ("The policy asks for 9 visits.", False),
        ("She attended 9 sessions of the weight program.", False),
        ("She is 45 years old.", False),
    ],
)
def test_an_amount_is_asked_for_attended_or_an_age(text: str, passes: bool) -> None:
    known = PracticeAccount(Texts([f"{_POLICY}\n{_NOTE}"]), ages=frozenset({53, 54}))
    assert (not [*unaccounted(text, known)]) is passes


def test_how_long_a_course_was_may_be_told_in_days() -> None:
    def treated(instance: AuthorizationInstance) -> list[TherapyCourse]:
        facts = chart_of(instance).facts
        return [one for one in facts if isinstance(one, TherapyCourse) and one.ended]

    instance = first_of(Course.APPROVED, treated, difficulty="hard")
    course = treated(instance)[0]
    assert course.ended is not None
    days = (course.ended - course.started).days
    since = f"{course.display[0].upper()}{course.display[1:]} since {course.started}"
    assert not found(instance, f"{since} took {days} days.")
    assert found(instance, f"{since} took {days + 1000.5} days.")


def test_how_long_ago_something_was_may_be_told() -> None:
    def measured(instance: AuthorizationInstance) -> list[int]:
        now = instance.start.now.date()
        facts = (one for one in chart_of(instance).facts if isinstance(one, Measurement))
        return [days for one in facts if (days := (now - one.taken).days) > 1000]

    instance = first_of(Course.APPROVED, measured, difficulty="hard")
    days = measured(instance)[0]
    assert not found(instance, f"A measurement was made {days} days ago.")
    assert found(instance, f"A measurement was made {days + 100_000} days ago.")


def test_a_year_and_an_age_of_the_file_are_known() -> None:
    instance = task(Kind(Course.APPROVED))
    born = chart_of(instance).patient.dob
    age = (instance.start.now.date() - born).days * 100 // 36525
    assert not found(instance, f"The patient is {age} years old.", f"Born in the year {born.year}.")
    assert found(instance, f"The patient is {age + 31} years old.")


def test_the_days_of_a_version_that_is_no_longer_in_force_may_be_told() -> None:
    instance = task(Kind(Course.EXTERNAL))
    policy, book = instance.reference.policy, instance.start.policies
    assert book is not None
    (old,) = (each for each in book.policies if each.id == policy.id and each.terminated)
    assert old.terminated is not None
    said = f"Version {old.version} of {policy.id} was in force from {old.effective} to "
    assert not found(instance, f"{said}{old.terminated}.")
    assert found(instance, f"{said}{old.terminated - timedelta(days=1000)}.")


def test_what_the_chart_calls_otherwise_may_be_told_by_any_of_its_names() -> None:
    def measured(instance: AuthorizationInstance) -> list[Measurement]:
        chart = chart_of(instance)
        written = "\n".join(each.content for each in chart.documents).casefold()
        facts = (one for one in chart.facts if isinstance(one, Measurement))
        return [one for one in facts if one.code == PULSE and "pulse" not in written]

    instance = first_of(Course.APPROVED, measured, difficulty="hard")
    pulse = measured(instance)[0]
    assert "pulse" in names_of(pulse)
    assert not found(instance, f"The pulse was {pulse.value:g} on {pulse.taken}.")
    assert found(instance, "He came on pulse steroids.")
    assert found(instance, f"The carotid pulse was {pulse.value:g} on {pulse.taken}.")


@pytest.mark.parametrize("tool", [TURN, SUM_UP])
@pytest.mark.parametrize(
    ("said", "passes"),
    [
        ("The call is about {person}, and {version} is in force.", True),
        ("You said that you went by {old}; it ended on {ended}.", True),
        ("The P2P took fifteen minutes, and we are at extension 2041 until 5 pm.", True),
        ("The value was 4321.7 mg/dL.", False),
        ("She had it done on 1999-04-03.", False),
    ],
)
def test_what_is_said_on_a_call_is_looked_up_as_letters_are(
    tool: str, said: str, passes: bool
) -> None:
    instance = task(Kind(Course.PEER_CALL))
    policy, book = instance.reference.policy, instance.start.policies
    assert book is not None
    (old,) = (each for each in book.policies if each.id == policy.id and each.terminated)
    patient = chart_of(instance).patient
    told = said.format(
        person=f"{patient.first_name} {patient.last_name}",
        version=policy.version,
        old=old.version,
        ended=old.terminated,
    )
    script = solution(instance)
    key = "message" if tool == TURN else "summary"
    right = next(str(one.arguments[key]) for one in script if one.name == tool)
    episode = play(instance, changed(script, tool, **{key: f"{right} {told}"}))
    assert fails(episode) == (set() if passes else {"nothing_invented"})
