"""Search by identifiers, and look-up by id."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from healthgym.envs.managed_care.cases import clinic
from healthgym.envs.managed_care.cases.clinic import CHARTED, workforce
from healthgym.worlds.managed_care.charts.chart import (
    ChartLibrary,
    PatientChart,
    PatientFilter,
    UnwrittenChart,
)
from healthgym.worlds.managed_care.population.drawing import Population, chart_of
from healthgym.worlds.managed_care.records.chart import Patient


def person(number: int, first: str, last: str, born: date) -> PatientChart:
    return PatientChart(
        patient=Patient(
            id=f"P{number}",
            member_id=f"M-100{number}",
            first_name=first,
            last_name=last,
            dob=born,
            sex="F",
        )
    )


LIBRARY = ChartLibrary(
    [
        person(3, "Anaya", "Bellamy", date(1955, 6, 15)),
        person(2, "Ben", "Cole", date(1980, 11, 30)),
        person(4, "Ana", "Bell", date(1961, 4, 20)),
        person(1, "Ana", "Bell", date(1961, 4, 2)),
    ]
)


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        (PatientFilter(), ["P1", "P4", "P3", "P2"]),
        (PatientFilter(query="bell"), ["P1", "P4", "P3"]),
        (PatientFilter(query="ana bell"), ["P1", "P4"]),
        (PatientFilter(query="1961-04"), ["P1", "P4"]),
        (PatientFilter(query="osteoarthritis"), []),
        (PatientFilter(first_name="ANA"), ["P1", "P4", "P3"]),
        (PatientFilter(first_name="ana", dob="1961-04-02"), ["P1"]),
        (PatientFilter(member_id="M-100"), []),
        (PatientFilter(member_id="m-1002"), ["P2"]),
        (PatientFilter(patient_id="P"), []),
        (PatientFilter(last_name="  Cole "), ["P2"]),
        (PatientFilter(query="  "), ["P1", "P4", "P3", "P2"]),
    ],
    ids=lambda value: str(value) if isinstance(value, list) else "",
)
def test_search_matches_identifiers_only(wanted: PatientFilter, ids: list[str]) -> None:
    found = LIBRARY.search(wanted)
    assert [chart.patient.id for chart in found.charts] == ids
    assert found.total == len(ids)


@pytest.mark.parametrize(("limit", "rows"), [(2, 2), (0, 1), (-5, 1), (9999, 4)])
def test_the_limit_is_brought_into_its_range(limit: int, rows: int) -> None:
    found = LIBRARY.search(PatientFilter(), limit)
    assert (len(found.charts), found.total) == (rows, 4)


def test_documents_and_orders_are_found_by_id(population: Population) -> None:
    library = population.charts
    for chart in library.values():
        for page in chart.documents:
            assert library.document(page.id) is page
        for order in chart.orders:
            assert library.order(order.id) is order
    assert library.document("DOC-0") is None
    assert library.order("SR-0") is None


def test_a_chart_replaces_that_of_its_patient(population: Population) -> None:
    library = population.charts
    old = next(chart for chart in library.values() if len(chart.documents) > 2)
    new = replace(old, documents=old.documents[:1], orders=())
    other = library.with_charts([new])
    assert other[old.patient.id] is new
    assert other.document(old.documents[1].id) is None
    assert library.document(old.documents[1].id) is old.documents[1]
    assert len(other) == len(library)


def test_two_charts_must_not_share_an_id(population: Population) -> None:
    one, two = list(population.charts.values())[:2]
    with pytest.raises(ValueError, match="the patient"):
        ChartLibrary([one, one])
    with pytest.raises(ValueError, match=f"the document {one.documents[0].id}"):
        ChartLibrary([one, replace(two, documents=one.documents)])


def test_a_chart_is_written_when_it_is_opened() -> None:
    written: list[str] = []

    def unwritten(name: str) -> UnwrittenChart:
        one = clinic.person(int(name), 0)

        def write() -> PatientChart:
            written.append(name)
            return chart_of(one, workforce(), np.random.default_rng(int(name)), CHARTED)

        return UnwrittenChart.later(
            write,
            patient=one.patient,
            coverages=one.coverages,
            orders=one.orders,
            facts=one.facts,
        )

    charts = [unwritten("1"), unwritten("2")]
    library = ChartLibrary(charts)
    tail = charts[1].patient.id.removeprefix("PAT-")
    assert library.search(PatientFilter()).total == 2
    assert library.document("DOC-0-001") is None
    assert written == []
    page = library.document(f"DOC-{tail}-001")
    assert page is not None
    assert written == ["2"]
    assert page in charts[1].documents
    assert charts[1] == chart_of(
        clinic.person(2, 0), workforce(), np.random.default_rng(2), CHARTED
    )
    fewer = library.with_charts([replace(charts[1], documents=())])
    assert fewer.document(page.id) is None
    assert written == ["2"]
