"""The large library: drawn pages, cache folder, size."""

from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path

import pytest

from healthgym.core.cache import BuildCache
from healthgym.envs.managed_care.cases.clinic import page_of
from healthgym.errors import DamagedDataError
from healthgym.worlds.managed_care.handbook import full
from healthgym.worlds.managed_care.handbook.edition import edition, written_library
from healthgym.worlds.managed_care.handbook.full import (
    HandbookSize,
    MedicalSource,
    drawn_pages,
    full_library,
    handbook,
)
from healthgym.worlds.managed_care.handbook.medical import every_policy
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.loading import library as policies
from healthgym.worlds.managed_care.policies.repetition import repeated_share


def policy_page(name: str) -> Page:
    return Page(
        path=f"medical-library/drug-pa/{name}.md",
        title=f"Policy on {name}",
        version="2026.1",
        effective=date(2026, 1, 1),
        text=f"# Policy on {name}\n\nCriteria of {name}.\n",
    )


MEDICAL = MedicalSource("two", lambda: [policy_page("zyxomab"), policy_page("abcomab")])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the large library with its first drawn pages."""

    def first() -> Iterator[Page]:
        return islice(drawn_pages(), 3)

    monkeypatch.setattr(full, "drawn_pages", first)


def test_drawn_pages_come_in_order_and_repeat():
    first, again = list(islice(drawn_pages(), 12)), list(islice(drawn_pages(), 12))
    assert first == again
    assert [page.path for page in first] == sorted(page.path for page in first)
    for page in first:
        assert page.text.startswith(f"# {page.title}\n")
        assert "<" not in page.text
        assert not {"{", "}"} & set(page.text)


@pytest.mark.usefixtures("few")
def test_the_large_library_is_written_once_and_then_mapped(tmp_path: Path, monkeypatch):
    made = []

    def pages() -> list[Page]:
        made.append(1)
        return [policy_page("zyxomab")]

    first = full_library(MedicalSource("one", pages), tmp_path)
    place = next(tmp_path.iterdir())
    monkeypatch.setattr(full, "_KEPT", BuildCache(4))  # as in another process
    second = full_library(MedicalSource("one", pages), tmp_path)
    assert len(made) == 1
    assert first.digest == second.digest
    assert list(tmp_path.iterdir()) == [place]
    assert second.search("zyxomab")[0].card.path == "medical-library/drug-pa/zyxomab.md"
    assert len(second) == len(written_library()) + 4


@pytest.mark.usefixtures("few")
def test_other_policies_are_another_library(tmp_path: Path):
    full_library(MEDICAL, tmp_path)
    full_library(MedicalSource("three", lambda: [policy_page("other")]), tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.usefixtures("few")
def test_a_damaged_library_is_written_anew(tmp_path: Path, monkeypatch):
    full_library(MEDICAL, tmp_path)
    (place,) = tmp_path.iterdir()
    (place / "cards.json").write_text("[]")
    monkeypatch.setattr(full, "_KEPT", BuildCache(4))
    assert "medical-library/drug-pa/abcomab.md" in full_library(MEDICAL, tmp_path)


@pytest.mark.usefixtures("few")
def test_two_pages_of_one_path_leave_nothing_behind(tmp_path: Path):
    twice = MedicalSource("twice", lambda: [policy_page("a"), policy_page("a")])
    with pytest.raises(DamagedDataError, match="comes after"):
        full_library(twice, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_compact_library_takes_the_policies_in():
    library = handbook(HandbookSize.COMPACT, MEDICAL)
    assert len(library) == len(written_library()) + 2
    assert library is handbook(HandbookSize.COMPACT, MEDICAL)
    assert handbook(HandbookSize.COMPACT) is written_library()


def test_the_written_pages_hardly_repeat_themselves():
    texts = [page.text for page in edition().pages(OperatingRules())]
    # Letters have slots in common, and lists of references name the same pages.
    assert repeated_share(texts) < 0.07


def test_policies_of_other_payers_have_paths_of_their_own():
    pages = list(every_policy(page_of).pages())
    paths = {page.path for page in pages}
    assert len(paths) == len(pages) > 1000
    own = {f"medical-library/medical-policies/{name}.md" for name in policies()}
    assert own < paths
    larkfield = [page.path for page in pages if "Larkfield Health Plan" in page.text]
    assert set(larkfield) == own


@pytest.mark.slow
def test_the_large_library_in_full(tmp_path: Path):
    library = handbook(HandbookSize.FULL, every_policy(page_of), tmp_path)
    (place,) = tmp_path.iterdir()
    assert len(library) > 3000
    assert (place / "texts.md").stat().st_size > 34e6
    known = {path: library.read(path) for path in library.paths()}
    anchors = {path: page.anchors() for path, page in known.items()}
    dead = [
        (path, link)
        for path, page in known.items()
        for link in page.links()
        if link.anchor not in {"", *anchors.get(link.path, ())} or link.path not in known
    ]
    assert dead == []
    assert repeated_share(page.text for page in drawn_pages()) < 0.06
