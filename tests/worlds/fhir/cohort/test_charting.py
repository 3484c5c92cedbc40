"""Background charts: dates, shapes, volume, and what they leave out."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.cohort import PatientProfile, Volume, vocabulary
from tests.sized import one_in, some

Charts = Callable[..., dict[str, list[dict[str, Any]]]]
Names = Callable[..., set[str]]

DATES = ("effectiveDateTime", "issued", "onsetDateTime", "performedDateTime", "authoredOn")
# Enough of everything that the rarest class of the tables is met in a chart without omissions.
LARGE = Volume(labs=6000, vitals=900, conditions=3000, medications=5000, procedures=3000)
CODES = [lab.code for lab in vocabulary().labs] + [vital.name for vital in vocabulary().vitals]


def series(chart: dict[str, list[dict[str, Any]]], code: str) -> list[tuple[str, Any]]:
    """Return (time, value) of every Observation whose text is ``code``."""
    return [
        (row["effectiveDateTime"], row.get("valueString") or row["valueQuantity"]["value"])
        for row in chart["Observation"]
        if row["code"]["text"] == code
    ]


def parts(names: set[str]) -> set[str]:
    """Return the codes in ``names``, those in a field of two codes singly."""
    return {part for name in names for part in name.split(", ")}


def tagged(tag: str) -> set[str]:
    """Return the codes and texts that stand for a tag and for nothing else."""
    words = vocabulary()
    carriers: list[tuple[str, bool]] = [(lab.code, tag in lab.tags) for lab in words.labs]
    carriers += [(row.text, tag in row.tags) for row in words.medications]
    carriers += [(row.display, tag in row.tags) for row in words.procedures + words.findings]
    carriers += [(form.display, tag in row.tags) for row in words.diseases for form in row.forms]
    return {n for n, has in carriers if has} - {n for n, has in carriers if not has}


@pytest.fixture(scope="module")
def full(sufferers: dict[str, PatientProfile], names_in: Names) -> set[str]:
    """Everything named in charts of the sick and of the well when nothing is left out."""
    people = [*sufferers.values()]
    people += [replace(patient, conditions=(), severities=()) for patient in people]
    return set().union(*(names_in(patient, LARGE, frozenset()) for patient in people))


@pytest.mark.parametrize("tag", one_in(3, sorted(vocabulary().tags())))
def test_omitted_tags_are_absent(
    tag: str, sufferers: dict[str, PatientProfile], full: set[str], names_in: Names
) -> None:
    members = tagged(tag)
    assert members & full
    for patient in sufferers.values():
        assert not members & names_in(patient, LARGE, frozenset({tag}))


@pytest.mark.parametrize(
    "code", one_in(3, [*CODES, "C64.2", "90686", "COVIDVACCINE", "NUR1373", "I15.2"])
)
def test_omitted_codes_are_absent(
    code: str, sufferers: dict[str, PatientProfile], full: set[str], names_in: Names
) -> None:
    assert code in parts(full)
    for patient in sufferers.values():
        assert code not in parts(names_in(patient, LARGE, frozenset({code})))


def test_everything_can_be_omitted(sufferers: dict[str, PatientProfile], names_in: Names) -> None:
    words = vocabulary()
    everything = {lab.code for lab in words.labs} | {vital.name for vital in words.vitals}
    everything |= {row.text for row in words.medications} | {row.code for row in words.procedures}
    everything |= {row.code for row in words.findings} | {row.name for row in words.diseases}
    assert names_in(sufferers["male"], LARGE, frozenset(everything)) == set()


def test_each_disease_is_charted_unless_omitted(
    crowd: list[PatientProfile], chart_of: Charts
) -> None:
    for patient in crowd[:40]:
        charted = {
            row["code"]["coding"][0]["code"] for row in chart_of(patient, density=0.01)["Condition"]
        }
        for name in patient.conditions:
            assert charted & {form.code for form in vocabulary().disease_by_name[name].forms}


def test_findings_that_require_a_disease_are_absent_without_it(
    sufferers: dict[str, PatientProfile], full: set[str], names_in: Names
) -> None:
    bound = {row.display for row in vocabulary().findings if row.requires}
    assert bound <= full
    well = replace(sufferers["male"], conditions=(), severities=())
    assert not bound & names_in(well, LARGE, frozenset())


@pytest.mark.parametrize("density", [0.015, 0.3])
def test_nothing_is_dated_after_now_or_before_the_window(
    density: float, crowd: list[PatientProfile], chart_of: Charts, now: datetime
) -> None:
    start = now - timedelta(days=2 * 365.25 + 2)
    for seed, patient in enumerate(crowd[:8]):
        chart = chart_of(patient, seed=seed, density=density, years=2.0)
        stamps = [
            datetime.fromisoformat(row[field])
            for rows in chart.values()
            for row in rows
            for field in DATES
            if field in row
        ]
        assert start <= min(stamps)
        assert max(stamps) <= now


def test_vaccines_are_not_given_before_they_exist(
    sufferers: dict[str, PatientProfile], chart_of: Charts
) -> None:
    chart = chart_of(sufferers["female"], density=8.0, years=8.0)
    dates = [
        row["performedDateTime"]
        for row in chart["Procedure"]
        if row["code"]["coding"][0]["code"] == "COVIDVACCINE"
    ]
    dates += [
        row["authoredOn"]
        for row in chart["MedicationRequest"]
        if "COVID-19 VAC" in row["medicationCodeableConcept"]["text"]
    ]
    assert len(dates) > 10
    assert min(dates) >= "2020-12-14"


def test_results_are_released_after_collection(
    crowd: list[PatientProfile], chart_of: Charts
) -> None:
    labs = [row for row in chart_of(crowd[2], density=0.1)["Observation"] if "issued" in row]
    assert labs
    assert all(row["issued"] > row["effectiveDateTime"] for row in labs)


def test_orders_are_dated_at_local_midnight(crowd: list[PatientProfile], chart_of: Charts) -> None:
    chart = chart_of(crowd[3], density=0.3)
    stamps = [row["authoredOn"] for row in chart["MedicationRequest"]]
    stamps += [row["performedDateTime"] for row in chart["Procedure"]]
    assert {stamp[10:] for stamp in stamps} == {"T07:00:00+00:00", "T08:00:00+00:00"}


def test_most_orders_stay_active(crowd: list[PatientProfile], chart_of: Charts) -> None:
    orders = [row for p in crowd[:25] for row in chart_of(p, density=0.1)["MedicationRequest"]]
    counts = Counter(row["status"] for row in orders)
    assert set(counts) == {"active", "completed"}
    assert 0.93 < counts["active"] / len(orders) < 0.99


def test_no_two_results_of_a_code_share_their_time(
    crowd: list[PatientProfile], chart_of: Charts
) -> None:
    chart = chart_of(crowd[4], density=1.0)
    keys = Counter((row["code"]["text"], row["effectiveDateTime"]) for row in chart["Observation"])
    assert max(keys.values()) == 1


def test_interpretation_follows_the_reference_range(
    crowd: list[PatientProfile], chart_of: Charts
) -> None:
    seen = Counter()
    for patient in crowd[:10]:
        for row in chart_of(patient, density=0.2)["Observation"]:
            lab = vocabulary().lab_by_code.get(row["code"]["text"])
            if lab is None:
                continue
            value, (low, high) = row["valueQuantity"]["value"], lab.reference
            expected = "HIGH" if value > high else "LOW" if value < low else None
            marks = [mark["coding"][0]["code"] for mark in row.get("interpretation", [])]
            assert marks == ([expected] if expected else [])
            seen[expected] += 1
    assert all(seen[mark] > 20 for mark in ("HIGH", "LOW", None))


def test_labs_of_one_draw_fit_together(crowd: list[PatientProfile], chart_of: Charts) -> None:
    chart = chart_of(crowd[5], density=1.0)
    hemoglobin, hematocrit = dict(series(chart, "HGB")), dict(series(chart, "HCT"))
    assert set(hemoglobin) == set(hematocrit)
    pairs = np.array([(hemoglobin[time], hematocrit[time]) for time in hemoglobin])
    assert np.corrcoef(pairs.T)[0, 1] > 0.85
    white, neutrophils = dict(series(chart, "WBC")), dict(series(chart, "NEUT"))
    assert neutrophils
    assert all(count < 1.1 * white[time] for time, count in neutrophils.items())


def test_vitals_are_texts_without_units(crowd: list[PatientProfile], chart_of: Charts) -> None:
    chart = chart_of(crowd[6], density=0.5)
    pressures = [value.split("/") for _, value in series(chart, "BP")]
    assert all(60 < int(s) < 230 and 30 < int(d) <= int(s) - 15 for s, d in pressures)
    assert all(78 <= int(value) <= 100 for _, value in series(chart, "SpO2"))
    assert all(94 <= float(value) <= 105 for _, value in series(chart, "Temp"))
    assert all(8 <= int(value) <= 44 for _, value in series(chart, "Resp Rate"))
    assert all(38 <= int(value) <= 180 for _, value in series(chart, "Heart Rate"))


def test_density_sets_the_volume(crowd: list[PatientProfile], chart_of: Charts) -> None:
    def records(density: float) -> float:
        charts = [chart_of(p, seed=i, density=density) for i, p in enumerate(crowd[: some(30, 12)])]
        return float(np.mean([sum(map(len, chart.values())) for chart in charts]))

    assert 100 < records(0.015) < 160
    assert 6 < records(0.15) / records(0.015) < 11


def test_stays_make_clusters_of_results(crowd: list[PatientProfile], chart_of: Charts) -> None:
    chart = chart_of(crowd[7], density=0.3)
    days = Counter(time[:10] for time, _ in series(chart, "BP"))
    total = sum(days.values())
    busiest = sum(count for _, count in days.most_common(len(days) // 2))
    assert len(days) < 200
    assert busiest > 0.7 * total


def test_small_and_large_charts_are_written_alike(
    crowd: list[PatientProfile], chart_of: Charts
) -> None:
    """Small charts go row by row and large ones by array; the resources look the same."""
    small, large = (
        {
            row["code"]["text"]: {**row, "id": "", "meta": {}}
            for row in chart_of(crowd[8], density=density)["Observation"]
        }
        for density in (0.03, 1.0)
    )
    assert small
    for code, row in small.items():
        fields = set(row) - {"interpretation"}
        assert fields == set(large[code]) - {"interpretation"}
        assert type(row.get("valueQuantity", {}).get("value")) is type(
            large[code].get("valueQuantity", {}).get("value")
        )


def test_medications_fit_the_diseases(
    sufferers: dict[str, PatientProfile], chart_of: Charts
) -> None:
    patient = replace(sufferers["female"], conditions=("hypothyroidism",), severities=(0.5,))
    texts = Counter(
        row["medicationCodeableConcept"]["text"]
        for row in chart_of(patient, density=1.0)["MedicationRequest"]
    )
    well = replace(patient, conditions=(), severities=())
    without = Counter(
        row["medicationCodeableConcept"]["text"]
        for row in chart_of(well, density=1.0)["MedicationRequest"]
    )
    assert sum(n for text, n in texts.items() if "LEVOTHYROXINE" in text) > 5
    assert not any("LEVOTHYROXINE" in text for text in without)


@pytest.mark.parametrize(
    "options",
    [{"density": 0.0}, {"years": 0.0}, {"now": datetime(2023, 11, 13)}],
    ids=["density", "years", "now-without-zone"],
)
def test_impossible_charts_are_refused(
    options: dict[str, Any], crowd: list[PatientProfile], chart_of: Charts
) -> None:
    with pytest.raises(ConfigurationError):
        chart_of(crowd[0], **options)


def test_now_may_be_any_time_zone(crowd: list[PatientProfile], chart_of: Charts) -> None:
    late = datetime(2019, 3, 1, tzinfo=UTC)
    chart = chart_of(crowd[9], density=0.05, now=late)
    assert max(row["effectiveDateTime"] for row in chart["Observation"]) <= late.isoformat()
