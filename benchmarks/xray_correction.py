"""Measure XrayCorrection-v1 into results/xray_correction.json.

    python benchmarks/xray_correction.py                              every figure
    python benchmarks/xray_correction.py --only reset --only solver   only these

    HEALTHGYM_DATA=DIR python benchmarks/xray_correction.py --only real_sentences

The wordings of `reading` and `exchanged` are described in tests/envs/xray_correction/phrases.md.
Times are medians of tasks not seen before in the process. Baselines and the solver play the first
tasks of the test split.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

from _harness import (
    Figures,
    Run,
    Suite,
    at_most,
    make,
    mean_scores,
    profile_scores,
    resident_mib,
    timed,
    with_prefix,
)

ENV_ID = "HealthAgent/XrayCorrection-v1"
DIFFICULTIES = ("easy", "medium", "hard")
BLIND = ("nop", "random", "flood", "prior", "leave", "strip", "delete")
#: Sentences in a true one's place, of before the grammar and of after it.
EXCHANGES = ("exchanges", "exchanges_later")

suite = Suite("xray_correction", __doc__)


@suite.measure(bounds={f"{difficulty}_ms": at_most(20) for difficulty in DIFFICULTIES})
def reset(run: Run) -> Figures:
    """Reset to a new task."""
    figures: Figures = {}
    for difficulty in DIFFICULTIES:
        env = make(ENV_ID, difficulty=difficulty)
        opened = partial(_open, env)
        figures |= timed(opened, range(run.repeats(100)), warm_up=[10_000]).figures(difficulty)
    return figures


def _open(env: Any, index: int) -> None:
    env.reset(options={"index": index})


@suite.measure(bounds={"frontal_512_ms": at_most(60), "lateral_512_ms": at_most(60)})
def render(run: Run) -> Figures:
    """Render pictures that nobody has seen, and measure one."""
    from healthgym.core.seeding import Split
    from healthgym.worlds.radiography.frontal import render_frontal
    from healthgym.worlds.radiography.landmarks import find_landmarks
    from healthgym.worlds.radiography.lateral import render_lateral

    generator = make(ENV_ID).unwrapped.family.generator
    tasks = [generator.generate(Split.TRAIN, index) for index in range(run.repeats(20))]
    scenes = [task.start.radiographs._scenes[-1] for task in tasks]
    pictures = [render_frontal(scene, 512) for scene in scenes]
    return {
        **timed(lambda scene: render_frontal(scene, 512), scenes).figures("frontal_512"),
        **timed(lambda scene: render_lateral(scene, 512), scenes).figures("lateral_512"),
        **timed(lambda scene: render_frontal(scene, 1024), scenes).figures("frontal_1024"),
        **timed(find_landmarks, pictures).figures("landmarks"),
    }


@suite.measure(bounds={"100_environments_mib": at_most(2048)})
def memory(run: Run) -> Figures:
    """Hold 100 live environments that have looked at a picture and measured it."""
    from healthgym.core.tool import call

    make(ENV_ID).reset(options={"index": 5000})
    before, envs = resident_mib(), []
    for index in range(run.repeats(100)):
        env = make(ENV_ID, difficulty="medium")
        env.reset(options={"index": index})
        env.step(call("view_image", study=1))
        env.step(call("measure", what="heart"))
        envs.append(env)
    return {"100_environments_mib": resident_mib() - before}


@suite.measure()
def baselines(run: Run) -> Figures:
    """Play the policies that look at no picture, and the oracle."""
    figures: Figures = {}
    for difficulty in DIFFICULTIES:
        env = make(ENV_ID, difficulty=difficulty, split="test").unwrapped
        blind, oracle = (40, 10) if difficulty == "hard" else (100, 40)
        scores = mean_scores(env, BLIND, run.tasks(blind))
        scores |= mean_scores(env, ["oracle"], run.tasks(oracle))
        figures |= with_prefix(difficulty, scores)
    return figures


@suite.measure()
def solver(run: Run) -> Figures:
    """Play the solver, which reads the tools' numbers; count the sentences it puts right."""
    figures: Figures = {}
    for difficulty, usual in {"easy": 200, "medium": 200, "hard": 40}.items():
        env = make(ENV_ID, difficulty=difficulty, split="test").unwrapped
        sentences: list[bool] = []
        tasks = run.tasks(usual)
        scores = mean_scores(env, ["solver"], tasks, partial(_with_sentences, sentences))
        scores["solver.sentences_right"] = sum(sentences) / len(sentences)
        scores["solver.tasks"] = tasks
        figures |= with_prefix(difficulty, scores)
    return figures


