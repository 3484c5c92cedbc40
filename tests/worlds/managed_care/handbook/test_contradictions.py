"""Pages do not contradict each other in numbers, but where they are meant to."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from healthgym.worlds.managed_care.handbook.edition import edition
from tests.worlds.managed_care.handbook.contradictions import (
    Statement,
    differences,
    statements,
)

MEANT = json.loads((Path(__file__).parent / "differences.json").read_text("utf-8"))
#: Clinical pages state no rule of operations, and examples are about invented people.
TEXTS = {
    path: template.page.text
    for path, template in edition().templates.items()
    if not path.startswith("medical-library/") and "/examples/" not in path
}
RELATED = frozenset(
    frozenset({path, other})
    for path, template in edition().templates.items()
    for other in (*template.page.amends, template.page.supersedes)
    if other
)


def stated(texts: dict[str, str]) -> list[Statement]:
    return [
        each
        for path, text in texts.items()
        for each in statements(path, edition().templates[path].page.title, text)
    ]


def keys(found: Iterable[Statement]) -> set[tuple[str, ...]]:
    return {each.key for each in differences(found, RELATED)}


def test_every_difference_is_meant():
    meant = {(row["one"], row["other"]) for row in MEANT}
    assert not keys(stated(TEXTS)) - meant


def test_every_reason_is_of_something_that_is_still_stated():
    known = {f"{each.page}: {each.value}" for each in stated(TEXTS)}
    for row in MEANT:
        assert {row["one"], row["other"]} <= known
        assert len(row["why"].split()) >= 2


def test_every_amendment_in_force_is_among_them():
    amended = {row["one"] for row in MEANT if row["why"].startswith("amended")}
    amended |= {row["other"] for row in MEANT if row["why"].startswith("amended")}
    bulletins = {path for path in TEXTS if re.search(r"ob-2026-0[1-4]", path)}
    assert {each.partition(":")[0] for each in amended} >= bulletins


def twice() -> list[tuple[str, str]]:
    """Return the numbers that stand on several pages, each with the last of these."""
    where = defaultdict(list)
    for each in stated(TEXTS):
        if each.ruled and each.page not in where[each.value]:
            where[each.value].append(each.page)
    return sorted((value, pages[-1]) for value, pages in where.items() if len(pages) > 1)


def planted(value: str, path: str) -> bool:
    """Return whether it is found that a page prints a number which a rule gives elsewhere."""
    place = rf"\{{\{{{re.escape(value.split(' ')[0])}(\|words)?\}}\}}"
    text = re.sub(place, "97", TEXTS[path])
    assert text != TEXTS[path]
    found = keys(stated({**TEXTS, path: text}))
    return any(f"{path}: 97" in side for pair in found for side in pair)


def test_most_numbers_printed_beside_those_of_a_rule_are_found():
    found = [planted(value, path) for value, path in twice()]
    assert len(found) >= 14
    assert sum(found) >= 0.75 * len(found)
