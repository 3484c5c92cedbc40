"""What generations did on the same tasks: against each other, and against scripted sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from healthgym.core.verdict import Profile
from healthgym.integrations.selfplay.games import Game, Known, play
from healthgym.integrations.trl.foreign import AnyTokenizer
from healthgym.policies.statistics import Interval, paired_bootstrap_difference

#: Games that are played side by side.
_BATCH = 150


@dataclass(frozen=True, slots=True)
class Record:
    """What came of a pairing on some tasks.

    Attributes:
        both: Whether both sides passed all their checks, by task id.
        own: Whether a side kept its own duties, by role and task id, whatever the other did.
    """

    both: Mapping[str, bool]
    own: Mapping[str, Mapping[str, bool]]

    @property
    def rate(self) -> float:
        """The share of tasks on which both succeeded."""
        return sum(self.both.values()) / len(self.both)

    def kept(self, role: str) -> float:
        """Return the share of tasks on which a side kept its own duties."""
        return sum(self.own[role].values()) / len(self.own[role])


def record(
    deal: Callable[[int], Game],
    tasks: Sequence[int],
    tokenizer: AnyTokenizer,
    look: Callable[[Game], None] = lambda game: None,
    known: Known | None = None,
) -> Record:
    """Play a pairing on tasks, likeliest tokens throughout.

    Args:
        deal: Makes the game of a task, with somebody at every seat.
        tasks: The tasks.
        tokenizer: The tokenizer of the models.
        look: Shown every finished game.
        known: What the models replied before; it grows.
    """
    both: dict[str, bool] = {}
    own: dict[str, dict[str, bool]] = {}
    for start in range(0, len(tasks), _BATCH):
        games = [deal(task) for task in tasks[start : start + _BATCH]]
        play(games, tokenizer, known=known)
        for game in games:
            name = game.episode.task.task_id
            both[name] = game.both
            for role in game.episode.roles:
                own.setdefault(role, {})[name] = kept(game, role)
            look(game)
    return Record(both, own)


def kept(game: Game, role: str, profile: Profile = Profile.STRICT) -> bool:
    """Return whether a side handed in and kept its own duties, whatever became of the whole.

    Checks of a family with several roles are its own that begin with its name.

    Args:
        game: A finished game.
        role: The side.
        profile: Whose checks.
    """
    checks = game.episode.verdict(role, profile).all_checks()
    own = [one for one in checks if one.check.name.startswith(f"{role}.")]
    return game.episode.submitted(role) and all(one.passed is not False for one in own)


def gain(after: Mapping[str, bool], before: Mapping[str, bool]) -> Interval:
    """Return what was gained on the same tasks, with its 95 % interval."""
    new, old = ({task: [float(won)] for task, won in each.items()} for each in (after, before))
    return paired_bootstrap_difference(new, old)


@dataclass(frozen=True, slots=True)
class Compared:
    """A share of the same tasks before and after.

    Attributes:
        tasks: How many.
        first: The share before.
        last: The share after.
        gain: What was gained, with its 95 % interval.
    """

    tasks: int
    first: float
    last: float
    gain: Interval

    @classmethod
    def of(cls, first: Mapping[str, bool], last: Mapping[str, bool]) -> Compared:
        """Return the comparison of what was won, by task id."""
        before, after = (sum(each.values()) / len(each) for each in (first, last))
        return cls(len(first), before, after, gain(last, first))

    def as_dict(self) -> dict[str, float]:
        """Return the figures."""
        more = self.gain
        ends = {"gain": more.estimate, "gain_low": more.low, "gain_high": more.high}
        return {"tasks": self.tasks, "first": self.first, "last": self.last, **ends}

    def cells(self) -> tuple[str, str, str]:
        """Return the figures as text, in per cent."""
        low, high = (f"{100 * end:+.1f}" for end in (self.gain.low, self.gain.high))
        rates = (f"{100 * share:.1f}" for share in (self.first, self.last))
        return (*rates, f"{100 * self.gain.estimate:+.1f} [{low}, {high}]")  # type: ignore[return-value]
