"""Self-play: one small model learns the arena's drill, on a processor.

    python examples/self_play.py --seed 0 --out runs/self-play

It learns to repeat lists of ids and dates, and imitates demonstrations of both seats in which a
question that is due is asked one time of three, and answered rightly two times of three. Then it
learns both seats from games with itself, with its past selves and with who was demonstrated: it
says again what it said where its own seat's verdict was success (expert iteration); nothing is
shaped. The first generation has only imitated. First and last are compared on the same held-out
tasks, with themselves and beside scripted providers that training never met; everybody who wants
the reward without the work sits beside the last, which then plays the whole arena. Everything is
on one page.
A folder that has a first generation is gone on with from there. With ``--sides`` the last
generation of a folder plays every scripted side of the drill, in both seats.
"""

import argparse
import copy
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Self

import torch

from healthgym.core.borders import JsonDict
from healthgym.core.episode import Episode
from healthgym.core.opening import record_of
from healthgym.core.seeding import Split
from healthgym.core.trajectory import Trajectory
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import CARELESS, HABITS, SIDES
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import Making, play, seated
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode
from healthgym.integrations.selfplay import games, page
from healthgym.integrations.selfplay.copying import copies
from healthgym.integrations.selfplay.games import Game
from healthgym.integrations.selfplay.proving import Compared, Record, kept, record
from healthgym.integrations.selfplay.training import (
    ExpertIteration,
    Imitation,
    Wins,
    imitate,
    won,
)
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.models import open_checkpoint
from healthgym.integrations.trl.reading import Reader
from healthgym.integrations.trl.tiny import ID_PIECES, TinyConfig, tiny_model, train_tokenizer
from healthgym.rewards import SparseReward

FAMILY = ArenaFamily("drill")
PROVIDER, PAYER = FAMILY.roles
OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}
#: The arena of which the drill is a part.
WHOLE = ArenaFamily()
#: Scripted sides that training never met; the model has the payer's seat.
UNSEEN = ("oracle", "wrong_item", "silent", "over_documents", "never_withholds", "submits_all")
_NOTE = (
    "Shares of the games of each round, replies drawn: both sides succeeded, each side did, and "
    "tasks and seats of which some games were won and some lost. Tables and games are of held-out "
    "tasks."
)
#: Games that are shown turn by turn, each of another kind.
_SHOWN = 4
#: A side: a model, or somebody scripted.
Side = Reader | Making


@dataclass(frozen=True, slots=True)
class Settings:
    """How long everything takes.

    Attributes:
        demos: Tasks that are demonstrated; reward is learned on those after them.
        vocabulary: Tokens.
        model: Shape of the model.
        copying: Steps on lists of ids and dates that are repeated.
        imitation: Steps on demonstrations after those, and on some of the lists again.
        reward: Rounds of games.
        generations: Models that are kept on the way, the first and the last included.
        held_out: Test tasks of the comparison of first and last.
        crossed: Test tasks of each pairing of generations, and beside each careless side.
        whole: Test tasks of the whole arena.
        longest: Most tokens of a reply.
    """

    demos: int = 3_000
    vocabulary: int = 1_536
    model: TinyConfig = field(
        default_factory=lambda: TinyConfig(hidden=72, layers=4, heads=3, feed_forward=192)
    )
    copying: Imitation = field(default_factory=lambda: Imitation(steps=1_000, sorted_by=1))
    imitation: Imitation = field(default_factory=lambda: Imitation(steps=2_900, batch=12))
    reward: ExpertIteration = field(default_factory=ExpertIteration)
    generations: int = 3
    held_out: int = 300
    crossed: int = 60
    whole: int = 10
    longest: int = 96

    @classmethod
    def smallest(cls) -> Self:
        """Return settings under which everything is done once, and nothing is learned."""
        return cls(
            demos=8,
            vocabulary=600,
            model=TinyConfig(hidden=32, layers=1, heads=2, feed_forward=48),
            copying=Imitation(steps=2, batch=4),
            imitation=Imitation(steps=2, batch=4),
            reward=ExpertIteration(rounds=2, tasks=3, group=2, steps=1, batch=2),
            generations=2,
            held_out=2,
            crossed=1,
            whole=1,
            longest=4,
        )


