"""A file is read as far as somebody looks, and each part of it once."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.worlds.managed_care.accounts import Account
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts

_PAGES = ("Knee arthroscopy for Ada’s knee.", "José takes naproxen.", "12 visits of therapy.")


def _counted(read: list[str]) -> Iterator[str]:
    for page in _PAGES:
        read.append(page)
        yield page


def test_no_more_is_read_than_it_takes() -> None:
    read: list[str] = []
    seen = Seen(Texts(_counted(read)), str, talked=False)
    assert seen.has("arthroscopy")
    assert len(read) == 1
    assert seen.has("jose")  # in plain letters
    assert len(read) == 2
    assert not seen.has("ibuprofen")
    assert len(read) == len(_PAGES)


def test_what_was_read_is_not_read_again() -> None:
    read: list[str] = []
    texts = Texts(_counted(read))
    assert list(texts) == list(texts)
    assert texts.flat == "knee arthroscopy for ada s knee jose takes naproxen 12 visits of therapy"
    assert read == list(_PAGES)


def test_two_may_look_through_them_at_once() -> None:
    texts = Texts(_counted([]))
    pairs = [(one, other) for one in texts for other in texts]
    assert len(pairs) == len(_PAGES) ** 2


def test_an_account_looks_in_the_same_texts() -> None:
    read: list[str] = []
    texts = Texts(_counted(read))
    account = Account(texts)
    assert account.has("knee arthroscopy")
    assert len(read) == 1
    assert account.counts(12.0, "visit", frozenset({"thera"}))
    assert not account.counts(13.0, "visit", frozenset({"thera"}))
