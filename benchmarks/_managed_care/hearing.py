"""How well what is said on the phone is understood: phrases with labels, against what was heard."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from healthgym.worlds.managed_care.conversation.acts import Act, Heard, Said

Label = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """An utterance with the acts that it holds.

    Attributes:
        text: What is said.
        acts: Act, topic and item of each.
        worries: The worries that it answers.
        kind: What makes it hard.
    """

    text: str
    acts: frozenset[Label]
    worries: frozenset[str]
    kind: str


def phrases(file: Path) -> tuple[Phrase, ...]:
    """Return the phrases of a file."""
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return tuple(
        Phrase(
            text=row["text"],
            acts=frozenset((act, topic, item) for act, topic, item in row["acts"]),
            worries=frozenset(row.get("concerns", ())),
            kind=row["kind"],
        )
        for row in rows
    )


@dataclass(slots=True)
class Count:
    """How often something was heard rightly, wrongly, and not at all."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, heard: Iterable[object], meant: Iterable[object]) -> None:
        """Count what was heard against what was meant."""
        heard, meant = set(heard), set(meant)
        self.right += len(heard & meant)
        self.wrong += len(heard - meant)
        self.missed += len(meant - heard)

    @property
    def precision(self) -> float:
        """The share of what was heard that was meant; 1 where nothing was."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of what was meant that was heard; 1 where nothing was."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0

    def figures(self) -> dict[str, float]:
        """Return precision, recall, and how many were meant."""
        meant = self.right + self.missed
        return {"meant": meant, "precision": self.precision, "recall": self.recall}


@dataclass(slots=True)
class Score:
    """How well phrases were understood.

    Attributes:
        acts: By act, subjects and items left aside.
        kinds: Acts by what makes a phrase hard.
        same: Phrases of which exactly the acts were heard, by kind.
        of: Phrases, by kind.
        topics: Acts with their subjects, of those that have one.
        items: Acts with their items, of those that have one.
        worries: Worries that were answered.
    """

    acts: dict[str, Count] = field(default_factory=lambda: {str(act): Count() for act in Act})
    kinds: dict[str, Count] = field(default_factory=dict)
    same: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    topics: Count = field(default_factory=Count)
    items: Count = field(default_factory=Count)
    worries: Count = field(default_factory=Count)

    def of_acts(self, acts: Iterable[str]) -> Count:
        """Return the count of some acts together."""
        total = Count()
        for act in acts:
            total.right += self.acts[act].right
            total.wrong += self.acts[act].wrong
            total.missed += self.acts[act].missed
        return total


def scored(lines: Iterable[Phrase], hear: Callable[[str], Heard]) -> Score:
    """Return how well some phrases are understood; only what is heard surely counts.

    Args:
        lines: The phrases.
        hear: What understands.
    """
    score = Score()
    for line in lines:
        said = [each for each in hear(line.text).acts if each.sure]
        labels = {_label(each) for each in said}
        heard, meant = {label[0] for label in labels}, {label[0] for label in line.acts}
        for act in heard | meant:
            score.acts[act].add({act} & heard, {act} & meant)
        score.kinds.setdefault(line.kind, Count()).add(heard, meant)
        score.of[line.kind] += 1
        score.same[line.kind] += heard == meant
        score.topics.add(_with(labels, 1), _with(line.acts, 1))
        score.items.add(_with(labels, 2), _with(line.acts, 2))
        answered = {each.item for each in said if each.act is Act.ANSWER_CONCERN}
        score.worries.add(answered, line.worries)
    return score


def _label(said: Said) -> Label:
    item = "" if said.act is Act.ANSWER_CONCERN else said.item
    return (str(said.act), str(said.topic or ""), item)


def _with(labels: Iterable[Label], part: int) -> set[Label]:
    return {label for label in labels if label[part]}


def by_act(score: Score) -> Mapping[str, Mapping[str, float]]:
    """Return the figures of each act that was heard or meant."""
    return {
        name: count.figures()
        for name, count in score.acts.items()
        if count.right + count.wrong + count.missed
    }
