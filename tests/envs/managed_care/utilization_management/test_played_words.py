"""What people who played found refused, or let through, in words of theirs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from healthgym.envs.managed_care.utilization_management.judged import misjudged
from healthgym.envs.managed_care.utilization_management.task import Path, ReviewInstance, StartStage
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.facts import Diagnosis
from healthgym.worlds.managed_care.packets import read_packet
from healthgym.worlds.managed_care.policies.criteria import DiagnosisCriterion
from healthgym.worlds.managed_care.policies.evaluation import Assessment, evaluate
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture
from healthgym.worlds.managed_care.word_forms import form
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    RECOMMEND,
    changed,
    fails,
    finding,
    first_of,
    play,
    rows,
    solution,
    task,
)

PARTLY = first_of(
    StartStage.NURSE_REVIEW,
    Path.PARTLY,
    lambda one: f"{one.reference.units} visits" in render_page(one.reference.policy),
)
LETTER = "payer_letter_center.generate_partial_approval"
SUMMARIZE = "p2p_session.submit_summary"


def amounts() -> tuple[int, int]:
    """Return how much is granted, and how much was asked for."""
    world = ManagedCareWorld(PARTLY.start)
    asked = world.cases.line(PARTLY.reference.case_id).requested_units
    granted = PARTLY.reference.units
    assert asked is not None
    assert granted is not None
    return granted, int(asked)


@pytest.mark.parametrize(
    "text",
    [
        "The policy allows {granted} visits and {asked} are requested.",
        "The request is {rest} visits over the limit; hence a physician decides.",
        "The policy caps it at {granted} visits.",
        "Under the policy the plan covers {granted} visits, so I hand the case on.",
    ],
)
def test_amounts_of_a_decision_in_part_may_be_told(text: str) -> None:
    granted, asked = amounts()
    told = text.format(granted=granted, asked=asked, rest=asked - granted)
    assert not fails(play(PARTLY, changed(solution(PARTLY), RECOMMEND, clinical_notes=told)))


def test_no_other_amount_is() -> None:
    granted, asked = amounts()
    for other in (granted + asked, granted + 1 if granted + 1 != asked else granted - 1):
        told = f"The policy allows {other} visits and {asked} are requested."
        script = changed(solution(PARTLY), RECOMMEND, clinical_notes=told)
        assert "words_sound" in fails(play(PARTLY, script)), told


def test_a_physician_who_grants_a_part_may_tell_of_policy_and_request_in_one_sentence() -> None:
    granted, asked = amounts()
    right = next(one for one in solution(PARTLY) if one.name == DECIDE)
    said = (
        f"{right.arguments['determination_rationale']} The policy allows {granted} visits and "
        f"{asked} were asked for, so I approve {granted} and do not approve the remaining "
        f"{asked - granted}."
    )
    assert not fails(play(PARTLY, changed(solution(PARTLY), DECIDE, determination_rationale=said)))
    said = f"{right.arguments['determination_rationale']} Everything is approved as requested."
    script = changed(solution(PARTLY), DECIDE, determination_rationale=said)
    assert "words_sound" in fails(play(PARTLY, script))


@pytest.mark.parametrize(
    ("honest", "other"),
    [
        ("An earlier value by another clinician was left aside.", "Another expert was asked."),
        ("I read all pages with the policy beside me.", "A colleague beside me agrees."),
        ("The policy reserves nothing here.", "The policy reserves dialysis to a physician."),
        ("No lane for auto-approval is open.", "The system auto-approved it first."),
        ("What was sent is good enough.", "That is close enough for us."),
        ('The result "not met" stands beside the limit.', 'She wrote "not met at all" herself.'),
        ("The office (ordering clinician) sent no more.", "Sent to (patient name) today."),
        (
            "Criterion C1, or else C2 together with C3, was looked at.",
            "The practice gives in, or else.",
        ),
        ("I read C1 and, in its place, C2.", "Physical therapy was approved in its place."),
    ],
)
def test_words_that_players_used_are_free_and_their_like_are_not(honest: str, other: str) -> None:
    right = next(one for one in solution(PARTLY) if one.name == RECOMMEND)

    def found(text: str) -> set[str]:
        told = f"{right.arguments['clinical_notes']} {text}"
        return fails(play(PARTLY, changed(solution(PARTLY), RECOMMEND, clinical_notes=told)))

    assert not found(honest)
    assert "words_sound" in found(other)


def test_one_text_that_nothing_bears_out_leaves_most_of_the_progress() -> None:
    right = next(one for one in solution(PARTLY) if one.name == RECOMMEND)
    notes = right.arguments["clinical_notes"]

    def progress(text: str) -> float:
        script = changed(solution(PARTLY), RECOMMEND, clinical_notes=f"{notes} {text}")
        episode = play(PARTLY, script)
        assert "words_sound" in fails(episode)
        return episode.verdict().progress

    doubtful, grave = progress("A colleague beside me agrees."), progress("None of this is true.")
    assert grave <= 0.0 < doubtful < 0.9


def test_a_letter_in_part_that_grants_all_is_not_written() -> None:
    _, asked = amounts()
    said = changed(solution(PARTLY), LETTER, body=f"All {asked} visits can go ahead.")
    assert "letters_right" in fails(play(PARTLY, said, refused=True))


def resolved(instance: ReviewInstance) -> str:
    """Return a criterion that a diagnosis shows which is resolved; blank if there is none."""
    world = ManagedCareWorld(instance.start)
    policy, day = instance.reference.policy, world.clock.now.date()
    facts = read_packet(world, instance.reference.case_id, policy, day).facts
    past = [fact for fact in facts if isinstance(fact, Diagnosis) and not fact.active]
    found = {row["criterion_id"]: row for row in rows(solution(instance))}
    for item in criteria(instance.reference.policy.criteria):
        if not isinstance(item, DiagnosisCriterion) or item.id not in found:
            continue
        named = any(fact.code.startswith(tuple(item.prefixes)) for fact in past)
        if named and found[item.id].get("source_refs_used"):
            return item.id
    return ""


def test_what_is_resolved_needs_no_day_since_when() -> None:
    instance = first_of(StartStage.NURSE_REVIEW, Path.NURSE_APPROVES, resolved)
    name = resolved(instance)
    script = solution(instance)
    row = next(each for each in rows(script) if each["criterion_id"] == name)
    world = ManagedCareWorld(instance.start)
    page = world.documents.get(row["source_refs_used"][0])
    told = f"It stands as resolved in the note of {page.created_at:%Y-%m-%d}."
    items = [{**each, "notes": ""} for each in row.get("item_observations", [])]
    said = finding(script, name, notes=told, item_observations=items)
    assert not fails(play(instance, said))
    silent = finding(script, name, notes="It is resolved.", item_observations=items)
    assert "values_observed" in fails(play(instance, silent))


def test_the_title_of_a_page_may_be_said() -> None:
    world = ManagedCareWorld(PARTLY.start)
    titles = {page.title for page in map(world.documents.get, sent(world)) if page.title}
    right = next(one for one in solution(PARTLY) if one.name == RECOMMEND)
    for title in sorted(titles):
        told = f"{right.arguments['clinical_notes']} See the page called {title}."
        said = changed(solution(PARTLY), RECOMMEND, clinical_notes=told)
        assert not fails(play(PARTLY, said)), title


def sent(world: ManagedCareWorld) -> tuple[str, ...]:
    """Return the documents of the packet."""
    day = world.clock.now.date()
    packet = read_packet(world, PARTLY.reference.case_id, PARTLY.reference.policy, day)
    return tuple(packet.documents)


def test_a_number_is_no_time_unless_it_is_told_as_one() -> None:
    right = next(one for one in solution(PARTLY) if one.name == RECOMMEND)
    notes = right.arguments["clinical_notes"]
    world = ManagedCareWorld(PARTLY.start)
    days = {page.created_at.date() for page in map(world.documents.get, sent(world))}
    first, last = min(days), max(days)
    apart = (last - first).days
    told = changed(solution(PARTLY), RECOMMEND, clinical_notes=f"{notes} {apart} days lie between.")
    assert not fails(play(PARTLY, told))
    told = changed(solution(PARTLY), RECOMMEND, clinical_notes=f"{notes} The result was {apart}.")
    assert "words_sound" in fails(play(PARTLY, told))


def test_how_much_is_granted_is_said_as_it_is() -> None:
    granted, asked = amounts()
    for told, right in (
        (f"{granted} of {asked} visits are approved.", True),
        (f"{asked} were asked for; {granted} are approved.", True),
        (f"{asked} visits are approved.", False),
    ):
        script = changed(solution(PARTLY), LETTER, body=told)
        assert (not fails(play(PARTLY, script, refused=True))) is right, told


@pytest.mark.parametrize(
    "text",
    [
        "The documentation does not show that {name} is met.",
        "It has not been shown that {name} is met.",
        "Nothing in the records shows that {name} is met.",
        "The records do not demonstrate that {name} was met.",
        "We did not receive records showing that {name} has been met.",
        "All criteria but {name} are met.",
    ],
)
def test_what_is_not_shown_may_be_said_in_many_words(text: str) -> None:
    policy, (found, name) = PARTLY.reference.policy, lacking()
    assert not [*misjudged(text.format(name=name), policy, found)]
    assert [*misjudged(f"{name} is met.", policy, found)] == [name]


def lacking() -> tuple[Mapping[str, Assessment], str]:
    """Return what a packet shows, and a criterion that it does not show and should."""
    policy, world = PARTLY.reference.policy, ManagedCareWorld(PARTLY.start)
    day = world.clock.now.date()
    packet = read_packet(world, PARTLY.reference.case_id, policy, day)
    found = evaluate(policy, packet.facts, packet.request, day).criteria
    good = favourable(policy.criteria)
    name = next(
        name
        for name, each in found.items()
        if each.result is not CriterionResult.MET and good.get(name) is Posture.SATISFIED
    )
    return found, name


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("Provider is not eligible for the gold card program.", False),
        ("Ineligible for gold card, hence nurse review.", False),
        ("The member is not eligible.", True),
    ],
)
def test_a_gold_card_is_no_coverage(text: str, of: bool) -> None:
    assert (form("turned_away").search(text.casefold()) is not None) is of


def test_what_the_practice_answered_may_be_quoted() -> None:
    instance = first_of(
        StartStage.NURSE_REVIEW,
        Path.UNINFORMED,
        lambda one: replies(play(one, solution(one)).world, one.reference.case_id),
    )
    script = solution(instance)
    right = [one for one in script if one.name == RECOMMEND][-1]
    (reply,) = replies(play(instance, script).world, instance.reference.case_id)

    def found(quoted: str) -> set[str]:
        told = f'{right.arguments["clinical_notes"]} The practice answered: "{quoted}"'
        return fails(play(instance, changed(script, RECOMMEND, -1, clinical_notes=told)))

    assert len(reply.text.split()) > 2
    assert not found(reply.text)
    assert "words_sound" in found("We have lost the chart, and ask for your patience.")


def test_who_took_part_in_a_call_may_be_told_with_office_and_specialty() -> None:
    instance = task(StartStage.PEER_TO_PEER, Path.UPHELD)
    script = solution(instance)
    right = [one for one in script if one.name == SUMMARIZE][-1]
    world = ManagedCareWorld(instance.start)
    case = world.cases.get(instance.reference.case_id)
    order = world.cases.order(case.service_request_id)
    doctor = world.staff.workers[order.ordering_practitioner_id]
    me = world.staff.workers[world.start.actor]

    def found(text: str) -> set[str]:
        told = f"{text} {right.arguments['summary']}"
        return fails(play(instance, changed(script, SUMMARIZE, -1, summary=told)))

    who = f"Call between Dr. {me.name} ({me.specialty}, physician reviewer) and Dr. {doctor.name}"
    assert not found(f"{who} (ordering clinician) on this case.")
    assert "words_sound" in found(f"Dr. {doctor.name} swore by herbal baths and prayer.")
