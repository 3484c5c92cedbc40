"""The index: endings, mapping, snippets."""

from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.handbook.search import (
    build,
    count,
    query_words,
    recount,
    snippet,
)
from healthgym.worlds.managed_care.handbook.shelf import MappedShelf, write_shelf


@pytest.fixture
def mapped(tmp_path: Path) -> Path:
    pages = sorted(edition().pages(OperatingRules()), key=lambda page: page.path)
    write_shelf(pages, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("denied requests", "denies request"),
        ("peer-to-peer", "Peer to peer"),
        ("policies", "policy"),
        ("scheduling", "scheduled"),
    ],
)
def test_endings_and_hyphens_do_not_matter(one, other):
    assert query_words(one) == query_words(other)


def test_codes_keep_their_point():
    assert query_words("M17.11 at 7.5 %") == ("m17.11", "7.5")


def test_a_mapped_library_equals_the_one_in_memory(mapped: Path):
    library, other = written_library(), Library(MappedShelf(mapped))
    assert list(library.paths()) == list(other.paths())
    assert library.search("pend window") == tuple(
        type(hit)(library.card(hit.card.path), hit.score, hit.heading, hit.snippet)
        for hit in other.search("pend window")
    )
    assert [library.read(path) for path in library.paths()] == [
        other.read(path) for path in other.paths()
    ]


def test_two_writings_are_alike(mapped: Path, tmp_path_factory: pytest.TempPathFactory):
    again = tmp_path_factory.mktemp("again")
    write_shelf(sorted(edition().pages(OperatingRules()), key=lambda page: page.path), again)
    for file in sorted(mapped.iterdir()):
        assert file.read_bytes() == (again / file.name).read_bytes(), file.name


def test_a_damaged_cache_is_named(mapped: Path):
    (mapped / "cards.json").write_text("{", "utf-8")
    with pytest.raises(DamagedDataError, match="damaged"):
        MappedShelf(mapped)
    (mapped / "texts.md").unlink()
    with pytest.raises((MissingDataError, DamagedDataError)):
        MappedShelf(mapped)


def test_a_text_cut_short_is_damaged(mapped: Path):
    text = (mapped / "texts.md").read_bytes()
    (mapped / "texts.md").write_bytes(text[:-10])
    with pytest.raises(DamagedDataError, match="do not agree"):
        MappedShelf(mapped)


def test_pages_out_of_order_are_refused(tmp_path: Path):
    pages = sorted(edition().pages(OperatingRules()), key=lambda page: page.path)
    with pytest.raises(DamagedDataError, match="comes after"):
        write_shelf(reversed(pages), tmp_path)


def test_an_index_scores_a_page_as_if_it_were_in_it():
    texts = ["# A\n\nknee brace\n", "# B\n\nknee knee surgery\n", "# C\n\nhip\n"]
    counted = [count(f"{n}.md", "Page", text) for n, text in enumerate(texts)]
    index = build(counted)
    words = query_words("knee surgery")
    assert np.allclose(index.scores(words), [index.score(each, words) for each in counted])
    assert index.scores(words).argmax() == 1


def test_all_words_go_before_one_word_often():
    texts = ["# A\n\n" + "knee " * 20, "# B\n\nknee surgery and other words\n"]
    index = build(count(f"{n}.md", "Page", text) for n, text in enumerate(texts))
    assert index.scores(query_words("knee surgery")).argmax() == 1


def test_an_empty_index_finds_nothing():
    assert len(build([]).scores(("knee",))) == 0


def test_a_snippet_is_the_fitting_line_under_its_heading():
    text = "# Page\n\nKnees in general.\n\n## Surgery\n\nThe [knee](a.md) after surgery.\n"
    assert snippet(text.encode(), query_words("knee surgery")) == (
        "The [knee] after surgery.",
        "Surgery",
    )


def test_a_long_line_is_cut_around_the_word():
    line = "x" * 400 + " knee " + "y" * 400
    shown, _ = snippet(f"# Page\n\n{line}\n".encode(), ("knee",))
    assert "knee" in shown
    assert len(shown) < 240


def test_first_lines_say_what_a_page_is_about():
    rest = "\n\nOther words stand here, and more of them follow.\n"
    texts = ["# A\n\nAbout the knee." + rest, "# B\n\nAbout hips." + rest + "\nSee the knee.\n"]
    index = build(count(f"{n}.md", "Page", text) for n, text in enumerate(texts))
    first, second = index.scores(query_words("knee"))
    assert first > 1.5 * second


def test_first_lines_are_found_behind_a_table():
    table, text = "| Policy |\n| --- |\n| knee |\n", "Knees in general.\n"
    plain, headed = count("a.md", "Page", text), count("a.md", "Page", f"{table}\n{text}")
    assert headed.weights["knee"] == plain.weights["knee"] + 1


def test_a_snippet_never_repeats_the_title():
    text = "# Naming gaps\n\nHow to say what is missing.\n\n## More\n\nNothing.\n"
    assert snippet(text.encode(), query_words("naming gaps")) == ("How to say what is missing.", "")


def test_other_first_lines_are_counted_anew():
    old, new = "# A\n\nKnees.\n\nRest.\n", "# A\n\nHips.\n\nRest.\n"
    counted = count("a.md", "Page", old)
    assert recount(counted, old, new) is None
    later = recount(counted, old, old.replace("Rest", "Hips"))
    assert later is not None
    assert {k: v for k, v in later.weights.items() if v} == count(
        "a.md", "Page", old.replace("Rest", "Hips")
    ).weights
