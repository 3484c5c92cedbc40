"""The rules of an episode: how long it lasts, who decides it, and how work is handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from healthgym.core.verdict import Check, Profile
from healthgym.errors import ConfigurationError

#: Until when somebody waits who waits for news alone.
FOR_EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class HandIn:
    """How work is handed in, and what it is worth before.

    Attributes:
        verb: The tool that hands it in, for the sentence of the check.
        paper: Whether the source asks for it; if not, its profile judges the state that is left.
            The strict profile always asks.
        withheld: Whether nothing is paid before the work is handed in, and nothing is judged of
            work that never is. Where the work is a list of items, progress paid for each of them
            would tell which are right.

    Where a profile asks for it, work that is not handed in has no progress, however far it came:
    what was paid on the way is paid back. Only of a queue, what was solved of it counts.
    """

    verb: str = "submit"
    paper: bool = True
    withheld: bool = True

    @property
    def check(self) -> Check:
        """The engine's check."""
        return Check(
            "submitted",
            f"The work is handed in with {self.verb}; running out of turns is not handing it in.",
            weight=0.0,
        )

    def needed(self, profile: Profile) -> bool:
        """Return whether a profile asks for it."""
        return self.paper or profile is Profile.STRICT


@dataclass(frozen=True, slots=True)
class EpisodeConfig:
    """The rules of an episode.

    Attributes:
        max_turns: Tool calls each role may make, refused ones included.
        step_time: Simulated time one call takes, unless the tool says otherwise.
        show_clock: Whether each observation begins with the simulated time.
        profile: The profile that decides success and reward.
        max_observation: Longest observation, in characters. The rest can be read with
            ``read_more`` where a role has that verb; elsewhere it is cut with a notice.
        budgets: Tool calls of single roles, in place of ``max_turns``.
        case_turns: Tool calls each role may make about one case, beside the one that closes it;
            no limit if None.
        spell: Tool calls a role may make before it has to hand the turn over, where there are
            several roles; no limit if None. It is told of the last of them.
        rest: Simulated time for which the turn is handed over then, unless the role is told
            something before; until it is if None.
        pace: Calls that are carried out side by side: each takes so much less simulated time.
            Waiting takes as long as it does.
        max_time: Simulated time after which roles are out of turns; no limit if None.
        plain: Whether an observation is what the tools say, word for word: without ``Error:``
            before a refusal, and without a notice before the last call.
    """

    max_turns: int = 12
    step_time: timedelta = timedelta(minutes=1)
    show_clock: bool = True
    profile: Profile = Profile.STRICT
    max_observation: int = 16_000
    budgets: Mapping[str, int] = field(default_factory=dict)
    case_turns: int | None = None
    spell: int | None = None
    rest: timedelta | None = None
    pace: int = 1
    max_time: timedelta | None = None
    plain: bool = False

    def __post_init__(self) -> None:
        numbers = {"max_turns": self.max_turns, "max_observation": self.max_observation}
        numbers["pace"] = self.pace
        numbers |= {f"the budget of {role}": calls for role, calls in self.budgets.items()}
        for name in ("case_turns", "spell"):
            limit: int | None = getattr(self, name)
            numbers |= {} if limit is None else {name: limit}
        for name, time in (("max_time", self.max_time), ("rest", self.rest)):
            if time is not None and time <= timedelta(0):
                raise ConfigurationError(f"{name} is some time, not {time}.")
        for name, number in numbers.items():
            if number < 1:
                raise ConfigurationError(f"{name} is at least 1, not {number}.")

    def rested(self, now: datetime) -> datetime:
        """Return until when a role waits that has made as many calls in a row as it may."""
        return FOR_EVER if self.rest is None else now + self.rest

    def budget(self, role: str) -> int:
        """Return the tool calls a role may make."""
        return self.budgets.get(role, self.max_turns)
