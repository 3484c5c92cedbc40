"""Right work in forms that no script of ours makes: it passes under both profiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import numpy as np
import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS, StepTherapyCriterion
from healthgym.worlds.managed_care.policies.tree import AllOf, AnyOf, Group, Node, criteria
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    DELIVER,
    FAMILY,
    MD,
    NOTIFY,
    NURSE,
    RECOMMEND,
    Script,
    before,
    changed,
    fails,
    finding,
    first_of,
    play,
    position,
    rows,
    shown,
    solution,
    task,
    without,
)

STAGE = StartStage


def doubly(instance: ReviewInstance) -> list[str]:
    """Return the criteria on which two pages of the packet bear."""
    bearing = instance.reference.bearing
    return [name for name in shown(instance, "met") if len(bearing[name]) > 1]


NURSING = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, doubly)
DENIED = task(STAGE.MD_REVIEW, Path.DENIED)
ESCALATED = task(STAGE.NURSE_REVIEW, Path.DENIED)
PARTLY = task(STAGE.MD_REVIEW, Path.PARTLY)
INFORMED = task(STAGE.NURSE_REVIEW, Path.INFORMED)
UNINFORMED = first_of(
    STAGE.NURSE_REVIEW, Path.UNINFORMED, lambda each: each.reference.determination is not None
)
OVERTURNED = task(STAGE.PEER_TO_PEER, Path.OVERTURNED)
UPHELD = task(STAGE.PEER_TO_PEER, Path.UPHELD)
TRIAGE = task(STAGE.TRIAGE, Path.NURSE_APPROVES)
SUMMARY = "p2p_session.submit_summary"
OFFER, SCHEDULE = "p2p.offer_slots", "p2p.schedule"
FINALIZE, APPROVAL = "determination.finalize", "payer_letter_center.generate_approval"


def reviewed_in_two_goes() -> Script:
    """Return a review that is written down half first, and then as a whole."""
    script = solution(NURSING)
    place = position(script, NURSE)
    first = changed(script, NURSE, evaluations=rows(script)[:1])[place]
    second = changed(script, NURSE, review_id=_review_id(script, place))[place]
    return [*script[:place], first, second, *script[place + 1 :]]


def _review_id(script: Script, place: int) -> str:
    world = play(NURSING, script[: place + 1]).world
    return world.nursing.reviews_of(NURSING.reference.case_id)[-1].id


def backwards() -> Script:
    """Return findings in another order."""
    script = solution(NURSING)
    return changed(script, NURSE, evaluations=rows(script)[::-1])


def one_page() -> Script:
    """Return a finding that names one of several pages."""
    name = doubly(NURSING)[0]
    page = sorted(NURSING.reference.bearing[name])[0]
    return finding(solution(NURSING), name, source_refs_used=[page])


def a_page_more() -> Script:
    """Return a finding that names a page besides that has no bearing."""
    name = doubly(NURSING)[0]
    bearing = NURSING.reference.bearing[name]
    other = next(page for page in NURSING.reference.packet if page not in bearing)
    return finding(solution(NURSING), name, source_refs_used=[*sorted(bearing), other])


def own_words() -> Script:
    """Return findings that name no page where none bears on a criterion."""
    script, bearing = solution(ESCALATED), ESCALATED.reference.bearing
    found = rows(script)
    for row in found:
        if not bearing[row["criterion_id"]]:
            row["source_refs_used"] = []
    return changed(script, NURSE, -1, evaluations=found)


def overnight() -> Script:
    """Return a review that goes on the next morning, where the limit leaves time."""
    calendar = office_calendar("TX")
    now = SLOW.start.now
    day = calendar.next_business_day(calendar.local(now).date())
    at = calendar.utc(day, calendar.opens) + timedelta(hours=1)
    wait = call("wait", until=f"{at:%Y-%m-%dT%H:%M}")
    return before(solution(SLOW), RECOMMEND, wait)


def in_time(instance: ReviewInstance) -> bool:
    """Return whether a case can wait until tomorrow."""
    world = FAMILY.open(instance)
    triage = world.triage.of(instance.reference.case_id)
    limit = triage.sla_deadline if triage else None
    return (
        limit is not None
        and limit - instance.start.now > timedelta(hours=40)
        and (instance.start.now.weekday() < 3)
    )


SLOW = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, in_time)


def other_people(instance: ReviewInstance) -> Script:
    """Return what the oracle does with other workers of each role."""
    script = FAMILY.oracle(instance, np.random.default_rng(99))
    return [each for each in script if isinstance(each, ToolCall)]


def grounds(text: str) -> str:
    """Return a rationale that names what the denial rests on in other words."""
    named = [name.lower() for name in sorted(DENIED.reference.denied_on)]
    return text.format(named=", ".join(named), policy=DENIED.reference.policy.id)


def asked_in_prose() -> str:
    """Return a request for information as somebody writes it."""
    kinds = [name for name in INFORMED.reference.wanted if name not in INFORMED.reference.postures]
    named = [name for name in INFORMED.reference.wanted if name in INFORMED.reference.postures]
    lines = [f"For {name}: the record of it, from the last months" for name in named]
    lines += [f"The {kind.replace('_', ' ')} that the policy asks for" for kind in kinds]
    return "; ".join(lines)


#: How it is done → the task and the script.
FORMS_OF_RIGHT: Mapping[str, tuple[ReviewInstance, Callable[[], Script]]] = {
    "other workers, nurse": (NURSING, lambda: other_people(NURSING)),
    "other workers, call": (OVERTURNED, lambda: other_people(OVERTURNED)),
    "other workers, triage": (TRIAGE, lambda: other_people(TRIAGE)),
    "findings in two goes": (NURSING, reviewed_in_two_goes),
    "findings in another order": (NURSING, backwards),
    "one of several pages": (NURSING, one_page),
    "a page that has no bearing besides": (NURSING, a_page_more),
    "no page for what the request says itself": (ESCALATED, own_words),
    "without looking at the checklist": (
        NURSING,
        lambda: without(solution(NURSING), "payer_letter_center.audit_completeness"),
    ),
    "a remark under the letter": (
        NURSING,
        lambda: changed(
            solution(NURSING),
            "payer_letter_center.generate_approval",
            body="An earlier request was denied; this one stands on its own. Please call us.",
        ),
    ),
    "overnight": (SLOW, overnight),
    "a denial in other words": (
        DENIED,
        lambda: changed(
            solution(DENIED),
            DECIDE,
            denial_rationale=grounds("Under {policy} we cannot see {named} met: see the note."),
        ),
    ),
    "a denial as a list": (
        DENIED,
        lambda: changed(
            solution(DENIED),
            DECIDE,
            denial_rationale=grounds("{policy}\n- criterion {named} fails"),
            determination_rationale="As under the denial.",
        ),
    ),
    "one of the criteria": (
        DENIED,
        lambda: changed(
            solution(DENIED),
            DECIDE,
            denial_rationale=f"{min(DENIED.reference.denied_on)} is contradicted by the record.",
        ),
    ),
    "a decision per line, with more words": (
        PARTLY,
        lambda: changed(
            solution(PARTLY),
            DECIDE,
            clinical_notes="Beyond the limit.",
            determination_rationale="The policy's limit.",
        ),
    ),
    "information asked for in prose": (
        INFORMED,
        lambda: changed(solution(INFORMED), RECOMMEND, info_requested=asked_in_prose()),
    ),
    "the day of the rules, written out": (
        INFORMED,
        lambda: changed(
            solution(INFORMED),
            RECOMMEND,
            info_deadline=_due(INFORMED),
        ),
    ),
    "a letter with a remark": (
        NURSING,
        lambda: changed(
            solution(NURSING),
            "payer_letter_center.generate_approval",
            body="With our best wishes.",
        ),
    ),
    "the notice before the letter": (
        NURSING,
        lambda: before(
            without(solution(NURSING), NOTIFY),
            DELIVER,
            call(
                NOTIFY,
                case_id=NURSING.reference.case_id,
                notification_type="approval",
                actor=solution(NURSING)[position(solution(NURSING), NURSE)].arguments[
                    "reviewer_id"
                ],
            ),
        ),
    ),
    "a summary in other words": (
        UPHELD,
        lambda: changed(
            solution(UPHELD),
            SUMMARY,
            summary=(
                f"On {' and '.join(sorted(UPHELD.reference.denied_on))} the clinician had nothing "
                f"that we do not have. {_facts(UPHELD)}"
            ),
        ),
    ),
    "a denial that numbers its criteria in words": (
        DENIED,
        lambda: _numbered(DENIED, DECIDE, "denial_rationale", "determination_rationale"),
    ),
    "a request for information that does": (
        INFORMED,
        lambda: _numbered(INFORMED, RECOMMEND, "info_requested"),
    ),
    "a summary that does": (
        OVERTURNED,
        lambda: _numbered(OVERTURNED, SUMMARY, "summary"),
    ),
    "read before writing": (
        NURSING,
        lambda: before(
            solution(NURSING),
            NURSE,
            call("payer_intake_hub.list_intake_queue"),
            call("handbook.search", query="nurse review"),
        ),
    ),
    "what is still open counts as not met": (
        UNINFORMED,
        lambda: _closed(UNINFORMED),
    ),
}


def _numbered(instance: ReviewInstance, name: str, *fields: str) -> Script:
    """Return right work that writes "criterion 3" for C3, as the handbook's examples do."""
    script = solution(instance)
    said = script[position(script, name)].arguments
    told = {
        each: re.sub(r"\bC(\d+)\b(?!\.\d)", r"criterion \1", str(said[each])) for each in fields
    }
    assert told != {each: said[each] for each in fields}
    return changed(script, name, **told)


