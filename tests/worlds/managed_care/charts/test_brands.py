"""Medicines by the names on their boxes, and values as reports round them."""

from __future__ import annotations

from datetime import date

import pytest

from healthgym.worlds.managed_care.apps.care_management.evidence import same_medicine
from healthgym.worlds.managed_care.charts.knowledge import (
    brands,
    brands_of,
    carried,
    generic_name,
)
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.recognition import understand
from healthgym.worlds.managed_care.facts import Measurement


@pytest.mark.parametrize(
    ("brand", "medicine", "same"),
    [
        ("Entresto", "sacubitril/valsartan 49/51 mg", True),
        ("Toprol XL 50 mg", "metoprolol succinate 50 mg", True),
        ("lantus", "insulin glargine 20 units", True),
        ("Lantus", "insulin lispro 10 units", False),
        ("Entresto", "valsartan 80 mg", False),
        ("Eliquis", "rivaroxaban 20 mg", False),
    ],
)
def test_a_brand_names_what_is_in_it(brand: str, medicine: str, same: bool) -> None:
    assert same_medicine(brand, medicine) is same
    assert same_medicine(medicine, brand) is same


def test_a_brand_stands_for_one_medicine_whatever_the_dose_it_is_asked_for_with() -> None:
    for name, sold in brands().items():
        assert brands_of(f"{name} 10 mg") == sold
        for brand in sold:
            assert brand in brands()[generic_name(brand)]
    assert brands_of("insulin glargine 20 units") == brands()["insulin glargine"]
    assert not brands_of("tap water")


def test_a_person_knows_their_medicine_by_its_brand() -> None:
    own = ("sacubitril/valsartan 49/51 mg", "metoprolol succinate 50 mg")
    heard = understand("How do you take your Entresto, that's sacubitril/valsartan?", (), own)
    assert [one.item for one in heard.acts if one.act is Act.ASK_TOPIC] == ["sacubitril/valsartan"]


def test_a_value_comes_back_from_the_other_unit_as_a_report_rounds_it() -> None:
    glucose = Measurement(
        id="F-1",
        code="2345-7",
        display="glucose",
        value=194.0,
        unit="mg/dL",
        taken=date(2026, 1, 30),
    )
    found = list(carried(glucose))
    assert any(round(value, 1) == 10.8 for value in found)
    assert any(round(value) == 195 for value in found)
    assert not any(round(value) == 211 for value in found)
