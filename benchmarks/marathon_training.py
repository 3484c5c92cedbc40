"""Teach a small model to finish a queue: results/marathon_training.json.

    python benchmarks/marathon_training.py               three seeds
    python benchmarks/marathon_training.py --seeds 0     one

On the marathon's drill. Who demonstrates knows every answer, and gives up half of the queues on the
way. Reward, the share of cases solved, is then learned from queues of three cases. Before and after
it the same held-out queues of three and of ten are worked; a gain is told with the interval that
drawing those queues anew gives. The model reads the instruction, the queue and its last calls,
so that a queue of ten is no longer to read than one of three.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import torch
from _harness import Figures, Run, Suite

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.envs.managed_care.marathon.family import ReviewMarathon
from healthgym.envs.managed_care.marathon.task import MarathonInstance
from healthgym.envs.managed_care.marathon.workers import QUEUE
from healthgym.envs.managed_care.utilization_management import drill
from healthgym.integrations.selfplay.copying import repetitions
from healthgym.integrations.selfplay.games import Talk, called, written
from healthgym.integrations.selfplay.training import Imitation, Reinforcement, imitate, learn
from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.memory import Memory
from healthgym.integrations.trl.models import open_checkpoint
from healthgym.integrations.trl.reading import Reader
from healthgym.integrations.trl.tiny import TinyConfig, tiny_model, train_tokenizer
from healthgym.policies.statistics import paired_bootstrap_difference
from healthgym.rewards import SparseReward

#: Cases of the queues that are demonstrated, rewarded, and scored.
SHOWN, PAID, HELD = (3, 5, 10), 3, (3, 10)
#: Share of the demonstrations that give up before the last case.
GIVEN_UP = 0.5
#: Calls that the model still sees, besides the one that listed the queue.
WINDOW = 3
#: Queues that are worked side by side.
_BESIDE = 32

suite = Suite("marathon_training", __doc__)
suite.parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
suite.parser.add_argument("--keep", type=Path, help="folder for what each seed came to")


@dataclass(frozen=True)
class Plan:
    """How long everything takes.

    Attributes:
        demos: Queues of each size that are demonstrated.
        copying: Steps of repeating lists, which come first.
        imitation: Steps on demonstrations.
        reward: Rounds of queues that are paid.
        held_out: Test queues of each size.
        longest: Most tokens of a reply.
        model: Shape of the model.
    """

    demos: int = 300
    copying: int = 300
    imitation: Imitation = field(default_factory=lambda: Imitation(steps=1_500))
    reward: Reinforcement = field(default_factory=lambda: Reinforcement(rounds=30, tasks=8))
    held_out: int = 200
    longest: int = 64
    model: TinyConfig = field(default_factory=lambda: TinyConfig(layers=3, vocabulary=1_536))

    def quick(self) -> Plan:
        """Return a plan under which everything is done once, and nothing is learned."""
        return Plan(
            demos=2,
            copying=1,
            imitation=Imitation(steps=2, batch=4),
            reward=Reinforcement(rounds=1, tasks=1, group=2),
            held_out=2,
            longest=4,
            model=TinyConfig(hidden=32, layers=1, heads=2, feed_forward=48, vocabulary=600),
        )


@cache
def family(size: int) -> ReviewMarathon:
    """Return the drill's queues of a size."""
    return ReviewMarathon("drill", size=size)


def begun(instance: MarathonInstance) -> MarathonEpisode:
    """Begin a queue."""
    own = family(len(instance.reference.pieces))
    return Episode(own, instance, SparseReward(), own.rules)


def drawn(split: Split, size: int, index: int) -> MarathonInstance:
    """Return a queue of a size."""
    return family(size).generator.generate(split, index)


@dataclass
class Work:
    """An episode, as a model sees it that remembers its last calls only.

    Attributes:
        episode: The episode.
        turns: What was called and answered so far, as text.
        talks: Each reply with what was read before it.
    """

    episode: MarathonEpisode
    turns: list[tuple[str, str]] = field(default_factory=list)
    talks: list[Talk] = field(default_factory=list)

    def head(self) -> str:
        """Return what is read before the next reply."""
        recent = max(1, len(self.turns) - WINDOW)
        text = f"{chat.USER}{self.episode.instruction('agent')}{chat.END}\n{chat.ASSISTANT}"
        for said, heard in (*self.turns[:1], *self.turns[recent:]):
            text += f"{said}\n{chat.TOOL}{heard}{chat.END}\n{chat.ASSISTANT}"
        return text

    def say(self, text: str, action: object) -> None:
        """Make a call, and hear what is answered."""
        self.turns.append((text, self.episode.step(action).observation))

    @property
    def shares(self) -> tuple[float, float]:
        """The shares of cases that are solved, and finished."""
        found = self.episode.verdict().metrics
        return found["solved"] / found["cases"], found["finished"] / found["cases"]


