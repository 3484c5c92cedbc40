"""The patient of a case: what a chart shows, and what it must not give away."""

from __future__ import annotations

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.clinic import chart
from healthgym.envs.managed_care.cases.patients import without_kinds
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.worlds.managed_care.charts.sheets import stating
from healthgym.worlds.managed_care.charts.unread import DeferredDocument
from tests.envs.managed_care.prior_authorization.playing import Kind, chart_of, task


@pytest.mark.parametrize("ending", [Gap.DOCUMENT, Course.APPROVED, Bar.CONTRADICTED])
@pytest.mark.parametrize("index", range(5))
def test_no_number_of_a_document_is_left_out(ending: Course | Gap | Bar, index: int) -> None:
    instance = task(Kind(ending, index=index))
    own = chart_of(instance)
    numbers = sorted(int(each.id.rpartition("-")[2]) for each in own.documents)
    assert numbers == list(range(1, len(numbers) + 1))
    ids = {each.id for each in own.documents}
    assert instance.reference.documents <= ids
    assert set(own.shows) <= ids


def test_documents_that_are_left_keep_their_text_and_what_they_state() -> None:
    whole = chart(6, 1)
    gone = whole.documents[0].kind
    left = without_kinds(whole, (str(gone),))
    assert all(type(each) is DeferredDocument for each in left.documents)
    kept = [each for each in whole.documents if each.kind is not gone]
    assert 0 < len(kept) < len(whole.documents)
    assert [each.content for each in left.documents] == [each.content for each in kept]
    stated = [whole.shows[each.id] for each in kept]
    assert [left.shows[each.id] for each in left.documents] == stated
    assert [each.encounter_id for each in left.documents] == [each.encounter_id for each in kept]
    assert left.documents[0].id != kept[0].id or kept[0].id.endswith("-001")


@pytest.mark.parametrize("index", range(12))
def test_what_documents_state_is_known_before_they_are_written(index: int) -> None:
    instance = AuthorizationFamily("hard").generator.generate(Split.TEST, 140 + index)
    chart = instance.start.charts[instance.reference.patient_id]
    facts = {fact.id for fact in chart.facts if fact.id.startswith("F-")}
    stated = {name: known & facts for name, known in chart.shows.items() if known & facts}
    assert dict(stating(chart.shows, facts)) == stated
