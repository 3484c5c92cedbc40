"""A corpus loads lazily, ranks by BM25, and its world keeps only a draft."""

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from healthgym.core.clock import Clock
from healthgym.errors import MissingDependencyError, ToolError
from healthgym.worlds.corpus import Corpus, CorpusWorld
from healthgym.worlds.corpus.ranking import Ranking, words_of

TEXTS = {
    "a": "Heart failure with reduced ejection fraction; statins allowed.",
    "b": "Migraine in adults. Heart rate is not considered.",
    "c": "Heart failure, heart failure and again heart failure.",
    "d": "Asthma.",
}


@dataclass
class Page:
    text: str


@pytest.fixture
def loaded():
    return []


@pytest.fixture
def corpus(loaded):
    def load(id_):
        loaded.append(id_)
        return Page(TEXTS[id_])

    return Corpus(tuple(TEXTS), load)


def test_documents_are_loaded_once_and_when_asked_for(corpus, loaded):
    assert loaded == []
    assert corpus.document("b") is corpus.document("b")
    assert loaded == ["b"]
    corpus.search("asthma")
    corpus.search("asthma")
    assert sorted(loaded) == ["a", "b", "c", "d"]
    with pytest.raises(ToolError, match="no document"):
        corpus.document("x")


def test_ranking(corpus):
    assert corpus.search("heart failure")[:2] == ["c", "a"]
    assert corpus.search("Statin!") == ["a"]  # a plural, found by its singular
    assert corpus.search("the of and") == corpus.search("unheard") == corpus.search("") == []
    assert corpus.search("asthma unheard") == ["d"]


def test_ties_keep_the_order_of_the_list():
    assert Ranking(["same words", "other", "same words"]).rank("same") == [0, 2]


def test_texts_without_words():
    assert Ranking(["", "the"]).rank("word") == []


def test_words():
    assert words_of("Type-2 diabetes, HbA1c >= 7.5%; NSAIDs") == [
        "type-2",
        "diabete",
        "hba1c",
        "7.5",
        "nsaid",
    ]


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingDependencyError, match=r"healthgym\[trials\]"):
        Ranking(["a"])


def test_content_is_told_by_the_ids(corpus):
    assert corpus.content_hash() != Corpus(("a",), TEXTS.get).content_hash()
    assert corpus.content_hash() == Corpus(tuple(TEXTS), TEXTS.get).content_hash()


@pytest.fixture
def world(corpus):
    return CorpusWorld("note", corpus, Clock(datetime(2022, 1, 1, tzinfo=UTC)))


def test_world(corpus, world):
    twin = world.clone()
    assert twin.digest() == world.digest()
    world.write(["one", "two"])
    assert (world.draft, twin.draft) == (("one", "two"), ())
    assert twin.digest() != world.digest()
    assert world.clone().draft == world.draft
    assert twin.corpus is corpus
    with pytest.raises(ToolError, match="1000"):
        world.write(["x"] * 1001)


def test_what_a_failed_call_wrote_is_undone(world):
    world.write(["one"])
    before = world.digest()
    savepoint = world.journal.begin()
    world.write(["two"])
    world.clock.advance(timedelta(minutes=1))
    world.journal.rollback(savepoint)
    assert world.draft == ("one",)
    assert world.digest() == before


def test_only_the_draft_is_content(world):
    before = world.content_digest()
    world.clock.advance(timedelta(minutes=1))
    world.corpus.search("asthma")
    assert world.content_digest() == before
    world.write(["one"])
    assert world.content_digest() != before
