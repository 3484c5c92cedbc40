"""Notes that take an order back, and beside them the findings that sound like it."""

from __future__ import annotations

import pytest

from tests.envs.fhir_record.test_orders import remarked

#: Orders of ``order_cases.RIGHT``: of services, and of drugs, one of them given for need.
BASES = ("level", "catheter", "ecg", "mg", "heparin", "naloxone")

TAKEN_BACK = {
    "the border of a clause": (
        "Do not give; allergy",
        "Cancelled, allergy",
        "Withhold (allergy)",
        "Not indicated, contraindicated",
        "Not indicated - contraindicated",
        "Not to be given, error",
        "Not wanted, no error",
        "Do not give because of allergy",
        "Stopped, allergy",
    ),
    "an order that is not needed": (
        "No order is needed.",
        "No orders are necessary.",
        "No order was wanted.",
        "No procedure in this patient.",
        "No treatment in this man.",
    ),
    "words without a subject": (
        "Forbidden.",
        "Rescinded.",
        "Order rescinded.",
        "Vetoed by the attending.",
        "Denied by insurance.",
        "Quashed.",
        "Blocked by pharmacy",
        "Null and void.",
        "Cease.",
        "This is on hold.",
        "Off the table.",
        "Pointless.",
        "Considered inappropriate.",
        "Over and done with.",
    ),
    "what an order is called": (
        "Therapy held.",
        "Treatment discontinued.",
        "Replacement therapy stopped.",
        "The regimen was stopped.",
    ),
    "an order that another one stands for": (
        "See corrected order.",
        "Replaced by order 55.",
        "Training record.",
        "Patient transferred to another hospital.",
        "Obsolete.",
    ),
}

STATED = {
    "an allergy or error that is absent": (
        "No known drug allergies.",
        "No allergies, no contraindications.",
        "Not allergic to latex, no contraindication found.",
        "No fever, chills or cough.",
        "Denies any allergy; no errors noted.",
    ),
    "an order that is not found": (
        "No such order is on file.",
        "No order was found.",
        "No prior order in this admission.",
        "None in the past year.",
    ),
    "words with a subject": (
        "Frozen shoulder, seen last week.",
        "Shunt blocked by debris in 2019.",
        "Apixaban was held on Monday.",
        "Hepatitis B, inactive.",
        "Patient denied by phone that he has a headache.",
        "Indicated.",
        "Intubated, sedated.",
        "Reviewed by pharmacy.",
        "Discussed.",
    ),
    "another treatment": (
        "Antibiotic therapy stopped yesterday.",
        "Quetiapine was held on Sunday.",
        "Radiation treatment discontinued in March.",
    ),
    "a transfer to us": ("Transferred from another hospital on Monday.",),
}


def _cases(kinds: dict[str, tuple[str, ...]]) -> list[object]:
    return [
        pytest.param(base, kinds[kind], id=f"{base}: {kind}") for kind in kinds for base in BASES
    ]


@pytest.mark.parametrize(("base", "texts"), _cases(TAKEN_BACK))
def test_a_note_that_takes_the_order_back_fails_it(base: str, texts: tuple[str, ...]) -> None:
    assert [text for text in texts if not remarked(base, "note", text)] == []


@pytest.mark.parametrize(("base", "texts"), _cases(STATED))
def test_a_finding_that_sounds_like_it_passes(base: str, texts: tuple[str, ...]) -> None:
    assert [text for text in texts if remarked(base, "note", text)] == []
