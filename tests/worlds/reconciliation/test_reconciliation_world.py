"""The discharge: messages, lines, signatures, the patient's leaving, and what undoing leaves."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.errors import ToolError
from healthgym.testing.lifecycles import check_lifecycle
from healthgym.worlds.reconciliation.formulary import find, formulary
from healthgym.worlds.reconciliation.record import Chart, Listed, Pharmacy, Record
from healthgym.worlds.reconciliation.world import (
    AGREE,
    DISAGREE,
    LINE_LIFE,
    PHARMACIST,
    PHYSICIAN,
    Disposition,
    Reason,
    ReconciliationWorld,
    Standing,
)

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TODAY = date(2026, 3, 2)


def make() -> ReconciliationWorld:
    chart = Chart((Listed("metformin", 500, TODAY),), (), 60)
    record = Record(chart, Pharmacy((), (), (), ()), TODAY)
    return ReconciliationWorld(record, Clock(START), START + timedelta(hours=2))


def propose(world: ReconciliationWorld, name: str = "metformin", dose: float = 500) -> None:
    world.propose(PHYSICIAN, name, Disposition.CONTINUE, dose, Reason.CURRENT)


def leave(world: ReconciliationWorld) -> None:
    due = world.clock.agenda.first()
    assert due is not None
    world.happen(due)


MUTATORS: dict[str, Callable[[ReconciliationWorld], object]] = {
    "say": lambda world: world.say(PHYSICIAN, "Hello."),
    "propose": propose,
    "replace": lambda world: propose(world, "ramipril", 5),
    "agree": lambda world: world.answer(PHARMACIST, "ramipril", AGREE),
    "disagree": lambda world: world.answer(PHARMACIST, "ramipril", DISAGREE, "No."),
    "sign": lambda world: world.sign(PHYSICIAN),
    "leave": leave,
}


@pytest.mark.parametrize("name", MUTATORS)
def test_a_rolled_back_change_leaves_no_trace(name: str) -> None:
    world = make()
    propose(world, "ramipril", 2.5)
    whole, content = world.digest(), world.content_digest()
    savepoint = world.journal.begin()
    MUTATORS[name](world)
    assert world.content_digest() != content
    world.journal.rollback(savepoint)
    assert world.digest() == whole


def test_a_clone_goes_its_own_way() -> None:
    world = make()
    twin = world.clone()
    for mutate in MUTATORS.values():
        if mutate not in (MUTATORS["agree"], MUTATORS["disagree"]):
            mutate(twin)
    assert world.digest() == make().digest() != twin.digest()


def test_looks_are_no_content() -> None:
    world = make()
    content, whole = world.content_digest(), world.digest()
    world.look(PHYSICIAN, "read_results")
    assert world.content_digest() == content
    assert world.digest() != whole


def test_a_line_stands_by_its_table() -> None:
    walked = check_lifecycle(LINE_LIFE, lambda rng: None, walks=20, draws=2)
    assert set(walked.pairs) <= LINE_LIFE.pairs()
    world = make()
    propose(world)
    for word, standing in ((AGREE, "agreed"), (DISAGREE, "disputed"), (AGREE, "agreed")):
        assert world.answer(PHARMACIST, "Metformin", word).standing == standing
    with pytest.raises(ToolError, match="'agree' is not possible in state agreed"):
        world.answer(PHARMACIST, "metformin", AGREE)
    propose(world, dose=1000)
    assert world.lines["metformin"].standing is Standing.PROPOSED


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda world: propose(world, "aspirine"), "not in the formulary"),
        (lambda world: propose(world, dose=0), "needs one"),
        (lambda world: propose(world, dose=float("nan")), "needs one"),
        (lambda world: propose(world, dose=-5), "needs one"),
        (
            lambda world: world.propose(PHYSICIAN, "metformin", Disposition.STOP, 5, Reason.RENAL),
            "stop has none",
        ),
        (lambda world: (propose(world), propose(world)), "says so already"),
        (lambda world: world.answer(PHYSICIAN, "metformin", AGREE), "no line for 'metformin'"),
        (
            lambda world: (propose(world), world.answer(PHYSICIAN, "metformin", AGREE)),
            "is yours; propose another",
        ),
        (lambda world: world.say(PHYSICIAN, "  "), "from 1 to 2000 characters, not 0"),
        (lambda world: world.say(PHYSICIAN, "a" * 2001), "not 2001"),
        (
            lambda world: (world.sign(PHARMACIST), world.say(PHYSICIAN, "Hello?")),
            "has signed and reads no more",
        ),
        (lambda world: [world.say(PHYSICIAN, "Hello.") for _ in range(201)], "too many messages"),
        (lambda world: (leave(world), propose(world)), "patient has left"),
        (lambda world: (leave(world), world.sign(PHYSICIAN)), "patient has left"),
        (lambda world: (leave(world), world.say(PHYSICIAN, "Hello.")), "patient has left"),
    ],
)
def test_what_makes_no_sense_is_refused(
    change: Callable[[ReconciliationWorld], object], reason: str
) -> None:
    with pytest.raises(ToolError, match=reason):
        change(make())


def test_the_other_is_told() -> None:
    world = make()
    propose(world)
    world.answer(PHARMACIST, "metformin", DISAGREE, "Which dose?")
    world.say(PHYSICIAN, "500.")
    assert world.turn == PHARMACIST
    world.sign(PHARMACIST)
    assert world.turn == PHYSICIAN
    leave(world)
    assert [(notice.role, notice.text) for notice in world.notices] == [
        (PHARMACIST, "The ward physician proposes: metformin: continue 500 mg a day (current); "
         "proposed"),
        (PHYSICIAN, "The community pharmacist disagrees: metformin (Which dose?)"),
        (PHARMACIST, "Message from the ward physician: 500."),
        (PHYSICIAN, "The community pharmacist has signed the list."),
        (PHYSICIAN, "The patient has left before both signed; the list lapsed."),
    ]  # fmt: skip


def test_the_formulary_is_in_order() -> None:
    assert find("  METFORMIN ") is formulary()["metformin"]
    assert find("met formin") is None
    for medicine in formulary().values():
        assert list(medicine.doses) == sorted(set(medicine.doses))
        if medicine.renal is not None:
            below, most = medicine.renal.below, medicine.renal.most
            assert most < medicine.doses[-1]
            assert medicine.allowed(medicine.doses[-1], below - 1) == most
            assert medicine.allowed(medicine.doses[-1], below) == medicine.doses[-1]
    assert np.mean([bool(each.renal) for each in formulary().values()]) > 0.2
