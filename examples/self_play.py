"""Self-play: one small model learns both seats of the arena's drill, on a processor.

    python examples/self_play.py --seed 0 --out runs/self-play

It imitates demonstrations in which whatever concerns a question and its answer is left to chance,
then plays against itself, and each seat is paid by its own verdict: nothing is shaped. The first
generation has only imitated. First and last are compared on the same held-out tasks, against each
other and against scripted sides that training never met; everything is on one page.
"""

import argparse
import copy
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

import torch

from healthgym.core.episode import Episode
from healthgym.core.opening import record_of
from healthgym.core.seeding import Split
from healthgym.core.trajectory import Trajectory
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import HABITS, SIDES
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import Making, play, seated
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode
from healthgym.integrations.selfplay import games, page
from healthgym.integrations.selfplay.copying import repetitions
from healthgym.integrations.selfplay.games import Game
from healthgym.integrations.selfplay.proving import Record, gain, record
from healthgym.integrations.selfplay.training import Imitation, Reinforcement, imitate, reinforce
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.reading import Reader
from healthgym.integrations.trl.tiny import TinyConfig, tiny_model, train_tokenizer
from healthgym.rewards import SparseReward

FAMILY = ArenaFamily("drill")
PROVIDER, PAYER = FAMILY.roles
OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}
#: Scripted sides that training never met, by the seat they take; the model has the other.
UNSEEN: Mapping[str, tuple[str, ...]] = {
    PAYER: ("oracle", "always_asks", "half_reader", "rubber_stamp", "deny_all"),
    PROVIDER: ("oracle", "wrong_item", "silent", "over_documents", "submits_all"),
}
#: Of these, the ones that want the reward without the work; the outcomes they are right about.
BAD: Mapping[str, frozenset[str]] = {
    "rubber_stamp": frozenset({"withheld", "approved"}),
    "deny_all": frozenset({"withheld", "denied"}),
    "submits_all": frozenset({"approved", "denied"}),
    "silent": frozenset({"withheld", "approved", "denied"}),
    "over_documents": frozenset({"withheld", "approved", "denied"}),
}
#: A side: a model, or somebody scripted.
Side = Reader | Making


@dataclass(frozen=True, slots=True)
class Settings:
    """How long everything takes.

    Attributes:
        demos: Tasks that are demonstrated; reward is learned on those after them.
        vocabulary: Tokens.
        model: Shape of the model.
        copying: Steps of repeating lists, which come first.
        imitation: Steps on demonstrations.
        reward: Rounds of games.
        generations: Models that are kept on the way, the first and the last included.
        held_out: Test tasks of the comparison of first and last.
        crossed: Test tasks of the table of generations against each other.
        longest: Most tokens of a reply.
    """

    demos: int = 2_000
    vocabulary: int = 1_536
    model: TinyConfig = field(default_factory=lambda: TinyConfig(layers=3))
    copying: int = 300
    imitation: Imitation = field(default_factory=lambda: Imitation(steps=650))
    reward: Reinforcement = field(default_factory=lambda: Reinforcement(rounds=40))
    generations: int = 3
    held_out: int = 300
    crossed: int = 100
    longest: int = 96

    @classmethod
    def smallest(cls) -> Self:
        """Return settings under which everything is done once, and nothing is learned."""
        return cls(
            demos=8,
            vocabulary=600,
            model=TinyConfig(hidden=32, layers=1, heads=2, feed_forward=48),
            copying=1,
            imitation=Imitation(steps=2, batch=4),
            reward=Reinforcement(rounds=2, tasks=1, group=2),
            generations=2,
            held_out=2,
            crossed=1,
            longest=4,
        )


