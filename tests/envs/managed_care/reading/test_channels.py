"""The numbers of operations read back, as a task has drawn them."""

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.reading.channels import PATH, read_channels
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, draw
from healthgym.worlds.managed_care.vocabulary.authorization import Urgency


def agrees(library: Library, rules: OperatingRules) -> bool:
    said = read_channels(library.read(PATH).text)
    return all(
        said.channel(str(urgency), documents) == rules.channel(urgency, documents)
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


@pytest.mark.parametrize("difficulty", ["easy", "medium", "hard"])
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
    assert kept == {difficulty == "easy"}


def test_search_sees_the_numbers_of_the_task():
    start = AuthorizationFamily("medium").generator.draw(Split.TRAIN, 0).start
    shown = start.handbook.search("first channel that takes its packet documents portal edi")
    assert shown[0].card.path == PATH
    assert f"**{start.operations.portal_documents_most}** documents" in shown[0].snippet
