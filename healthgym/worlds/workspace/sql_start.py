"""The program that becomes a process which runs queries.

That process shall have loaded as little as can be when its memory is bounded, and what a package
loads when it is imported is much. So the packages are stood in for here by empty ones, and the
worker with its two helpers is all that comes of the project: they may import nothing but each
other.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType


def stand_in(package: str, folder: Path) -> None:
    """Have a package and those around it be folders of modules, and nothing that runs."""
    while package:
        empty = ModuleType(package)
        empty.__path__ = [str(folder)]
        sys.modules[package] = empty
        package, folder = package.rpartition(".")[0], folder.parent


if __name__ == "__main__":
    stand_in("healthgym.worlds.workspace", Path(__file__).parent)
    from healthgym.worlds.workspace.sql_worker import main

    main()
