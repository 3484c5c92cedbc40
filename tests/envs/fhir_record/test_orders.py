"""The reading of a written order: what ruins it fails, and what says the same passes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.orders import faults, identifies
from healthgym.envs.fhir_record.orders.quantities import Dimension, amount, read_quantity
from healthgym.envs.fhir_record.orders.sig import read_words
from healthgym.envs.fhir_record.orders.words import element_names
from tests.envs.fhir_record import (
    order_cases,
    order_cases_blind,
    order_remarks,
    order_sentences,
)
from tests.envs.fhir_record.order_cases import GONE, MRN, NOW, RIGHT, edited
from tests.envs.fhir_record.test_verifier import before_finish, change, failed, find, play

END = NOW + timedelta(minutes=3)
NAMES = frozenset({"ama", "osei"})


def wrong_with(base: str, resource: dict[str, Any]) -> list[str]:
    decision, name, _ = RIGHT[base]
    spec = next(order for order in decision.orders if order.name == name)
    if not identifies(spec, resource):
        return ["not meant"]
    return faults(spec, resource, MRN, NOW, END, NAMES)


def cases(name: str) -> list[Any]:
    both = [*getattr(order_cases, name), *getattr(order_cases_blind, name)]
    return [pytest.param(base, changes, id=f"{base}: {what}") for base, what, changes in both]


def span(value: float, unit: str) -> dict[str, Any]:
    return {"value": value, "unit": unit}


def limit(most: float, time: float, unit: str) -> dict[str, Any]:
    """Return the change by which a dosage states its largest dose in some time."""
    ratio = {"numerator": {"value": most, "unit": "units"}, "denominator": span(time, unit)}
    return {"dosageInstruction.0.maxDosePerPeriod": ratio}


@pytest.mark.parametrize("base", RIGHT)
def test_the_order_as_asked_is_right(base: str) -> None:
    assert wrong_with(base, RIGHT[base][2]) == []


@pytest.mark.parametrize(("base", "changes"), cases("ATTACKS"))
def test_what_ruins_an_order_fails(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes))


@pytest.mark.parametrize(("base", "changes"), cases("EQUIVALENTS"))
def test_what_says_the_same_passes(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes)) == []


@pytest.mark.parametrize("base", order_remarks.BASES)
@pytest.mark.parametrize("place", ["note", "patientInstruction", "orderDetail"])
def test_words_that_make_another_order_of_it_fail(base: str, place: str) -> None:
    assert [text for text in order_remarks.HARMFUL if not remarked(base, place, text)] == []


@pytest.mark.parametrize("base", order_remarks.BASES)
def test_words_that_change_nothing_pass(base: str) -> None:
    assert [text for text in order_remarks.INNOCENT if remarked(base, "note", text)] == []


@pytest.mark.parametrize("base", order_sentences.ASKING)
def test_sentences_that_ask_for_something_else_fail(base: str) -> None:
    texts = order_sentences.ASKING[base]
    assert [text for text in texts if not remarked(base, "note", text)] == []


@pytest.mark.parametrize("base", order_sentences.STATING)
def test_sentences_that_state_what_was_found_pass(base: str) -> None:
    texts = order_sentences.STATING[base]
    assert [text for text in texts if remarked(base, "note", text)] == []


@pytest.mark.parametrize("word", ["and ", "the ", "no ", "please to ", "a, "])
def test_a_long_text_is_read_in_a_moment(word: str) -> None:
    """Read with steps that grow with the square of its length, it would take minutes."""
    assert isinstance(remarked("a1c", "note", word * 20_000), list)


def remarked(base: str, place: str, text: str) -> list[str]:
    before = RIGHT[base][2].get("note") or []  # what is dictated stays
    said = {
        "note": [*before, {"text": text}],
        "patientInstruction": text,
        "orderDetail": [{"text": text}],
    }
    return wrong_with(base, {**RIGHT[base][2], place: said[place]})


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("catheter", {"note": [{"text": "Leave the catheter in."}]}),
        ("catheter", {"note": [{"text": "Exchange it for a new one."}]}),
        ("naloxone", {"dosageInstruction.0.site": {"text": "left eye"}}),
        ("heparin", {"dosageInstruction.0.site": {"text": "scalp"}}),
        ("naloxone", {"dispenseRequest": {"numberOfRepeatsAllowed": 99}}),
        ("mg", {"dispenseRequest": {"numberOfRepeatsAllowed": 1}}),
        ("levothyroxine", {"dispenseRequest": {"numberOfRepeatsAllowed": 99}}),
        ("levothyroxine", {"dispenseRequest": {"numberOfRepeatsAllowed": "3"}}),
        (
            "levothyroxine",
            {"dosageInstruction.0.timing.repeat": {"boundsPeriod": {"end": "2020-01-01"}}},
        ),
        ("naloxone", {"medicationCodeableConcept": {"text": "naloxone tablets"}}),
        ("naloxone", {"medicationCodeableConcept": {"text": "naloxone injection"}}),
        ("levothyroxine", {"medicationCodeableConcept": {"text": "levothyroxine suppository"}}),
        ("heparin", {"medicationCodeableConcept": {"text": "heparin tablets"}}),
    ],
)
def test_places_and_forms_that_do_not_fit_fail(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes))


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("naloxone", {"dosageInstruction.0.site": {"text": "one nostril"}}),
        ("heparin", {"dosageInstruction.0.site": {"text": "abdominal wall"}}),
        ("levothyroxine", {"dispenseRequest": {"numberOfRepeatsAllowed": 3}}),
        ("mg", {"dispenseRequest": {"numberOfRepeatsAllowed": 0}}),
        ("naloxone", {"medicationCodeableConcept": {"text": "naloxone nasal spray"}}),
        ("heparin", {"medicationCodeableConcept": {"text": "heparin injection"}}),
        ("levothyroxine", {"medicationCodeableConcept": {"text": "levothyroxine tablet"}}),
    ],
)
def test_places_and_forms_that_fit_pass(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes)) == []


#: Whatever JSON has, in place of an element: what cannot be looked up in a set among it.
JUNK = [
    None, 7, "x", [], {}, [None], [[]], ["active"], [{"code": ["x"]}], {"coding": 3},
    {"coding": [{"code": ["x"], "system": ["y"]}]}, True, float("inf"),
]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_anything_in_any_element_gets_an_answer(junk: object) -> None:
    """The reading is total: junk never raises."""
    for base, (_, _, right) in RIGHT.items():
        for element in element_names()[right["resourceType"]]:
            assert isinstance(wrong_with(base, {**right, element: junk}), list)
        for element in element_names()["Dosage"] if "dosageInstruction" in right else ():
            strange = edited(base, {f"dosageInstruction.0.{element}": junk})
            assert isinstance(wrong_with(base, strange), list)


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("mg", {"note": ["do not do it"]}),
        ("mg", {"note": "do not do it"}),
        ("mg", {"text": {"status": "generated", "div": "<div>Do <b>not</b> give.</div>"}}),
        ("mg", {"dosageInstruction.0.maxDosePerPeriod": ["do not give"]}),
        ("mg", {"dosageInstruction.0.doseAndRate.0.type": ["do not give"]}),
        ("mg", {"dosageInstruction.0.doseAndRate.0.type": "do not give"}),
        ("mg", {"dosageInstruction.0.additionalInstruction": ["do not give"]}),
        ("mg", {"dosageInstruction.0.patientInstruction": ["do not take it"]}),
        ("mg", {"dosageInstruction.0.text": ["8 g"]}),
        ("mg", {"dosageInstruction.0.timing.code": ["q1h"]}),
        ("mg", {"reasonCode": ["given in error"]}),
        ("mg", {"category": ["cancelled"]}),
        ("mg", {"reasonCode": [{"coding": [{"code": "do not give"}]}]}),
        ("mg", {"identifier": [{"value": "please do not give this"}]}),
        ("mg", {"supportingInformation": [{"display": ["void"]}]}),
        ("mg", {"note": [{"text": "This is for another patient."}]}),
        ("catheter", {"specimen": [{"display": "urine of another patient"}]}),
        ("heparin", limit(5000, 1, "d")),
        ("heparin", limit(5000, 1, "wk")),
        ("heparin", limit(20_000, 1, "furlong")),
        ("mg", {"dosageInstruction.0.timing.repeat": {"boundsDuration": span(9, "d")}}),
        ("mg", {"dispenseRequest": {"expectedSupplyDuration": span(9, "a")}}),
        ("mg", {"dispenseRequest": {"quantity": {"value": 1000, "unit": "g"}}}),
        ("levothyroxine", {"dispenseRequest": {"expectedSupplyDuration": span(9, "a")}}),
        ("levothyroxine", {"dispenseRequest": {"quantity": {"value": 1, "unit": "kg"}}}),
    ],
)
def test_what_stands_where_nobody_looks_is_read(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes))


@pytest.mark.parametrize(
    ("base", "changes"),
    [
        ("mg", {"text": {"status": "generated", "div": "<div>Magnesium sulfate IV</div>"}}),
        ("mg", {"note": "Level was low this morning."}),
        ("mg", {"reasonCode": ["hypomagnesemia"]}),
        ("mg", {"category": ["inpatient"]}),
        ("mg", {"dispenseRequest": {"expectedSupplyDuration": span(1, "d")}}),
        ("heparin", limit(15_000, 1, "d")),
        ("heparin", limit(5000, 8, "h")),
        ("levothyroxine", {"dispenseRequest": {"expectedSupplyDuration": span(90, "d")}}),
        ("levothyroxine", {"dispenseRequest": {"quantity": {"value": 90, "unit": "tablet"}}}),
        ("naloxone", {"dispenseRequest": {"quantity": {"value": 2, "unit": "spray"}}}),
    ],
)
def test_what_agrees_there_passes(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes)) == []


@pytest.mark.parametrize("path", ["", ".timing", ".timing.repeat", ".route", ".doseAndRate.0"])
@pytest.mark.parametrize("junk", [7, "x", [], {"x": 1}, [None], True], ids=repr)
def test_anything_in_a_dosage_gets_an_answer(path: str, junk: object) -> None:
    assert wrong_with("mg", edited("mg", {f"dosageInstruction.0{path}": junk})) or junk == []


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (2, "g", 2.0),
        (2000, "MG", 2.0),
        (25, "\u00b5g", 0.000025),
        (25, "\u03bcg", 0.000025),
        (1, "pound", None),
        (0, "g", None),
        (-1, "g", None),
        (float("nan"), "g", None),
        (True, "g", None),
        ("2", "g", None),
    ],
)
def test_amounts_are_kept_in_one_unit(value: object, unit: str, expected: float | None) -> None:
    read = amount(value, unit)
    assert (read.value if read else None) == expected


def test_unit_and_code_must_agree() -> None:
    assert read_quantity({"value": 1, "unit": "h", "code": "min"}) is None
    hour = read_quantity({"value": 60, "unit": "minutes", "code": "min"})
    assert hour is not None
    assert (hour.value, hour.of) == (1.0, Dimension.TIME)


def test_words_are_read_as_claims() -> None:
    sig = read_words("Give 5,000 units subcutaneously every eight hours over 2 hours PRN, bananas")
    assert {(dose.value, dose.of) for dose in sig.doses} == {(5000, Dimension.ACTIVITY)}
    assert (sig.routes, sig.intervals, sig.durations) == ({"subcutaneous"}, {8.0}, {2.0})
    assert (sig.as_needed, sig.unread) == ({True}, {"bananas"})


# -- forms that real systems write ----------------------------------------------------------------

MEDICATION = {"resourceType": "Medication", "id": "m"}
NDC = {"system": "http://hl7.org/fhir/sid/ndc", "code": "0338-1715-40"}
HELD = {"medicationCodeableConcept": GONE, "medicationReference": {"reference": "#m"}}
REASON = "dosageInstruction.0.asNeededCodeableConcept"
COURSE = "http://terminology.hl7.org/CodeSystem/medicationrequest-course-of-therapy"


def held(**drug: Any) -> dict[str, Any]:
    """Return the change that moves the medication into a contained resource."""
    return {**HELD, "contained": [{**MEDICATION, "code": {"coding": [NDC]}, **drug}]}


def pressure(systolic: float, diastolic: float, unit: str = "mmHg") -> dict[str, Any]:
    codes = {"8480-6": systolic, "8462-4": diastolic}
    parts = [
        {
            "code": {"coding": [{"system": "http://loinc.org", "code": code}]},
            "valueQuantity": {"value": value, "unit": unit},
        }
        for code, value in codes.items()
    ]
    return {"component": parts}


def house_code(display: str) -> dict[str, Any]:
    coding = {"system": "http://hospital.example/labs", "code": "77-A", "display": display}
    return {"code.coding.1": coding}


def course(code: str, display: str) -> dict[str, Any]:
    coding = {"system": COURSE, "code": code, "display": display}
    return {"courseOfTherapyType": {"coding": [coding]}}


SPRAY = "NALOXONE HCL 4 MG/0.1ML NA LIQD"
FORMS = [
    ("mg", held()),
    ("mg", held(status="active")),
    ("bp", pressure(118, 77)),
    ("bp", pressure(118, 77, "mm[Hg]")),
    ("level", house_code("Potassium")),
    ("level", {"specimen": [{"display": "Serum"}]}),
    ("level", {"specimen": [{"display": "Venous blood sample"}]}),
    ("referral", {"note.0.authorString": "Requesting clinician"}),
    ("referral", {"performerType": {"text": "Orthopedic surgeon"}}),
    ("naloxone", {REASON: {"text": "suspected opioid overdose"}}),
    ("naloxone", {"dosageInstruction.0.timing": {"code": {"text": "PRN opioid overdose"}}}),
    ("naloxone", {"medicationCodeableConcept": {"text": "Narcan"}}),
    ("naloxone", {"medicationCodeableConcept": {"text": SPRAY}}),
    ("naloxone", {"dosageInstruction.0.text": "1 spray (4 mg) into one nostril as needed"}),
    ("heparin", {"dosageInstruction.0.text": "Inject 5,000 units under the skin every 8 hours."}),
    ("levothyroxine", course("continuous", "Continuous long term therapy")),
    ("mg", course("acute", "Short course (acute) therapy")),
]
OTHER_FORMS = [
    ("mg", held(code={"text": "Calcium gluconate"})),
    ("mg", held(status="inactive")),
    ("mg", held(ingredient=[{"itemCodeableConcept": {"text": "Potassium chloride"}}])),
    ("mg", {"contained": [{**MEDICATION, "code": {"text": "Calcium gluconate"}}]}),
    ("bp", pressure(250, 77)),
    ("bp", pressure(77, 118)),
    ("bp", pressure(118, 77, "kPa")),
    ("bp", {"component": [{"code": {"text": "systolic"}, "valueString": "118"}]}),
    ("bp", {"component": ["118"]}),
    ("bp", {"focus": [{"display": "Foetus"}]}),
    ("level", house_code("Sodium")),
    ("level", {"code.coding.1": {"system": "urn:x", "code": "4548-4", "display": "Potassium"}}),
    ("level", {"specimen": [{"display": "Urine, 24 h collection"}]}),
    ("ecg", {"orderDetail": [{"text": "24-hour Holter monitor"}]}),
    ("referral", {"note.0.authorString": "Do not see this patient"}),
    ("referral", {"performerType": {"text": "Dentist"}}),
    ("naloxone", {REASON: {"text": "constipation"}}),
    ("naloxone", {REASON: {"text": "pain"}}),
    ("naloxone", {"dosageInstruction.0.timing": {"code": {"text": "PRN cough"}}}),
    ("levothyroxine", {"dosageInstruction.0.patientInstruction": "Take four tablets at once."}),
    ("mg", course("continuous", "Continuous long term therapy")),
    ("mg", {"note": [{"text": "Draft, pending approval."}]}),
    ("mg", {"note": [{"text": "The patient has died."}]}),
]


@pytest.mark.parametrize(("base", "changes"), FORMS)
def test_other_forms_of_the_same_order_pass(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes)) == []


@pytest.mark.parametrize(("base", "changes"), OTHER_FORMS)
def test_forms_that_say_something_else_fail(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes))


def replacing(kind: str, branch: str, order: str) -> Any:
    """Return the verdict where the first order is written with the one whose place it takes."""
    _, episode, script = find(kind, branch)
    play_all(episode, script[:-1])
    written = next(write for write in episode.world.store.written if write.kind == "create")
    right = {k: v for k, v in written.resource.items() if k not in ("id", "meta")}
    _, episode, script = find(kind, branch)
    episode.world.store.create(
        {**right, "priorPrescription": {"reference": f"MedicationRequest/{order}"}}
    )
    return play(episode, [action for action in script if action.name != ORDER])


def test_an_order_may_not_take_the_place_of_one_that_goes_on() -> None:
    _, episode, _ = find("v2-t8", "uncovered")
    patient = episode._instance.reference.facts.patient
    asked = [("patient", patient), ("status", "active"), ("_count", "1")]
    standing = episode.world.store.search("MedicationRequest", asked).resources[0]["id"]
    assert failed(replacing("v2-t8", "uncovered", standing)) == {"naloxone_details"}
    assert failed(replacing("v2-t8", "uncovered", "unknown")) == {"naloxone_details"}


def test_an_order_may_take_the_place_of_one_that_has_to_stop() -> None:
    _, _, script = find("v2-t2", "no_heparin")
    stopped = next(a.arguments["id"] for a in script if a.name == "stop_medication_request")
    verdict = replacing("v2-t2", "no_heparin", stopped)
    assert verdict.success, failed(verdict)


def written_with(kind: str, branch: str, **elements: Any) -> Any:
    """Return the verdict where the first order is written with further elements."""
    _, episode, script = find(kind, branch)
    play_all(episode, script[:-1])
    written = next(write for write in episode.world.store.written if write.kind == "create")
    right = {k: v for k, v in written.resource.items() if k not in ("id", "meta")}
    _, episode, script = find(kind, branch)
    episode.world.store.create({**right, **elements})
    return play(episode, [action for action in script if not action.name.startswith("create_")])


def test_what_an_order_refers_to_may_not_be_somebody_elses() -> None:
    _, episode, _ = find("v1-t10", "stale")
    store, patient = episode.world.store, episode._instance.reference.facts.patient
    others = [one["id"] for one in store.search("Patient", [("_count", "50")]).resources]
    other = next(one for one in others if one != patient)
    assert written_with("v1-t10", "stale", requester={"reference": "Practitioner/1"}).success
    assert failed(written_with("v1-t10", "stale", requester={"reference": f"Patient/{other}"})) == {
        "a1c_details"
    }
    theirs = next(
        row["id"]
        for one in others
        if one != patient
        for row in store.search("Observation", [("patient", one), ("_count", "1")]).resources
    )
    given = {"supportingInfo": [{"reference": f"Observation/{theirs}"}]}
    assert failed(written_with("v1-t10", "stale", **given)) == {"a1c_details"}


def copied(**elements: Any) -> Any:
    """Return the verdict where orders are ended by copies with further elements, as in replies."""
    _, episode, script = find("v2-t2", "other_newest")
    store = episode.world.store
    for action in script:
        if action.name == "stop_medication_request":
            original = store.read("MedicationRequest", action.arguments["id"])
            copy = {k: v for k, v in original.items() if k not in ("id", "meta")}
            store.create({**copy, "status": "stopped", **elements})
    return play(episode, [a for a in script if a.name != "stop_medication_request"])


@pytest.mark.parametrize(
    "elements",
    [
        {},
        {"status": "completed"},
        {"statusReason": {"text": "Duplicate therapy"}},
        {"note": [{"text": "Duplicate; the newest heparin order is kept."}]},
        {"note": [{"text": "Stopped; continue heparin only."}]},
    ],
    ids=repr,
)
def test_an_ended_copy_ends_an_order(elements: dict[str, Any]) -> None:
    verdict = copied(**elements)
    assert verdict.success, failed(verdict)


@pytest.mark.parametrize(
    "elements",
    [
        {"note": [{"text": "Continue this order."}]},
        {"note": [{"text": "Should not be discontinued."}]},
        {"statusReason": {"text": "Ended by mistake, restart now"}},
        {"doNotPerform": True},
        {"intent": "proposal"},
        {"authoredOn": "2040-01-01"},
        {"modifierExtension": [{"url": "urn:negated", "valueBoolean": True}]},
    ],
    ids=repr,
)
def test_an_ended_copy_that_lets_the_order_go_on_ends_none(elements: dict[str, Any]) -> None:
    assert "orders_stopped" in failed(copied(**elements))


def test_a_copy_that_was_ended_itself_is_no_mistake_taken_back() -> None:
    """Of two equal orders one was ended as completed, one as stopped: neither undoes the other."""
    _, episode, script = find("v2-t2", "other_newest")
    stop = next(a.arguments["id"] for a in script if a.name == "stop_medication_request")
    store = episode.world.store
    original = store.read("MedicationRequest", stop)
    copy = {k: v for k, v in original.items() if k not in ("id", "meta")}
    for status in ("completed", "stopped"):
        store.create({**copy, "status": status})
    assert failed(play(episode, script[-1:])) == {"no_stray_writes"}


# -- with tools ------------------------------------------------------------------------------------

ORDER = "create_medication_request"
TOOL_ATTACKS = {
    "magnesium hourly": ("v1-t5", "moderate", {"frequency": "q1h"}),
    "magnesium over a second": ("v1-t5", "moderate", {"rate": 1, "rate_unit": "s"}),
    "magnesium named potassium": (
        "v1-t5",
        "moderate",
        {"medication": "potassium chloride IV push"},
    ),
    "potassium every 15 minutes": ("v1-t9", "low", {"frequency": "every 15 minutes"}),
    "potassium over a second": ("v1-t9", "low", {"rate": 1, "rate_unit": "s"}),
    "levothyroxine 2500 mcg": ("v2-t6", "protocol_a", {"medication": "levothyroxine 2500 mcg"}),
    "no naloxone please": ("v2-t8", "uncovered", {"medication": "no naloxone please"}),
}
#: In what is stated: doses and hours are drawn, and another number would be another order.
TOOL_EQUIVALENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "intravenously": ("v1-t5", "moderate", {"route": "intravenously"}),
    "grams in mg": (
        "v1-t5",
        "moderate",
        {"dose": lambda given: 1000 * given["dose"], "dose_unit": "mg"},
    ),
    "hours in minutes": (
        "v1-t5",
        "moderate",
        {"rate": lambda given: 60 * given["rate"], "rate_unit": "minutes"},
    ),
    "a rate": (
        "v1-t5",
        "moderate",
        {"rate": lambda given: given["dose"] / given["rate"], "rate_unit": "g/h"},
    ),
    "named": (
        "v1-t5",
        "moderate",
        {
            "medication": lambda given: f"Magnesium sulfate {given['dose']:g} g IV",
            "frequency": "once",
        },
    ),
    "mcg in mg": (
        "v2-t6",
        "protocol_a",
        {"dose": lambda given: given["dose"] / 1000, "dose_unit": "mg"},
    ),
    "one tablet": (
        "v2-t6",
        "protocol_a",
        {
            "medication": lambda given: f"levothyroxine {given['dose']:g} mcg tablet",
            "dose": 1,
            "dose_unit": "tablet",
        },
    ),
    "every morning": ("v2-t6", "protocol_a", {"frequency": "every morning"}),
    "as needed": ("v2-t8", "uncovered", {"frequency": "PRN"}),
    "one spray": (
        "v2-t8",
        "uncovered",
        {
            "medication": lambda given: f"Naloxone {given['dose']:g} mg/actuation nasal spray",
            "dose": 1,
            "dose_unit": "spray",
        },
    ),
    "one spray by volume": (
        "v2-t8",
        "uncovered",
        {
            "medication": lambda given: f"Naloxone {given['dose']:g} mg/0.1 mL nasal spray",
            "dose": 1,
            "dose_unit": "spray",
        },
    ),
}


@pytest.mark.parametrize("case", TOOL_ATTACKS.values(), ids=TOOL_ATTACKS.keys())
def test_a_ruined_order_by_tools_fails(case: tuple[str, str, dict[str, Any]]) -> None:
    kind, branch, arguments = case
    _, episode, script = find(kind, branch)
    names = failed(play(episode, change(script, ORDER, **arguments)))
    assert len(names) == 1
    assert names.pop().endswith("_details")


@pytest.mark.parametrize("case", TOOL_EQUIVALENTS.values(), ids=TOOL_EQUIVALENTS.keys())
def test_the_same_order_by_tools_passes(case: tuple[str, str, dict[str, Any]]) -> None:
    kind, branch, arguments = case
    _, episode, script = find(kind, branch)
    verdict = play(episode, change(script, ORDER, **arguments))
    assert verdict.success, failed(verdict)


# -- mistakes taken back ---------------------------------------------------------------------------


def own_ids(episode: Any) -> list[str]:
    return [write.id for write in episode.world.store.written]


def test_a_mistake_taken_back_and_put_right_is_forgiven_by_a_check_that_says_so() -> None:
    _, episode, script = find("v1-t5", "moderate")
    *looks, order, finish = script
    play_all(episode, [*looks, ToolCall(ORDER, {**order.arguments, "dose": 8.0})])
    play_all(episode, [call("stop_medication_request", id=own_ids(episode)[0])])
    verdict = play(episode, [order, finish])
    assert verdict.success, failed(verdict)
    said = {result.check.name: result.detail for result in verdict.checks}
    assert said["mistakes_withdrawn"] == "1 taken back"


def test_services_and_measurements_are_taken_back_too() -> None:
    for kind, branch in (("v1-t8", "refer"), ("v1-t3", "record")):
        _, episode, script = find(kind, branch)
        *looks, order, finish = script
        wrong = {"note": "x"} if kind == "v1-t8" else {"value": "300/200 mmHg"}
        play_all(episode, [*looks, ToolCall(order.name, {**order.arguments, **wrong})])
        play_all(episode, [call("retract_entry", id=own_ids(episode)[0])])
        assert play(episode, [order, finish]).success


def test_a_mistake_that_stands_is_not_forgiven() -> None:
    _, episode, script = find("v1-t5", "moderate")
    *looks, order, finish = script
    wrong = ToolCall(ORDER, {**order.arguments, "dose": 8.0})
    verdict = play(episode, [*looks, wrong, order, finish])
    assert {"magnesium_written", "no_stray_writes"} <= failed(verdict)


def test_taking_the_right_order_back_leaves_none() -> None:
    _, episode, script = find("v1-t5", "moderate")
    play_all(episode, script[:-1])
    play_all(episode, [call("stop_medication_request", id=own_ids(episode)[0])])
    assert "magnesium_written" in failed(play(episode, script[-1:]))


def test_trying_everything_and_taking_it_back_is_not_forgiven() -> None:
    _, episode, script = find("v1-t5", "moderate")
    *looks, order, finish = script
    play_all(episode, looks)
    for dose in (1.0, 4.0, 8.0, 16.0):
        play_all(episode, [ToolCall(ORDER, {**order.arguments, "dose": dose})])
        play_all(episode, [call("stop_medication_request", id=own_ids(episode)[-1])])
    assert failed(play(episode, [order, finish])) == {"mistakes_withdrawn"}


def test_only_entries_of_the_session_are_taken_back() -> None:
    _, episode, script = find("v2-t2", "other_newest")
    stopped = next(a.arguments["id"] for a in script if a.name == "stop_medication_request")
    outcome = episode.step(call("retract_entry", id=stopped))
    assert "not written in this session" in outcome.observation
    assert not episode.world.store.written


def test_without_updates_an_ended_copy_takes_an_entry_back() -> None:
    _, episode, script = find("v1-t5", "moderate")
    *looks, order, finish = script
    wrong = ToolCall(ORDER, {**order.arguments, "dose": 8.0})
    play_all(episode, [*looks, wrong])
    store = episode.world.store
    copy = {k: v for k, v in store.written[0].resource.items() if k not in ("id", "meta")}
    store.create({**copy, "status": "cancelled"})
    verdict = play(episode, [order, finish])
    assert verdict.success, failed(verdict)
    assert "no_stray_writes" in failed(play_again_with_copy())


def play_again_with_copy() -> Any:
    """Return the verdict where the ended copy is of nothing that was written."""
    _, episode, script = find("v1-t5", "moderate")
    stray = {"resourceType": "MedicationRequest", "status": "cancelled", "intent": "order"}
    concept = {"medicationCodeableConcept": {"text": "aspirin"}}
    patient = episode._instance.reference.facts.patient
    play_all(episode, script[:-1])
    subject = {"reference": f"Patient/{patient}"}
    episode.world.store.create({**stray, **concept, "subject": subject})
    return play(episode, before_finish(script[-1:]))


def play_all(episode: Any, script: list[ToolCall]) -> None:
    for action in script:
        outcome = episode.step(action)
        assert not outcome.errors, outcome.observation
