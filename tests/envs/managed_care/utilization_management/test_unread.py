"""What nobody reads of a task is not written, and what is left out changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.utilization_management import packet
from healthgym.envs.managed_care.utilization_management.task import PRESETS
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts import seen as encounters
from healthgym.worlds.managed_care.charts.sheets import Sheet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.utilization_management.drawing import generator
from tests.sized import some

FIRST, SOME = 5_000, some(30, 12)


def cases(level: str = "medium") -> Iterator[tuple[DrawnCase, ManagedCareWorld]]:
    """Cases drawn anew, and the world of each."""
    made = generator(replace(PRESETS[level], patients=30, cases=8))
    for index in range(FIRST, FIRST + SOME):
        try:
            case, instance = made.drawn(Split.TRAIN, index)
        except ConfigurationError:
            continue
        yield case, ManagedCareWorld(instance.start)


def test_no_encounter_is_written_before_one_is_read(monkeypatch: pytest.MonkeyPatch):
    written: Counter[str] = Counter()
    plain = encounters._written

    def counted(each: encounters.Seen, *others: object) -> object:
        written["encounters"] += 1
        return plain(each, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(encounters, "_written", counted)
    for number, (case, world) in enumerate(cases()):
        if number == 8:
            break
        assert not written
        own = world.charts[case.patient.chart.patient.id].encounters
        assert written.pop("encounters") == len(own) > 0
        assert own == world.charts[case.patient.chart.patient.id].encounters
        assert not written


def _whole(case: DrawnCase, names: frozenset[str]) -> object:
    """What documents show of the policy, all that each states gone through."""
    chart = case.patient.chart
    shown = {fact for name in names for fact in chart.shows.get(name, ())}
    kinds = {str(page.kind) for page in chart.documents if page.id in names}
    documents = tuple(kind for kind in UploadableDocumentKind if str(kind) in kinds)
    request = replace(case.drawn.request, documents=documents)
    facts = [fact for fact in chart.facts if fact.id in shown]
    return evaluate(case.book.in_force, facts, request, case.today)


@pytest.mark.parametrize("level", ["easy", "medium", "hard"])
def test_what_has_no_bearing_on_the_policy_changes_nothing(level: str):
    found = 0
    for case, _ in cases(level):
        names = [page.id for page in case.patient.chart.documents]
        for part in (names, names[::2], names[1::2], names[-3:]):
            seen = packet.seen(case, part, ())
            assert seen == _whole(case, frozenset(part))
            found += any(each.facts for each in seen.criteria.values())
    assert found > SOME


def test_pages_that_can_show_nothing_of_it_are_not_gone_through(monkeypatch: pytest.MonkeyPatch):
    gone_through: list[Sheet] = []
    body = Sheet._body
    kept = partial(list.append, gone_through)
    monkeypatch.setattr(Sheet, "_body", lambda self, draft: (kept(self), body(self, draft))[1])
    pages = 0
    for case, _ in cases():
        pages += len(case.patient.chart.documents)
    assert 0 < len(gone_through) < pages
    assert len(gone_through) == len(set(map(id, gone_through)))
