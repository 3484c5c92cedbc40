"""The library: contents, reading, overlays, search over both."""

import copy
import json
import pickle
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError
from healthgym.worlds.managed_care.handbook.draws import draw
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.refusals import Refusal

QUERIES = json.loads((Path(__file__).parent / "queries.json").read_text("utf-8"))
PENDS = "payer-um/operational/pends-and-information-requests.md"


def page(path: str, text: str, title: str = "A page") -> Page:
    return Page(path=path, title=title, version="2026.1", effective=date(2026, 1, 1), text=text)


@pytest.mark.parametrize("query", QUERIES)
def test_the_expected_page_is_among_the_first_three(query):
    assert QUERIES[query] in [hit.card.path for hit in written_library().search(query)[:3]]


def test_what_shares_a_single_word_with_a_query_is_no_hit():
    hits = written_library().search("how many days to answer a pend")
    assert all(hit.score >= 0.1 * hits[0].score for hit in hits)
    pages = [page(f"p/{n}.md", f"# Page\n\n{'Other words. ' * 30}knee\n") for n in range(9)]
    library = Library.of([page("p/a.md", "# Knee\n\nThe knee.\n", "Knee surgery"), *pages])
    assert [hit.card.path for hit in library.search("knee surgery")] == ["p/a.md"]


@pytest.mark.parametrize("query", QUERIES)
def test_no_hit_repeats_its_title(query):
    assert all(hit.snippet != hit.card.title for hit in written_library().search(query))


def test_the_top_shows_the_branches():
    names = [entry.path for entry in written_library().contents()]
    assert names == [
        "SKILL.md", "care-manager/", "medical-library/", "payer-um/", "platform/", "provider-pa/"
    ]  # fmt: skip
    inner = {entry.path: entry for entry in written_library().contents("payer-um")}
    assert inner["payer-um/SKILL.md"].version == "2026.1"
    assert inner["payer-um/operational/"].pages >= 20
    assert sum(entry.pages for entry in written_library().contents()) == len(written_library())


def test_a_wrong_path_names_similar_ones():
    with pytest.raises(Refusal, match=r"payer-um/operational/letters\.md"):
        written_library().read("letters.md")
    with pytest.raises(Refusal, match="at the top there are"):
        written_library().contents("payer")


def test_a_heading_selects_a_part():
    letters = written_library().read("payer-um/operational/letters.md")
    assert letters.section("denial").startswith("### Denial")
    assert "units" not in letters.section("denial")
    assert "### Pend" in letters.section("What must be in it")
    with pytest.raises(Refusal, match="its headings are: Letters; Which letter"):
        letters.section("Colours")


def test_words_from_within_a_heading_select_its_part():
    text = "# Days\n## The day of follow-up\nA.\n## Late requests\nB.\n## Late answers\nC.\n"
    day = date(2026, 1, 1)
    page = Page(path="a.md", title="Days", version="1", effective=day, text=text)
    assert page.section("follow-up") == "## The day of follow-up\nA."
    assert page.section("Day of follow") == "## The day of follow-up\nA."
    assert page.section("quest") == "## Late requests\nB."
    assert page.section("late answers") == "## Late answers\nC."
    with pytest.raises(Refusal, match=r"fit 'late'; name one of: Late requests; Late answers\.$"):
        page.section("late")
    with pytest.raises(Refusal, match="its headings are: Days"):
        page.section("--")


def test_a_task_reads_and_finds_its_own_numbers():
    rules = replace(OperatingRules(), pend_days=5)
    library = written_library().overlay(edition().overlay(rules))
    assert "**5 calendar days**" in library.read(PENDS).text
    assert "**2 calendar days**" in written_library().read(PENDS).text
    (hit,) = [h for h in library.search("pend calendar days window") if h.card.path == PENDS]
    assert "5 calendar days" in hit.snippet
    assert len([h for h in library.search("pend", limit=200) if h.card.path == PENDS]) == 1


@pytest.mark.parametrize("query", list(QUERIES)[::3])
def test_an_overlay_of_the_same_text_ranks_alike(query):
    """A page scores the same from the index and counted by itself."""
    library = written_library()
    same = library.overlay(library.read(path) for path in list(library.paths())[::4])
    assert [h.card.path for h in same.search(query)] == [h.card.path for h in library.search(query)]


def test_a_new_page_is_found_read_and_listed():
    added = page("medical-library/drug-pa/zyxomab.md", "# Zyxomab\n\nGiven monthly.\n", "Zyxomab")
    library = written_library().overlay([added])
    assert library.search("zyxomab")[0].card.path == added.path
    assert added.path in [entry.path for entry in library.contents("medical-library/drug-pa")]
    assert len(library) == len(written_library()) + 1
    assert added.path not in written_library()


def test_an_overlay_takes_the_later_of_two():
    library = (
        written_library().overlay([page("x.md", "# One\n")]).overlay([page("x.md", "# Two\n")])
    )
    assert library.read("x.md").text == "# Two\n"


def test_a_search_keeps_to_its_section():
    found = written_library().search("consent", "care-manager", limit=50)
    assert found
    assert all(hit.card.path.startswith("care-manager/") for hit in found)


def test_ties_go_by_path_and_searches_repeat():
    library = Library.of([page(f"{name}.md", "# Same\n\nwords alike\n") for name in "dbca"])
    found = [hit.card.path for hit in library.search("alike")]
    assert found == ["a.md", "b.md", "c.md", "d.md"]
    assert library.search("alike") == library.search("alike")
    assert library.search("nothing of it") == ()


def test_folders_can_be_left_out():
    library = written_library().without("medical-library", "payer-um")
    assert not [path for path in library.paths() if path.startswith("payer-um/")]
    assert PENDS not in library
    assert PENDS not in [hit.card.path for hit in library.search("pend", limit=100)]
    with pytest.raises(Refusal):
        library.read(PENDS)


def test_two_pages_of_one_path_are_refused():
    with pytest.raises(DamagedDataError, match=r"x\.md"):
        Library.of([page("x.md", "# One\n"), page("x.md", "# Two\n")])


def test_copies_share_and_pickles_equal():
    library = written_library().overlay(edition().overlay(draw(np.random.default_rng(2))))
    assert copy.deepcopy(library) is library
    again = pickle.loads(pickle.dumps(library))
    assert again.digest == library.digest
    assert library.digest != written_library().digest