class Clock:
    """Tells how far a run is, and how long it will take."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def stage(self, name: str, total: int) -> Callable[[int, str], None]:
        """Return what tells of each step of a stage."""
        begun = time.perf_counter()

        def tell(step: int, text: str = "") -> None:
            spent = time.perf_counter() - begun
            self.seconds[name] = spent
            if step == total or step % max(total // 20, 1) == 0:
                left = spent / step * (total - step)
                print(f"{name} {step}/{total} {text} {spent:.0f} s, {left:.0f} s left", flush=True)

        return tell


def _nothing(game: Game) -> None:
    """Look away."""


@lru_cache(512)
def drawn(family: ArenaFamily, split: Split, index: int) -> ArenaInstance:
    """Return a task, which many games are played of."""
    return family.generator.generate(split, index)


def dealt(
    split: Split, index: int, sides: Mapping[str, Side], family: ArenaFamily = FAMILY
) -> Game:
    """Return a game of a task with somebody at each seat."""
    instance = drawn(family, split, index)
    episode = Episode(family, instance, SparseReward(), family.rules)
    readers = {role: side for role, side in sides.items() if isinstance(side, Reader)}
    makers = {role: side for role, side in sides.items() if not isinstance(side, Reader)}
    return Game(episode, seated(episode, instance, makers, index).workers, readers)


def demonstrated(settings: Settings, clock: Clock) -> list[ArenaEpisode]:
    """Return demonstrations of both seats by habit."""
    tell, found = clock.stage("demonstrations", settings.demos), []
    for index in range(settings.demos):
        instance = FAMILY.generator.generate(Split.TRAIN, index)
        episode = Episode(FAMILY, instance, SparseReward(), FAMILY.rules)
        found.append(play(episode, instance, HABITS, index))
        tell(index + 1)
    return found


def imitated(settings: Settings, seed: int, clock: Clock) -> tuple[AnyModel, AnyTokenizer]:
    """Return a model that has imitated the demonstrations, and its tokenizer."""
    shown = demonstrated(settings, clock)
    texts = [text for episode in shown[:300] for text in games.texts(episode)]
    tokenizer = train_tokenizer(texts, settings.vocabulary, ID_PIECES)
    talks = [games.shown(one, role, tokenizer) for one in shown for role in one.roles]
    model = tiny_model(tokenizer, settings.model, seed)
    lists = copies(texts, settings.copying.steps * 12, tokenizer, seed)
    for name, read, how in (
        ("copying", lists, settings.copying),
        ("imitation", [*talks, *lists[: len(talks) // 4]], settings.imitation),
    ):
        tell = clock.stage(name, how.steps)
        imitate(model, read, how, seed, lambda n, loss, tell=tell: tell(n, f"loss {loss:.3f}"))
    return model, tokenizer


def rewarded(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    settings: Settings,
    seed: int,
    clock: Clock,
    curve: list[dict[str, float]],
) -> list[AnyModel]:
    """Learn both seats from games, and return the generations, the first included.

    The learner meets in turn itself, and as payer who was demonstrated and all generations so far.
    """
    plan, tell = settings.reward, clock.stage("self-play", settings.reward.rounds)
    optimizer = torch.optim.AdamW(
        model.parameters(), plan.rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    kept = [copy.deepcopy(model)]
    learner = reading(model, tokenizer, settings)
    pool: list[Side] = [learner, HABITS[PROVIDER], reading(kept[0], tokenizer, settings)]
    wins = Wins(plan)
    marks = {
        round(plan.rounds * n / (settings.generations - 1)) for n in range(settings.generations)
    }
    for number in range(plan.rounds):
        first = settings.demos + number * plan.tasks
        played = [
            dealt(Split.TRAIN, first + n, {PROVIDER: pool[n % len(pool)], PAYER: learner})
            for n in range(plan.tasks)
            for _ in range(plan.group)
        ]
        games.play(played, tokenizer, temperature=1.0, seed=(seed << 20) + number)
        figures = {
            "round": number + 1.0,
            "both": sum(game.both for game in played) / len(played),
            **{role: sum(game.won(role) for game in played) / len(played) for role in OTHER},
        }
        held, figures["told"] = won(played, plan, learner, number)
        wins.add(held)
        wins.repeat(model, optimizer, number)
        curve.append(figures)
        tell(number + 1, " ".join(f"{name} {share:.2f}" for name, share in figures.items()))
        if number + 1 in marks:
            kept.append(copy.deepcopy(model))
            pool.append(reading(kept[-1], tokenizer, settings))
    return kept


def reading(model: AnyModel, tokenizer: AnyTokenizer, settings: Settings) -> Reader:
    """Return a model as somebody who sits at a seat."""
    return Reader(model.eval(), tokenizer.eos_token_id, settings.longest)


@dataclass(frozen=True, slots=True)
class Proof:
    """What first and last generation did on held-out tasks.

    Attributes:
        joint: Both seats by one generation: where both succeeded.
        against: Beside each unseen provider: where the model kept the payer's duties.
        careless: Joint success of each careless side beside the last generation.
        crossed: Joint success of each generation as provider against each as payer.
        whole: What the last generation does of the whole arena, of which it has seen nothing.
        shown: A few games of the last generation.
    """

    joint: Compared
    against: Mapping[str, Compared]
    careless: Mapping[str, float]
    crossed: Sequence[Sequence[float]]
    whole: Mapping[str, float]
    shown: Sequence[Trajectory]

    def as_dict(self) -> dict[str, object]:
        """Return all figures."""
        return {
            "joint": self.joint.as_dict(),
            "against": {name: each.as_dict() for name, each in self.against.items()},
            "careless": dict(self.careless),
            "crossed": [list(line) for line in self.crossed],
            "whole": dict(self.whole),
        }


class Prover:
    """Plays generations on held-out tasks.

    Args:
        generations: The models, first to last.
        tokenizer: The tokenizer of all.
        settings: How many tasks.
        clock: Told of every pairing.
    """

    def __init__(
        self,
        generations: Sequence[AnyModel],
        tokenizer: AnyTokenizer,
        settings: Settings,
        clock: Clock,
    ) -> None:
        self.readers = [reading(one, tokenizer, settings) for one in generations]
        self.tokenizer, self.settings = tokenizer, settings
        # Beside another side a conversation begins as beside the last one.
        self._known: games.Known = {}
        self._done = 0
        pairings = 3 + 2 * len(UNSEEN) + sum(map(len, CARELESS.values())) + len(self.readers) ** 2
        self._tell = clock.stage("held-out games", pairings)

    def proven(self) -> Proof:
        """Return what first and last did on the same tasks, and all against each other."""
        first, last = self.readers[0], self.readers[-1]
        shown: dict[str, Trajectory] = {}

        def keep(game: Game) -> None:
            if len(shown) < _SHOWN and game.episode.task.kind not in shown:
                shown[game.episode.task.kind] = record_of(game.episode, "", {})

        count, few = self.settings.held_out, self.settings.crossed
        before = self._of(dict.fromkeys(OTHER, first), count)
        joint = Compared.of(before.both, self._of(dict.fromkeys(OTHER, last), count, keep).both)
        against = {
            f"{PROVIDER} {name}": Compared.of(
                *(
                    self._of({PROVIDER: SIDES[PROVIDER][name], PAYER: one}, count).own[PAYER]
                    for one in (first, last)
                )
            )
            for name in UNSEEN
        }
        careless = {
            f"{role} {name}": self._of({role: SIDES[role][name], OTHER[role]: last}, few).rate
            for role, names in CARELESS.items()
            for name in names
        }
        crossed = [
            [self._of({PROVIDER: one, PAYER: other}, few).rate for other in self.readers]
            for one in self.readers
        ]
        return Proof(joint, against, careless, crossed, self._whole(last), tuple(shown.values()))

    def _of(
        self, sides: Mapping[str, Side], count: int, look: Callable[[Game], None] = _nothing
    ) -> Record:
        found = record(
            lambda n: dealt(Split.TEST, n, sides), range(count), self.tokenizer, look, self._known
        )
        self._done += 1
        self._tell(self._done, "")
        return found

    def _whole(self, reader: Reader) -> dict[str, float]:
        """Return what a model does of the whole arena, in both seats."""
        found = record(
            lambda n: dealt(Split.TEST, n, dict.fromkeys(OTHER, reader), WHOLE),
            range(self.settings.whole),
            self.tokenizer,
        )
        self._done += 1
        self._tell(self._done, "")
        own = {f"{role}_kept_its_duties": found.kept(role) for role in OTHER}
        return {"games": float(self.settings.whole), "both_succeeded": found.rate, **own}


def beside(out: str, settings: Settings) -> JsonDict:
    """Return what the last generation does beside every scripted side, and write it.

    Args:
        out: The folder of a run that has ended.
        settings: How many tasks.
    """
    torch.set_num_threads(1)
    folder, clock = Path(out), Clock()
    model, tokenizer = open_checkpoint(folder / f"generation-{settings.generations - 1}")
    reader = reading(model, tokenizer, settings)
    known: games.Known = {}
    pairings = [(role, name) for role in OTHER for name in SIDES[OTHER[role]]]
    tell, found = clock.stage("sides", len(pairings)), {role: {} for role in OTHER}
    for number, (role, name) in enumerate(pairings, 1):
        seats: Mapping[str, Side] = {role: reader, OTHER[role]: SIDES[OTHER[role]][name]}
        finished: list[Game] = []
        record(
            lambda n, seats=seats: dealt(Split.TEST, n, seats),
            range(settings.crossed),
            tokenizer,
            finished.append,
            known,
        )
        found[role][name] = {
            profile.value: {
                "own": sum(kept(one, role, profile) for one in finished) / len(finished),
                "both": sum(
                    all(one.episode.verdict(seat, profile).success for seat in OTHER)
                    for one in finished
                )
                / len(finished),
            }
            for profile in Profile
        }
        tell(number, f"{role} beside {name}")
    (folder / "sides.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    return found


def tables(proof: Proof, seconds: Mapping[str, float]) -> list[list[list[str]]]:
    """Return the figures as tables of text."""
    compared = [["against", "measured", "first", "last", "gain, points [95 %]"]]
    compared.append(["itself", "both succeeded", *proof.joint.cells()])
    for name, each in proof.against.items():
        compared.append([name, "the payer kept its duties", *each.cells()])
    careless = [["careless side beside the last generation", "both succeeded, %"]]
    careless += [[name, _percent(share)] for name, share in proof.careless.items()]
    names = [f"{number}" for number in range(len(proof.crossed))]
    crossed = [["provider \\ payer, both succeeded, %", *names]]
    crossed += [
        [name, *map(_percent, line)] for name, line in zip(names, proof.crossed, strict=True)
    ]
    whole = [["the whole arena, unseen, by the last generation", ""]]
    whole += [[name, f"{share:.2f}"] for name, share in proof.whole.items()]
    spent = [["stage", "seconds"], *([name, f"{each:.0f}"] for name, each in seconds.items())]
    return [compared, careless, crossed, whole, spent]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def keep(model: AnyModel, tokenizer: AnyTokenizer, folder: Path, number: int) -> None:
    """Write a generation."""
    model.save_pretrained(folder / f"generation-{number}")
    tokenizer.save_pretrained(folder / f"generation-{number}")


def took(begun: float, spent: float) -> dict[str, float]:
    """Return the minutes since some moment, by the clock and by the processor's."""
    return {
        "minutes": (time.perf_counter() - begun) / 60,
        "processor_minutes": (time.process_time() - spent) / 60,
    }


