"""The numbers of care management, read back from pages that were written with them."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.reading import care_pages
from healthgym.envs.managed_care.reading.care_pages import PAGES, read_rules
from healthgym.envs.managed_care.reading.operations import UnreadableRuleError
from healthgym.worlds.managed_care.handbook.draws import draw_care
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.rules import OperatingRules


def pages(rules: OperatingRules) -> dict[str, str]:
    library = standing_handbook().overlay(edition().overlay(rules))
    return {path: library.read(path).text for path in PAGES}


@pytest.mark.parametrize("seed", range(20))
def test_what_is_drawn_is_read(seed: int) -> None:
    rules = draw_care(np.random.default_rng(seed))
    read = read_rules(pages(rules))
    for name in (*care_pages._WORDED, "call_opens", "call_closes", "cadences"):
        assert getattr(read, name) == getattr(rules, name), name


@pytest.mark.parametrize("path", PAGES)
def test_a_page_without_its_number_is_not_guessed_at(path: str) -> None:
    texts = pages(OperatingRules()) | {path: "# Nothing here"}
    with pytest.raises(UnreadableRuleError):
        read_rules(texts)
