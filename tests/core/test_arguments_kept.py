"""What was sent stays on record as it was sent."""

from __future__ import annotations

from typing import Any

from healthgym.core.episode import Episode
from healthgym.core.family import Role
from healthgym.core.tool import ToolKind, call, tool
from healthgym.rewards import SparseReward
from tests.core.playing import CONFIG, MOVE
from tests.core.toys import Ledger, LedgerTools


class Sorting(LedgerTools):
    @tool(ToolKind.SUBMIT)
    def sort_out(self, names: list[list[str]], more: dict[str, Any]) -> str:
        """Sort names in place.

        Args:
            names: What to sort.
            more: More of it.
        """
        names[0].sort()
        names.append(["made up"])
        more["c"].clear()
        return str(names)


def test_what_a_tool_does_to_its_arguments_is_not_on_record() -> None:
    judged = []
    family = Ledger()
    family.roles = {"agent": Role((Sorting,))}
    inner = family.verifier.judge

    def judge(evidence: Any, profile: Any) -> Any:
        judged.append(dict(evidence.submission))
        return inner(evidence, profile)

    family.verifier.judge = judge  # type: ignore[method-assign]
    episode = Episode(family, MOVE, SparseReward(), CONFIG)
    sent: dict[str, Any] = {"names": [["b", "a"]], "more": {"c": [1]}}
    assert "[['a', 'b'], ['made up']]" in episode.step(call("sort_out", **sent)).observation
    assert dict(episode.events[-1].arguments) == sent == {"names": [["b", "a"]], "more": {"c": [1]}}
    assert judged == [sent, sent]