class Clock:
    """Tells how far a run is, and how long it will take."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()
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


def dealt(split: Split, index: int, sides: Mapping[str, Side]) -> Game:
    """Return a game of a task with somebody at each seat."""
    instance = FAMILY.generator.generate(split, index)
    episode = Episode(FAMILY, instance, SparseReward(), FAMILY.rules)
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
    texts = [text for episode in shown[:400] for text in games.texts(episode)]
    tokenizer = train_tokenizer(texts, settings.vocabulary)
    talks = [games.shown(one, role, tokenizer) for one in shown for role in one.roles]
    model = tiny_model(tokenizer, settings.model, seed)
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    lists = list(repetitions(tokenizer, words, 16 * settings.copying, seed))
    for name, said, steps in (
        ("copying", lists, replace(settings.imitation, steps=settings.copying, batch=16)),
        ("imitation", talks, settings.imitation),
    ):
        tell = clock.stage(name, steps.steps)
        imitate(model, said, steps, seed, lambda step, loss, t=tell: t(step, f"loss {loss:.3f}"))
    return model, tokenizer


def rewarded(
    model: AnyModel,
    tokenizer: AnyTokenizer,
    settings: Settings,
    seed: int,
    clock: Clock,
    curve: list[dict[str, float]],
) -> list[AnyModel]:
    """Learn from games against oneself, and return the generations, the first included."""
    plan, tell = settings.reward, clock.stage("self-play", settings.reward.rounds)
    reader = Reader(model, tokenizer.eos_token_id, settings.longest)
    optimizer = torch.optim.AdamW(
        model.parameters(), plan.rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    kept = [copy.deepcopy(model)]
    marks = {
        round(plan.rounds * n / (settings.generations - 1)) for n in range(settings.generations)
    }
    for number in range(plan.rounds):
        first = settings.demos + number * plan.tasks
        played = [
            dealt(Split.TRAIN, first + place // plan.group, dict.fromkeys(OTHER, reader))
            for place in range(plan.tasks * plan.group)
        ]
        games.play(played, tokenizer, temperature=1.0, seed=(seed << 20) + number)
        figures = {
            "round": number + 1.0,
            "both": sum(game.both for game in played) / len(played),
            **{role: sum(game.won(role) for game in played) / len(played) for role in OTHER},
        }
        for part in optimizer.param_groups:  # a constant rate ends in collapse
            part["lr"] = plan.rate * (1 - number / plan.rounds)
        figures["told"] = reinforce(model, optimizer, played, plan, number)
        curve.append(figures)
        tell(number + 1, f"both {figures['both']:.2f}, telling {figures['told']:.2f};")
        if number + 1 in marks:
            kept.append(copy.deepcopy(model))
    return kept


@dataclass(frozen=True, slots=True)
class Proof:
    """What first and last generation did on held-out tasks.

    Attributes:
        joint: Both seats by one generation, first and last.
        against: For each unseen side, by seat and name, what first and last did.
        crossed: Joint success of each generation as provider against each as payer.
        unearned: Share of games that a bad side won which its habit does not win, at the last.
        agreed: Share of games with a side that submits everything in which wrong care was approved.
        shown: A few games of the last generation.
    """

    joint: tuple[Record, Record]
    against: Mapping[tuple[str, str], tuple[Record, Record]]
    crossed: Sequence[Sequence[float]]
    unearned: float
    agreed: float
    shown: Sequence[Trajectory]


def proven(
    generations: Sequence[AnyModel], tokenizer: AnyTokenizer, settings: Settings, clock: Clock
) -> Proof:
    """Play first and last generation on the same held-out tasks, and all against each other."""
    readers = [Reader(one.eval(), tokenizer.eos_token_id, settings.longest) for one in generations]
    ends, tasks = (readers[0], readers[-1]), range(settings.held_out)
    foes = [(role, name) for role, names in UNSEEN.items() for name in names]
    tell = clock.stage("held-out games", 2 + 2 * len(foes) + len(readers) ** 2)
    done, shown, bad = 0, [], []
    agreed: list[bool] = []

    def of(sides: Mapping[str, Side], count: int, look: Callable[[Game], None]) -> Record:
        nonlocal done
        found = record(lambda n: dealt(Split.TEST, n, sides), range(count), tokenizer, look)
        done += 1
        tell(done)
        return found

    def keep(game: Game) -> None:
        kinds = [one.kind for one in shown]
        if kinds.count(game.episode.task.kind) < 1:
            shown.append(record_of(game.episode, "", {}))

    def nothing(game: Game) -> None:
        """Look away."""

    joint = (
        of(dict.fromkeys(OTHER, ends[0]), len(tasks), nothing),
        of(dict.fromkeys(OTHER, ends[1]), len(tasks), keep),
    )
    against = {}
    for role, name in foes:

        def watch(game: Game, name: str = name) -> None:
            kind, case = game.episode.task.kind, next(iter(game.episode.world.cases.cases.values()))
            if name in BAD:
                bad.append(game.both and kind not in BAD[name])
            if name == "submits_all":
                agreed.append(str(case.status) == "approved" and "approved" not in kind)

        first, last = (
            of({role: SIDES[role][name], OTHER[role]: end}, len(tasks), look)
            for end, look in zip(ends, (nothing, watch), strict=True)
        )
        against[role, name] = (first, last)
    crossed = [
        [of({PROVIDER: a, PAYER: b}, settings.crossed, nothing).rate for b in readers]
        for a in readers
    ]
    return Proof(
        joint, against, crossed, sum(bad) / len(bad), sum(agreed) / len(agreed), tuple(shown)
    )


def rows(proof: Proof) -> list[list[str]]:
    """Return the comparison of first and last as a table of text."""
    found = [["against", "measured", "first", "last", "gain, points [95 %]"]]

    def line(name: str, what: str, first: Mapping[str, bool], last: Mapping[str, bool]) -> None:
        rates = [f"{100 * sum(one.values()) / len(one):.1f}" for one in (first, last)]
        more = gain(last, first)
        text = f"{100 * more.estimate:+.1f} [{100 * more.low:+.1f}, {100 * more.high:+.1f}]"
        found.append([name, what, *rates, text])

    line("itself", "both succeed", proof.joint[0].both, proof.joint[1].both)
    for (role, name), (first, last) in proof.against.items():
        mine = OTHER[role]
        line(f"{role} {name}", f"{mine}'s duties", first.own[mine], last.own[mine])
        line(f"{role} {name}", "both succeed", first.both, last.both)
    return found


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
    model, tokenizer = imitated(settings, seed, clock)
    curve: list[dict[str, float]] = []
    generations = rewarded(model, tokenizer, settings, seed, clock, curve)
    for number, one in enumerate(generations):
        one.save_pretrained(folder / f"generation-{number}")
        tokenizer.save_pretrained(folder / f"generation-{number}")
    (folder / "curve.json").write_text(json.dumps(curve), encoding="utf-8")
    proof = proven(generations, tokenizer, settings, clock)
    table = rows(proof)
    names = [f"{number}" for number in range(len(generations))]
    crossed = [
        ["provider \\ payer", *names],
        *(
            [name, *(f"{100 * share:.0f}" for share in line)]
            for name, line in zip(names, proof.crossed, strict=True)
        ),
    ]
    facts = [
        ["games that bad sides won beyond their habit, %", f"{100 * proof.unearned:.1f}"],
        ["wrong care approved for who submits everything, %", f"{100 * proof.agreed:.1f}"],
        *([f"{name}, s", f"{spent:.0f}"] for name, spent in clock.seconds.items()),
    ]
    for each in (table, crossed, facts):
        print("\n".join("  ".join(cell.ljust(28) for cell in line) for line in each), "\n")
    result = {"seed": seed, "settings": asdict(settings), "table": table, "crossed": crossed}
    (folder / "result.json").write_text(json.dumps({**result, "facts": facts}), encoding="utf-8")
    text = page.render(f"Self-play, seed {seed}", curve, [table, crossed, facts], proof.shown)
    (folder / "page.html").write_text(text, encoding="utf-8")
    return proof


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Self-play on the arena's drill.")
    parser.add_argument("--out", default="runs/self-play")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--smallest", action="store_true", help="do everything once, to try it out")
    options = parser.parse_args()
    main(options.out, options.seed, Settings.smallest() if options.smallest else None)
