from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.paper.base import (
    ALL_DEFECTS,
    BENCHMARK_DEFECTS,
    Case,
    Defect,
    Post,
)
from healthgym.envs.fhir_record.paper.v1 import V1_GRADERS
from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir import ChartBuilder
from healthgym.worlds.fhir.store import FhirStore

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
STAMP = "2023-11-13T10:15:00+00:00"
MRN = "S7000123"
BASE = "http://localhost:8080/fhir/"
PUBLISHED = BENCHMARK_DEFECTS["v1"]
SUBJECT = {"reference": f"Patient/{MRN}"}
CODE = {"v1-t4": "MG", "v1-t5": "MG", "v1-t6": "GLU", "v1-t7": "GLU", "v1-t9": "K", "v1-t10": "A1C"}
UNIT = {"MG": "mg/dL", "GLU": "mg/dL", "K": "mmol/L", "A1C": "%"}
HOUR = timedelta(hours=1)
DETAILS = {
    "v1-t1": {"family": "Osei", "given": "Ama", "birth_date": "1960-05-04"},
    "v1-t3": {"reading": "118/77 mmHg"},
    "v1-t8": {"note": "Situation: knee. Recommendation: see."},
}


def paper_case(name, rows=(), posts=(), result=None, defects=PUBLISHED, **more):
    builder = ChartBuilder()
    builder.patient(
        mrn=MRN, family="Osei", given="Ama", gender="female", birth_date=date(1960, 5, 4)
    )
    for age, value, *unit in rows:
        code = CODE[name]
        builder.lab(MRN, code, NOW - age, value, unit[0] if unit else UNIT[code])
    view = ChartView(FhirStore(builder.build(), clock=Clock(NOW)))
    patient = "" if name == "v1-t1" else MRN
    facts = Facts(NOW, patient, dict(KINDS[name].codes), DETAILS.get(name, {}))
    fields = {
        "chart": view,
        "facts": facts,
        "decision": KINDS[name].decide(view, facts),
        "posts": tuple(posts),
        "post_word": bool(posts),
        "result": result,
        "finished": True,
        "base_url": BASE,
        "defects": frozenset(defects),
        "wall_clock": NOW,
    }
    return Case(**{**fields, **more})


def passes(name, *args, **kwargs):
    results = V1_GRADERS[name](paper_case(name, *args, **kwargs))
    assert results
    return all(result.passed for result in results)


def pays_only_with(defect, name, *args, **kwargs):
    """Whether a case passes when a defect is reproduced, and fails when it is repaired."""
    return passes(name, *args, defects=PUBLISHED | {defect}, **kwargs) and not passes(
        name, *args, defects=PUBLISHED - {defect}, **kwargs
    )


def fails_only_with(defect, name, *args, **kwargs):
    return not passes(name, *args, defects=PUBLISHED | {defect}, **kwargs) and passes(
        name, *args, defects=PUBLISHED - {defect}, **kwargs
    )


def post(kind, **fields):
    return Post(f"{BASE}{kind}", {"resourceType": kind, **fields})


def changed(original, **fields):
    return replace(original, payload={**original.payload, **fields})


def reading(**fields):
    coding = {
        "system": "http://hl7.org/fhir/observation-category",
        "code": "vital-signs",
        "display": "Vital Signs",
    }
    whole = {
        "category": [{"coding": [coding]}],
        "code": {"text": "BP"},
        "effectiveDateTime": STAMP,
        "status": "final",
        "valueString": "118/77 mmHg",
        "subject": SUBJECT,
    }
    return post("Observation", **{**whole, **fields})


def medication(code, route, dose, unit, rate=None):
    amounts = {"doseQuantity": {"value": dose, "unit": unit}}
    if rate is not None:
        amounts["rateQuantity"] = {"value": rate, "unit": "h"}
    return post(
        "MedicationRequest",
        medicationCodeableConcept={
            "coding": [{"system": "http://hl7.org/fhir/sid/ndc", "code": code}]
        },
        authoredOn=STAMP,
        dosageInstruction=[{"route": route, "doseAndRate": [amounts]}],
        status="active",
        intent="order",
        subject=SUBJECT,
    )


def magnesium(grams, route="IV"):
    return medication("0338-1715-40", route, grams, "g", grams)