def begun(
    folder: Path, settings: Settings, seed: int, clock: Clock
) -> tuple[AnyModel, AnyTokenizer, dict[str, float]]:
    """Return the first generation, its tokenizer, and the minutes it took, now or earlier."""
    told = folder / "imitation.json"
    if told.exists():
        return *open_checkpoint(folder / "generation-0"), json.loads(told.read_text("utf-8"))
    since = (time.perf_counter(), time.process_time())
    model, tokenizer = imitated(settings, seed, clock)
    keep(model, tokenizer, folder, 0)
    spent = took(*since)
    told.write_text(json.dumps(spent), encoding="utf-8")
    return model, tokenizer, spent


def main(out: str, seed: int = 0, settings: Settings | None = None) -> Proof:
    """Train, compare, and write the page and the figures.

    Args:
        out: The folder.
        seed: Of the model and of what is drawn.
        settings: How long everything takes.
    """
    torch.set_num_threads(1)
    settings, folder, clock = settings or Settings(), Path(out), Clock()
    folder.mkdir(parents=True, exist_ok=True)
    model, tokenizer, before = begun(folder, settings, seed, clock)
    since = (time.perf_counter(), time.process_time())
    curve: list[dict[str, float]] = []
    generations = rewarded(model, tokenizer, settings, seed, clock, curve)
    for number, one in enumerate(generations):
        keep(one, tokenizer, folder, number)
    proof = Prover(generations, tokenizer, settings, clock).proven()
    written = tables(proof, clock.seconds)
    for each in written:
        print("\n".join("  ".join(cell.ljust(28) for cell in line) for line in each), "\n")
    result = {
        "seed": seed,
        "settings": asdict(settings),
        **proof.as_dict(),
        "curve": curve,
        **{name: before[name] + more for name, more in took(*since).items()},
    }
    (folder / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    text = page.render(f"Self-play, seed {seed}", curve, written, proof.shown, _NOTE)
    (folder / "page.html").write_text(text, encoding="utf-8")
    return proof


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Self-play on the arena's drill.")
    parser.add_argument("--out", default="runs/self-play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smallest", action="store_true", help="do everything once, to try it out")
    parser.add_argument("--sides", action="store_true", help="play every side, after a run")
    options = parser.parse_args()
    chosen = Settings.smallest() if options.smallest else Settings()
    if options.sides:
        beside(options.out, chosen)
    else:
        main(options.out, options.seed, chosen)
