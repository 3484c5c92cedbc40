"""Documents that are written late say what they were said to state, and are like any others."""

from __future__ import annotations

import pickle
from dataclasses import asdict, replace

import numpy as np
import pytest

from healthgym.envs.managed_care.cases.clinic import CHARTED, chart, person, workforce
from healthgym.worlds.managed_care.charts import rendering
from healthgym.worlds.managed_care.charts.chart import DeferredChart, UnwrittenChart
from healthgym.worlds.managed_care.charts.phrases import Ahead, seeded
from healthgym.worlds.managed_care.charts.prose import Prose
from healthgym.worlds.managed_care.charts.rendering import render_chart, render_unopened
from healthgym.worlds.managed_care.charts.sheets import Stated, renamed, stating
from healthgym.worlds.managed_care.charts.structured import structured
from healthgym.worlds.managed_care.charts.unread import DeferredDocument
from healthgym.worlds.managed_care.deferred import varied
from healthgym.worlds.managed_care.population.background import draw_background
from healthgym.worlds.managed_care.population.drawing import chart_of
from healthgym.worlds.managed_care.population.staff import draw_workforce
from healthgym.worlds.managed_care.records.chart import DocumentReference
from tests.worlds.managed_care.charts.conftest import TODAY


@pytest.mark.parametrize("group", range(8))
def test_what_is_stated_is_known_before_the_words_are_chosen(group):
    for sheet in chart(group, 0).shows._sheets.values():  # type: ignore[attr-defined]
        prose = Prose(seeded(sheet.seed), sheet.binder.units)
        sheet._body(sheet._draft(prose))
        assert sheet.stated == prose.stated


def test_documents_can_be_asked_for_some_facts_only():
    shows = chart(1, 1).shows
    for fact in [each.id for each in chart(1, 1).facts][::7]:
        every = {name: stated & {fact} for name, stated in shows.items() if fact in stated}
        assert stating(shows, {fact}) == stating(dict(shows), {fact}) == every


def test_a_part_of_the_documents_shows_what_they_showed():
    shows = chart(2, 0).shows
    names = {name: f"{name}-new" for name in list(shows)[::2]}
    told = {f"{name}-new": shows[name] for name in names}
    assert dict(renamed(shows, names)) == renamed(dict(shows), names) == told


def test_the_text_does_not_depend_on_when_it_is_read():
    def written():
        staff = draw_workforce(np.random.default_rng(0))
        rng = np.random.default_rng(5)
        own = draw_background(1, staff, rng, TODAY)
        return render_chart(own.patient, own.coverages, own.facts, own.orders, staff, rng, TODAY)

    forward, backward = written(), written()
    texts = {each.id: each.content for each in forward.documents}
    assert {each.id: each.content for each in reversed(backward.documents)} == texts
    assert len(set(texts.values())) == len(texts) > 5


def test_a_deferred_document_is_like_any_other():
    late, again = chart(3, 0).documents[0], chart(3, 0).documents[1]
    plain = DocumentReference(**asdict(late))
    assert type(late) is DeferredDocument
    assert (late == plain, plain == late, late == again) == (True, True, False)
    copies = [pickle.loads(pickle.dumps(late)), replace(late, case_id=None)]
    assert [type(each) for each in copies] == [DocumentReference] * 2
    assert copies == [plain, plain]
    assert replace(late, title="Other").content == late.content
    with pytest.raises(AttributeError):
        late.texts  # type: ignore[attr-defined]  # noqa: B018


def test_a_chart_survives_pickling():
    original = chart(4, 0)
    copy = pickle.loads(pickle.dumps(original))
    assert isinstance(original.shows, Stated)
    assert copy == replace(original, shows=dict(original.shows))


def test_structured_records_are_made_when_one_is_read():
    who = person(5, 0)
    first = chart_of(who, workforce(), np.random.default_rng(0), CHARTED)
    own = structured(first.patient, first.facts)
    late = varied(first, documents=())
    assert type(late) is DeferredChart
    assert late.observations == own.observations
    assert (late.conditions, late.medications) == (own.conditions, own.medications)
    assert (late.allergies, late.procedures, late.documents) == (own.allergies, own.procedures, ())


@pytest.mark.parametrize("choices", [Ahead.MOST, Ahead.MOST + 1])
def test_a_chart_that_is_written_later_is_the_same_and_leaves_its_stream_alike(
    choices: int, monkeypatch: pytest.MonkeyPatch
):
    who, now, late = person(6, 0), np.random.default_rng(7), np.random.default_rng(7)
    monkeypatch.setattr(rendering, "_most_choices", lambda *_: choices)
    first = render_chart(who.patient, who.coverages, who.facts, (), workforce(), now, CHARTED)
    other = render_unopened(who.patient, who.coverages, who.facts, workforce(), late, CHARTED)
    # One that may take more of the stream than is known beforehand is written at once.
    assert type(other) is (UnwrittenChart if choices == Ahead.MOST else DeferredChart)
    assert now.random() == late.random()
    assert other == first
    assert [each.content for each in other.documents] == [each.content for each in first.documents]


def test_no_chart_makes_more_choices_than_it_may():
    for group in range(12):
        made: list[int] = []

        class Counting(Ahead):
            def below(self, bound: int) -> int:
                made.append(bound)  # noqa: B023
                return super().below(bound)

        who = person(group, 0)
        numbers = Ahead.drawn(np.random.default_rng(group)).tolist()
        given = (who.patient, who.coverages, who.facts, (), workforce(), CHARTED)
        rendering._written(given, Counting(numbers))
        assert 0 < len(made) <= rendering._most_choices(who.facts, ())
    with pytest.raises(AssertionError, match="choices"):
        Ahead(()).below(2)


def test_records_that_follow_from_the_facts_are_read_without_a_chart_being_written():
    who = person(7, 0)
    written = chart_of(who, workforce(), np.random.default_rng(3), CHARTED)

    def never() -> None:
        raise AssertionError("It was written.")

    known = {name: getattr(written, name) for name in ("patient", "coverages", "orders", "facts")}
    late = UnwrittenChart.later(never, **known)
    for name in ("conditions", "observations", "procedures", "medications", "allergies"):
        assert getattr(late, name) == getattr(written, name)
    for name in ("encounters", "documents", "shows"):
        with pytest.raises(AssertionError, match="written"):
            getattr(late, name)
