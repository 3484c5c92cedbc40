"""Checks of what a reward means: the oracle, the floor, the verifier and its records."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from openenv.validation import Level

from healthgym.core.borders import JsonDict
from healthgym.core.trajectory import TrajectoryWriter
from healthgym.errors import ConformanceError, TrajectoryError
from healthgym.integrations.openenv_checks.looking import Finding, OurCheck, Package, Unchecked
from healthgym.integrations.openenv_checks.wire import play
from healthgym.testing import check_non_interference, replay
from healthgym.testing.rescoring import rescore

_NOBODY, _TIMES = "nop", 3


def _oracle_max(package: Package) -> Finding:
    declared = package.manifest.capabilities.oracle
    if declared is None:
        return Finding("the manifest was read", ["no oracle is declared"])
    script = [sys.executable, str(package.root / declared.location), package.url]
    done = package.running.exec(script, package.manifest.resources.episode_timeout_s)
    if done.exit_code:
        return Finding("the oracle's script was run", [done.stderr[-500:]])
    returns = json.loads(done.stdout)
    least = package.manifest.reward.range[1] - package.manifest.reward.oracle_tolerance
    problems = [f"episode {i} earned {r}" for i, r in enumerate(returns) if r is None or r < least]
    measured = {"episodes": len(returns), "least": min((earned or 0.0) for earned in returns)}
    return Finding("the oracle's script was run against the server", problems, measured)


def _floor(package: Package) -> float:
    return max(went.earned for name, went in package.attacked if name == _NOBODY)


def _floor_gap(package: Package) -> Finding:
    floor, reward = _floor(package), package.manifest.reward
    gap = reward.range[1] - floor
    return Finding(
        "nothing was done in an episode of each task, until its turns were used up",
        [] if gap >= reward.floor_margin else [f"the gap is {gap}"],
        {"measured_floor": floor, "gap": gap, "declared_margin": reward.floor_margin},
    )


def _canaries(package: Package) -> Finding:
    floor = _floor(package)
    earned: dict[str, float] = {}
    for name, went in package.attacked:
        earned[name] = max(went.earned, earned.get(name, went.earned))
    problems = [f"{name} earned {most}, the floor is {floor}" for name, most in earned.items()
                if most > floor]  # fmt: skip
    return Finding("the package's canaries were played: random calls, a flood of answers, nothing",
                   problems, {"episodes": len(package.attacked), "most": earned})  # fmt: skip


def _leakage(package: Package) -> Finding:
    record = package.records()[0]
    if record.env_kwargs:
        raise Unchecked("non-interference is proved for the environment without arguments")
    try:
        steps = check_non_interference(record.env_id)
    except ConformanceError as error:
        return Finding("other tasks' references were put in", [str(error)])
    return Finding("episodes were played under other tasks' references (in this process, not over "
                   "the wire): no answer differed", (), {"answers": steps})  # fmt: skip


def _verifier(package: Package) -> Finding:
    _ = package.solved, package.attacked
    records = package.records()
    scored = [[rescore(record) for _ in range(_TIMES)] for record in records]
    problems = [f"{each[0].task_id} was judged otherwise" for each in scored
                if any(one.changed or one != each[0] for one in each)]  # fmt: skip
    return Finding("every recorded episode was judged three times more", problems,
                   {"verdicts": _TIMES * len(records)})  # fmt: skip


def _portability(package: Package) -> Finding:
    records = package.records()
    with tempfile.TemporaryDirectory() as elsewhere:
        file = Path(elsewhere) / "episodes.jsonl"
        with TrajectoryWriter(file) as writer:
            for record in records:
                writer.write(record)
        given: JsonDict = {
            **os.environ, "PYTHONHASHSEED": "4711", "TZ": "Asia/Kathmandu", "LC_ALL": "C",
            "HOME": elsewhere,
        }  # fmt: skip
        alone = ["unshare", "--user", "--map-root-user", "--net"]
        command = [sys.executable, "-m", "healthgym", "score", str(file), "--json", "-"]
        done = subprocess.run(
            [*(alone if shutil.which(alone[0]) else []), *command],
            cwd=elsewhere, env=given, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        return Finding("the records were judged elsewhere", [done.stderr[-500:]])
    told = json.loads(done.stdout)["episodes"]
    problems = [f"{each['task_id']} was judged otherwise" for each in told if each["changed"]]
    if len(told) != len(records):
        problems.append(f"{len(told)} of {len(records)} records were judged")
    return Finding("every record was judged in another process, with another hash seed, time zone, "
                   "home and folder, and no network", problems,
                   {"verdicts": len(told)})  # fmt: skip


def _replays(package: Package) -> Finding:
    problems, turns = [], 0
    records = package.records()
    for record in records:
        try:
            turns += replay(record).turns
        except TrajectoryError as error:
            problems.append(str(error)[:300])
    return Finding("every record of the server was replayed: answers, rewards and verdicts",
                   problems, {"episodes": len(records), "turns": turns})  # fmt: skip


def _envelope(package: Package) -> Finding:
    begun = time.monotonic()
    longest = 0.0
    for episode in package.episodes:
        one = time.monotonic()
        play(package.url, episode)
        longest = max(longest, time.monotonic() - one)
    declared, peak = package.manifest.resources, package.running.peak_mib()
    problems = []
    if peak * 1.048576 > declared.memory_mb:
        problems.append(f"{peak} MiB were held, {declared.memory_mb} MB declared")
    if longest > declared.episode_timeout_s:
        problems.append(f"an episode took {longest} s, {declared.episode_timeout_s} s declared")
    held = sum(file.stat().st_size for file in package.running.folder.iterdir())
    if held > declared.disk_mb * 1e6:
        problems.append(f"{held} bytes were written, {declared.disk_mb} MB declared")
    return Finding("memory, disk and time of the server were measured while the oracle played",
                   problems, {"peak_mib": peak, "longest_episode_s": round(longest, 3),
                              "all_s": round(time.monotonic() - begun, 3)})  # fmt: skip


CHECKS = (
    OurCheck("semantic.oracle_max", Level.SEMANTIC, _oracle_max),
    OurCheck("semantic.floor_gap", Level.SEMANTIC, _floor_gap),
    OurCheck("semantic.canary_floor", Level.SEMANTIC, _canaries),
    OurCheck("semantic.no_solution_leakage", Level.SEMANTIC, _leakage),
    OurCheck("semantic.verifier_determinism", Level.SEMANTIC, _verifier),
    OurCheck("semantic.verifier_portability", Level.SEMANTIC, _portability),
    OurCheck("semantic.resource_envelope", Level.SEMANTIC, _envelope),
    OurCheck("semantic.replayability", Level.SEMANTIC, _replays),
)
