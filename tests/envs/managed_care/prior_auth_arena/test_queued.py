"""The request in the payer's queue: who works it, who does not see it, and what it is judged by."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from healthgym.core.episode import Episode
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.core.verifier import Evidence
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedOffices, SharedStart
from tests.envs.managed_care.prior_auth_arena.table import (
    FAMILY,
    failed,
    first,
    instance,
    played,
)

UNREAD = (Path.LANE, Path.RETURNED)


def lying(task: ArenaInstance) -> str:
    assert task.reference.queued is not None
    return task.reference.queued.reference.case_id


def test_it_needs_a_review_wherever_the_other_one_needs_none() -> None:
    paths: Counter[Path] = Counter()
    for index in range(30):
        task = instance(index)
        assert task.reference.queued is not None
        path = task.reference.queued.reference.path
        paths[path] += 1
        if not task.task.kind.startswith("submit") or task.task.kind.endswith(("card", "ication")):
            assert path not in UNREAD
    approved = paths[Path.NURSE_APPROVES] + paths[Path.PHYSICIAN_APPROVES]
    assert 6 <= approved <= 24
    assert len(paths) >= 4


@pytest.mark.parametrize("ending", ["approved", "absent"])
def test_a_payer_that_leaves_it_alone_fails_and_the_provider_does_not(ending: str) -> None:
    episode = played(first(ending), payer="absent")
    lost = failed(episode, PAYER)
    assert {"payer.queue.ends_right", "payer.queue.intake_right"} & lost
    assert failed(episode, PROVIDER) == set()
    assert "payer.queue.intake_right" not in failed(episode, PAYER, Profile.PAPER)


def judged(task: ArenaInstance, world: SharedOffices) -> set[str]:
    """What the payer fails where a world is left."""
    evidence = Evidence(task.task, task.reference, FAMILY.open(task), world, [], {}, PAYER)
    results = FAMILY.verifier.judge(evidence, Profile.STRICT).results
    return {one.check.name for one in results if one.passed is False}


def test_what_is_done_wrong_about_it_is_found_under_its_own_name() -> None:
    task = first("absent")
    world, case = played(task).world, lying(task)
    (made,) = world.determinations.of(case)
    world.determinations.determinations[made.id] = replace(made, case_id="CASE-0")
    lost = judged(task, world)
    assert "payer.queue.determination_right" in lost
    assert not any(name.startswith("joint.") for name in lost)


def test_what_is_determined_where_nothing_was_sent_is_found_beside_it() -> None:
    task = first("absent")
    world, case = played(task).world, lying(task)
    assert "payer.nothing_invented" not in judged(task, world)
    (letter,) = world.letters.of(case)
    world.letters.letters["LET-9"] = replace(letter, id="LET-9", case_id="CASE-6107")
    assert "payer.nothing_invented" in judged(task, world)


def test_the_practice_finds_nothing_of_it() -> None:
    task = first("approved")
    assert isinstance(task.start, SharedStart)
    assert task.reference.queued is not None
    queued, case = task.reference.queued.reference, lying(task)
    record = next(one for one in task.start.records if getattr(one, "id", "") == case)
    assert isinstance(record, PriorAuthCase)
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules)
    for name, arguments, unknown in (
        ("cases.get_case", {"case_id": case}, "CASE-99999"),
        ("chart.get_patient_chart_by_patient", {"patient_id": record.patient_id}, "PAT-0"),
        ("docs.get_document", {"document_id": queued.packet[0]}, "DOC-0"),
        ("docs.list_case_documents", {"case_id": case}, "CASE-99999"),
        ("auth.check_status", {"case_id": case, "channel": "portal"}, "CASE-99999"),
        ("auth.request_peer_to_peer", {"case_id": case}, "CASE-99999"),
        ("inbox.list_messages", {"case_id": case}, "CASE-99999"),
    ):
        key = next(iter(arguments))
        told, other = (
            episode.step(call(name, **{**arguments, key: value}), PROVIDER).errors
            for value in (arguments[key], unknown)
        )
        assert told
        assert [text.replace(arguments[key], "?") for text in told] == [
            text.replace(unknown, "?") for text in other
        ]
    for name, most in (("chart.search_patients", {"limit": 5000}), ("cases.list_cases", {})):
        shown = episode.step(call(name, **most), PROVIDER).observation
        assert record.patient_id not in shown
    assert episode.world.charts is task.start.charts


def test_with_its_records_exchanged_the_practice_reads_the_same_bytes() -> None:
    task = first("approved")
    assert isinstance(task.start, SharedStart)
    (record,) = (
        one
        for one in task.start.records
        if isinstance(one, PriorAuthCase) and one.id == lying(task)
    )
    chart = task.start.charts[record.patient_id]
    somebody = replace(chart.patient, first_name="Zoe", last_name="Quill", dob=date(1950, 1, 1))
    charts = task.start.charts.with_charts([replace(chart, patient=somebody)])
    other = replace(task, start=replace(task.start, charts=charts))

    def read(each: ArenaInstance) -> list[str]:
        turns = played(each).turns
        return [f"{one.news}\n{one.observation}" for one in turns if one.role == PROVIDER]

    assert read(task) == read(other)
