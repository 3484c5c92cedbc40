"""What of a group of queues the marathon's training says again."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("trl")


@pytest.fixture
def script(repo_root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(repo_root / "benchmarks")
    import marathon_training

    return marathon_training


def group(*solved: float) -> list[SimpleNamespace]:
    """Return queues of one task of which such shares were solved, with two views each."""
    return [
        SimpleNamespace(shares=(share, 0.0), views=[f"{n}a", f"{n}b"])
        for n, share in enumerate(solved)
    ]


def test_what_came_further_than_the_mean_is_said_again(script: ModuleType) -> None:
    found = list(script.best(group(0.0, 1.0, 0.5, 0.1), most=2))
    assert [view for view, _ in found] == ["1a", "1b", "2a", "2b"]
    assert [weight for _, weight in found] == pytest.approx([0.6, 0.6, 0.1, 0.1])


def test_no_more_than_asked_for_and_nothing_below_the_mean(script: ModuleType) -> None:
    assert [view for view, _ in script.best(group(0.9, 1.0, 0.8), most=1)] == ["1a", "1b"]
    assert [view for view, _ in script.best(group(0.0, 0.0, 0.3), most=3)] == ["2a", "2b"]


@pytest.mark.parametrize("solved", [(0.0, 0.0, 0.0), (1.0, 1.0)])
def test_a_group_of_one_outcome_teaches_nothing(
    script: ModuleType, solved: tuple[float, ...]
) -> None:
    assert list(script.best(group(*solved), most=2)) == []
