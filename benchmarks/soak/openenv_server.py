"""Soak of the OpenEnv server: many sessions at once over loopback, each playing episodes.

    python benchmarks/soak/openenv_server.py --sessions 2048 --seconds 600

The server is a process of its own; this one holds all connections. Counted: requests a second,
latency in ms, sessions lost, and the server's resident memory (MiB) a third of the way and at the
end. Needs the extra `openenv`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import websockets


def resident(pid: int) -> float:
    """Return a process's resident memory in MiB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def session(url: str, number: int, until: float, took: list[float], lost: list[str]) -> None:
    """Play one session until the time is up."""
    try:
        async with websockets.connect(url, open_timeout=120, ping_timeout=None) as socket:
            seed = 0
            while time.monotonic() < until:
                messages = [{"type": "reset", "data": {"seed": number * 1000 + seed}}]
                messages += [{"type": "step", "data": {"text": "wait"}}] * 4
                for message in messages:
                    begun = time.monotonic()
                    await socket.send(json.dumps(message))
                    answer = json.loads(await socket.recv())
                    took.append(1000 * (time.monotonic() - begun))
                    if answer["type"] != "observation":
                        raise RuntimeError(str(answer)[:200])
                seed += 1
    except Exception as error:  # whatever it is, the soak tells of it, and the others go on
        lost.append(repr(error)[:200])


async def soak(url: str, sessions: int, seconds: float, pid: int) -> dict[str, object]:
    """Run all sessions, and return what was measured."""
    took: list[float] = []
    lost: list[str] = []
    begun = time.monotonic()
    until = begun + seconds
    running = [
        asyncio.create_task(session(url, number, until, took, lost)) for number in range(sessions)
    ]
    await asyncio.sleep(seconds / 3)
    early = resident(pid)
    await asyncio.gather(*running)
    elapsed = time.monotonic() - begun
    cuts = statistics.quantiles(took, n=100)
    return {
        "sessions": sessions,
        "seconds": round(elapsed, 1),
        "requests": len(took),
        "requests_per_second": round(len(took) / elapsed, 1),
        "p50_ms": round(cuts[49], 1),
        "p99_ms": round(cuts[98], 1),
        "lost": len(lost),
        "why_lost": sorted(set(lost))[:5],
        "resident_mib": [round(early, 1), round(resident(pid), 1)],
        "cores": os.cpu_count(),
        "load_average_1min": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    """Start a server, soak it, and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="HealthAgent/FhirRecord-v1")
    parser.add_argument("--sessions", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=600)
    args = parser.parse_args()
    command = [sys.executable, "-m", "healthgym", "serve", "openenv", args.env, "--port", "0"]
    command += ["--sessions", str(args.sessions), "--rate", "100000"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip().replace("http", "ws", 1) + "/ws"
        figures = asyncio.run(soak(url, args.sessions, args.seconds, server.pid))
    finally:
        server.terminate()
        status = server.wait(60)
    print(json.dumps({"env": args.env, **figures, "server_exit": status}, indent=1))


if __name__ == "__main__":
    main()