def _with_sentences(sentences: list[bool], episode: Any) -> dict[str, float]:
    """Return the scores of an episode, and add whether each sentence of its draft is right."""
    from healthgym.envs.xray_correction.verifier import sentence_errors

    said = episode.world.sentences
    for number, truth in enumerate(episode._instance.reference.truth):
        sentences.append(not sentence_errors(truth, said[number]))
    return profile_scores(episode)


@suite.measure(bounds={"held_refused": at_most(0.05), "attacks_accepted": at_most(0)})
def reading(run: Run) -> Figures:
    """Count phrases that are refused, and attacks on true sentences that pass, by entity."""
    from healthgym.envs.xray_correction.claims import entities
    from healthgym.envs.xray_correction.reading.reader import statements
    from healthgym.envs.xray_correction.verifier import sentence_fits
    from tests.envs.xray_correction.attacks import attacked, sentences
    from tests.envs.xray_correction.labels import labelled, phrases, read_whole

    figures: Figures = {}
    for half in ("dev", "held"):
        asked, refused = Counter[str](), Counter[str]()
        for phrase in phrases(f"phrases_{half}.jsonl"):
            if phrase["claims"] is None:
                continue
            wrong = not read_whole(phrase)
            for name in ("all", *{claim.entity for claim in labelled(phrase["claims"])}):
                asked[name] += 1
                refused[name] += wrong
        figures[f"{half}_refused"] = refused["all"] / asked["all"]
        for name in asked:
            figures[f"{half}.{name}.refused"] = refused[name]
            figures[f"{half}.{name}.phrases"] = asked[name]
    accepted, tried = 0, 0
    for name in entities():
        passed = [
            sentence_fits(truth, other)
            for claim, text in sentences(name, run.repeats(8))
            for truth in statements([text])
            for other in attacked(claim, text)
        ]
        figures[f"attacks.{name}.accepted"] = sum(passed)
        figures[f"attacks.{name}.tried"] = len(passed)
        accepted, tried = accepted + sum(passed), tried + len(passed)
    return figures | {"attacks_accepted": accepted, "attacks_tried": tried}


@suite.measure(
    bounds={
        **{f"{name}.wrong_accepted": at_most(0) for name in EXCHANGES},
        **{f"{name}.right_refused_share": at_most(0.05) for name in EXCHANGES},
    }
)
def exchanged(run: Run) -> Figures:
    """Put sentences in a true one's place; count by what they are about which are let pass."""
    from healthgym.envs.xray_correction.reading.reader import statements
    from healthgym.envs.xray_correction.verifier import sentence_fits
    from tests.envs.xray_correction.labels import exchanges

    figures: Figures = {}
    for file in EXCHANGES:
        counts = Counter[str]()
        for exchange in exchanges(f"{file}.jsonl"):
            (truth,) = statements([exchange["truth"]])
            refused = sum(not sentence_fits(truth, text) for text in exchange["right"])
            accepted = sum(sentence_fits(truth, text) for text in exchange["wrong"])
            for prefix in ("", f"{exchange['type']}."):
                counts[f"{prefix}right"] += len(exchange["right"])
                counts[f"{prefix}right_refused"] += refused
                counts[f"{prefix}wrong"] += len(exchange["wrong"])
                counts[f"{prefix}wrong_accepted"] += accepted
        counts_and_share = dict(counts) | {
            "right_refused_share": counts["right_refused"] / counts["right"]
        }
        figures |= with_prefix(file, counts_and_share)
    return figures


@suite.measure(usual=False)
def real_sentences(run: Run) -> Figures:
    """Read labelled sentences of Open-i's reports, which HEALTHGYM_DATA/openi has to hold."""
    from healthgym.policies.statistics import wilson_interval
    from tests.conftest import find_data_dir
    from tests.envs.xray_correction.labels import ARCHIVE, real_readings

    archive = find_data_dir() / "openi" / "NLMCXR_reports.tgz"
    if not archive.is_file():
        raise SystemExit(f"needs {ARCHIVE}")
    readings = real_readings(archive)
    figures: Figures = {}
    for name, chosen in {"all": (True, False), "looked_at": (True,), "unseen": (False,)}.items():
        right = [said == read for said, read, seen in readings if seen in chosen]
        interval = wilson_interval(sum(right), len(right))
        figures[name] = {
            "right": sum(right),
            "sentences": len(right),
            "share": interval.estimate,
            "interval": [interval.low, interval.high],
        }
    return figures


if __name__ == "__main__":
    raise SystemExit(suite.main())
