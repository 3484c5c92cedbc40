"""The stages of a run, each done once: a killed run goes on where it stopped."""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain, starmap
from typing import Any

import numpy as np
import torch
import transformers
from tqdm import tqdm

from healthgym.core.borders import JsonObject, Settings
from healthgym.core.choice import Weighted
from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConfigurationError, DamagedDataError
from healthgym.integrations.trl import effort, models, phases
from healthgym.integrations.trl.chat import ToolText
from healthgym.integrations.trl.config import Supervised, TrainConfig
from healthgym.integrations.trl.copying import learn_to_copy, shapes_of, words_of
from healthgym.integrations.trl.demonstrations import ORACLE, Demonstration, demonstrations
from healthgym.integrations.trl.evaluation import (
    aligned,
    differences,
    play_script,
    score,
    table,
)
from healthgym.integrations.trl.folder import CHECKPOINTS, RunFolder, read_json, read_lines
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.mixture import Mixture
from healthgym.integrations.trl.page import headline
from healthgym.integrations.trl.report import (
    checkpoint_scores,
    floor_scores,
    sampled_scores,
    transfer_scores,
    write_report,
)
from healthgym.integrations.trl.rollout import Played, Sampling, play
from healthgym.policies.statistics import Interval
from healthgym.presentation.terminal import shown
from healthgym.registration import make_health_env


