"""Whatever is asked for, and for whomever: the offices answer, and no episode breaks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationInstance
from healthgym.worlds.managed_care.apps.provider.forms import UNKNOWN
from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from tests.envs.managed_care.prior_authorization.playing import (
    BUNDLE,
    CASE,
    FAMILY,
    FINISH,
    Kind,
    changed,
    chart_of,
    play,
    position,
    solution,
    task,
)

_LATER = "2026-12-31T12:00"
KINDS = [
    Kind(ending, None, "hard", rules)
    for ending in (Course.APPROVED, Course.EXTERNAL, Gap.ABSENT, Bar.NOT_REQUIRED)
    for rules in Rules
]


def pressed(case: str, chart: PatientChart, keys: list[str], channel: str) -> list[ToolCall]:
    """Return a script that sends a case with all there is, and never takes no for an answer."""
    submit = call(
        "auth.submit_authorization", case_id=case, channel=channel, bundle_document_id=BUNDLE
    )
    everything = [document.id for document in chart.documents]
    again = (
        submit,
        call("auth.respond_to_pend", case_id=case, note="Nothing more is on file."),
        call("wait", until=_LATER),
        call("auth.file_appeal", case_id=case, rationale="It is needed."),
        call("wait", until=_LATER),
        call("auth.file_external_appeal", case_id=case, rationale="It is needed."),
        call("wait", until=_LATER),
        call("cases.get_case", case_id=case),
        call("auth.check_status", case_id=case, channel="portal"),
    )
    return [
        call("forms.save_form_response", case_id=case, answers=dict.fromkeys(keys, UNKNOWN)),
        call("docs.create_submission_bundle", case_id=case, document_ids=everything),
        oracle.call("auth.finalize_provider_determination", case_id=case, final_action="submit_pa"),
        submit,
        call("wait", until=_LATER),
        *again,
        *again,
        FINISH,
    ]


def form_keys(instance: AuthorizationInstance, script: list[ToolCall], case: str) -> list[str]:
    """Return the keys that the forms of a case ask for, once a script was played."""
    world = play(instance, script, refused=True).world
    if case not in world.cases.cases:
        return []
    shown = world.documents.list_required_forms(case)["items"]
    return [key for form in shown for key in form["required_fields"]]


def scripts(instance: AuthorizationInstance) -> Iterator[list[ToolCall]]:
    """Yield scripts for the cases of others, and for orders of theirs that have no case yet."""
    charts = instance.start.charts
    for record in instance.start.records:
        if isinstance(record, PriorAuthCase):
            keys = form_keys(instance, [], record.id)
            yield pressed(record.id, charts[record.patient_id], keys, "edi")
    for chart in charts.values():
        for order in chart.orders[:1]:
            opened = [oracle.open_case(order)]
            keys = form_keys(instance, opened, CASE)
            for channel in ("edi", "portal"):
                yield [*opened, *pressed(CASE, chart, keys, channel)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_no_request_breaks_an_episode(kind: Kind) -> None:
    instance = task(kind)
    decided = set()
    for script in scripts(instance):
        episode = play(instance, script, refused=True)
        assert not episode.verdict(profile=Profile.STRICT).success
        decided |= {str(case.status) for case in episode.world.cases.cases.values()}
    assert len(decided) > 3, "the scripts must get somewhere"


@pytest.mark.parametrize("rules", Rules, ids=str)
def test_a_lane_without_review_answers_a_packet_that_shows_nothing(rules: Rules) -> None:
    instance = task(Kind(Course.GOLD_CARD, None, "hard", rules))
    script = solution(instance)
    place = position(script, "docs.create_submission_bundle")
    held = script[place].arguments["document_ids"]
    assert isinstance(held, list)
    kinds = {each.id: str(each.kind) for each in chart_of(instance).documents}
    first = {kinds.get(name, name): name for name in reversed(held)}
    episode = play(instance, changed(script, script[place].name, document_ids=[*first.values()]))
    assert episode.world.cases.get(CASE).status is CaseStatus.APPROVED
    assert episode.world.letters.of(CASE)


def test_no_tool_of_the_payer_is_offered() -> None:
    names = {spec.name for spec in FAMILY.roles["agent"].catalog.specs}
    payer = ("intake.", "triage.", "review.", "determination.", "letters.", "p2p.", "audit.")
    assert not {name for name in names if name.startswith(payer)}
    instance = task(Kind(Course.APPROVED))
    episode = play(instance, [call("determination.finalize", case_id=CASE), FINISH], refused=True)
    assert episode.events[0].error
