"""Teach a small model to finish a queue: results/marathon_training.json.

    python benchmarks/marathon_training.py               three seeds, two at a time

On the marathon's drill. Who demonstrates knows every answer, and leaves two of three queues after
the first case; the share of cases solved is the reward, learned from queues of three: what came
further than the others of a task is said again (expert iteration). Before and after it the same
held-out queues of three and of ten are worked, by the likeliest tokens. The model
forgets a case once it has saved what it found. What comes of a run is kept under ``--runs``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import torch
from _harness import Figures, Run, Suite, at_least, in_fresh_process
from _managed_care.drill_queues import Work, begun, drawn, read, shown

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.marathon.crew import MarathonEpisode
from healthgym.integrations.selfplay.copying import copies
from healthgym.integrations.selfplay.games import Talk, called
from healthgym.integrations.selfplay.training import ExpertIteration, Imitation, Wins, imitate
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.memory import Memory
from healthgym.integrations.trl.models import open_checkpoint
from healthgym.integrations.trl.reading import Reader
from healthgym.integrations.trl.tiny import ID_PIECES, TinyConfig, tiny_model, train_tokenizer
from healthgym.policies.statistics import paired_bootstrap_difference

#: Cases of the queues that are demonstrated, rewarded, and scored.
SHOWN, PAID, HELD = (3, 5, 10), 3, (3, 10)
_BESIDE = 64  # queues that are worked side by side
SEEDS = (0, 1, 2)

suite = Suite("marathon_training", __doc__)
suite.parser.add_argument("--runs", type=Path, default=Path(gettempdir()) / "healthgym-marathon")
suite.parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
suite.parser.add_argument("--beside", type=int, default=2, help="runs at a time, a thread each")


@dataclass(frozen=True)
class Plan:
    """How long everything takes.

    Attributes:
        demos: Queues of each size that are demonstrated.
        copying: Steps on lists of ids and dates that are repeated.
        imitation: Steps on demonstrations after those, and on some of the lists again.
        reward: Rounds of queues that are paid.
        held_out: Test queues of each size.
        longest: Most tokens of a reply.
        model: Shape of the model.
    """

    demos: int = 300
    copying: Imitation = field(default_factory=lambda: Imitation(steps=400, sorted_by=1))
    imitation: Imitation = field(default_factory=lambda: Imitation(steps=1_000, batch=12))
    reward: ExpertIteration = field(default_factory=lambda: ExpertIteration(rounds=10, tasks=12))
    held_out: int = 60
    longest: int = 64
    model: TinyConfig = field(default_factory=lambda: TinyConfig(heads=3, vocabulary=1_536))

    def quick(self) -> Plan:
        """Return a plan under which everything is done once, and nothing is learned."""
        return Plan(
            demos=2,
            copying=Imitation(steps=2, batch=4),
            imitation=Imitation(steps=2, batch=4),
            reward=ExpertIteration(rounds=1, tasks=1, group=2, steps=1, batch=2),
            held_out=2,
            longest=4,
            model=TinyConfig(hidden=32, layers=1, heads=2, feed_forward=48, vocabulary=600),
        )


def imitated(plan: Plan, seed: int) -> tuple[AnyModel, AnyTokenizer]:
    """Return a model that has imitated the demonstrations, and its tokenizer."""
    texts = [text for size in SHOWN for n in range(min(plan.demos, 40)) for text in read(size, n)]
    tokenizer = train_tokenizer(texts, plan.model.vocabulary, ID_PIECES)
    model = tiny_model(tokenizer, plan.model, seed)
    views = [
        view for size in SHOWN for n in range(plan.demos) for view in shown(size, n, tokenizer)
    ]
    lists = copies(texts, plan.copying.steps * 12, tokenizer, seed)
    for name, talks, how in (
        ("copying", lists, plan.copying),
        ("imitation", [*views, *lists[: len(views) // 4]], plan.imitation),
    ):
        imitate(model, talks, how, seed, told_now(name, how.steps))
    return model, tokenizer


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
    for start in range(0, len(works), _BESIDE):
        beside = works[start : start + _BESIDE]
        while live := [work for work in beside if not work.episode.done()]:
            answer(live, reader, tokenizer, temperature, generator)


def answer(
    works: Sequence[Work],
    reader: Reader,
    tokenizer: AnyTokenizer,
    temperature: float,
    generator: torch.Generator,
) -> None:
    """Have the model make the next call of some queues."""
    views = [work.look(tokenizer) for work in works]
    replies = reader.replies(
        [view.memory for view in views], [view.fresh for view in views], temperature, generator
    )
    for work, view, reply in zip(works, views, replies, strict=True):
        view.add(reply.ids, own=True)
        text = tokenizer.decode(reply.ids, skip_special_tokens=False)
        work.say(text, called(text))
        if not work.since or work.episode.done():
            view.memory = Memory()


def rewarded(model: AnyModel, tokenizer: AnyTokenizer, plan: Plan, seed: int) -> None:
    """Learn from queues of three, each worked by several at once; the model is changed."""
    reward = plan.reward
    optimizer = torch.optim.AdamW(
        model.parameters(), reward.rate, betas=(0.9, 0.98), weight_decay=0.0
    )
    tell, wins = told_now("reward", reward.rounds), Wins(reward)
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
        wins.add([view for group in groups for view in best(group, reward.most)])
        wins.repeat(model, optimizer, number)
        tell(number + 1, float(np.mean([work.shares[0] for work in works])))


def best(group: Sequence[Work], most: int) -> Iterator[tuple[Talk, float]]:
    """Yield the views of the queues of a task that came furthest, with how far beyond the mean."""
    mean = float(np.mean([work.shares[0] for work in group]))
    for work in sorted(group, key=lambda one: -one.shares[0])[:most]:
        if work.shares[0] > mean:
            yield from ((view, work.shares[0] - mean) for view in work.views)


#: The shares solved and finished, by task.
Shares = dict[str, tuple[float, float]]


def held_out(model: AnyModel, tokenizer: AnyTokenizer, plan: Plan) -> dict[str, Shares]:
    """Return what the model makes of test queues by its likeliest tokens, by size."""
    found: dict[str, Shares] = {}
    for size in HELD:
        works = [Work(begun(drawn(Split.TEST, size, n))) for n in range(plan.held_out)]
        play(works, model, tokenizer, plan.longest)
        found[f"of_{size}"] = {work.episode.task.task_id: work.shares for work in works}
    return found


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


def trained(plan: Plan, seed: int, folder: Path) -> Figures:
    """Train on a seed, keep the model, and tell what queues of three and of ten came to."""
    torch.set_num_threads(1)
    begun, spent = time.perf_counter(), time.process_time()
    model, tokenizer = imitated(plan, seed)
    before = held_out(model, tokenizer, plan)
    rewarded(model, tokenizer, plan, seed)
    after = held_out(model, tokenizer, plan)
    keep(model, tokenizer, folder)
    return {
        **{size: risen(before[size], after[size]) for size in before},
        "minutes": (time.perf_counter() - begun) / 60,
        "processor_minutes": (time.process_time() - spent) / 60,
    }


def ended(run: Run, seed: int) -> Figures:
    """Return what came of a seed, from the folder of runs if it ended before."""
    folder: Path = run.options.runs / ("quick" if run.quick else "") / f"seed-{seed}"
    path = folder / "figures.json"
    if run.quick or not path.exists():
        plan = Plan().quick() if run.quick else Plan(held_out=run.tasks(Plan().held_out))
        folder.mkdir(parents=True, exist_ok=True)
        figures = in_fresh_process(trained, plan, seed, folder)
        path.write_text(json.dumps(figures), encoding="utf-8")
    return dict(json.loads(path.read_text(encoding="utf-8")))


#: A whole case of the queues that are scored is far more than this.
_ABOVE_NOTHING = at_least(1e-6)


@suite.measure(
    bounds={
        f"{seed}.of_10.{name}_gain_low": _ABOVE_NOTHING
        for seed in SEEDS
        for name in ("solved", "finished")
    }
)
def training(run: Run) -> Figures:
    """Train on each seed, and tell what queues of three and of ten came to."""
    seeds: Sequence[int] = run.options.seeds
    with ThreadPoolExecutor(run.options.beside) as pool:
        return {
            str(n): each
            for n, each in zip(seeds, pool.map(partial(ended, run), seeds), strict=True)
        }


if __name__ == "__main__":
    raise SystemExit(suite.main())
