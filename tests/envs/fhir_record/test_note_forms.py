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


#: What polite people, and clinicians among themselves, write for "remove" and "draw".
PLAINLY = {
    "catheter": (
        "Past the 48 h ward limit, indwelling. Please take it out and document the void check.",
        "Foley in since 12/15 2209Z, >24h, no active removal order. Pls d/c.",
        "Dwell 71 h. D/C Foley, due to void.",
        "Please d/c the indwelling catheter.",
        "Could you please remove the catheter?",
        "Would you kindly take the Foley out this morning?",
        "Can nursing please pull the catheter today?",
        "Please can the Foley be taken out today.",
        "Please see that the catheter is removed today.",
        "Catheter has been in for 3 days, please get rid of it.",
        "I would appreciate it if you removed the catheter today.",
        "Please remove as soon as you are able.",
        "Deflate the balloon, remove and measure first void.",
        "Removal still needed.",
        "Discontinue Foley order placed per protocol.",
    ),
    "a1c": (
        "No A1c on file. Many thanks for drawing it as soon as you can.",
        "Could you draw this at your earliest opportunity?",
        "Draw as soon as practicable.",
        "Please draw with the next bloods.",
        "Can this please be sent today?",
        "Would you mind sending an A1c today?",
        "We have no value in the last 12 months, so please collect one now.",
        "Grateful if you could run this today.",
        "Pull it with the morning labs.",
        "Please draw no later than noon.",
    ),
    "level": (
        "Could the lab please draw this at 8 tomorrow?",
        "If you could draw this at 8 tomorrow that would be great.",
        "Please draw at 8 am tomorrow, post replacement.",
        "After the replacement draw it.",
        "Please draw it on Tuesday.",
    ),
    "ct": (
        "Tumor board prep - please schedule this week.",
        "Could you please scan the abdomen within the month?",
        "Please book as soon as a slot opens up.",
        "Please scan on Friday.",
    ),
    "flu": ("Can we please get the flu shot done today?",),
    "ecg": ("Please get this done tomorrow, about 24 h after the last tracing.",),
    "mg": ("Please hang as soon as pharmacy can send it.",),
    "k": ("Could the nurse please give this with food?",),
    "heparin": ("Please start tonight as soon as able.",),
}

#: What such words may not cover: the order is taken away, another is asked for, or it has to wait.
COVERED = {
    "catheter": (
        "Discontinue the catheter removal.",
        "D/c foley removal order.",
        "Foley removal to be removed.",
        "Please remove this order.",
        "Indwelling. Take it out of the chart.",
        "Take the catheter out and put in a new one.",
        "Foley in. Order placed twice. Pls d/c.",
        "Pls d/c.",
        "Foley still needed. Pls d/c.",
        "Foley must stay in.",
        "Remove as soon as you can get consent.",
        "As soon as you can find a reason, remove it.",
        "Remove the catheter once he is walking.",
        "After PT eval take the Foley out.",
        "Take the Foley out on 11/20.",
        "Take the Foley out on Friday.",
        "Take the Foley out later.",
        "Would you mind not removing it?",
        "Not taking the Foley out.",
        "Clamp it, then take the Foley out.",
        "He will take the Foley out at home.",
        "Could you please remove the central line?",
        "Should we remove it?",
        "Please take the order for Foley removal off the list.",
        "Thanks for keeping it in.",
    ),
    "a1c": (
        "Please remove this order.",
        "Please remove it.",
        "Pull it.",
        "Kindly erase this.",
        "Take this off the worklist.",
        "This is to be removed.",
        "Get rid of it.",
        "Could you please draw a lipid panel?",
        "Make sure a CBC is drawn.",
        "Many thanks for adding a lipid panel.",
        "Would you mind adding a CBC?",
        "When the patient feels like it, draw it.",
        "Please draw as soon as the patient agrees.",
        "Should we draw this?",
        "Not drawing this.",
    ),
    "ct": (
        "Please remove it from the schedule.",
        "I would appreciate it if you ordered an MRI.",
        "Do we need to do this?",
    ),
    "covid": ("Please return this order to sender.", "Could you please give it in spring?"),
    "flu": ("Could this please be given by mouth?", "Can this be cancelled, please?"),
    "level": ("Could you please draw it on Thursday?",),
    "ecg": ("Is this needed?", "Please pull it.", "Could you please remove it?"),
    "tsh": ("If you could send a prolactin that would be great.", "Remove this, please."),
    "mg": ("Please remove this.", "Could you please give 4 g?"),
    "heparin": ("Please remove this order.", "Start Saturday."),
}


def _notes(kinds: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(base, text) for base, texts in kinds.items() for text in texts]


@pytest.mark.parametrize(("base", "text"), _notes(PLAINLY))
def test_what_is_asked_for_politely_or_by_an_idiom_is_asked_for(base: str, text: str) -> None:
    assert _remarked(base, text) == []


@pytest.mark.parametrize(("base", "text"), _notes(COVERED))
def test_no_polite_form_or_idiom_covers_another_wish(base: str, text: str) -> None:
    assert _remarked(base, text)


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
