"""The v2 task types: what is planted is what is decided, and what a plain reading finds."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from string import Formatter

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.draft import Difficulty, Draft, chart_config
from healthgym.envs.fhir_record.kinds.devices import DEVICE_KINDS
from healthgym.envs.fhir_record.kinds.heart import HEART_KINDS
from healthgym.envs.fhir_record.kinds.imaging import IMAGING_KINDS
from healthgym.envs.fhir_record.kinds.medications import MEDICATION_KINDS
from healthgym.envs.fhir_record.kinds.thyroid import THYROID_KINDS
from healthgym.envs.fhir_record.kinds.vaccines import VACCINE_KINDS
from healthgym.envs.fhir_record.task import NOTHING, Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.store import FhirStore

KINDS = {
    kind.name: kind
    for kind in (
        *IMAGING_KINDS,
        *MEDICATION_KINDS,
        *HEART_KINDS,
        *DEVICE_KINDS,
        *THYROID_KINDS,
        *VACCINE_KINDS,
    )
}
BRANCHES = [(name, branch.name) for name, kind in KINDS.items() for branch in kind.branches]
SEEDS = {Difficulty.EASY: 40, Difficulty.MEDIUM: 15, Difficulty.HARD: 5}
NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
DAY = timedelta(days=1)


def drawn(name, branch, seed, difficulty, *, traps=True):
    """Return facts, view and decision of a drawn chart."""
    rng = np.random.default_rng([seed, *f"{name}{branch}{difficulty}".encode()])
    now = datetime(2022, 1, 1, tzinfo=UTC) + timedelta(minutes=int(rng.integers(730 * 1440)))
    draft = Draft(rng, now, chart_config(difficulty), "train", traps_allowed=traps)
    facts = KINDS[name].plant(draft, branch)
    draft.finish_background(KINDS[name].omit)
    view = view_of(draft.builder, now, rng)
    return facts, view, KINDS[name].decide(view, facts)


def view_of(builder, now=NOW, shuffle=None):
    return ChartView(FhirStore(builder.build(shuffle=shuffle), clock=Clock(now)))


@cache
def many(name, branch):
    """Return the drawn charts of a branch, of every difficulty."""
    return [
        (difficulty, *drawn(name, branch, seed, difficulty))
        for difficulty, count in SEEDS.items()
        for seed in range(count)
    ]


# -- an independent reading of the chart, straight off the JSON --------------------------------


def rows(view, kind, facts, **wanted):
    found = view.search(kind, patient=facts.patient)
    return [r for r in found if all(r.get(key) == value for key, value in wanted.items())]


def code_of(resource):
    return resource["code"].get("coding", [{}])[0].get("code")


def moment(text):
    return datetime.fromisoformat(text)


def measured(view, facts, code):
    """Return (time, value) of a test up to now, oldest first."""
    found = [
        (moment(r["effectiveDateTime"]), r["valueQuantity"]["value"])
        for r in rows(view, "Observation", facts)
        if code_of(r) == code and moment(r["effectiveDateTime"]) <= facts.now
    ]
    return sorted(found)


def done(view, facts, *codes):
    """Return the times of procedures of some codes up to now, sorted."""
    times = [
        moment(r["performedDateTime"])
        for r in rows(view, "Procedure", facts)
        if code_of(r) in codes
    ]
    return sorted(time for time in times if time <= facts.now)


def prescribed(view, facts, words, status="active"):
    """Return the orders of a status that name one of the words, oldest first."""
    found = rows(view, "MedicationRequest", facts, status=status)
    named = [
        r
        for r in found
        if any(w in r["medicationCodeableConcept"]["text"].lower().split() for w in words)
    ]
    return sorted(named, key=lambda r: r["authoredOn"])


def when(times):
    return times[-1] if times else -1


def ct_follow_up(view, facts):
    times = done(view, facts, "IMGCT0491", "IMGIL0001")
    due = not times or facts.now - times[-1] > 365 * DAY
    return [when(times)], {"ct"} if due else set(), 0


def prophylaxis(view, facts):
    words = "heparin enoxaparin dalteparin fondaparinux apixaban rivaroxaban dabigatran warfarin"
    orders = prescribed(view, facts, words.split())
    orders = [o for o in orders if "FLUSH" not in o["medicationCodeableConcept"]["text"]]
    right = [
        o
        for o in orders
        if o["medicationCodeableConcept"]["text"].startswith("HEPARIN")
        and o["dosageInstruction"][0]["route"]["text"] == "Subcutaneous"
        and o["dosageInstruction"][0]["timing"]["code"]["text"] == "Q8H"
    ]
    kept = moment(right[-1]["authoredOn"]) if right else -1
    stops = len(orders) - bool(right)
    return [len(orders), kept], set() if right else {"heparin"}, stops


def heart_rate(view, facts):
    found = measured(view, facts, "HEARTRATE")
    means = []
    for hours in (6, 12):
        values = [v for t, v in found if facts.now - t <= timedelta(hours=hours)]
        means.append(sum(values) / len(values) if values else -1)
    return means, set(), 0


def catheter(view, facts):
    times = done(view, facts, "NUR1373")
    removals = [
        r for r in rows(view, "ServiceRequest", facts, status="active") if code_of(r) == "NUR1373"
    ]
    due = times and facts.now - times[-1] > 2 * DAY and not removals
    return [when(times)], {"removal"} if due else set(), 0


def kidney(view, facts):
    known = any(code_of(r) == "C64.2" for r in rows(view, "Condition", facts))
    times = done(view, facts, "IMGCT0491", "IMGIL0001", "74177")
    due = known and (not times or facts.now - times[-1] > 90 * DAY)
    return [int(known), when(times)], {"ct", "referral"} if due else set(), 0


def thyroid(view, facts):
    tsh, ft4 = measured(view, facts, "TSH"), measured(view, facts, "FT4")
    newest = [found[-1][1] if found else -1 for found in (tsh, ft4)]
    high = [time for time, value in tsh if value > 10]
    both = {"tsh_repeat", "ft4_repeat"}
    if any(b - a >= 30 * DAY for a in high for b in high):
        return newest, both | {"levothyroxine"}, 0
    watch = tsh and 4.5 <= newest[0] <= 10 and 0.8 <= newest[1] <= 1.8
    return newest, both if watch else set(), 0


def qtc(view, facts):
    found = measured(view, facts, "QTCINTERVAL")
    if not found or found[-1][1] <= 500:
        return [found[-1][1] if found else -1], set(), 0
    words = "ondansetron prochlorperazine haloperidol quetiapine olanzapine risperidone"
    words += " ziprasidone clozapine chlorpromazine"
    return [found[-1][1]], {"ecg"}, len(prescribed(view, facts, words.split()))


def naloxone(view, facts):
    texts = [
        r["medicationCodeableConcept"]["text"]
        for r in rows(view, "MedicationRequest", facts, status="active")
    ]
    words = ("HYDROMORPHONE", "OXYCODONE", "FENTANYL", "HYDROCODONE", "MORPHINE")
    opioids = [text for text in texts if text.startswith(words)]
    covered = any(text.startswith(("NALOXONE", "NARCAN")) for text in texts)
    return [len(opioids)], {"naloxone"} if opioids and not covered else set(), 0


def influenza(view, facts):
    times = done(view, facts, "90686")
    due = not times or facts.now - times[-1] > 365 * DAY
    return [when(times)], {"vaccine"} if due else set(), 0


def covid(view, facts):
    times = done(view, facts, "COVIDVACCINE")
    times += [
        moment(r["authoredOn"])
        for r in rows(view, "MedicationRequest", facts, status="completed")
        if r["medicationCodeableConcept"]["text"].startswith("COVID-19 VAC")
    ]
    times = sorted(time for time in times if time <= facts.now)
    due = not times or (facts.now.date() - times[-1].date()).days > 365
    return [when(times)], {"vaccine"} if due else set(), 0


READINGS = {
    "v2-t1": ct_follow_up,
    "v2-t2": prophylaxis,
    "v2-t3": heart_rate,
    "v2-t4": catheter,
    "v2-t5": kidney,
    "v2-t6": thyroid,
    "v2-t7": qtc,
    "v2-t8": naloxone,
    "v2-t9": influenza,
    "v2-t10": covid,
}


# -- planting and deciding agree ------------------------------------------------------------------


def test_the_ten_types_are_there_by_their_names():
    assert set(KINDS) == {f"v2-t{number}" for number in range(1, 11)}


@pytest.mark.parametrize(("name", "branch"), BRANCHES)
def test_the_planted_branch_is_the_decided_one(name, branch):
    acts = KINDS[name].branch(branch).acts
    for difficulty, facts, _, decision in many(name, branch):
        assert decision.branch == branch, difficulty
        assert decision.acts is acts
        assert facts.patient


@pytest.mark.parametrize(("name", "branch"), BRANCHES)
def test_without_traps_the_branch_is_the_same(name, branch):
    for seed in range(8):
        _, _, decision = drawn(name, branch, seed, Difficulty.MEDIUM, traps=False)
        assert decision.branch == branch


@pytest.mark.parametrize(("name", "branch"), BRANCHES)
def test_decisions_agree_with_a_plain_reading(name, branch):
    for _, facts, view, decision in many(name, branch):
        answer, orders, stops = READINGS[name](view, facts)
        assert len(answer) == len(decision.answer)
        for expected, value in zip(decision.answer, answer, strict=True):
            given = value.isoformat() if isinstance(value, datetime) else value
            assert expected.accepts(given)
        assert {order.name for order in decision.orders} == orders
        assert len(decision.stops) == stops


@pytest.mark.parametrize("name", KINDS)
def test_equal_seeds_plant_equal_charts(name):
    branch = KINDS[name].branches[0].name
    one, other = (drawn(name, branch, 3, Difficulty.MEDIUM) for _ in range(2))
    assert one[2] == other[2]
    everything = ("Observation", "Procedure", "Condition", "MedicationRequest", "ServiceRequest")
    for kind in everything:
        assert one[1].search(kind) == other[1].search(kind)


@pytest.mark.parametrize("name", KINDS)
def test_the_prior_seldom_guesses_the_answer(name):
    """Branches whose answer is constant have a small share, and there is no other such branch."""
    kind, hits = KINDS[name], Counter()
    for branch in kind.branches:
        for _, facts, _, decision in many(name, branch.name):
            calls, value = kind.prior(facts)
            right = len(value) == len(decision.answer) and all(
                e.accepts(v) for e, v in zip(decision.answer, value, strict=True)
            )
            hits[branch.name] += right and len(calls) == len(decision.orders) + len(decision.stops)
    count = sum(SEEDS.values())
    won = 0.0
    for acts in (False, True):
        group = [b for b in kind.branches if b.acts is acts]
        total = sum(b.share for b in group)
        won += sum(b.share / total * hits[b.name] / count for b in group)
    sides = len({b.acts for b in kind.branches})
    assert won / sides < 0.1


# -- boundaries ---------------------------------------------------------------------------------


def ages(name, branch, *codes):
    found = [(facts.now, done(view, facts, *codes)[-1]) for _, facts, view, _ in many(name, branch)]
    return Counter(now - time for now, time in found)


@pytest.mark.parametrize(
    ("name", "inside", "outside", "limit", "codes"),
    [
        ("v2-t1", "fresh", "stale", 365 * DAY, ("IMGCT0491", "IMGIL0001")),
        ("v2-t4", "recent", "overdue", 2 * DAY, ("NUR1373",)),
        ("v2-t5", "recent_ct", "old_ct", 90 * DAY, ("IMGCT0491", "IMGIL0001", "74177")),
        ("v2-t9", "fresh", "stale", 365 * DAY, ("90686",)),
    ],
)
def test_ages_lie_right_at_the_limit_often(name, inside, outside, limit, codes):
    assert ages(name, inside, *codes)[limit] >= 4
    assert ages(name, outside, *codes)[limit + timedelta(minutes=1)] >= 4


def test_covid_vaccines_lie_on_either_side_of_midnight():
    def days(branch):
        found = [READINGS["v2-t10"](view, facts)[0][0] for _, facts, view, _ in many(*branch)]
        nows = [facts.now for _, facts, _, _ in many(*branch)]
        return Counter((now.date() - t.date()).days for now, t in zip(nows, found, strict=True))

    assert days(("v2-t10", "fresh"))[365] >= 4
    assert days(("v2-t10", "stale"))[366] >= 4


@pytest.mark.parametrize(
    ("branch", "place", "values"),
    [
        ("protocol_b", 0, (4.5, 10.0)),
        ("protocol_b", 1, (0.8, 1.8)),
        ("ft4_outside", 0, (4.5, 10.0)),
        ("ft4_outside", 1, (0.79, 1.81)),
        ("normal", 0, (4.49, 4.4)),
        ("high_once", 0, (10.01, 10.1)),
    ],
)
def test_thyroid_values_lie_on_the_limits(branch, place, values):
    seen = {decision.answer[place].value for *_, decision in many("v2-t6", branch)}
    assert seen.issuperset(values)


def test_high_thyroid_values_lie_30_days_apart_or_a_minute_less():
    def gaps(branch):
        found = set()
        for _, facts, view, _ in many("v2-t6", branch):
            high = [time for time, value in measured(view, facts, "TSH") if value > 10]
            found |= {b - a for a in high for b in high}
        return found

    assert 30 * DAY in gaps("protocol_a")
    assert {30 * DAY - timedelta(minutes=1), 29 * DAY} <= gaps("high_once")
    assert max(gaps("high_once")) < 30 * DAY


def test_qtc_values_lie_on_the_limit():
    assert 500 in {decision.answer[0].value for *_, decision in many("v2-t7", "normal")}
    assert 501 in {decision.answer[0].value for *_, decision in many("v2-t7", "prolonged")}


def test_heart_rates_lie_on_both_ends_of_the_windows():
    found = set()
    for branch in ("both", "only_12h"):
        for _, facts, view, _ in many("v2-t3", branch):
            found |= {facts.now - time for time, _ in measured(view, facts, "HEARTRATE")}
    hour = timedelta(hours=1)
    assert {0 * hour, 6 * hour, 6 * hour + timedelta(minutes=1), 12 * hour} <= found


# -- what lies about to mislead -----------------------------------------------------------------


def test_flowsheet_heart_rates_stand_beside_the_ecg_ones():
    for _, facts, view, _ in many("v2-t3", "none"):
        vitals = [r for r in rows(view, "Observation", facts) if r["code"].get("text")]
        recent = [
            r
            for r in vitals
            if r["code"]["text"] == "Heart Rate"
            and timedelta(0) <= facts.now - moment(r["effectiveDateTime"]) <= DAY / 2
        ]
        assert recent


@pytest.mark.parametrize(
    ("branches", "is_decoy"),
    [
        ([("v2-t2", "one_correct")], lambda text, status: "FLUSH" in text and status == "active"),
        ([("v2-t2", "none")], lambda text, status: "ENOXAPARIN" in text and status != "active"),
        ([("v2-t7", "normal")], lambda text, status: "ONDANSETRON" in text and status == "active"),
        ([("v2-t8", "no_opioid")], lambda text, status: "OXYCODONE" in text and status != "active"),
        ([("v2-t8", "uncovered")], lambda text, status: "NALOXONE" in text and status != "active"),
        (
            [("v2-t10", "none"), ("v2-t10", "stale")],
            lambda text, status: "COVID-19 VAC" in text and status == "active",
        ),
    ],
    ids=["flush", "enoxaparin", "ondansetron", "oxycodone", "naloxone", "covid-vaccine"],
)
def test_orders_that_do_not_count_are_in_some_charts(branches, is_decoy):
    found = [
        is_decoy(r["medicationCodeableConcept"]["text"], r["status"])
        for branch in branches
        for _, facts, view, _ in many(*branch)
        for r in rows(view, "MedicationRequest", facts)
    ]
    assert any(found)


def test_rows_of_the_future_are_planted_and_never_count():
    seen = 0
    for name, code in (("v2-t1", "IMGCT0491"), ("v2-t4", "NUR1373"), ("v2-t9", "90686")):
        for _, facts, view, decision in many(name, "none"):
            future = [r for r in rows(view, "Procedure", facts) if code_of(r) == code]
            assert all(moment(r["performedDateTime"]) > facts.now for r in future)
            assert decision.answer == (NOTHING,)
            seen += len(future)
    assert seen


def test_without_traps_nothing_lies_in_the_future():
    for name in KINDS:
        branch = KINDS[name].branches[0].name
        for seed in range(4):
            facts, view, _ = drawn(name, branch, seed, Difficulty.HARD, traps=False)
            times = [r["performedDateTime"] for r in view.search("Procedure")]
            times += [r["effectiveDateTime"] for r in view.search("Observation")]
            assert max(map(moment, times)) <= facts.now


def test_completed_covid_orders_count_as_vaccinations():
    by_order = 0
    for _, facts, view, decision in many("v2-t10", "fresh"):
        procedures = done(view, facts, "COVIDVACCINE")
        by_order += not procedures or not decision.answer[0].accepts(procedures[-1].isoformat())
    assert by_order > 3


# -- rules on charts made by hand ---------------------------------------------------------------

MRN = "S1000001"


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


# -- wording ------------------------------------------------------------------------------------


def forms():
    package = resources.files("healthgym.envs.fhir_record")
    return json.loads(package.joinpath("data/wording/v2.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", KINDS)
def test_every_form_names_time_patient_and_codes(name):
    facts = drawn(name, KINDS[name].branches[0].name, 0, Difficulty.EASY)[0]
    form = forms()[name]
    assert 2 <= len(form["full"]) <= 3
    for text in (form["terse"], *form["full"]):
        fields = {field for _, field, _, _ in Formatter().parse(text) if field}
        assert {"now", "patient"} <= fields
        assert {f"codes[{code}]" for code in facts.codes} <= fields
        assert "finish" in text
        if name not in ("v2-t8",):
            assert "-1" in text
    for text in (form["terse"], *form["full"], form["benchmark"], form.get("audited", "")):
        text.format(now="NOW", patient="S1", codes=facts.codes, details=facts.details)
