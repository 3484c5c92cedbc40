"""How far a judge and the rules agree, item by item, over recorded episodes.

A rubric that a judge is asked about names the checks of the strict profile that ask the same by
rule. An item counts as met by rule where all of these passed that the episode had. Nothing here
says which of the two is right: the rules read records, a judge reads words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.trajectory import Trajectory
from healthgym.core.verdict import Profile
from healthgym.policies.reports import Report, Tabling
from healthgym.policies.statistics import Interval, kappa_interval

#: Layout of :meth:`Agreement.to_json`.
SCHEMA = "healthgym.agreement/1"
#: What judge and rules say of an item.
Pair = tuple[bool, bool]
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Item:
    """How far judge and rules agree about one rubric.

    Attributes:
        name: The rubric; ``all`` for all of them together.
        tasks: Tasks in which it was judged.
        both: Times both found it met.
        judge_only: Times the judge alone did.
        rules_only: Times the rules alone did.
        neither: Times neither did.
        kappa: Cohen's kappa with a 95 % interval from resampling tasks; None where one of the two
            always says the same, and agreement by chance cannot be told from any other.
    """

    name: str
    tasks: int
    both: int
    judge_only: int
    rules_only: int
    neither: int
    kappa: Interval | None

    @property
    def n(self) -> int:
        """How often it was judged both ways."""
        return self.both + self.judge_only + self.rules_only + self.neither

    @property
    def agreed(self) -> float:
        """Share of these in which both say the same."""
        return (self.both + self.neither) / self.n


@dataclass(frozen=True, slots=True)
class Agreement(Report):
    """How far a judge and the rules agree.

    Attributes:
        items: The rubrics in the order of their names, then all together; empty if there was no
            judge.
        episodes: Episodes that were read.
        judged: Episodes of these that a judge was asked about.
        apart: How often a rubric was judged to which no rule of the episode corresponds.
    """

    items: tuple[Item, ...]
    episodes: int
    judged: int
    apart: int

    def to_dict(self) -> JsonDict:
        """Return the report as JSON values."""
        rows = [{**asdict(item), "n": item.n, "agreed": item.agreed} for item in self.items]
        return {
            "schema": SCHEMA,
            "episodes": self.episodes,
            "judged": self.judged,
            "apart": self.apart,
            "items": rows,
        }

    def told(self, table: Tabling) -> str:
        """Return the tables and notes."""
        notes = [f"{self.judged} of {self.episodes} episodes were judged."]
        if self.apart:
            notes.append(f"{self.apart} judgements have no rule to compare with.")
        if not self.items:
            return "\n".join(notes) + "\n"
        head = ["rubric", "tasks", "n", "both met", "judge only", "rules only", "neither"]
        head += ["agreed", "kappa", "95% interval"]
        notes.append("Kappa is Cohen's; intervals by resampling tasks; - where it is not defined.")
        return f"{table(head, [_cells(item) for item in self.items])}\n\n" + "\n".join(notes) + "\n"


def agreement(episodes: Iterable[Trajectory]) -> Agreement:
    """Return how far a judge and the rules agree in recorded episodes.

    Args:
        episodes: The records. One without a verdict, such as after an outage of the judge, counts
            as read and not as judged.
    """
    found: dict[str, dict[str, list[Pair]]] = {}
    read = judged = apart = 0
    for episode in episodes:
        read += 1
        asked = False
        for verdicts in episode.verdicts.values():
            for name, judge, rules in _compared(verdicts):
                asked = True
                if rules is None:
                    apart += 1
                    continue
                for item in (name, _ALL):
                    by_task = found.setdefault(item, {})
                    by_task.setdefault(episode.task_id, []).append((judge, rules))
        judged += asked
    order = sorted(found, key=lambda name: (name == _ALL, name))
    return Agreement(tuple(_item(name, found[name]) for name in order), read, judged, apart)


def _compared(verdicts: JsonObject) -> Iterator[tuple[str, bool, bool | None]]:
    """Yield each rubric of an episode, what the judge said, and what the rules said if any do."""
    ruled = {one["name"]: one["passed"] for one in _checks(verdicts[Profile.STRICT])}
    for one in _checks(verdicts[Profile.PAPER]):
        if one.get("by_rule") and one["passed"] is not None:
            rules = [ruled[name] for name in one["by_rule"] if ruled.get(name) is not None]
            yield one["name"], one["passed"], all(rules) if rules else None


def _checks(verdict: JsonObject) -> Iterator[JsonObject]:
    yield from verdict["checks"]
    for part in verdict.get("parts", {}).values():
        yield from _checks(part)


def _item(name: str, by_task: Mapping[str, Sequence[Pair]]) -> Item:
    pairs = [pair for each in by_task.values() for pair in each]
    return Item(
        name,
        len(by_task),
        pairs.count((True, True)),
        pairs.count((True, False)),
        pairs.count((False, True)),
        pairs.count((False, False)),
        kappa_interval(by_task),
    )


def _cells(item: Item) -> list[str]:
    kappa = item.kappa
    counts = (item.tasks, item.n, item.both, item.judge_only, item.rules_only, item.neither)
    return [
        item.name,
        *map(str, counts),
        f"{item.agreed:.1%}",
        "-" if kappa is None else f"{kappa.estimate:.2f}",
        "-" if kappa is None else f"{kappa.low:.2f} – {kappa.high:.2f}",
    ]
