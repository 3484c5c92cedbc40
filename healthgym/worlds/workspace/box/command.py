"""The command line that makes a box."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from healthgym.worlds.workspace.box.runtime import Runtime

#: Who boxed code is, in the box and, where the host's root starts it, outside.
NOBODY = 65_534
#: What of the project is in a box: the program that it runs, and what that loads.
PROGRAMS = ("runner.py", "simulated.py")
#: How many times longer than it may compute code may take on the clock.
PATIENCE = 10.0


class Identity(StrEnum):
    """How boxed code becomes nobody.

    Either way it lives in a user namespace of its own, by which the kernel counts its threads: one
    box never uses up another's.
    """

    #: The caller is root. The namespace has a root, who is the caller, and a nobody, who is the
    #: caller's nobody; the runner begins as the one and goes on as the other, for the kernel does
    #: not count the threads of its first user.
    DROPPED = "dropped"
    #: The namespace has a nobody, who is the caller.
    MAPPED = "mapped"

    @property
    def uid_map(self) -> str:
        """The lines of /proc/PID/uid_map, where they are ours to write; empty if not."""
        return f"0 0 1\n{NOBODY} {NOBODY} 1\n" if self is Identity.DROPPED else ""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """Bounds of a run.

    Attributes:
        seconds: Time of one processor the code itself may take. On the clock it may take ten times
            that, so that a busy machine refuses what an idle one does.
        memory: Address space of its process, in bytes; libraries and mapped tables count.
        disk: Size of its work folder, in bytes.
        files: Files and folders it may have there at a time.
        threads: Threads it may have.
        output: Characters it may print; what is beyond is dropped.
        result: Size of the table it hands back, in bytes as JSON.
        calls: Host functions it may call.
    """

    seconds: float = 10.0
    memory: int = 3 << 30
    disk: int = 64 << 20
    files: int = 1_000
    threads: int = 16
    output: int = 10_000
    result: int = 16 << 20
    calls: int = 200

    def rlimits(self) -> dict[str, int]:
        """Return the kernel's limits by name."""
        return {
            "AS": self.memory,
            "CPU": math.ceil(self.seconds),
            "FSIZE": self.disk,
            "NOFILE": 64,
            "NPROC": self.threads,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
            "SIGPENDING": 64,
        }


def command(
    bwrap: str,
    runtime: Runtime,
    identity: Identity,
    *,
    descriptors: tuple[int, int, int],
    filter_at: int,
    programs: Mapping[str, int],
    info_at: int,
    mapped_at: int,
    limits: BoxLimits,
) -> list[str]:
    """Return the command that runs the runner in a box.

    The box's root is empty and read-only but for what is listed here: the interpreter, the standard
    library without its site-packages, two packages, the shared libraries these load, three devices
    and a work folder in memory.

    Args:
        bwrap: Path of bubblewrap.
        runtime: The interpreter's files.
        identity: How the code becomes nobody.
        descriptors: On which the runner asks, is answered, and is handed tables.
        filter_at: Descriptor of the seccomp filter.
        programs: Descriptors of the texts of :data:`PROGRAMS`, by name.
        info_at: Descriptor on which bubblewrap tells the box's process id.
        mapped_at: Descriptor on which it hears that the identities are mapped.
        limits: Bounds of the run.
    """
    line = [bwrap, "--unshare-all", "--unshare-user", "--cap-drop", "ALL"]
    line += ["--info-fd", str(info_at)]
    if identity is Identity.DROPPED:
        line += ["--uid", "0", "--gid", "0", "--userns-block-fd", str(mapped_at)]
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--uid", str(NOBODY), "--gid", str(NOBODY)]
    line += ["--die-with-parent", "--new-session", "--clearenv", "--hostname", "box"]
    for name, value in _environment(limits).items():
        line += ["--setenv", name, value]
    version = Path(runtime.stdlib).name
    # Made here, for bubblewrap makes them readable for its own user alone.
    folders = ["/box", "/box/bin", "/box/lib", "/box/shared", "/box/packages", "/dev"]
    folders += [str(path) for path in reversed(Path(runtime.loader or "/").parents)][1:]
    for folder in folders:
        line += ["--perms", "0755", "--dir", folder]
    line += ["--ro-bind", runtime.executable, "/box/bin/python"]
    line += ["--ro-bind", runtime.stdlib, f"/box/lib/{version}"]
    for name in ("site-packages", "dist-packages"):
        if Path(runtime.stdlib, name).is_dir():
            line += ["--tmpfs", f"/box/lib/{version}/{name}"]
            line += ["--remount-ro", f"/box/lib/{version}/{name}"]
    if runtime.loader:
        line += ["--ro-bind", runtime.loader, runtime.loader]
    for name, path in runtime.libraries.items():
        line += ["--ro-bind", path, f"/box/shared/{name}"]
    for name, path in runtime.packages.items():
        line += ["--ro-bind", path, f"/box/packages/{name}"]
    for device in ("null", "zero", "urandom"):
        line += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    for name, at in programs.items():
        line += ["--perms", "0444", "--ro-bind-data", str(at), f"/box/{name}"]
    # Mode 1777, as /tmp has it: the code's user is not the one who makes the folder.
    line += ["--perms", "1777", "--size", str(limits.disk), "--tmpfs", "/work"]
    line += ["--symlink", "/work", "/tmp", "--remount-ro", "/", "--chdir", "/work"]
    line += ["--seccomp", str(filter_at), "--"]
    line += ["/box/bin/python", "-s", "-S", "-B", "-P", "-W", "ignore", "/box/runner.py"]
    return [*line, *map(str, descriptors)]


def _environment(limits: BoxLimits) -> dict[str, str]:
    workers = "2" if limits.threads > 4 else "1"
    return {
        "HOME": "/work",
        "TMPDIR": "/work",
        "LANG": "C.UTF-8",
        "PYTHONHOME": "/box",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "LD_LIBRARY_PATH": "/box/shared",
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "POLARS_MAX_THREADS": workers,
        # It looks for the machine's memory in /proc, finds none, and would write all to disk.
        "POLARS_OVERRIDE_TOTAL_MEMORY_MB": str(limits.memory >> 20),
        "POLARS_OOC_MEMORY_BUDGET_MB": str(limits.memory >> 20),
        "POLARS_OOC_SPILL_DIR": "/work",
    }
