"""Measure the operations handbook into results/handbook.json.

    python benchmarks/handbook.py                      every figure
    python benchmarks/handbook.py --only search        only these

The large library is written into a temporary folder. Searches are those of the tests, each made
once before it is timed; the first ones of a process, which fault pages in, are given apart.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _harness import Figures, Run, Suite, at_least, at_most, once, resident_mib, timed

QUERIES = Path(__file__).resolve().parents[1] / "tests/worlds/managed_care/handbook/queries.json"

suite = Suite("handbook", __doc__)


def _queries() -> list[str]:
    return list(json.loads(QUERIES.read_text("utf-8")))


def _full(folder: str) -> Any:
    from healthgym.envs.managed_care.cases.clinic import page_of
    from healthgym.worlds.managed_care.handbook.full import full_library
    from healthgym.worlds.managed_care.handbook.medical import every_policy

    return full_library(every_policy(page_of), Path(folder))


@suite.measure(bounds={"first_ms": at_most(1000), "search_ms": at_most(2)})
def compact(run: Run) -> Figures:
    """Make the compact library in a fresh process, overlay a task's pages, and search it."""
    import numpy as np

    from healthgym.worlds.managed_care.handbook.draws import draw
    from healthgym.worlds.managed_care.handbook.edition import edition, written_library

    library, made = once(written_library)
    _, indexed = once(lambda: library.search("pend"))
    drawn = [draw(np.random.default_rng(seed)) for seed in range(run.repeats(200))]
    filled = timed(lambda rules: library.overlay(edition().overlay(rules)), drawn)
    overlaid = [library.overlay(edition().overlay(rules)) for rules in drawn]
    first = timed(lambda each: each.search("days to answer a pend"), overlaid)
    pages = list(library.paths())
    return {
        "pages": len(pages),
        "size_kib": sum(len(library.read(path).text.encode()) for path in pages) / 1024,
        "first_ms": made.median() + indexed.median(),
        **filled.figures("overlay"),
        **first.figures("overlay_first_search"),
        **_searched(library.search, run),
    }


@suite.measure(
    bounds={
        "write_s": at_most(60),
        "map_ms": at_most(500),
        "search_ms": at_most(2),
        "pages": at_least(1280),
        "size_mb": at_least(34),
    }
)
def full(run: Run) -> Figures:
    """Write the large library, map it, and search it."""
    from healthgym.worlds.managed_care.handbook.shelf import MappedShelf

    with tempfile.TemporaryDirectory() as folder:
        library, written = once(lambda: _full(folder))
        (place,) = Path(folder).iterdir()
        before = resident_mib()
        mapped = timed(lambda _: MappedShelf(place), range(run.repeats(20)))
        return {
            "write_s": written.median("s"),
            **mapped.figures("map"),
            "pages": len(library),
            "size_mb": (place / "texts.md").stat().st_size / 1e6,
            "index_mb": sum(file.stat().st_size for file in place.glob("*.npy")) / 1e6,
            **_searched(library.search, run),
            "searches_took_mib": resident_mib() - before,
        }


def _searched(search: Callable[[str], object], run: Run) -> Figures:
    queries = _queries()
    cold = timed(search, queries[: run.repeats(8)])
    warm = timed(search, queries * run.repeats(20), warm_up=queries)
    return {**cold.figures("cold_search"), **warm.figures("search"), **warm.spread("search")}


@suite.measure()
def repeated(run: Run) -> Figures:
    """Count the sentences that stand in a library more than once: as they are, numbers alike.

    Headings and tables are left out.
    """
    from healthgym.envs.managed_care.cases.clinic import page_of
    from healthgym.worlds.managed_care.handbook.edition import edition
    from healthgym.worlds.managed_care.handbook.full import drawn_pages, full_pages
    from healthgym.worlds.managed_care.handbook.medical import every_policy
    from healthgym.worlds.managed_care.handbook.rules import OperatingRules
    from healthgym.worlds.managed_care.policies.repetition import repeated_share

    compact_texts = [page.text for page in edition().pages(OperatingRules())]
    medical = every_policy(page_of)
    kinds = {
        "compact": compact_texts,
        "policies": [page.text for page in medical.pages()],
        "drawn": [page.text for page in drawn_pages()],
        "full": [page.text for page in full_pages(medical)],
    }
    figures: Figures = {}
    for name, texts in kinds.items():
        figures |= {
            f"{name}.share": repeated_share(texts),
            f"{name}.numbers_alike_share": repeated_share(texts, masked=True),
        }
    return figures


@suite.measure(usual=False)
def ranking(run: Run) -> Figures:
    """Count the queries of the tests whose page is among the first three of the large library."""
    expected = json.loads(QUERIES.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        library = _full(folder)
        found = [
            page in [hit.card.path for hit in library.search(query)[:3]]
            for query, page in expected.items()
        ]
    return {"queries": len(found), "found": sum(found)}


if __name__ == "__main__":
    raise SystemExit(suite.main())