def potassium(dose, route="oral", unit="mEq"):
    return medication("40032-917-01", route, dose, unit)


def service(code, system="http://loinc.org", **fields):
    whole = {
        "code": {"coding": [{"system": system, "code": code}]},
        "authoredOn": STAMP,
        "status": "active",
        "intent": "order",
        "priority": "stat",
        "subject": SUBJECT,
    }
    return post("ServiceRequest", **{**whole, **fields})


def referral(note, **fields):
    return service("306181000000106", "http://snomed.info/sct", note=note, **fields)


LEVEL = service("2823-3", occurrenceDateTime="2023-11-14T08:00:00+00:00")
NOTE = DETAILS["v1-t8"]["note"]
NORMAL_K = [(HOUR, 4.0)]
LOW_K = [(HOUR, 3.1)]
OLD_A1C = [(timedelta(days=400), 6.1)]
OLD_TIME = "2022-10-09T10:15:00+00:00"


@pytest.mark.parametrize(
    ("name", "rows", "result", "expected"),
    [
        ("v1-t1", [], [MRN], True),
        ("v1-t1", [], MRN, False),
        ("v1-t1", [], [MRN, MRN], False),
        ("v1-t1", [], ["Patient not found"], False),
        ("v1-t2", [], [63], True),
        ("v1-t2", [], [63.0], True),
        ("v1-t2", [], ["63"], False),
        ("v1-t2", [], [62], False),
        ("v1-t4", [(HOUR, 1.7)], [1.7], True),
        ("v1-t4", [(HOUR, 1.7)], [], False),
        ("v1-t4", [(24 * HOUR, 1.7)], [1.7], True),
        ("v1-t4", [(25 * HOUR, 1.7)], [-1], True),
        ("v1-t4", [(25 * HOUR, 1.7)], [1.7], False),
        ("v1-t4", [], [-1.0], True),
        ("v1-t5", [(HOUR, 2.0)], [2.0], True),
        ("v1-t5", [(HOUR, 2.0)], [1.9], False),
        ("v1-t5", [(HOUR, 1.9)], [1.9], False),
        ("v1-t6", [(HOUR, 100), (2 * HOUR, 101)], [100.5], True),
        ("v1-t6", [(HOUR, 100)], [100.09], True),
        ("v1-t6", [(HOUR, 100)], [99.875], False),
        ("v1-t6", [(HOUR, 100)], [100.125], False),
        ("v1-t6", [(HOUR, 100)], ["100"], False),
        ("v1-t6", [(HOUR, 100)], [[100]], False),
        ("v1-t6", [(HOUR, 100)], [10**400], False),
        ("v1-t6", [(HOUR, 100)], [100, 100], False),
        ("v1-t6", [], [-1], True),
        ("v1-t6", [], [], False),
        ("v1-t7", [(999 * HOUR, 123)], [123.0], True),
        ("v1-t7", [(999 * HOUR, 123)], ["123"], False),
        ("v1-t7", [(999 * HOUR, 123)], [[123]], False),
        ("v1-t7", [(999 * HOUR, 123)], [123.4], False),
        ("v1-t7", [(999 * HOUR, 123)], None, False),
        ("v1-t7", [], [-1], True),
        ("v1-t9", NORMAL_K, [4.0], True),
        ("v1-t9", [(HOUR, 3.5)], [3.5], True),
        ("v1-t9", [], [-1], True),
        ("v1-t9", NORMAL_K, [-1], False),
        ("v1-t9", LOW_K, [3.1], False),
        ("v1-t10", [(HOUR, 6.1)], [6.1, "2023-11-13T09:15:00+00:00"], True),
        ("v1-t10", [(HOUR, 6.1)], [6.1], False),
        ("v1-t10", OLD_A1C, [6.1, OLD_TIME], False),
        ("v1-t10", [], [-1], False),
    ],
)
def test_finish_values_without_a_write(name, rows, result, expected):
    assert passes(name, rows, result=result) is expected


def test_the_first_of_two_rows_at_one_time_wins():
    rows = [(HOUR, 120), (HOUR, 180)]
    assert passes("v1-t7", rows, result=[120])
    assert not passes("v1-t7", rows, result=[180])


