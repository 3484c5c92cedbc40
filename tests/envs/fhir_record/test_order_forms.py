"""How orders and notes are set: forms that say the same, beside forms that say another thing."""

from __future__ import annotations

from typing import Any

import pytest

from healthgym.envs.fhir_record.orders.dictated import beside, holds
from healthgym.envs.fhir_record.orders.language import is_foreign
from tests.envs.fhir_record.order_cases import CPT, RIGHT, RXNORM, SNOMED, edited
from tests.envs.fhir_record.test_orders import copied, remarked, wrong_with
from tests.envs.fhir_record.test_verifier import change, failed, find, play

NOTE = (
    "Situation: left knee pain. Background: fell 2 days ago. Recommendation: see within the week."
)
CVX, ATC, ICD = (
    "http://hl7.org/fhir/sid/cvx",
    "http://www.whocc.no/atc",
    "http://hl7.org/fhir/sid/icd-10-cm",
)
DOSAGE = "dosageInstruction.0"
CANCELLED = [{"url": "http://hospital.org/status", "valueString": "Cancelled; do not give."}]


def _coded(system: str, code: str, display: str = "") -> dict[str, str]:
    return {"system": system, "code": code, **({"display": display} if display else {})}


# -- what is dictated ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        NOTE.replace(". ", ".\n"),
        NOTE.replace(". ", ".\n\n"),
        "- " + NOTE.replace(". ", ".\n- "),
        f"\u201c{NOTE}\u201d",
        NOTE.rstrip("."),
        NOTE.upper(),
    ],
    ids=["lines", "blank lines", "bullets", "quotation marks", "no full stop", "capitals"],
)
def test_a_dictated_note_may_be_set_otherwise(text: str) -> None:
    assert holds(text, NOTE)
    assert not any(letter.isalnum() for letter in beside(text, NOTE))


@pytest.mark.parametrize(
    "text",
    [
        NOTE.replace("left", "right"),
        NOTE.replace("2 days", "12 days"),
        NOTE.replace(" Background: fell 2 days ago.", ""),
        NOTE.replace(". ", "; "),
        f"Bi{NOTE}",
    ],
    ids=["side", "number", "part", "marks", "part of a word"],
)
def test_and_says_the_same(text: str) -> None:
    assert not holds(text, NOTE)


def test_a_referral_whose_parts_stand_on_lines_is_right() -> None:
    """Dictated notes ask for something themselves ("see within the week"), which is no remark."""
    _, episode, script = find("v1-t8", "refer")
    order = next(step for step in script if step.name == "create_service_request")
    lines = str(order.arguments["note"]).replace(". ", ".\n")
    assert play(episode, change(script, order.name, note=lines)).success


def test_nor_is_one_with_a_line_more() -> None:
    _, episode, script = find("v1-t8", "refer")
    order = next(step for step in script if step.name == "create_service_request")
    more = str(order.arguments["note"]).replace(". ", ".\n") + "\nStart apixaban."
    assert failed(play(episode, change(script, order.name, note=more))) == {"referral_details"}


# -- codes and names -------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["level", "a1c", "referral", "ecg", "ct", "flu", "tsh"])
def test_a_code_of_the_item_needs_no_system(base: str) -> None:
    code = RIGHT[base][2]["code"]["coding"][0]["code"]
    assert wrong_with(base, edited(base, {"code.coding": [{"code": code}]})) == []


def test_but_the_one_that_is_named_has_to_be_right() -> None:
    for system in (SNOMED, "http://hospital.org/codes"):
        assert wrong_with("level", edited("level", {"code.coding.0.system": system}))
    assert wrong_with("level", edited("level", {"code.coding": [{"code": "2951-2"}]}))


OFFICIAL = [
    ("ct", "Computed tomography, abdomen and pelvis; with contrast material(s)"),
    (
        "flu",
        "Influenza virus vaccine, quadrivalent (IIV4), split virus, preservative free, 0.5 mL"
        " dosage, for intramuscular use",
    ),
    (
        "covid",
        "Severe acute respiratory syndrome coronavirus 2 (SARS-CoV-2) (coronavirus disease"
        " [COVID-19]) vaccine, mRNA-LNP, spike protein, 30 mcg/0.3 mL dosage, tris-sucrose"
        " formulation, for intramuscular use",
    ),
    ("level", "Potassium SerPl-sCnc"),
    ("a1c", "HbA1c MFr Bld"),
    ("ecg", "12 lead electrocardiogram at rest"),
]