def _due(instance: ReviewInstance) -> str:
    """Return the day until which is to be answered, as the world has it."""
    script = solution(instance)
    world = play(instance, script[: position(script, RECOMMEND) + 1]).world
    due = world.cases.get(instance.reference.case_id).pend_due_at
    assert due is not None
    return f"{due:%Y-%m-%d}"


def _facts(instance: ReviewInstance) -> str:
    contract = instance.reference.call
    assert contract is not None
    return " ".join(fact.text for fact in contract.facts if fact.criterion in contract.disputed)


def _closed(instance: ReviewInstance) -> Script:
    """Return a physician's review in which nothing stays open."""
    script = solution(instance)
    open_ones = set(instance.reference.denied_on)
    closed = [
        {**row, "result": "not_met"}
        if row["criterion_id"] in open_ones and row["result"] == "unclear"
        else row
        for row in rows(script, MD)
    ]
    return changed(script, MD, -1, evaluations=closed)


@pytest.mark.parametrize("name", FORMS_OF_RIGHT)
def test_it_passes_in_this_form_too(name: str) -> None:
    instance, script = FORMS_OF_RIGHT[name]
    episode = play(instance, script())
    for profile in Profile:
        assert fails(episode, profile) == set()
        assert episode.verdict(profile=profile).success


