"""Notes in the passive, without a verb and as questions: what is asked for, and what is routine."""

from __future__ import annotations

import pytest

from tests.envs.fhir_record.order_cases import RIGHT, edited
from tests.envs.fhir_record.test_orders import remarked, wrong_with
from tests.envs.fhir_record.test_verifier import change, failed, find, play

ASKING = [
    # in the passive
    ("ct", "Chest CT to be added."),
    ("ct", "Contrast is to be omitted."),
    ("ct", "Left hip to be scanned as well."),
    ("level", "Ferritin to be drawn too."),
    ("level", "Magnesium level to be sent with it."),
    ("ecg", "A troponin should be sent with it."),
    ("mg", "A further dose is to follow."),
    ("heparin", "Only the first dose is to be given."),
    ("flu", "The pneumococcal vaccine may be given as an alternative."),
    ("heparin", "First dose only."),
    # as a need
    ("mg", "Concurrent calcium gluconate 1 g IV is also required."),
    ("a1c", "A lipid panel is also needed."),
    ("tsh", "Only FT4 is necessary."),
    ("ft4", "Only the TSH is needed."),
    # without a verb
    ("k", "Second dose of the same amount in 4 hours."),
    ("mg", "Another dose tonight."),
    ("k", "Potassium bicarbonate is an acceptable alternative."),
    ("ct", "Ultrasound acceptable."),
    ("covid", "Oral route."),
    ("flu", "Two doses four weeks apart."),
    ("level", "Timing flexible within the week."),
    # left to somebody
    ("catheter", "Physician to decide on rounds whether to proceed."),
    ("level", "Nurse to choose the day."),
    # at another time
    ("tsh", "Repeat in 3 weeks."),
    ("tsh", "Draw tomorrow."),
    ("ecg", "Repeat in 5 days."),
    ("level", "Draw in 3 days."),
    ("ct", "Repeat every 3 months."),
    # for another
    ("ct", "For drain placement in another patient."),
    ("level", "Draw from the patient in bed 4."),
]

ROUTINE = [
    # the order itself, or what goes with it, told as still to come
    ("a1c", "HbA1c to be repeated since the last one is more than 1 year old."),
    ("ct", "CT to be repeated because the last one is older than 90 days."),
    ("catheter", "Urinary catheter to be removed."),
    ("catheter", "To be removed by nursing."),
    ("mg", "To be administered by the bedside nurse."),
    ("k", "Prepared by the assistant."),
    ("tsh", "To be drawn together with free T4."),
    ("level", "Blood to be drawn from a peripheral vein."),
    ("naloxone", "To be stored at room temperature."),
    ("ft4", "Levothyroxine to be adjusted according to the result."),
    ("ct", "Renal mass follow-up. Kidney function to be checked before contrast is given."),
    # in the passive
    ("tsh", "To be drawn together with FT4 on 2023-12-25."),
    ("level", "To be drawn in the morning."),
    ("ecg", "To be reviewed by cardiology."),
    # as a need
    ("a1c", "The result is needed for the clinic."),
    ("naloxone", "Naloxone is needed beside opioids."),
    # without a verb
    ("mg", "Renal function acceptable."),
    ("covid", "Second booster in 2022."),
    # at its time
    ("tsh", "Repeat in 6 weeks."),
    ("ecg", "Repeat tomorrow."),
    ("level", "Draw tomorrow morning."),
    ("tsh", "Repeat TSH 6 weeks after starting levothyroxine 25 mcg daily."),
    # what is looked at before, and who is told
    (
        "ct",
        "Check renal function (eGFR) and contrast allergy before administration of IV contrast.",
    ),
    ("ct", "Please ensure adequate hydration before contrast."),
    ("ct", "Compare with prior studies if available."),
    ("flu", "Screen for contraindications (e.g., severe egg allergy, prior reaction) first."),
    (
        "flu",
        "Obtain consent and provide the vaccine information statement prior to administration.",
    ),
    ("covid", "Screen for allergies before giving and observe for 15 minutes afterwards."),
    ("catheter", "Notify provider if the patient is unable to void within 6 hours."),
    ("catheter", "Remove and perform a voiding trial."),
    ("ecg", "Reassess QTc after discontinuation of offending medications."),
    ("level", "Avoid a hemolyzed specimen; use a peripheral site."),
    ("a1c", "Please collect a venous blood sample (EDTA tube)."),
    # how a dose is worked out
    ("mg", "Hold parameters: none. Infuse over 2 hours."),
    ("k", "Replacement dose = (3.5 - 3.1) / 0.1 x 10 mEq."),
    # what was ordered before
    ("ecg", "Repeat potassium has been ordered."),
]