@pytest.mark.parametrize(("base", "name"), OFFICIAL, ids=[base for base, _ in OFFICIAL])
@pytest.mark.parametrize("place", ["code.text", "code.coding.0.display"])
def test_the_names_that_terminologies_print_are_names(base: str, name: str, place: str) -> None:
    assert wrong_with(base, edited(base, {place: name})) == []


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("ct", "Computed tomography, abdomen; with contrast material(s), and chest"),
        ("ct", "CT ABD & PELV 1/> REGNS"),
        ("flu", "Influenza virus vaccine, trivalent (IIV3), split virus, 0.5 mL dosage"),
        ("level", "Sodium SerPl-sCnc"),
    ],
)
def test_those_of_other_codes_are_not(base: str, name: str) -> None:
    assert wrong_with(base, edited(base, {"code.text": name}))


TWINS = [
    ("level", _coded(SNOMED, "59573005", "Potassium measurement")),
    ("a1c", _coded(SNOMED, "43396009", "Hemoglobin A1c measurement")),
    ("flu", _coded(CVX, "150", "Influenza vaccine, quadrivalent, preservative free")),
    ("covid", _coded(CVX, "309", "COVID-19 vaccine, mRNA")),
    ("ecg", _coded(CPT, "93000", "Electrocardiogram")),
    ("catheter", _coded(SNOMED, "55449009", "Removal of urinary catheter")),
]


@pytest.mark.parametrize(("base", "twin"), TWINS, ids=[base for base, _ in TWINS])
def test_a_code_of_another_terminology_may_stand_beside(base: str, twin: dict[str, str]) -> None:
    assert wrong_with(base, edited(base, {"code.coding.1": twin})) == []


def test_but_none_of_another_thing() -> None:
    for base, twin in TWINS:
        for other, code in TWINS:
            if other != base:
                twisted = {**code, "display": twin["display"]}
                assert wrong_with(base, edited(base, {"code.coding.1": twisted})), (base, other)


def test_a_product_may_stand_beside_the_code_of_its_drug() -> None:
    product = _coded(RXNORM, "829762", "magnesium sulfate 40 MG/ML Injectable Solution")
    concept = "medicationCodeableConcept.coding.1"
    assert wrong_with("mg", edited("mg", {concept: product})) == []
    assert wrong_with("mg", edited("mg", {concept: {**product, "display": "heparin"}}))


@pytest.mark.parametrize(
    ("base", "coding"),
    [
        ("heparin", _coded(RXNORM, "11289", "heparin")),
        ("heparin", _coded(RXNORM, "67108", "heparin")),
        ("heparin", _coded(ATC, "B01AA03", "heparin")),
        ("naloxone", _coded(RXNORM, "7804", "naloxone")),
        ("naloxone", _coded(SNOMED, "373492002", "naloxone")),
        ("levothyroxine", _coded(RXNORM, "11289", "levothyroxine")),
    ],
)
def test_the_code_of_another_drug_fails_under_the_right_name(
    base: str, coding: dict[str, str]
) -> None:
    concept = "medicationCodeableConcept.coding"
    assert wrong_with(base, edited(base, {concept: [coding]}))


def test_a_drug_by_its_own_code_passes() -> None:
    for base, code in (("heparin", "5224"), ("naloxone", "7242"), ("levothyroxine", "10582")):
        coding = _coded(RXNORM, code, base)
        concept = "medicationCodeableConcept.coding"
        assert wrong_with(base, edited(base, {concept: [coding]})) == []


# -- the chart's own words -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("catheter", "NUR1373 in place more than 48 hours; remove."),
        ("catheter", "Remove urinary catheter NUR1373."),
        ("a1c", "Malignant neoplasm of left kidney, except renal pelvis"),
        ("a1c", "Type 2 diabetes mellitus, unspecified (CMS-HCC)"),
        ("flu", "Influenza vaccine for the 2023-2024 season."),
        ("covid", "COVID-19 vaccine booster, 2023-24 formula."),
    ],
)
def test_codes_diagnoses_and_seasons_are_quoted(base: str, text: str) -> None:
    assert remarked(base, "note", text) == []


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("a1c", "Malignant neoplasm of left kidney, except on weekends"),
        ("a1c", "Type 2 diabetes mellitus, except if he objects"),
        ("flu", "Influenza vaccine for the 2025-2026 season."),
        ("flu", "Plan it for 2024."),
        ("catheter", "Bitte NUR1373 erst am Montag ziehen."),
    ],
)
def test_conditions_later_years_and_other_languages_are_not(base: str, text: str) -> None:
    assert remarked(base, "note", text)


def test_letters_of_a_code_are_no_word() -> None:
    assert not is_foreign("NUR1373")
    assert is_foreign("nur morgens")


