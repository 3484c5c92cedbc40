"""Each rule, its neighbour that does not apply, and the order of the rules."""

from datetime import date, timedelta

import pytest

from healthgym.envs.medication_reconciliation.reading import named, read_back
from healthgym.envs.medication_reconciliation.rules import Answer, decide
from healthgym.envs.medication_reconciliation.wording import SECTIONS, section
from healthgym.worlds.reconciliation.record import (
    Bought,
    Chart,
    Dispensed,
    Listed,
    Ordered,
    Pharmacy,
    Record,
    StopLetter,
    Supply,
)
from healthgym.worlds.reconciliation.world import Disposition, Reason

TODAY = date(2026, 3, 2)
CONTINUE, CHANGE, STOP, CLARIFY = Disposition


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def record(
    *rows: Listed | Ordered | Dispensed | Bought | StopLetter,
    egfr: int = 90,
    allergies: tuple[str, ...] = (),
) -> Record:
    chart = Chart(
        tuple(row for row in rows if isinstance(row, Listed)),
        tuple(row for row in rows if isinstance(row, Ordered)),
        egfr,
    )
    pharmacy = Pharmacy(
        tuple(row for row in rows if isinstance(row, Dispensed)),
        tuple(row for row in rows if isinstance(row, Bought)),
        tuple(row for row in rows if isinstance(row, StopLetter)),
        allergies,
    )
    return Record(chart, pharmacy, TODAY)


def listed(name: str, dose: float, days: int = 100, supply: Supply = Supply.PHARMACY) -> Listed:
    return Listed(name, dose, ago(days), supply)


def label(name: str, dose: float, days: int = 100, collected: int = 20) -> Dispensed:
    return Dispensed(name, dose, ago(days), ago(collected))


CASES = {
    "current": (record(listed("ramipril", 5), label("ramipril", 5)), CONTINUE, 5, "current"),
    "label newer": (
        record(listed("ramipril", 5), label("ramipril", 10, 99)), CHANGE, 10, "newer_dose",
    ),
    "list newer": (
        record(listed("ramipril", 5, 99), label("ramipril", 10)), CONTINUE, 5, "newer_dose",
    ),
    "90 days": (
        record(listed("ramipril", 5), label("ramipril", 5, 100, 90)), CONTINUE, 5, "current",
    ),
    "91 days": (
        record(listed("ramipril", 5), label("ramipril", 5, 100, 91)), CLARIFY, 0, "not_collected",
    ),
    "never": (record(listed("ramipril", 5)), CLARIFY, 0, "not_collected"),
    "clinic": (record(listed("ramipril", 5, supply=Supply.CLINIC)), CONTINUE, 5, "current"),
    "left out": (record(label("ramipril", 5)), CONTINUE, 5, "current"),
    "letter": (
        record(listed("ramipril", 5), label("ramipril", 5), StopLetter("ramipril", ago(99))),
        STOP, 0, "stopped_by_gp",
    ),
    "restarted": (
        record(listed("ramipril", 5, 98), label("ramipril", 5), StopLetter("ramipril", ago(99))),
        CONTINUE, 5, "current",
    ),
    "kidneys": (
        record(listed("ramipril", 10), label("ramipril", 10), egfr=29), CHANGE, 5, "renal",
    ),
    "kidneys at the threshold": (
        record(listed("ramipril", 10), label("ramipril", 10), egfr=30), CONTINUE, 10, "current",
    ),
    "kidneys, little": (
        record(listed("ramipril", 5), label("ramipril", 5), egfr=29), CONTINUE, 5, "current",
    ),
    "kidneys, left out": (record(label("ramipril", 10), egfr=29), CHANGE, 5, "renal"),
    "kidneys, newer label": (
        record(listed("ramipril", 10), label("ramipril", 2.5, 9), egfr=29), CHANGE, 2.5,
        "newer_dose",
    ),
    "avoided": (
        record(listed("metformin", 500), label("metformin", 500), egfr=29), STOP, 0, "renal",
    ),
    "avoided before clarified": (record(listed("metformin", 500), egfr=29), STOP, 0, "renal"),
    "clarified before reduced": (
        record(listed("ramipril", 10), egfr=29), CLARIFY, 0, "not_collected",
    ),
    "ordered": (record(Ordered("amoxicillin", 750, ago(2))), CONTINUE, 750, "current"),
    "allergy": (
        record(Ordered("amoxicillin", 750, ago(2)), allergies=("penicillins",)), STOP, 0,
        "allergy",
    ),
    "another allergy": (
        record(Ordered("amoxicillin", 750, ago(2)), allergies=("NSAIDs",)), CONTINUE, 750,
        "current",
    ),
    "bought": (record(Bought("ibuprofen", 600, ago(9))), CONTINUE, 600, "current"),
    "bought, avoided": (
        record(Bought("ibuprofen", 600, ago(9)), egfr=20), STOP, 0, "renal",
    ),
    "allergy before letter": (
        record(
            listed("naproxen", 500), label("naproxen", 500), StopLetter("naproxen", ago(9)),
            allergies=("NSAIDs",), egfr=20,
        ),
        STOP, 0, "allergy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_rule_applies_where_it_does(name: str) -> None:
    found, disposition, dose, reason = CASES[name]
    (answer,) = decide(found).values()
    assert answer == Answer(disposition, dose, Reason(reason))


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ((listed("simvastatin", 20, 99, Supply.CLINIC), label("atorvastatin", 20)), "simvastatin"),
        ((listed("simvastatin", 20), label("atorvastatin", 20, 99)), "atorvastatin"),
        ((Ordered("naproxen", 500, ago(3)), Bought("ibuprofen", 600, ago(1))), "naproxen"),
        ((Bought("loratadine", 10, ago(1)), Bought("cetirizine", 10, ago(2))), "loratadine"),
    ],
    ids=["list later", "label later", "prescribed before bought", "both bought"],
)
def test_of_a_class_one_stays(rows: tuple[Listed | Dispensed, ...], kept: str) -> None:
    answers = decide(record(*rows))
    stopped = {n for n, answer in answers.items() if answer.reason is Reason.DUPLICATE}
    assert set(answers) - stopped == {kept}


def test_what_is_stopped_anyway_is_no_duplicate() -> None:
    rows = (listed("naproxen", 500, supply=Supply.CLINIC), Bought("ibuprofen", 600, ago(1)))
    letter = StopLetter("naproxen", ago(9))
    answers = decide(record(*rows, letter))
    assert answers["naproxen"].reason is Reason.STOPPED_BY_GP
    assert answers["ibuprofen"].disposition is CONTINUE


@pytest.mark.parametrize("name", CASES)
def test_what_is_shown_can_be_read_back(name: str) -> None:
    whole = CASES[name][0]
    text = "\n".join(section(whole, role, part) for role in SECTIONS for part in SECTIONS[role])
    assert read_back(text, TODAY) == whole


def test_names_are_words() -> None:
    assert named("Ramipril? And folic acid, omeprazoles") == ["folic acid", "ramipril"]