#: What may not be asked under the cover of what is routine.
UNDER_COVER = [
    ("ct", "Check renal function before contrast, then add a chest CT."),
    ("flu", "Screen for contraindications (e.g. give the nasal spray) first."),
    ("flu", "Obtain consent and provide the nasal spray prior to administration."),
    ("covid", "Screen for allergies before giving and observe, then give a second dose."),
    ("ct", "Perform as MRI if available."),
    ("ct", "Do it if available."),
    ("catheter", "Remove if the patient is able to void."),
    ("k", "Replacement dose = (3.5 - 3.1) / 0.1 x 10 mEq, then 20 mEq daily."),
    ("ecg", "Order troponin as it was ordered before."),
]


def _remarked(base: str, text: str) -> list[str]:
    return remarked(base, "note", text)


@pytest.mark.parametrize(("base", "text"), [*ASKING, *UNDER_COVER])
def test_a_note_that_asks_for_another_thing_fails(base: str, text: str) -> None:
    assert _remarked(base, text)


@pytest.mark.parametrize(("base", "text"), ROUTINE)
def test_a_note_of_routine_passes(base: str, text: str) -> None:
    assert _remarked(base, text) == []


REFERRED = [
    "Please evaluate for ablation or embolization.",
    "IR consult for left kidney cancer.",
    "Consult for consideration of cryoablation or biopsy.",
    "Repeat CT has been ordered.",
    "CT abdomen ordered concurrently.",
]
ORDERED_BESIDE = [
    "Also refer to oncology.",
    "Second referral to palliative care needed.",
    "Start apixaban 5 mg twice daily.",
    "Evaluate for ablation, then start apixaban.",
    "Cancel after you evaluate for ablation.",
]


def _referred(text: str) -> set[str]:
    """Return what fails where a note stands beside the referral of v2-T5."""
    _, episode, script = find("v2-t5", "old_ct")
    orders = [n for n, step in enumerate(script) if step.name == "create_service_request"]
    head, tail = script[: orders[1]], script[orders[1] :]
    return failed(play(episode, [*head, *change(tail, "create_service_request", note=text)]))


@pytest.mark.parametrize("text", REFERRED)
def test_a_specialist_is_asked_for_an_opinion(text: str) -> None:
    assert _referred(text) == set()


@pytest.mark.parametrize("text", ORDERED_BESIDE)
def test_and_nothing_else_is_ordered_beside_it(text: str) -> None:
    assert _referred(text) == {"referral_details"}


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("catheter", "Remove indwelling urinary (Foley) catheter"),
        ("catheter", "D/C Foley"),
        ("ct", "CT Abdomen for left renal malignancy"),
        ("ct", "CT abdomen and pelvis with contrast - surveillance of left kidney cancer"),
        ("ecg", "ECG (24 hours after discontinuation)"),
    ],
)
def test_a_name_may_give_its_reason(base: str, name: str) -> None:
    assert wrong_with(base, edited(base, {"code.text": name})) == []


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("catheter", "Urinary catheter"),
        ("ct", "CT abdomen for right kidney cancer"),
        ("ct", "CT abdomen - chest"),
        ("ct", "CT left kidney cancer"),
        ("ecg", "ECG (48 hours after discontinuation)"),
    ],
)
def test_but_no_other_place_time_or_thing(base: str, name: str) -> None:
    assert wrong_with(base, edited(base, {"code.text": name}))


def test_a_code_alone_is_the_published_way_to_order() -> None:
    assert (
        wrong_with("catheter", edited("catheter", {"code": {"coding": [{"code": "NUR1373"}]}}))
        == []
    )


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Previous reading 150/90.", True),
        ("Taken 11/13 in the left arm.", True),
        ("True value was 120/80.", False),
        ("Correction: 90/60 mmHg", False),
    ],
)
def test_a_measurement_is_not_corrected_beside_it(text: str, passes: bool) -> None:
    assert (_remarked("bp", text) == []) is passes


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("Patient Ama Osei, MRN {mrn}.", True),
        ("Patient Education Provided.", True),
        ("Patient: Osei, Ama", True),
        ("Patient Jane Doe.", False),
        ("Patient: John Q. Nobody, bed 4.", False),
        ("MRN S0000001", False),
    ],
)
def test_words_name_nobody_but_the_patient(text: str, passes: bool) -> None:
    note = text.format(mrn=RIGHT["a1c"][2]["subject"]["reference"].removeprefix("Patient/"))
    assert (_remarked("a1c", note) == []) is passes
