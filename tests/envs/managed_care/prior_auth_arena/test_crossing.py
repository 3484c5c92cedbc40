"""Nothing crosses but what is sent or said: with one side's own records exchanged, the other reads
the same bytes, in preparation, in a call and in an appeal.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena.payer import PayerOracle
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.worlds.managed_care.charts.chart import ChartLibrary
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import SharedStart
from tests.envs.managed_care.prior_auth_arena.table import first, played, seated

#: How an episode goes that has a call in it, and one that has appeals.
CALL, APPEALS = ("said", "honest"), ("approved", "misreads")


def read(episode: ArenaEpisode, role: str) -> list[str]:
    """What a side reads."""
    return [f"{turn.news}\n{turn.observation}" for turn in episode.turns if turn.role == role]


def patient_of(task: ArenaInstance) -> str:
    """Whom a task is about."""
    return task.reference.provider.patient_id


def with_other_chart(task: ArenaInstance, sent: set[str]) -> ArenaInstance:
    """The task with another chart, but for what was sent of it."""
    patient = patient_of(task)
    chart = task.start.charts[patient]
    kept = [page for page in chart.documents if page.id in sent]
    others = [page for page in chart.documents if page.id not in sent]
    assert others
    changed = [replace(page, content=f"{page.content}\nThe family is anxious.") for page in others]
    order = {page.id: place for place, page in enumerate(chart.documents)}
    documents = tuple(sorted((*kept, *changed), key=lambda page: order[page.id]))
    other = replace(chart, documents=documents, allergies=())
    start = task.start
    assert isinstance(start, SharedStart)

    def exchanged(charts: ChartLibrary) -> ChartLibrary:
        return ChartLibrary(
            [other if one.patient.id == patient else one for one in charts.values()]
        )

    own, all_of_them = exchanged(start.practice), exchanged(start.charts)
    return replace(task, start=replace(start, charts=all_of_them, practice=own))


@pytest.mark.parametrize(("ending", "payer"), [CALL, APPEALS])
def test_what_the_chart_holds_beside_what_was_sent_the_payer_does_not_read(
    ending: str, payer: str
) -> None:
    episode = played(first(ending), payer=payer)
    world = episode.world
    assert world.parley.of(CASE) or world.appeals.of(CASE)
    sent = {page.id for page in world.intake.sent(CASE)}
    other = with_other_chart(first(ending), sent)
    again = played(other, payer=payer)
    assert read(again, PAYER) == read(episode, PAYER)
    pages = first(ending).start.charts[patient_of(first(ending))].documents
    page = next(page.id for page in pages if page.id not in sent)
    look = call("docs.get_document", document_id=page)
    shown = [begun(task).step(look, PROVIDER).observation for task in (first(ending), other)]
    assert shown[0] != shown[1]


def begun(task: ArenaInstance) -> ArenaEpisode:
    """An episode of which nothing is played."""
    return seated(task).episode


class Noting(Seat):
    """A payer's desk at which every note has a sentence more."""

    def do(self, name: str, /, **arguments: object) -> bool:
        if "clinical_notes" in arguments:
            arguments["clinical_notes"] = f"{arguments['clinical_notes']} A colleague doubts it."
        return super().do(name, **arguments)


class Doubting(PayerOracle):
    """Works at such a desk."""

    def __init__(self, seat: Seat, instance: ArenaInstance) -> None:
        seat.__class__ = Noting
        super().__init__(seat, instance)


@pytest.mark.parametrize(("ending", "provider"), [("said", "oracle"), ("insisted", "appeals_all")])
def test_what_the_payer_notes_for_itself_the_provider_does_not_read(
    ending: str, provider: str
) -> None:
    episode = played(first(ending), provider)
    world = episode.world
    assert world.parley.of(CASE) or world.appeals.of(CASE)
    again = played(first(ending), provider, Doubting)
    assert read(again, PROVIDER) == read(episode, PROVIDER)
    assert read(again, PAYER) != read(episode, PAYER)
