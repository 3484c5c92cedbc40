"""A case's log as a story: moments of the simulated clock, and in each who did what.

At one time several people may act, the agent's call among them. What one person does at a time is
a beat: the calls, the log entries in their order, the records that were written. Every entry of the
log is in one beat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.episode import AnyEpisode
from healthgym.core.tool import ToolKind
from healthgym.core.verifier import Event
from healthgym.core.world import WORLD
from healthgym.envs.managed_care.timeline.cards import Card, cards_of
from healthgym.envs.managed_care.timeline.due import Deadline, Fate, deadlines_of
from healthgym.envs.managed_care.timeline.solution import CareSolution, Solution
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.history import Entry
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Arguments by which a call of the payer's tools names the worker who acts.
_NAMING = ("actor", "reviewer_id", "payer_contact_id", "coordinator_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """What a page is made of.

    Attributes:
        world: The world, at the end or on the way; it is not changed.
        case_id: The case that the page is about; empty if none was opened.
        title: What the page is called.
        instruction: What the agent was told first.
        events: Every call, refused ones included, and what fell due.
        verdicts: Verdicts by profile, as JSON values; empty while there are none.
        solution: What is right; None where the page is not to say so.
        care: What is right for an episode of care management, and who answers the phone; None
            where the page is not to say so, or it is of another kind.
    """

    world: ManagedCareWorld
    case_id: str
    title: str = ""
    instruction: str = ""
    events: Sequence[Event] = ()
    verdicts: Mapping[str, JsonObject] = field(default_factory=dict)
    solution: Solution | None = None
    care: CareSolution | None = None

    @property
    def of_care(self) -> bool:
        """Whether it is an episode of care management."""
        return self.care is not None or self.case_id in self.world.referrals.cases


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What one person did at one time.

    Attributes:
        actor: Id of the person, or the name of an office.
        calls: The agent's calls.
        entries: Entries of the log, in their order.
        cards: Records that were written.
        changed: Whether one of the entries tells of a change, and not of a look only.
    """

    actor: str
    calls: tuple[Event, ...] = ()
    entries: tuple[Entry, ...] = ()
    cards: tuple[Card, ...] = ()
    changed: bool = False

    @property
    def calls_only(self) -> bool:
        """Whether it is of calls that left nothing in the log."""
        return bool(self.calls) and not self.entries


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What happened at one time.

    Attributes:
        at: When.
        beats: Who did what, in order.
        set: Deadlines that began to count.
        settled: Deadlines that were met or came to pass.
    """

    at: datetime
    beats: tuple[Beat, ...] = ()
    set: tuple[Deadline, ...] = ()
    settled: tuple[Deadline, ...] = ()


def exhibit_of(episode: AnyEpisode, reference: object = None) -> Exhibit:
    """Return what a page of an episode is made of.

    Args:
        episode: An episode in a managed-care world, finished or on the way.
        reference: The task's reference, if the page may say what is right; one that says
            neither how a request nor how a referral is handled is not shown.

    Raises:
        ConfigurationError: If the episode is played in another kind of world.
    """
    world: object = episode.world
    if not isinstance(world, ManagedCareWorld):
        raise ConfigurationError(
            f"A {type(world).__name__} has no cases to show; those of managed care have."
        )
    verdicts: dict[str, JsonDict] = episode.verdicts() if episode.settled else {}
    care = reference if isinstance(reference, CareSolution) else None
    meant = care.case_id if care is not None and care.case_id in world.referrals.cases else ""
    return Exhibit(
        world=world,
        case_id=meant or case_of(world),
        title=f"{episode.task.task_id} ({episode.task.kind})",
        instruction=episode.instruction(),
        events=episode.events,
        verdicts=verdicts,
        solution=reference if isinstance(reference, Solution) else None,
        care=care,
    )


def case_of(world: ManagedCareWorld) -> str:
    """Return the first case that was opened in play, or that anybody worked on; empty if none."""
    known = {getattr(record, "id", "") for record in world.start.records}
    opened = [case for case in world.cases.cases if case not in known]
    touched = [entry.case_id for entry in world.history.entries if entry.case_id]
    return next(iter([*opened, *touched]), "")


def moments(exhibit: Exhibit) -> tuple[Moment, ...]:
    """Return what happened, in order of time."""
    world = exhibit.world
    log = sorted([*world.history.entries, *world.history.looks], key=lambda entry: entry.number)
    calls = [event for event in exhibit.events if event.role != WORLD]
    cards = cards_of(world, exhibit.case_id)
    due = deadlines_of(world, exhibit.case_id)
    marks = [(one.since, one) for one in due]
    ends = [(end, one) for one in due if (end := _end(one)) is not None]
    times = {
        *(entry.at for entry in log),
        *(call.time for call in calls),
        *(card.at for card in cards),
        *(at for at, _ in (*marks, *ends)),
    }
    return tuple(
        Moment(
            at=at,
            beats=_beats(
                world,
                [entry for entry in log if entry.at == at],
                [call for call in calls if call.time == at],
                [card for card in cards if card.at == at],
            ),
            set=tuple(one for since, one in marks if since == at),
            settled=tuple(one for end, one in ends if end == at),
        )
        for at in sorted(times)
    )


def _end(deadline: Deadline) -> datetime | None:
    """Return when it was seen what became of a deadline."""
    if deadline.met is not None:
        return deadline.met
    return deadline.due if deadline.fate is Fate.MISSED else None


def _beats(
    world: ManagedCareWorld,
    entries: Sequence[Entry],
    calls: Sequence[Event],
    cards: Iterable[Card],
) -> tuple[Beat, ...]:
    desk, beats = world.actor, list(_by_actor(world, entries))
    place = len(beats)
    for call in reversed(calls):  # what a call did comes after what fell due at the same time
        found = _beat_of(call, beats[:place], desk)
        if found is None:
            beats.insert(place, Beat(actor=desk, calls=(call,)))
        else:
            beats[found] = replace(beats[found], calls=(call,))
            place = found
    for card in cards:
        own = (n for n, beat in enumerate(beats) if _belongs(card, beat))
        # What nobody's entry tells of goes with the last that anybody did.
        others = (n for n in range(len(beats) - 1, -1, -1) if not beats[n].calls_only)
        found = next(own, next(others, None))
        if found is None:
            found = len(beats)
            beats.append(Beat(actor=""))
        beats[found] = replace(beats[found], cards=(*beats[found].cards, card))
    return tuple(beats)


def _beat_of(call: Event, beats: Sequence[Beat], desk: str) -> int | None:
    """Return which of the beats has the entries that a call made; None if it made none."""
    if call.kind is ToolKind.WRITE:
        people = {desk, *(call.arguments.get(name) for name in _NAMING)}
        places = range(len(beats) - 1, -1, -1)
        return next((n for n in places if beats[n].actor in people and beats[n].changed), None)
    reads = call.kind is ToolKind.READ and "." in call.tool  # the engine's verbs leave no entries
    last = beats[-1] if beats else None
    if reads and last is not None and last.actor == desk and not last.changed:
        return len(beats) - 1
    return None


def _by_actor(world: ManagedCareWorld, entries: Sequence[Entry]) -> Iterator[Beat]:
    """Yield what each person did without another between."""
    looks = {entry.number for entry in world.history.looks}
    for actor, found in groupby(entries, key=lambda entry: entry.actor):
        own = tuple(found)
        yield Beat(actor=actor, entries=own, changed=any(e.number not in looks for e in own))


def _belongs(card: Card, beat: Beat) -> bool:
    return any(entry.name.startswith(card.near) for entry in beat.entries) if card.near else False
