"""Expressions that are tried only where the words are without which they stand nowhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from healthgym.worlds.managed_care import expressions
from healthgym.worlds.managed_care.expressions import Expression, needed_by

_ROWS = (
    r"\b(?:i|we) (?:have|had|just)? ?(?:guessed|made it up)\b(?! twice)",
    r"(?<!\w)x{4,}(?!\w)|\?{3,}",
    r"\b(?:may|might|must)(?: (?P<not>not))? be (?P<what>wrong|a guess)\b",
    r"(?:^|[.;] )nothing\b",
    r"[ab]+c?",
)
_WORDS = st.sampled_from(
    ("i ", "we ", "just ", "guessed", "made it up", " twice", "xxxx", "???", "x", "may", "might")
) | st.sampled_from((" not", " be ", "wrong", "a guess", ". nothing", "nothing", "c", " "))


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        (r"\bnobody said\b", {("nobody said",)}),
        (r"\b(?:stop|quit)(?: the)? pills?\b", {("quit", "stop"), (" pill",)}),
        (r"(?:may|might) be", {("may", "might"), (" be",)}),
        (r"_{3,}", {("___",)}),
        (r"(?:a|the )?[bc]d*", set()),
        (r"(?:said|\w+) so", {(" so",)}),
        (r"(?i:no) way", {(" way",)}),
        (r"(?i)no way", set()),
        (r"fine(?= as it is)", {("fine",)}),
    ],
)
def test_what_an_expression_cannot_do_without(
    expression: str, needed: set[tuple[str, ...]]
) -> None:
    assert set(needed_by(expression)) == needed


@given(parts=st.lists(_WORDS, max_size=8), start=st.integers(0, 6), end=st.integers(0, 40))
@settings(deadline=None)
def test_it_is_found_where_all_alternatives_together_are(
    parts: list[str], start: int, end: int
) -> None:
    text, kept, plain = "".join(parts), Expression(_ROWS), re.compile("|".join(_ROWS))
    assert _told(kept.search(text)) == _told(plain.search(text))
    assert _told(kept.search(text, start, end)) == _told(plain.search(text, start, end))
    assert _told(kept.match(text, start)) == _told(plain.match(text, start))
    assert [*map(_told, kept.finditer(text))] == [*map(_told, plain.finditer(text))]
    assert kept.sub("-", text) == plain.sub("-", text)


def test_a_python_without_that_parser_tries_them_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expressions, "_parser", None)
    kept, text = Expression(_ROWS), "we just guessed. nothing may be wrong"
    assert needed_by(_ROWS[0]) == ()
    assert _told(kept.search(text)) == _told(re.search("|".join(_ROWS), text))
    assert kept.search("so it is told") is None


@given(data=st.data())
@settings(deadline=None)
def test_whatever_an_expression_matches_has_what_it_needs(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(_ROWS))
    text = data.draw(st.from_regex(row))
    assert all(any(words in text for words in needed) for needed in needed_by(row))


def _told(found: re.Match[str] | None) -> object:
    return found and (found.span(), found.groupdict())