def script(instance: MarathonInstance, rng: np.random.Generator) -> Iterator[ToolCall]:
    """Yield what a demonstrator calls, who looks at everything that a case needs anew."""
    pieces = list(instance.reference.pieces.values())
    if rng.random() < GIVEN_UP:
        pieces = pieces[: int(rng.integers(1, len(pieces)))]
    yield call(QUEUE)
    for piece in pieces:
        page, data, saved, _ = drill.solve(piece.instance, rng)
        # The data names the page.
        yield from (each for each in (data, page, saved) if isinstance(each, ToolCall))
    yield call("finish")


def demonstrated(size: int, index: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Return what is read and said at each call of a demonstration, and all texts of it."""
    instance = drawn(Split.TRAIN, size, index)
    work, pairs = Work(begun(instance)), []
    catalog = work.episode.seat("agent").catalog
    for made in script(instance, np.random.default_rng((size, index))):
        text = written(made, catalog.resolve(made.name)[0].identifier)
        pairs.append((work.head(), text))
        work.say(text, made)
    return pairs, [pairs[0][0], *(text for turn in work.turns for text in turn)]


def imitated(plan: Plan, seed: int) -> tuple[AnyModel, AnyTokenizer]:
    """Return a model that has imitated the demonstrations, and its tokenizer."""
    shown = [demonstrated(size, index) for size in SHOWN for index in range(plan.demos)]
    texts = [text for _, read in shown[::3] for text in read]
    tokenizer = train_tokenizer(texts, plan.model.vocabulary)
    model = tiny_model(tokenizer, plan.model, seed)
    words = sorted({word for text in texts for word in text.split() if word.isalpha()})
    lists = list(repetitions(tokenizer, words, 16 * plan.copying, seed))
    imitate(model, lists, replace(plan.imitation, steps=plan.copying, batch=16), seed)
    talks = [told(tokenizer, head, text) for pairs, _ in shown for head, text in pairs]
    imitate(model, talks, plan.imitation, seed, told_now("imitation", plan.imitation.steps))
    return model, tokenizer


def told(tokenizer: AnyTokenizer, head: str, text: str) -> Talk:
    """Return a reply that was demonstrated, with what was read before it."""
    talk = Talk("agent")
    talk.add(tokenizer.encode(head))
    ids = tokenizer.encode(text)
    talk.add(ids, [0.0] * len(ids))
    return talk


def play(
    works: Sequence[Work],
    model: AnyModel,
    tokenizer: AnyTokenizer,
    longest: int,
    temperature: float = 0.0,
    seed: int = 0,
) -> None:
    """Have the model work queues to their end."""
    reader = Reader(model, tokenizer.eos_token_id, longest)
    generator = torch.Generator().manual_seed(seed)
    while live := [work for work in works if not work.episode.done()]:
        for start in range(0, len(live), _BESIDE):
            answer(live[start : start + _BESIDE], reader, tokenizer, temperature, generator)


def answer(
    works: Sequence[Work],
    reader: Reader,
    tokenizer: AnyTokenizer,
    temperature: float,
    generator: torch.Generator,
) -> None:
    """Have the model make the next call of some queues."""
    heads = [tokenizer.encode(work.head()) for work in works]
    replies = reader.replies([Memory() for _ in works], heads, temperature, generator)
    for work, head, reply in zip(works, heads, replies, strict=True):
        talk = Talk("agent")
        talk.add(head)
        talk.add(reply.ids, reply.logps)
        work.talks.append(talk)
        text = tokenizer.decode(reply.ids, skip_special_tokens=False)
        work.say(text, called(text))


def rewarded(model: AnyModel, tokenizer: AnyTokenizer, plan: Plan, seed: int) -> None:
    """Learn from queues of three, each worked by several at once; the model is changed."""
    reward = plan.reward
    optimizer = torch.optim.AdamW(
        model.parameters(), reward.rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    tell = told_now("reward", reward.rounds)
    for number in range(reward.rounds):
        first = plan.demos + number * reward.tasks
        groups = [
            [Work(begun(instance)) for _ in range(reward.group)]
            for instance in (
                drawn(Split.TRAIN, PAID, index) for index in range(first, first + reward.tasks)
            )
        ]
        works = [work for group in groups for work in group]
        play(works, model, tokenizer, plan.longest, 1.0, (seed << 20) + number)
        for part in optimizer.param_groups:
            part["lr"] = reward.rate * (1 - number / reward.rounds)
        paid = [pair for group in groups for pair in advantages(group)]
        learn(model, optimizer, paid, reward, number)
        tell(number + 1, float(np.mean([work.shares[0] for work in works])))


def advantages(group: Sequence[Work]) -> Iterator[tuple[Talk, float]]:
    """Yield each reply with what the share that its queue came to is worth beside the others."""
    shares = np.array([work.shares[0] for work in group])
    spread = shares.std()
    for work, share in zip(group, shares, strict=True):
        for talk in work.talks:
            yield talk, float((share - shares.mean()) / spread) if spread else 0.0


#: The shares solved and finished, by task.
Shares = dict[str, tuple[float, float]]


def held_out(
    model: AnyModel, tokenizer: AnyTokenizer, size: int, count: int, longest: int
) -> Shares:
    """Return what the model makes of test queues, by its likeliest tokens."""
    works = [Work(begun(drawn(Split.TEST, size, index))) for index in range(count)]
    play(works, model, tokenizer, longest)
    return {work.episode.task.task_id: work.shares for work in works}


def keep(model: AnyModel, tokenizer: AnyTokenizer, folder: Path) -> None:
    """Write a model, for :func:`kept`."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def kept(folder: Path) -> Trained:
    """Return a model that was written."""
    torch.set_num_threads(1)
    return Trained(*open_checkpoint(folder), Plan.longest)


@dataclass(frozen=True)
class Trained:
    """A model that was kept.

    Attributes:
        model: The model.
        tokenizer: Its tokenizer.
        longest: Most tokens of a reply.
    """

    model: AnyModel
    tokenizer: AnyTokenizer
    longest: int

    def worked(
        self, episode: MarathonEpisode, temperature: float = 0.0, seed: int = 0
    ) -> MarathonEpisode:
        """Return an episode that it has worked to its end."""
        play([Work(episode)], self.model, self.tokenizer, self.longest, temperature, seed)
        return episode


def risen(before: Shares, after: Shares) -> Figures:
    """Return shares before and after, and what was gained on the same queues."""
    figures: Figures = {"queues": len(before)}
    for place, name in enumerate(("solved", "finished")):
        old, new = ({key: [each[place]] for key, each in one.items()} for one in (before, after))
        more = paired_bootstrap_difference(new, old)
        means = (float(np.mean(list(each.values()))) for each in (old, new))
        figures |= dict(zip((f"{name}_before", f"{name}_after"), means, strict=True))
        figures |= {f"{name}_gain": more.estimate}
        figures |= {f"{name}_gain_low": more.low, f"{name}_gain_high": more.high}
    return figures


def told_now(what: str, total: int) -> Callable[[int, float], None]:
    """Return what tells of a twentieth of some steps, and how long the others will take."""
    begun = time.perf_counter()

    def tell(step: int, figure: float) -> None:
        if step == total or step % max(total // 20, 1) == 0:
            spent = time.perf_counter() - begun
            left = spent / step * (total - step)
            print(f"{what} {step}/{total}: {figure:.3f}; {left:.0f} s left", flush=True)

    return tell


@suite.measure()
def training(run: Run) -> Figures:
    """Train on each seed, and tell what queues of three and of ten came to."""
    torch.set_num_threads(1)
    plan = Plan().quick() if run.quick else Plan()
    figures: Figures = {}
    for seed in run.options.seeds:
        begun = time.perf_counter()
        model, tokenizer = imitated(plan, seed)
        scored = partial(held_out, count=run.tasks(plan.held_out), longest=plan.longest)
        before = {size: scored(model, tokenizer, size) for size in HELD}
        rewarded(model, tokenizer, plan, seed)
        after = {size: scored(model, tokenizer, size) for size in HELD}
        if run.options.keep:
            keep(model, tokenizer, run.options.keep / f"seed-{seed}")
        own: Figures = {f"of_{size}": risen(before[size], after[size]) for size in HELD}
        figures[str(seed)] = {**own, "minutes": (time.perf_counter() - begun) / 60}
    return figures


if __name__ == "__main__":
    raise SystemExit(suite.main())
