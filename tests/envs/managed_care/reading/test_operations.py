"""The numbers of operations read back, as a task has drawn them."""

from dataclasses import replace

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import PRESETS
from healthgym.envs.managed_care.reading.operations import (
    UnreadableRuleError,
    read_channels,
    read_follow_up,
)
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.authorization import Urgency

CHANNELS = "provider-pa/operational/submission-channels.md"
DECISIONS = "provider-pa/operational/decision-standards.md"


def agrees(library: Library, rules: OperatingRules) -> bool:
    said = read_channels(library.read(CHANNELS).text)
    return all(
        said.channel(expedited=urgency is Urgency.EXPEDITED, documents=documents)
        is rules.channel(urgency, documents)
        for urgency in Urgency
        for documents in range(40)
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_page_says_by_which_channel_the_offices_take_a_request(seed):
    rules = draw(np.random.default_rng(seed))
    assert agrees(written_library().overlay(edition().overlay(rules)), rules)
    assert not agrees(written_library(), rules)


def test_the_usual_page_says_the_usual_rule():
    assert agrees(written_library(), OperatingRules())


@pytest.mark.parametrize(
    "difficulty",
    ["easy", "medium", "hard", replace(PRESETS["easy"], numbers=False)],
    ids=["easy", "medium", "hard", "usual"],
)
def test_a_task_prints_the_numbers_that_its_offices_keep(difficulty):
    generator = AuthorizationFamily(difficulty).generator
    starts = [generator.draw(Split.TRAIN, index).start for index in range(3)]
    assert all(agrees(start.handbook, start.operations) for start in starts)
    assert len({start.operations.changed_from(OperatingRules()) for start in starts}) > 1
    for start in starts:
        stated = edition().overlay(start.operations)
        assert 0 < len(stated) <= 20
        assert all(start.handbook.read(page.path) == page for page in stated)
    usual = OperatingRules().portal_documents_most
    kept = {start.operations.portal_documents_most == usual for start in starts}
    assert kept == {not isinstance(difficulty, str)}


def test_search_sees_the_numbers_of_the_task():
    start = AuthorizationFamily("medium").generator.draw(Split.TRAIN, 0).start
    shown = start.handbook.search("first channel that takes its packet documents portal edi")
    assert shown[0].card.path == CHANNELS
    assert f"**{start.operations.portal_documents_most}** documents" in shown[0].snippet


def test_a_page_without_its_rule_is_named():
    with pytest.raises(UnreadableRuleError, match="no channel"):
        read_channels("# Submission channels\n\nBy pigeon.\n")
    with pytest.raises(UnreadableRuleError, match="no day"):
        read_follow_up("# Deciding\n\nSome day.\n")


@pytest.mark.parametrize("seed", range(4))
def test_the_page_says_when_an_order_is_taken_up_again(seed):
    rules = draw(np.random.default_rng(seed))
    page = written_library().overlay(edition().overlay(rules)).read(DECISIONS)
    assert read_follow_up(page.text) == rules.follow_up_days
    assert rules.follow_up_days != OperatingRules().follow_up_days
