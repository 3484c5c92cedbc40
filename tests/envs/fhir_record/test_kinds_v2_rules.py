"""The rules of the v2 task types, on charts made by hand."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.wording import Style, _forms
from healthgym.worlds.fhir.charts import ChartBuilder
from tests.envs.fhir_record.kinds_v2 import DAY, KINDS, MRN, NOW, view_of


def chart():
    builder = ChartBuilder()
    builder.patient(
        mrn=MRN, family="Abel", given="Ida", gender="female", birth_date=date(1960, 1, 1)
    )
    return builder


def decide(name, builder, **details):
    facts = Facts(NOW, MRN, KINDS[name].codes, details)
    return KINDS[name].decide(view_of(builder), facts)


def heparin(builder, days, *, timing="Q8H", route="Subcutaneous", dose=5000, text="", **more):
    builder.medication_request(
        MRN,
        text or "HEPARIN (PORCINE) 5,000 UNIT/ML INJ SOLN",
        NOW - days * DAY,
        timing=timing,
        route=route,
        dose=dose,
        dose_unit="Units",
        **more,
    )


def test_of_two_correct_heparin_orders_the_newest_stays():
    builder = chart()
    for days in (2, 9, 1):
        heparin(builder, days)
    decision = decide("v2-t2", builder)
    ids = [r["id"] for r in view_of(builder).search("MedicationRequest")]
    assert decision.stops == {ids[0], ids[1]}
    assert decision.answer[1].value == (NOW - DAY).isoformat()


@pytest.mark.parametrize(
    "wrong",
    [
        {"timing": "Q12H"},
        {"route": "Intravenous"},
        {"dose": 7500},
        {"text": "DALTEPARIN 5,000 UNIT/0.2 ML SC SYRG"},
        {"text": "HEPARIN (PORCINE) 25,000 UNIT/250 ML IN D5W IV SOLP", "timing": "Continuous"},
    ],
)
def test_anything_but_the_regimen_is_stopped_and_replaced(wrong):
    builder = chart()
    heparin(builder, 1, **wrong)
    decision = decide("v2-t2", builder)
    assert decision.branch == "lone_other"
    assert len(decision.stops) == len(decision.orders) == 1


def test_a_lock_flush_is_not_an_anticoagulant():
    builder = chart()
    heparin(builder, 1)
    heparin(builder, 1, text="HEPARIN LOCK FLUSH (PORCINE) 100 UNIT/ML IV SYRG", dose=500)
    assert decide("v2-t2", builder).branch == "one_correct"


def test_hydromorphone_is_one_opioid_and_apomorphine_none():
    builder = chart()
    for text in ("HYDROMORPHONE 2 MG PO TABS", "APOMORPHINE 10 MG/ML SC CART"):
        builder.medication_request(MRN, text, NOW - DAY)
    assert decide("v2-t8", builder).answer[0].value == 1


def test_a_removal_order_that_ended_does_not_count():
    builder = chart()
    builder.procedure(MRN, "NUR1373", "Insert Urinary Catheter", NOW - 3 * DAY)
    builder.service_request(MRN, "", "NUR1373", "Remove", NOW - DAY, status="completed")
    assert decide("v2-t4", builder).branch == "overdue"


def test_a_rate_at_the_very_end_of_a_window_counts_and_every_wording_says_so():
    """The published questions are quoted, and leave it open."""
    forms = _forms()["v2-t3"]
    natural = [forms[Style.TERSE], *forms[Style.FULL], *forms["held_out"]]
    said = ("included", "ends", "edge", "limit", "boundary", "hours old are")
    assert [form for form in natural if not any(word in form for word in said)] == []
    builder = chart()
    for hours, rate in ((6, 80), (12, 100)):
        builder.lab(MRN, KINDS["v2-t3"].codes["heart_rate"], NOW - hours * DAY / 24, rate, "bpm")
    assert [expected.value for expected in decide("v2-t3", builder).answer] == [80, 90]


def test_similar_diagnoses_do_not_confirm_the_one_asked_about():
    builder = chart()
    for code in ("C64.1", "C64.9", "N28.1"):
        builder.condition(MRN, code, "kidney", NOW - 9 * DAY)
    assert decide("v2-t5", builder).branch == "no_diagnosis"


def test_every_drug_that_prolongs_the_qtc_is_stopped_and_no_other():
    builder = chart()
    builder.lab(MRN, "QTCINTERVAL", NOW - DAY, 512, "ms")
    for drug in ("ONDANSETRON 4 MG PO TBDP", "PANTOPRAZOLE 40 MG PO TBEC", "OLANZAPINE 5 MG"):
        builder.medication_request(MRN, drug, NOW - DAY)
    builder.medication_request(MRN, "QUETIAPINE 25 MG PO TABS", NOW - DAY, status="stopped")
    decision = decide("v2-t7", builder)
    ids = [r["id"] for r in view_of(builder).search("MedicationRequest")]
    assert decision.stops == {ids[0], ids[2]}
    assert decision.orders[0].occurrence[0] < NOW + DAY < decision.orders[0].occurrence[1]


def test_a_vaccine_early_on_the_365th_day_before_is_recent_for_covid_only():
    """Elapsed time decides for influenza, calendar days for COVID-19."""
    early = NOW.replace(hour=1) - 365 * DAY
    for name, branch in (("v2-t9", "stale"), ("v2-t10", "fresh")):
        builder = chart()
        builder.procedure(MRN, KINDS[name].codes["vaccine"], "vaccine", early)
        assert decide(name, builder).branch == branch


@pytest.mark.parametrize("name", KINDS)
def test_an_empty_chart_has_a_decision(name):
    decision = decide(name, chart(), indication="Renal mass follow-up")
    assert decision.branch in {branch.name for branch in KINDS[name].branches}
