"""Collect the suite twice and compare: workers of one run must find the same tests in one order.

A test id made of a time stamp, of an object's address or of the order of a set is another one in
the next process, and pytest-xdist then refuses to run anything. CI runs this before the suite:

    python tests/collect_twice.py [arguments of pytest]
"""

import difflib
import os
import subprocess
import sys
import time

# Ids that hold whole seconds, as a gzip header does, differ only when a second has passed.
PAUSE_SECONDS = 2
SEEDS = ("1", "2")


def collect(seed: str, arguments: list[str]) -> list[str]:
    """The ids pytest finds, slow tests included, with strings hashed from this seed."""
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "", *arguments],
        env=os.environ | {"PYTHONHASHSEED": seed},
        stdout=subprocess.PIPE,
        text=True,
    )
    if found.returncode:
        sys.exit(f"{found.stdout}pytest could not collect the tests (status {found.returncode})")
    return [line for line in found.stdout.splitlines() if "::" in line]


def main(arguments: list[str]) -> None:
    first = collect(SEEDS[0], arguments)
    time.sleep(PAUSE_SECONDS)
    second = collect(SEEDS[1], arguments)
    changes = list(difflib.unified_diff(first, second, "first", "second", n=0, lineterm=""))
    if changes:
        sys.exit("\n".join([*changes, "two collections differ: give these tests explicit ids"]))
    print(f"{len(first)} tests, the same in two collections")


if __name__ == "__main__":
    main(sys.argv[1:])