def alternatives(instance: ReviewInstance) -> list[str]:
    """Return the criteria of a choice that a satisfied part of it makes needless."""
    final = instance.reference.final
    for node in _choices(instance.reference.policy.criteria):
        names = [part.id for part in node.parts if not isinstance(part, Group)]
        met = [name for name in names if str(final[name]) == "met"]
        if met and len(names) > len(met) and len(names) == len(node.parts):
            return [name for name in names if str(final[name]) == "not_met"]
    return []


def _choices(node: Node) -> Iterator[AnyOf]:
    """Yield the choices of a policy that stand under no exception."""
    if isinstance(node, AnyOf):
        yield node
    if isinstance(node, AllOf | AnyOf):
        for part in node.parts:
            yield from _choices(part)


def test_what_an_alternative_makes_needless_may_stay_open() -> None:
    instance = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, alternatives)
    name = alternatives(instance)[0]
    script = finding(solution(instance), name, result="unclear", source_refs_used=[])
    assert fails(play(instance, script)) == set()


def request_s_own(instance: ReviewInstance) -> list[str]:
    """Return the criteria that the request answers by itself and that end as met."""
    tree = criteria(instance.reference.policy.criteria)
    own = {item.id for item in tree if isinstance(item, REQUEST_KINDS)}
    return sorted(own & set(shown(instance, "met")))


