"""Change one thing of a solved appeal, and the check that is named for it fails, and no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance, StartStage
from healthgym.envs.managed_care.utilization_management.verifier import ReviewVerifier
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.vocabulary.authorization import SubmissionChannel
from tests.envs.managed_care.utilization_management.appeal_play import (
    ACKNOWLEDGE,
    ANSWER,
    ASSIGN,
    LOOSE,
    OVERTURNED,
    SAVE,
    UPHELD,
    also,
    filed,
    grounded,
    in_the_hands_of,
    named,
    partial,
    reasoned,
    truth,
)
from tests.envs.managed_care.utilization_management.playing import (
    FINISH,
    NOTIFY,
    Script,
    before,
    changed,
    every,
    fails,
    first_of,
    other_case,
    play,
    rows,
    shown,
    solution,
    without,
)

STAGE = StartStage.APPEAL
_DAY = timedelta(days=1)
STANDS, FALLS = grounded(UPHELD), grounded(OVERTURNED)
LAX = grounded(UPHELD, LOOSE)
GROUNDLESS = first_of(STAGE, UPHELD, lambda one: not truth(one).grounded)
SIGNED = first_of(STAGE, UPHELD, lambda one: not partial(one), LOOSE)
COVERED = first_of(STAGE, UPHELD, lambda one: partial(one), LOOSE)
_NONE_AT_ALL = {
    "appeal_independent",
    "appeal_decision_right",
    "letters_right",
    "ends_right",
}
_READ = {"findings_right", "values_observed", "findings_sourced"}


def later(instance: ReviewInstance, tool: str, days: int) -> Script:
    """Return a solution that waits before a step."""
    until = f"{instance.start.now.replace(hour=18) + days * _DAY:%Y-%m-%dT%H:%M}"
    return before(solution(instance), tool, *(call("wait", until=until) for _ in range(30)))


def other(script: Script) -> str:
    """Return the outcome that a solution does not come to."""
    (made,) = (each for each in script if each.name == ANSWER)
    upheld = made.arguments["outcome"] == "appeal_upheld"
    return "appeal_overturned" if upheld else "appeal_upheld"


def turned(instance: ReviewInstance) -> Script:
    """Return a solution that takes what is met for not met."""
    found = rows(solution(instance), SAVE)
    next(row for row in found if row["result"] == "met")["result"] = "not_met"
    return changed(solution(instance), SAVE, evaluations=found)


def misread(instance: ReviewInstance) -> Script:
    """Return a solution with another number beside a finding, or none beside any."""
    found = rows(solution(instance), SAVE)
    for row in found:
        row["item_observations"] = []
        row["notes"] = ""
    return changed(solution(instance), SAVE, evaluations=found)


def elsewhere(instance: ReviewInstance) -> SubmissionChannel:
    """Return a channel by which the request did not come."""
    cases = (one for one in instance.start.records if isinstance(one, PriorAuthCase))
    (came,) = (one.submission_channel for one in cases if one.id == instance.reference.case_id)
    return next(one for one in SubmissionChannel if one is not came)


def _shown(instance: ReviewInstance) -> str:
    """Return a criterion that the file shows."""
    return shown(instance, "met")[0]


def _undisputed(instance: ReviewInstance) -> str:
    """Return a criterion that the denial took for shown as well."""
    return next(name for name in shown(instance, "met") if name not in truth(instance).turned)


def _last_letter(instance: ReviewInstance) -> str:
    """Return the id of the letter that the decision writes."""
    world = play(instance, solution(instance)).world
    return world.letters.of(instance.reference.case_id)[-1].id


#: What is changed → the task, its script, and the checks that fail.
MUTATIONS: Mapping[str, tuple[ReviewInstance, Callable[[], Script], set[str]]] = {
    # appeal_acknowledged
    "not acknowledged": (
        STANDS,
        lambda: without(solution(STANDS), ACKNOWLEDGE),
        {"appeal_acknowledged"},
    ),
    "acknowledged late": (
        STANDS,
        lambda: later(STANDS, ACKNOWLEDGE, 15),
        {"appeal_acknowledged"},
    ),
    # appeal_independent
    "by who signed the denial": (
        COVERED,
        lambda: in_the_hands_of(COVERED, str(partial(COVERED)), ASSIGN, SAVE, ANSWER),
        {"appeal_independent"},
    ),
    "read by who signed the denial": (
        COVERED,
        lambda: in_the_hands_of(COVERED, str(partial(COVERED)), SAVE),
        {"appeal_independent"},
    ),
    # roles_kept
    "by the physician of the case": (
        SIGNED,
        lambda: in_the_hands_of(
            SIGNED, str(filed(SIGNED).original_reviewer_id), ASSIGN, SAVE, ANSWER
        ),
        {"appeal_independent", "roles_kept"},
    ),
    # findings
    "no findings": (FALLS, lambda: without(solution(FALLS), SAVE), _READ),
    "a criterion turned": (FALLS, lambda: turned(FALLS), {"findings_right"}),
    "nothing observed": (FALLS, lambda: misread(FALLS), {"values_observed"}),
    "no source": (
        FALLS,
        lambda: every(solution(FALLS), SAVE, source_refs_used=[]),
        {"findings_sourced"},
    ),
    # appeal_decision_right
    "upheld in the place of overturned": (
        FALLS,
        lambda: changed(solution(FALLS), ANSWER, outcome=other(solution(FALLS))),
        {"appeal_decision_right", "letters_right", "ends_right"},
    ),
    "overturned in the place of upheld": (
        STANDS,
        lambda: changed(solution(STANDS), ANSWER, outcome=other(solution(STANDS))),
        {"appeal_decision_right", "letters_right", "ends_right"},
    ),
    "overturned without grounds": (
        GROUNDLESS,
        lambda: changed(solution(GROUNDLESS), ANSWER, outcome=other(solution(GROUNDLESS))),
        {"appeal_decision_right", "letters_right", "ends_right"},
    ),
    "no policy": (
        FALLS,
        lambda: reasoned(FALLS, f"The file shows {' and '.join(truth(FALLS).turned)}."),
        {"appeal_decision_right"},
    ),
    "no version": (
        STANDS,
        lambda: reasoned(
            STANDS,
            f"{STANDS.reference.policy.id}: not shown: {' and '.join(STANDS.reference.denied_on)}.",
        ),
        {"appeal_decision_right"},
    ),
    "no criterion": (
        FALLS,
        lambda: reasoned(FALLS, f"{named(FALLS)}: the file shows it now."),
        {"appeal_decision_right"},
    ),
    "a criterion that is shown": (
        STANDS,
        lambda: reasoned(
            STANDS,
            f"{named(STANDS)}: {' and '.join((*STANDS.reference.denied_on, _shown(STANDS)))}.",
        ),
        {"appeal_decision_right"},
    ),
    "a criterion that was never disputed": (
        FALLS,
        lambda: reasoned(FALLS, f"{named(FALLS)}: the file shows {_undisputed(FALLS)}."),
        {"appeal_decision_right"},
    ),
    "no grounds, and no word of what they are": (
        GROUNDLESS,
        lambda: reasoned(GROUNDLESS, "The appeal has no grounds."),
        {"appeal_decision_right"},
    ),
    # letters_right
    "the member not told": (
        STANDS,
        lambda: without(solution(STANDS), NOTIFY),
        {"letters_right"},
    ),
    "told of an approval as well": (
        FALLS,
        lambda: also(
            FALLS, NOTIFY, NOTIFY, case_id=FALLS.reference.case_id, notification_type="approval"
        ),
        {"letters_right"},
    ),
    "the denial sent once more": (
        STANDS,
        lambda: also(
            STANDS,
            NOTIFY,
            "payer_letter_center.reissue",
            letter_id="LET-0001",
            reason="The appeal was upheld.",
        ),
        {"letters_right"},
    ),
    "by another channel as well": (
        STANDS,
        lambda: also(
            STANDS,
            ANSWER,
            "payer_letter_center.deliver",
            letter_id=_last_letter(STANDS),
            channel=str(elsewhere(STANDS)),
        ),
        {"letters_right"},
    ),
    # in_time
    "decided late": (
        LAX,
        lambda: later(LAX, ANSWER, 45),
        {"in_time", "letters_right"},  # the letter's text has another day
    ),
    # others_untouched
    "another case": (
        LAX,
        lambda: also(
            LAX,
            ACKNOWLEDGE,
            "payer_intake_hub.save_auth_header",
            case_id=other_case(LAX),
            data={"state": "CA"},
        ),
        {"others_untouched"},
    ),
    # no_step_twice
    "acknowledged twice": (
        LAX,
        lambda: also(LAX, ACKNOWLEDGE, ACKNOWLEDGE, appeal_id=filed(LAX).id, actor=LAX.start.actor),
        {"no_step_twice"},
    ),
    # ends_right
    "not decided": (STANDS, lambda: without(solution(STANDS), ANSWER), _NONE_AT_ALL),
    "left before it is decided": (
        STANDS,
        lambda: [*solution(STANDS)[:4], FINISH],
        {"appeal_independent", *_READ, *_NONE_AT_ALL},
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_check_that_is_named_for_it_fails_and_no_other(name: str) -> None:
    instance, script, broken = MUTATIONS[name]
    assert fails(play(instance, script(), refused=True)) == broken


def test_every_check_of_an_appeal_has_a_mutation() -> None:
    broken = {check for *_, checks in MUTATIONS.values() for check in checks}
    verdict = play(STANDS, solution(STANDS)).verdict(profile=Profile.STRICT)
    asked = {each.check.name for each in verdict.checks}
    # Words are put to the proof by themselves, in test_words.
    assert asked - broken == {"submitted", "words_sound"}
    assert asked - {"submitted"} <= {c.name for c in ReviewVerifier().checks(Profile.STRICT)}


def test_the_solutions_themselves_pass() -> None:
    for instance in (STANDS, FALLS, GROUNDLESS, LAX, COVERED):
        episode = play(instance, solution(instance))
        assert fails(episode) == fails(episode, Profile.PAPER) == set()
