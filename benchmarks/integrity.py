"""Play every environment for an hour, side by side: results/integrity.json.

    python benchmarks/integrity.py
    python benchmarks/integrity.py --minutes 5

All ids are played in several processes, each with four environments whose steps alternate, by
oracles, random calls and floods, with full Python in a box where a family offers it. Told is what
each process held over time, what went wrong, and what was left a second after they were killed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from _harness import Figures, Run, Suite, at_most

import healthgym

if TYPE_CHECKING:
    from healthgym.core.env import HealthEnv
    from healthgym.policies.base import Policy

#: Variants that run CPython in a box, where boxes are to be had.
FULL = ("HealthAgent/EhrDataQuality-v1", "HealthAgent/EhrEventModelling-v1")
POLICIES = ("oracle", "random", "flood")
_SLOTS = 4
#: Variable by which the processes of a soak, and those that they start, are known.
_MARK = "HEALTHGYM_SOAK"
#: Steps after which an episode of a long task makes room for the next.
_STEPS = 60

suite = Suite("integrity", __doc__)
suite.parser.add_argument("--minutes", type=float, default=60.0, help="of the soak")
suite.parser.add_argument("--processes", type=int, default=2, help="of the soak")


# -- an hour of play -------------------------------------------------------------------------------


@suite.measure(
    bounds={
        "faults": at_most(0),
        "growth_mib": at_most(50),
        "most_descriptors": at_most(256),
        "left": at_most(0),
    }
)
def soak(run: Run) -> Figures:
    """Play all ids side by side, then kill the processes and look for what is left."""
    seconds = 5.0 if run.quick else 60 * run.options.minutes
    # What the processes leave is told apart from what others do by their folder and their mark.
    folder = Path(tempfile.mkdtemp(prefix="integrity-"))
    os.environ[_MARK], os.environ["TMPDIR"] = folder.name, str(folder)
    known = _traces(folder.name, folder)
    context = multiprocessing.get_context("spawn")
    workers, ends = [], []
    for number in range(run.options.processes):
        ours, theirs = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(number, seconds, theirs))
        worker.start()
        workers.append(worker)
        ends.append(ours)
    told: list[dict[str, object]] = [end.recv() for end in ends]
    # They hold their environments still, and are killed as a scheduler would.
    for worker in workers:
        os.kill(int(worker.pid or 0), signal.SIGKILL)
        worker.join()
    time.sleep(1.0)
    left = sorted(one for one in _traces(folder.name, folder) - known if "tracker" not in one)
    shutil.rmtree(folder, ignore_errors=True)
    return {
        "minutes": round(seconds / 60, 1),
        "processes": len(workers),
        **_together(told),
        "left": len(left),
        "left_names": left[:10],
    }


def _together(told: Sequence[dict[str, object]]) -> Figures:
    counts: Counter[str] = Counter()
    faults: list[str] = []
    curves: list[list[list[float]]] = []
    for one in told:
        counts.update(one["counts"])  # type: ignore[arg-type]
        faults += one["faults"]  # type: ignore[operator]
        curves.append(one["curve"])  # type: ignore[arg-type]
    # Caches fill while each id is played for the first times.
    settled = [curve[len(curve) // 5 :] for curve in curves]
    return {
        **counts,
        "faults": len(faults),
        "fault_texts": faults[:20],
        "growth_mib": max(max(mib for _, mib, _ in part) - part[0][1] for part in settled),
        "most_descriptors": max(count for curve in curves for _, _, count in curve),
        "curves_minute_mib_descriptors": curves,
    }


@dataclass
class _Slot:
    """One of the environments of a process, and what is being played on it."""

    env: HealthEnv
    policy: Policy
    observation: str
    steps: int = 0


@dataclass
class _Player:
    """What a process plays: all ids in turn, each with another policy and task each time."""

    number: int
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    drawn: int = 0

    def __post_init__(self) -> None:
        self.settings = list(_settings())

    def slot(self) -> _Slot:
        """Begin the next episode."""
        from healthgym.policies.scripted import RandomPolicy, ScriptPolicy
        from healthgym.registration import make_health_env

        turn, place = divmod(self.drawn, len(self.settings))
        env_id, kwargs = self.settings[(place + self.number * 7) % len(self.settings)]
        self.drawn += 1
        env = make_health_env(env_id, kwargs)
        name = POLICIES[(turn + place) % len(POLICIES)]
        if name == "flood" and name not in env.family.baselines():
            name = "random"
        policy = RandomPolicy(self.drawn) if name == "random" else ScriptPolicy(name, self.drawn)
        observation, info = env.reset(seed=self.number * 100_003 + self.drawn)
        policy.begin(env, observation, info)
        return _Slot(env, policy, observation)

    def step(self, slot: _Slot) -> bool:
        """Make one step; return whether the episode goes on."""
        slot.observation, _, terminated, truncated, info = slot.env.step(
            slot.policy.act(slot.observation)
        )
        slot.steps += 1
        self.counts["steps"] += 1
        self.counts["refused"] += bool(info.get("error"))
        ended = terminated or truncated
        if ended:
            self.counts["episodes"] += 1
            self.counts["successes"] += bool(info["success"])
        return not ended and slot.steps < _STEPS


def _settings() -> Iterator[tuple[str, dict[str, str]]]:
    from healthgym.errors import HealthGymError
    from healthgym.registration import make_health_env

    for env_id in healthgym.ids():
        yield env_id, {}
    for env_id in FULL:
        try:
            make_health_env(env_id, {"python": "full"})
        except HealthGymError as error:
            print(f"without full Python: {error}", file=sys.stderr)
            continue
        yield env_id, {"python": "full"}


def _work(number: int, seconds: float, told: Connection) -> None:
    """Play for so long, tell what was seen, and hold what is held until killed."""
    from healthgym.testing.play import failed_calls

    player = _Player(number)
    slots: list[_Slot | None] = [None] * _SLOTS
    begun = looked = time.perf_counter()
    curve = []
    with failed_calls() as failed:
        while (now := time.perf_counter()) - begun < seconds:
            for place, slot in enumerate(slots):
                try:
                    held = slot or player.slot()
                    slots[place] = held if player.step(held) else None
                except Exception as error:  # whatever it is, the soak tells of it and goes on
                    player.faults.append(f"{slot.env.spec if slot else ''}: {error!r}"[:500])
                    slots[place] = None
            if now - looked > seconds / 60 or not curve:
                looked = now
                gc.collect()
                curve.append([round((now - begun) / 60, 2), *_held()])
    player.faults += [f"a call failed: {error!r}"[:500] for error in failed]
    told.send({"counts": player.counts, "faults": player.faults, "curve": curve})
    time.sleep(3600)


def _held() -> tuple[float, int]:
    """Return the memory that is the process's own, in MiB, and its open descriptors."""
    status = Path("/proc/self/status").read_text("ascii").splitlines()
    (line,) = (line for line in status if line.startswith("RssAnon"))
    return round(int(line.split()[1]) / 1024, 1), len(os.listdir("/proc/self/fd"))


def _traces(mark: str, folder: Path) -> set[str]:
    """Return what the processes with a mark in their environment left: files and processes."""
    found = {str(path) for path in folder.iterdir()}
    found |= {str(path) for path in Path("/dev/shm").glob("*healthgym*")}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            with suppress(OSError):
                if f"{_MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                    found.add(f"process {entry.name}: {(entry / 'cmdline').read_bytes()[:120]!r}")
    return found


if __name__ == "__main__":
    raise SystemExit(suite.main())