def the_intake(instance: ReviewInstance) -> list[str]:
    """Return the intake record as what a finding rests on."""
    intake = FAMILY.open(instance).intake.find(instance.reference.case_id)
    assert intake is not None
    return [intake.id]


@pytest.mark.parametrize("named", [lambda _: [], the_intake], ids=["nothing", "the intake record"])
def test_what_the_request_states_needs_no_page(
    named: Callable[[ReviewInstance], list[str]],
) -> None:
    instance = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, request_s_own)
    script = solution(instance)
    for name in request_s_own(instance):
        row = next(row for row in rows(script) if row["criterion_id"] == name)
        items = [{**item, "source_refs_used": []} for item in row["item_observations"]]
        script = finding(script, name, source_refs_used=named(instance), item_observations=items)
    assert fails(play(instance, script)) == set()


def test_whoever_means_to_deny_may_talk_and_decide() -> None:
    instance = task(STAGE.MD_REVIEW, Path.UPHELD)
    script = solution(instance)
    who = script[position(script, DECIDE)].arguments["reviewer_id"]
    for name in (OFFER, SCHEDULE):
        script = changed(script, name, -1, payer_contact_id=who)
    script = changed(script, FINALIZE, -1, actor=who)
    assert fails(play(instance, script)) == set()


def test_a_letter_cites_the_policy_as_the_handbook_does() -> None:
    policy = NURSING.reference.policy
    script = solution(NURSING)
    script = changed(script, APPROVAL, policy_citations=[f"{policy.id} {policy.version}"])
    assert fails(play(NURSING, script)) == set()


def untried(instance: ReviewInstance) -> list[str]:
    """Return the trials of medicines that the packet leaves open."""
    tree = criteria(instance.reference.policy.criteria)
    trials = {item.id for item in tree if isinstance(item, StepTherapyCriterion)}
    return sorted(trials & set(shown(instance, "unclear")))


def test_too_few_trials_so_far_may_be_counted() -> None:
    instance = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, untried)
    name = untried(instance)[0]
    none = [{"item_id": f"{name}.agents", "observed_value": 0, "item_result": "unclear"}]
    script = finding(solution(instance), name, item_observations=none)
    assert fails(play(instance, script)) == set()


def begun_elsewhere(instance: ReviewInstance) -> tuple[str, list[str]] | None:
    """Return a trial of drugs that is met, and two pages or more that only name one of them."""
    world = FAMILY.open(instance)
    case = world.cases.get(instance.reference.case_id)
    pages = {page.id: page.content.casefold() for page in world.charts[case.patient_id].documents}
    for item in criteria(instance.reference.policy.criteria):
        if isinstance(item, StepTherapyCriterion) and item.id in shown(instance, "met"):
            naming = [
                name
                for name in instance.reference.packet
                if any(drug in pages.get(name, "") for drug in item.drugs)
            ]
            more = sorted(set(naming) - instance.reference.bearing[item.id])
            if len(more) > 1:
                return item.id, more
    return None


def test_pages_that_name_a_drug_may_be_named_beside_the_one_that_shows_its_trial() -> None:
    instance = first_of(STAGE.NURSE_REVIEW, Path.NURSE_APPROVES, begun_elsewhere)
    found = begun_elsewhere(instance)
    assert found is not None
    name, more = found
    script = solution(instance)
    row = next(row for row in rows(script) if row["criterion_id"] == name)
    named = finding(script, name, source_refs_used=[*row["source_refs_used"], *more])
    assert fails(play(instance, named)) == set()
    # Without the one that shows it they are no source, and pages about other things are none.
    bare = [{**item, "source_refs_used": []} for item in row["item_observations"]]
    alone = finding(script, name, source_refs_used=more, item_observations=bare)
    assert fails(play(instance, alone)) == {"findings_sourced"}
    packet = finding(script, name, source_refs_used=list(instance.reference.packet))
    assert fails(play(instance, packet)) == {"findings_sourced"}