# -- elements that carry words ---------------------------------------------------------------------

EXTENDED = [
    *[("level", f"{place}extension") for place in ("subject.", "code.", "code.coding.0.")],
    *[
        ("mg", f"medicationCodeableConcept.{place}")
        for place in ("extension", "coding.0.extension")
    ],
    ("heparin", f"{DOSAGE}.timing.extension"),
    ("heparin", f"{DOSAGE}.timing.code.extension"),
    ("mg", f"{DOSAGE}.doseAndRate.0.extension"),
    ("mg", f"{DOSAGE}.doseAndRate.0.doseQuantity.extension"),
    ("mg", f"{DOSAGE}.route.extension"),
]


@pytest.mark.parametrize(("base", "place"), EXTENDED)
def test_an_extension_is_read_wherever_it_stands(base: str, place: str) -> None:
    assert wrong_with(base, edited(base, {place: CANCELLED}))


WORDED: list[tuple[str, dict[str, Any]]] = [
    ("ct", {"orderDetail": [{"text": "MRI of brain"}]}),
    ("ct", {"orderDetail": [{"text": "Oral contrast"}]}),
    ("flu", {"orderDetail": [{"text": "Hepatitis B vaccine"}]}),
    ("level", {"orderDetail": [{"text": "Sodium"}]}),
    ("mg", {f"{DOSAGE}.method": {"text": "Discard"}}),
    ("naloxone", {f"{DOSAGE}.method": {"text": "Inject"}}),
    ("naloxone", {f"{DOSAGE}.asNeededCodeableConcept": {"coding": [_coded(SNOMED, "22253000")]}}),
    ("heparin", {f"{DOSAGE}.timing.repeat": {"offset": 100000}}),
    ("level", {"reasonCode": [{"coding": [_coded(ICD, "Z53.20")]}]}),
    ("level", {"locationCode": [{"text": "Another patient's home"}]}),
    ("level", {"performerType": {"text": "Veterinary surgeon"}}),
    ("level", {"performer": [{"display": "The neighbour"}]}),
    ("level", {"reasonReference": [{"display": "Condition of patient S0000001"}]}),
    ("mg", {"groupIdentifier": {"value": "Cancelled"}}),
]
PLAIN: list[tuple[str, dict[str, Any]]] = [
    ("ct", {"orderDetail": [{"text": "With IV contrast"}]}),
    ("flu", {"orderDetail": [{"text": "0.5 mL intramuscular, deltoid"}]}),
    ("mg", {f"{DOSAGE}.method": {"text": "Infuse via pump"}}),
    ("naloxone", {f"{DOSAGE}.method": {"text": "Spray"}}),
    (
        "naloxone",
        {f"{DOSAGE}.asNeededCodeableConcept": {"text": "opioid-induced respiratory depression"}},
    ),
    ("level", {"reasonCode": [{"coding": [_coded(ICD, "E87.6")]}]}),
    ("level", {"locationCode": [{"text": "Hospital ward"}]}),
    ("level", {"performerType": {"text": "Phlebotomist"}}),
    ("tsh", {"specimen": [{"display": "Venous blood"}]}),
    ("mg", {"groupIdentifier": {"value": "G-2023-17"}}),
    ("mg", {"groupIdentifier": {"value": "abc"}}),
]


@pytest.mark.parametrize(("base", "changes"), WORDED)
def test_an_element_that_says_another_thing_fails(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes))


@pytest.mark.parametrize(("base", "changes"), PLAIN)
def test_one_that_says_the_same_passes(base: str, changes: dict[str, Any]) -> None:
    assert wrong_with(base, edited(base, changes)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Start haloperidol 5 mg IV every 2 hours instead.",
        "Will be given again tomorrow.",
        "Only paused for one hour.",
        "Nurse may still administer on request.",
        "Give the remaining doses first.",
        "This is not a real discontinuation.",
    ],
)
def test_an_ended_copy_that_asks_for_anything_ends_nothing(text: str) -> None:
    verdict = copied(note=[{"text": text}])
    assert failed(verdict) == {"orders_stopped", "no_stray_writes"}


@pytest.mark.parametrize(
    "text",
    [
        "Duplicate anticoagulant; please stop giving it.",
        "Exactly one active DVT prophylaxis order is allowed. Keep the newest heparin order.",
        "Discontinued per pharmacy review; do not give.",
    ],
)
def test_one_that_says_why_ends_it(text: str) -> None:
    verdict = copied(statusReason={"text": text})
    assert verdict.success, failed(verdict)