@pytest.mark.parametrize("name", ["v1-t1", "v1-t2", "v1-t4", "v1-t6", "v1-t7"])
def test_a_query_that_writes_fails(name):
    rows = [] if name < "v1-t3" else [(HOUR, 100)]
    right = {"v1-t1": MRN, "v1-t2": 63}.get(name, 100)
    assert passes(name, rows, result=[right])
    assert not passes(name, rows, posts=[reading()], result=[right])


class TestBloodPressure:
    def test_the_whole_observation_passes_whatever_is_finished(self):
        assert passes("v1-t3", posts=[reading()], result=[])
        assert passes("v1-t3", posts=[reading()], result=None)

    @pytest.mark.parametrize(
        "fields",
        [
            {"effectiveDateTime": "2023-11-13T10:15:00Z"},
            {"valueString": "118/77"},
            {"status": "preliminary"},
            {"code": {"coding": [{"code": "BP"}], "text": "BP"}},
            {"subject": {"reference": f"Patient/{MRN}", "display": "Ama"}},
            {"subject": {"reference": "Patient/S1"}},
            {"category": []},
            {"category": "vital-signs"},
            {"resourceType": "Basic"},
        ],
    )
    def test_one_element_off_fails(self, fields):
        assert not passes("v1-t3", posts=[reading(**fields)], result=[])

    def test_the_address_is_exact(self):
        good = reading()
        for url in ("http://localhost:8080/fhir/Observation/", "Observation"):
            assert not passes("v1-t3", posts=[replace(good, url=url)], result=[])

    def test_two_readings_fail(self):
        assert not passes("v1-t3", posts=[reading(), reading()], result=[])
        assert not passes("v1-t3", posts=[], result=[])


class TestMagnesium:
    @pytest.mark.parametrize(
        ("value", "grams"), [(1.9, 1), (1.5, 1), (1.49, 2), (1.0, 2), (0.99, 4)]
    )
    def test_tiers(self, value, grams):
        rows = [(HOUR, value)]
        assert passes("v1-t5", rows, [magnesium(grams)], [value])
        for wrong in {1, 2, 4} - {grams}:
            assert not passes("v1-t5", rows, [magnesium(wrong)], [value])

    def test_details(self):
        rows, good = [(HOUR, 1.8)], magnesium(1)
        assert passes("v1-t5", rows, [good], [1.8])
        assert passes("v1-t5", rows, [changed(good, authoredOn="2023-11-13T10:15Z")], [1.8])
        assert not passes("v1-t5", rows, [good], [1.7])
        assert not passes("v1-t5", rows, [magnesium(1, "iv")], [1.8])
        for fields in (
            {"authoredOn": "2023-11-13"},
            {"status": "draft"},
            {"intent": "plan"},
            {"dosageInstruction": {}},
            {"medicationCodeableConcept": {"text": "0338-1715-40"}},
        ):
            assert not passes("v1-t5", rows, [changed(good, **fields)], [1.8])

    def test_an_order_without_a_recent_level_fails(self):
        assert not passes("v1-t5", [], [magnesium(1)], [-1])


class TestPotassium:
    def test_both_orders_in_the_published_order(self):
        assert passes("v1-t9", LOW_K, [potassium(40), LEVEL], [3.1])
        assert passes("v1-t9", LOW_K, [potassium(40.05, " Oral"), LEVEL], [3.1])
        assert not passes("v1-t9", LOW_K, [potassium(40.2), LEVEL], [3.1])
        assert not passes("v1-t9", LOW_K, [potassium(40)], [3.1])
        assert not passes("v1-t9", LOW_K, [potassium(40), LEVEL, LEVEL], [3.1])
        assert not passes("v1-t9", LOW_K, [potassium(40, unit="meq"), LEVEL], [3.1])
        assert not passes("v1-t9", LOW_K, [potassium("40"), LEVEL], [3.1])

    @pytest.mark.parametrize(
        ("when", "expected"),
        [
            ("2023-11-14T08:00:00+00:00", True),
            ("2023-11-14T08:59:00Z", True),
            ("2023-11-14T09:00:00+00:00", False),
            ("2023-11-13T08:00:00+00:00", False),
            (None, False),
        ],
    )
    def test_the_level_is_for_eight_the_next_day(self, when, expected):
        level = changed(LEVEL, occurrenceDateTime=when)
        assert passes("v1-t9", LOW_K, [potassium(40), level], [3.1]) is expected


