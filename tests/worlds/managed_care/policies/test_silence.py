"""Silence under "must not be the case": enough for what a chart lists, and for nothing else."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    ContraindicationCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    ProcedureCriterion,
)
from healthgym.worlds.managed_care.policies.evaluation import posture
from healthgym.worlds.managed_care.policies.postures import combined, decisive, settles
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import AnyOf, Not
from healthgym.worlds.managed_care.vocabulary.authorization import PlaceOfService, Posture

TODAY = date(2026, 3, 13)
REQUEST = Request(
    procedure_code="27447",
    diagnosis_codes=("M17.11",),
    site=PlaceOfService.OFFICE,
    age=60,
    sex="F",
)
LISTED: tuple[AnyCriterion, ...] = (
    DiagnosisCriterion(id="C1", display="dependence", prefixes=("F11.2",), examples=("F11.20",)),
    ContraindicationCriterion(id="C1", display="a lead", substances=("lead",)),
    ProcedureCriterion(id="C1", display="surgery", codes=("27447",), months=12),
)
SEEN = FindingCriterion(id="C2", display="infection", key="exam.infection")


@pytest.mark.parametrize("criterion", LISTED, ids=lambda item: item.kind)
def test_what_is_on_no_list_is_not_the_case(criterion: AnyCriterion) -> None:
    found = {"C1": posture(criterion, (), REQUEST, TODAY).posture}
    assert found == {"C1": Posture.ABSENT}
    assert combined(criterion, found) is Posture.ABSENT
    assert combined(Not(id="G1", part=criterion), found) is Posture.SATISFIED
    assert combined(Not(id="G1", part=Not(id="G2", part=criterion)), found) is Posture.ABSENT
    assert decisive(Not(id="G1", part=criterion), found) == ()


def test_what_has_to_be_looked_for_stays_open() -> None:
    found = {"C2": posture(SEEN, (), REQUEST, TODAY).posture}
    assert combined(Not(id="G1", part=SEEN), found) is Posture.ABSENT


@pytest.mark.parametrize("criterion", LISTED, ids=lambda item: item.kind)
def test_among_several_only_the_finding_is_a_gap(criterion: AnyCriterion) -> None:
    tree = Not(id="G1", part=AnyOf(id="G2", parts=(criterion, SEEN)))
    found = {"C1": Posture.ABSENT, "C2": Posture.ABSENT}
    assert combined(tree, found) in (Posture.ABSENT, Posture.INSUFFICIENT)
    assert settles(tree, found, ["C2"])
    assert not settles(tree, found, ["C1"])


@pytest.mark.parametrize("stance", [Posture.SATISFIED, Posture.INSUFFICIENT])
def test_an_entry_is_no_silence(stance: Posture) -> None:
    for criterion in LISTED:
        whole = combined(Not(id="G1", part=criterion), {"C1": stance})
        assert whole is not Posture.SATISFIED
