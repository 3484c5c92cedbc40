"""Print the part of requirements.lock that the base install needs: what healthgym asks for itself.

Run it in the environment that the lock was installed into: what each project asks for is read
there, and of which version is in the lock.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"


def needed(name: str, known: set[str]) -> set[str]:
    """Return the names of what a project needs without extras, and of what that needs."""
    for line in metadata.requires(name) or ():
        asked = Requirement(line)
        key = canonicalize_name(asked.name)
        if key not in known and (asked.marker is None or asked.marker.evaluate({"extra": ""})):
            known.add(key)
            needed(key, known)
    return known


def main() -> None:
    """Print the blocks of the lock, each with its hashes."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", LOCK.read_text().rstrip())[1:]
    locked = {canonicalize_name(block.partition("==")[0]): block for block in blocks}
    text = "\n".join(locked[name] for name in sorted(needed("healthgym", set())))
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    main()