class Pipeline:
    """A run from demonstrations to its report.

    Args:
        folder: Where it is kept.
        config: Its settings.
    """

    def __init__(self, folder: RunFolder, config: TrainConfig) -> None:
        self.folder = folder
        self.config = config
        self.env = make_health_env(config.env, config.env_kwargs)
        sizes = {split: self.env.family.generator.size(split) for split in Split}
        if not (sizes[Split.TEST] and (config.mixture or sizes[Split.TRAIN])):
            raise ConfigurationError(
                f"{config.env} has {sizes[Split.TRAIN]} tasks to train on and {sizes[Split.TEST]} "
                "to be scored on; a run needs both, or a mixture to train on."
            )
        episodes = min(config.episodes, sizes[Split.TEST])
        self.test = [(Split.TEST, index) for index in range(episodes)]
        self.sampling = Sampling(
            max_new_tokens=config.max_new_tokens,
            max_length=config.max_length,
            batch=config.beside,
        )
        self._demos: list[Demonstration] = []

    def run(self) -> None:
        """Run every stage that is not done yet, then print the table."""
        # Deprecations inside the libraries, about choices that are theirs.
        warnings.filterwarnings("ignore", category=FutureWarning)
        quiet: Any = transformers.utils.logging
        quiet.disable_progress_bar()
        quiet.set_verbosity_error()
        if self.config.threads:
            torch.set_num_threads(self.config.threads)
        done = self.folder.results()
        stages = self._stages()
        _say(f"Run {self.folder.path}: {self.config.env}, model {self.config.model}")
        if told := self.env.family.of_data():
            _say(told)
        for number, (stage, what, work) in enumerate(stages, 1):
            head = f"[{number}/{len(stages)}] {stage}: {what}"
            if stage in done:
                _say(f"{head} (done before)")
                continue
            _say(head)
            begun, busy = time.perf_counter(), time.process_time()
            result = dict(work())
            spent = {
                "seconds": time.perf_counter() - begun,
                "processor_seconds": time.process_time() - busy,
            }
            self.folder.finish(stage, {**spent, **result})
            gc.collect()
        self._tell()

    def _stages(self) -> list[tuple[str, str, Callable[[], JsonObject]]]:
        """Return the stages: name, what happens, and what does it."""
        config = self.config
        stages: list[tuple[str, str, Callable[[], JsonObject]]] = [
            ("demonstrations", "recorded practice to imitate", self._show),
            ("base", "the model before training", self._begin),
            ("score base", "held-out tasks", lambda: self._score("base")),
        ]
        if config.copies:
            stages.append(("copy", "learning to repeat what was read", self._copy))
        stages += [
            ("sft", "supervised fine-tuning", self._supervise),
            ("score sft", "held-out tasks", lambda: self._score("sft")),
            ("grpo", "reinforcement learning", self._reinforce),
            ("score grpo", "held-out tasks", lambda: self._score("grpo")),
        ]
        if config.control:
            stages += [
                ("control", "more supervised fine-tuning instead, for as long", self._go_on),
                ("score control", "held-out tasks", lambda: self._score("control")),
            ]
        stages.append(("floors", "scripted policies on the same tasks", self._floors))
        if config.transfer:
            stages.append(("transfer", "tasks unlike those of training", self._transfer))
        return [*stages, ("report", "curves, table, episodes", self._report)]

    def _tell(self) -> None:
        """Print what was found."""
        scores, drawn = checkpoint_scores(self.folder), sampled_scores(self.folder)
        _say(f"\nSuccess on {len(self.test)} test tasks, % [95 % interval]\n")
        elsewhere = transfer_scores(self.folder)
        _say(aligned(table(scores, floor_scores(self.folder), elsewhere)))
        _say("\nDifference on the same tasks, in points [95 % interval]\n")
        _say(aligned(differences(scores, drawn)))
        _say(f"\n{headline(scores)}")
        _say(f"Report: {self.folder.path / 'report.html'}")

    # -- stages ------------------------------------------------------------------------------

    def _show(self) -> JsonObject:
        settings = self.config.supervised
        lines: list[str] = []
        by: dict[str, Counter[bool]] = {}
        # Thousands of episodes share a set of tools that is longer than any of them.
        tools: dict[str, int] = {}
        for demo in self._shown(0, settings.demos):
            by.setdefault(demo.policy, Counter())[demo.success] += 1
            row = {
                "task_id": demo.task_id,
                "kind": demo.kind,
                "success": demo.success,
                "messages": list(demo.messages),
                "tools": tools.setdefault(demo.tools, len(tools)),
                "policy": demo.policy,
            }
            lines.append(json.dumps(row) + "\n")
        self.folder.write("tools.json", json.dumps(list(tools)))
        self.folder.write("demonstrations.jsonl", "".join(lines))
        shares = {
            name: {"episodes": seen.total(), "solved": seen[True]} for name, seen in by.items()
        }
        solved = sum(each["solved"] for each in shares.values())
        return {"episodes": len(lines), "solved": solved, "by": shares}

    def _shown(self, first: int, count: int) -> Iterator[Demonstration]:
        """Yield demonstrations of so many train tasks, from the first on."""
        settings = self.config.supervised
        plain = Supervised(inertia=settings.inertia)

        def show(env: HealthEnv, index: int) -> Iterator[Demonstration]:
            # Who demonstrates was chosen for the environment that is scored; others have oracles.
            chosen = settings if type(env) is type(self.env) else plain
            return demonstrations(
                env,
                "train",
                1,
                first=index,
                inertia=chosen.inertia,
                policy=chosen.policies,
                also=chosen.also,
                without=chosen.without,
            )

        shown = chain.from_iterable(starmap(show, self._places(first, count)))
        total = count * (2 if settings.also else 1)
        yield from tqdm(shown, total=total, unit="episode", desc="demonstrations")

    def _places(self, first: int, count: int) -> Iterator[tuple[HealthEnv, int]]:
        """Yield the environment of each demonstration, and the task of it."""
        shown = self.config.shown
        if self.config.mixture:
            mixture = Mixture(self.config.parts(), seed=self.config.seed)
            made = mixture.made()
            for task in map(mixture.task, range(first, first + count)):
                env = made[task.name]
                yield env, mixture.index_in(env, task)
            return
        if not shown:
            size = self.env.family.generator.size(Split.TRAIN)
            yield from ((self.env, index % size) for index in range(first, first + count))
            return
        envs = {name: self._made(one.arguments) for name, one in shown.items()}
        drawn = Weighted({name: one.weight for name, one in shown.items()}, "shown tasks")
        rng = np.random.default_rng(self.config.seed)
        seen: Counter[str] = Counter()
        for place in range(first + count):
            name = drawn.draw(rng)
            if place >= first:
                yield envs[name], seen[name]
            seen[name] += 1

    def _made(self, changes: Settings) -> HealthEnv:
        return make_health_env(self.config.env, {**self.config.env_kwargs, **changes})

    def _begin(self) -> JsonObject:
        config = self.config
        told = ToolText(config.tool_text) if config.tool_text else None
        model, tokenizer = models.load(config.model, self._demonstrations(), config.seed, told)
        self._save("base", model, tokenizer)
        size = sum(parameter.numel() for parameter in model.parameters())
        return {"parameters": size, "vocabulary": len(tokenizer)}

    def _copy(self) -> JsonObject:
        model, tokenizer = self._open("base")
        settings, demos = self.config.copying, self._demonstrations()[:400]
        texts = [message["content"] for demo in demos for message in demo.messages]
        with tqdm(total=settings.steps, unit="step", desc="copying") as bar:
            copied = learn_to_copy(
                model,
                tokenizer,
                settings,
                self.config.seed,
                words=words_of(texts),
                shapes=shapes_of(texts) if self.config.model == "small" else (),
                report=lambda step, loss: _move(bar)(step, {"loss": loss}),
            )
        if copied.warning():
            _say(copied.warning())
        self._save("copy", model, tokenizer)
        return {**asdict(copied), "warning": copied.warning()}

    def _supervise(self) -> JsonObject:
        steps = self.config.supervised.steps
        self._imitate(
            "sft", "copy" if self.config.copies else "base", self._demonstrations(), steps
        )
        return {"steps": steps}

    def _go_on(self) -> JsonObject:
        """Imitate on from where reward began, on fresh demonstrations, with as much computing."""
        config, given = self.config, self.folder.results()["grpo"]["effort"]
        _, tokenizer = self._open("sft")
        seen = self._demonstrations()[:200]
        lengths = [len(phases.labels(tokenizer, demo)["input_ids"]) for demo in seen]
        steps = max(round(given / effort.of_imitation(lengths, config.supervised.batch)), 1)
        count = -(-steps * config.supervised.batch // (2 if config.supervised.also else 1))
        fresh = self._shown(config.supervised.demos + config.reinforced.tasks, count)
        self._imitate("control", "sft", list(fresh), steps)
        return {
            "steps": steps,
            "effort": steps * effort.of_imitation(lengths, config.supervised.batch),
        }

    def _imitate(self, name: str, begin: str, demos: Sequence[Demonstration], steps: int) -> None:
        model, tokenizer = self._open(begin)
        with tqdm(total=steps, unit="step", desc=CHECKPOINTS[name]) as bar:
            run = self._stage(name, tokenizer, bar)
            model = phases.supervise(model, tokenizer, demos, run, steps)
        self._save(name, model, tokenizer)

    def _reinforce(self) -> JsonObject:
        model, tokenizer = self._open("sft")
        settings = self.config.reinforced
        with tqdm(total=settings.updates, unit="step", desc="GRPO") as bar:
            model = phases.reinforce(model, tokenizer, self._stage("grpo", tokenizer, bar))
        self._save("grpo", model, tokenizer)
        rows = [row for row in self.folder.curve() if row["stage"] == "grpo"]
        return {"effort": effort.of_reward(rows, settings)}

    def _score(self, checkpoint: str) -> JsonObject:
        model, tokenizer = self._open(checkpoint)
        model.eval()
        name = CHECKPOINTS[checkpoint]
        with tqdm(total=2 * len(self.test), unit="episode", desc=f"score {checkpoint}") as bar:
            played = play(model, tokenizer, self.env, self.test, self.sampling, progress=bar.update)
            torch.manual_seed(self.config.seed)
            as_trained = replace(self.sampling, temperature=phases.TEMPERATURE)
            drawn = play(model, tokenizer, self.env, self.test, as_trained, progress=bar.update)
        self._record(checkpoint, played)
        return {"score": score(name, played).to_dict(), "sampled": score(name, drawn).to_dict()}

    def _floors(self) -> JsonObject:
        names = [name for name in self.env.family.baselines() if name != ORACLE]
        # Demonstrators that err: what they score themselves is what imitation is measured by.
        names += [one for one in self.config.supervised.policies if one not in (ORACLE, *names)]
        scores = [score(name, play_script(self.env, name, self.test)) for name in names]
        return {"scores": [item.to_dict() for item in scores]}

    def _transfer(self) -> JsonObject:
        """Score the trained models under other arguments of the environment."""
        found: dict[str, dict[str, JsonObject]] = {}
        trained = [name for name in CHECKPOINTS if name in self.folder.results()][1:]
        for place, changes in self.config.transfer.items():
            env = self._made(changes)
            for name in trained:
                model, tokenizer = self._open(name)
                model.eval()
                with tqdm(total=len(self.test), unit="episode", desc=f"{place}, {name}") as bar:
                    played = play(
                        model, tokenizer, env, self.test, self.sampling, progress=bar.update
                    )
                kept = score(CHECKPOINTS[name], played).to_dict()
                found.setdefault(place, {})[name] = kept
        return {"scores": found}

    def _report(self) -> JsonObject:
        write_report(self.folder)
        return {}

    # -- helpers -----------------------------------------------------------------------------

    def _demonstrations(self) -> list[Demonstration]:
        if not self._demos:
            path = self.folder.path / "demonstrations.jsonl"
            rows, tools = read_lines(path), read_json(self.folder.path / "tools.json")
            try:
                self._demos = [
                    Demonstration(
                        row["task_id"],
                        row["kind"],
                        row["success"],
                        tuple(row["messages"]),
                        tools[row["tools"]],
                        row["policy"],
                    )
                    for row in rows
                ]
            except (KeyError, IndexError, TypeError) as error:
                raise DamagedDataError(f"{path} holds no demonstrations: {error!r}.") from None
        return self._demos

    def _open(self, checkpoint: str) -> tuple[Any, Any]:
        return models.open_checkpoint(self.folder.path / "checkpoints" / checkpoint)

    def _save(self, checkpoint: str, model: AnyModel, tokenizer: AnyTokenizer) -> None:
        place = self.folder.folder("checkpoints", checkpoint)
        model.save_pretrained(place)
        tokenizer.save_pretrained(place)

    def _stage(self, name: str, tokenizer: AnyTokenizer, bar: Any) -> phases.Stage:
        return phases.Stage(name, self.config, self.folder, self._watch(tokenizer), _move(bar))

    def _watch(self, tokenizer: AnyTokenizer) -> phases.Watch:
        env = self._made(self.config.practice)
        held = min(self.config.watch, env.family.generator.size(Split.VALIDATION))
        tasks = [(Split.VALIDATION, index) for index in range(held)]

        def watch(model: AnyModel) -> Interval | None:
            if not tasks:
                return None
            played = play(model, tokenizer, env, tasks, self.sampling)
            return score("", played).total.interval

        return watch

    def _record(self, checkpoint: str, played: Sequence[Played]) -> None:
        path = self.folder.folder("trajectories") / f"{checkpoint}.jsonl"
        path.unlink(missing_ok=True)
        with TrajectoryWriter(path) as writer:
            for item in played:
                if item.outage:
                    _say(f"{item.episode.task.task_id} has no score: {item.outage}")
                    continue
                writer.write(self.env.trajectory(item.episode))


def _move(bar: Any) -> phases.Report:
    def report(step: int, figures: Mapping[str, float]) -> None:
        bar.set_postfix({key: f"{value:.3f}" for key, value in figures.items()}, refresh=False)
        bar.update(step - bar.n)

    return report


def _say(text: str) -> None:
    sys.stdout.write(shown(text) + "\n")
    sys.stdout.flush()