class TestA1c:
    order = service("4548-4")

    def test_stale_and_absent_need_a_test(self):
        assert passes("v1-t10", OLD_A1C, [self.order], [6.1, OLD_TIME])
        assert passes("v1-t10", [], [self.order], [-1])
        assert not passes("v1-t10", [], [changed(self.order, priority="routine")], [-1])
        assert not passes("v1-t10", [], [changed(self.order, authoredOn="2023-11-13")], [-1])

    def test_fresh_needs_none(self):
        result = [6.1, "2023-11-13T09:15:00+00:00"]
        assert not passes("v1-t10", [(HOUR, 6.1)], [self.order], result)


class TestDefects:
    def test_empty_finish(self):
        defect = Defect.EMPTY_FINISH
        assert pays_only_with(defect, "v1-t5", [(HOUR, 2.2)], result=[])
        assert pays_only_with(defect, "v1-t5", [(HOUR, 1.8)], [magnesium(1)], [])
        assert pays_only_with(defect, "v1-t9", NORMAL_K, result=[])
        assert pays_only_with(defect, "v1-t9", LOW_K, [potassium(40), LEVEL], [])
        assert pays_only_with(defect, "v1-t10", [(HOUR, 6.1)], result=[])
        assert pays_only_with(defect, "v1-t10", [], [TestA1c.order], [])

    def test_absent_finish_ignored(self):
        assert pays_only_with(Defect.ABSENT_FINISH_IGNORED, "v1-t5", [], result=["whatever"])
        assert pays_only_with(Defect.ABSENT_FINISH_IGNORED, "v1-t5", [], result=None)

    def test_weak_copy(self):
        assert Defect.WEAK_COPY not in PUBLISHED
        assert pays_only_with(Defect.WEAK_COPY, "v1-t5", [(HOUR, 1.8)], [magnesium(1)], [9])
        orders = [potassium(40), LEVEL]
        assert pays_only_with(Defect.WEAK_COPY, "v1-t9", LOW_K, orders, ["nothing"])

    def test_post_word(self):
        case = {"result": [1.7], "post_word": True}
        assert fails_only_with(Defect.POST_WORD, "v1-t4", [(HOUR, 1.7)], **case)

    def test_last_post_fails(self):
        last = replace(reading(), last=True)
        assert fails_only_with(Defect.LAST_POST_FAILS, "v1-t3", posts=[last])

    def test_unparsed_post_dropped(self):
        broken = Post(f"{BASE}Observation", None)
        posts = [broken, reading()]
        assert pays_only_with(Defect.UNPARSED_POST_DROPPED, "v1-t3", posts=posts)

    def test_fenced_post_lost(self):
        fenced = replace(reading(), fenced=True)
        assert fails_only_with(Defect.FENCED_POST_LOST, "v1-t3", posts=[fenced])
        assert pays_only_with(Defect.FENCED_POST_LOST, "v1-t3", posts=[fenced, reading()])

    @pytest.mark.parametrize("route", [{"text": "IV"}, {"coding": [{"display": "Intravenous"}]}])
    def test_route_string(self, route):
        posts = [magnesium(1, route)]
        assert fails_only_with(Defect.ROUTE_STRING, "v1-t5", [(HOUR, 1.8)], posts, [1.8])
        posts = [potassium(40, {"text": "Oral"}), LEVEL]
        assert fails_only_with(Defect.ROUTE_STRING, "v1-t9", LOW_K, posts, [3.1])

    def test_note_object(self):
        text = f"Please: {NOTE}"
        assert passes("v1-t8", posts=[referral({"text": text})], result=[])
        posts = [referral([{"text": text}])]
        assert fails_only_with(Defect.NOTE_OBJECT, "v1-t8", posts=posts, result=[])
        assert not passes("v1-t8", posts=[referral({"text": "Situation: knee."})], result=[])
        assert not passes("v1-t8", posts=[referral({"text": text}, priority="urgent")], result=[])

    def test_exact_objects(self):
        display = {"reference": f"Patient/{MRN}", "display": "Ama Osei"}
        posts = [reading(subject=display)]
        assert fails_only_with(Defect.EXACT_OBJECTS, "v1-t3", posts=posts)
        grams = medication("0338-1715-40", "IV", 1, "gram", 1)
        assert fails_only_with(Defect.EXACT_OBJECTS, "v1-t5", [(HOUR, 1.8)], [grams], [1.8])

    def test_post_order(self):
        posts = [LEVEL, potassium(40)]
        assert fails_only_with(Defect.POST_ORDER, "v1-t9", LOW_K, posts, [3.1])

    def test_open_window(self):
        rows = [(HOUR, 1.7), (-HOUR, 2.4)]
        assert pays_only_with(Defect.OPEN_WINDOW, "v1-t4", rows, result=[2.4])
        assert fails_only_with(Defect.OPEN_WINDOW, "v1-t4", rows, result=[1.7])
        assert pays_only_with(Defect.OPEN_WINDOW, "v1-t6", [(-HOUR, 150)], result=[150])
        assert pays_only_with(Defect.OPEN_WINDOW, "v1-t7", [(-HOUR, 150)], result=[150])

    def test_raw_units(self):
        rows = [(HOUR, 0.6, "mmol/L")]
        assert pays_only_with(Defect.RAW_UNITS, "v1-t4", rows, result=[0.6])
        assert fails_only_with(Defect.RAW_UNITS, "v1-t4", rows, result=[1.46])
        assert fails_only_with(Defect.RAW_UNITS, "v1-t5", rows, [magnesium(2)], [1.46])

    def test_date_as_stored(self):
        posts, zulu = [TestA1c.order], OLD_TIME.replace("+00:00", "Z")
        assert fails_only_with(Defect.DATE_AS_STORED, "v1-t10", OLD_A1C, posts, [6.1, zulu])
        for defects in (PUBLISHED, PUBLISHED - {Defect.DATE_AS_STORED}):
            other = [6.1, "2022-10-09T10:16:00Z"]
            assert not passes("v1-t10", OLD_A1C, posts, other, defects)

    def test_authored_exact(self):
        posts = [changed(TestA1c.order, authoredOn="2023-11-13T10:20:00Z")]
        assert fails_only_with(Defect.AUTHORED_EXACT, "v1-t10", [], posts, [-1])
        late = [changed(TestA1c.order, authoredOn="2023-11-13T12:20:00Z")]
        assert not passes("v1-t10", [], late, [-1], PUBLISHED - {Defect.AUTHORED_EXACT})

    @pytest.mark.parametrize("result", [["123 mg/dL"], [123.4], [{"value": 123}], [[122.5]]])
    def test_exact_glucose(self, result):
        assert fails_only_with(Defect.EXACT_GLUCOSE, "v1-t7", [(HOUR, 123)], result=result)
        assert Defect.EXACT_GLUCOSE not in BENCHMARK_DEFECTS["v3"]

    @pytest.mark.parametrize(
        "result", [["12 to 123"], [124], [True], ["none"], [], {"a": 1, "b": 2}]
    )
    def test_the_lenient_number_has_its_limits(self, result):
        defects = BENCHMARK_DEFECTS["v3"]
        assert not passes("v1-t7", [(HOUR, 123)], result=result, defects=defects)


GARBAGE = [
    None,
    [],
    "text",
    7,
    {"resourceType": "Observation", "category": {}, "subject": []},
    {"dosageInstruction": [None], "note": [[1]], "code": {"coding": [3]}, "subject": 1},
]


@pytest.mark.parametrize("name", list(V1_GRADERS))
@pytest.mark.parametrize("defects", [frozenset(), ALL_DEFECTS], ids=["repaired", "published"])
def test_graders_are_total_and_doing_nothing_fails_where_orders_are_due(name, defects):
    rows = {"v1-t5": [(HOUR, 1.2)], "v1-t9": LOW_K}.get(name, [])
    for payload in GARBAGE:
        for kind in ("Observation", "MedicationRequest", "ServiceRequest", "x"):
            wild = Post(f"{BASE}{kind}", payload, fenced=True, last=True)
            for posts in ([wild], [wild, wild]):
                for result in (None, [float("nan")], [{}], [None, 10**400]):
                    assert not passes(name, rows, posts, result, defects)
