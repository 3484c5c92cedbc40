"""The files of this interpreter that a box needs, and no others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from healthgym.errors import MissingDependencyError, SandboxUnavailableError

#: Packages beside the standard library.
PACKAGES = ("numpy", "polars")

# Imports what a box offers in a fresh interpreter, and prints the packages and shared libraries
# that were loaded, each library under the name by which the loader looked for it.
_LOOK = r"""
import sys
sys.path += sys.argv[2].split("\n")
import array, asyncio, bz2, cmath, csv, ctypes, decimal, hashlib, heapq, json, lzma, pickle
import resource, select, socket, sqlite3, statistics, unicodedata, uuid, zlib, zoneinfo
import xml.etree.ElementTree
before = set(sys.modules)
for name in sys.argv[1].split(","):
    __import__(name)
class Info(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("name", ctypes.c_char_p)]
Visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
names = []
def visit(info, size, data):
    names.append(info.contents.name.decode())
    return 0
ctypes.CDLL(None).dl_iterate_phdr(Visit(visit), None)
places = {}
roots = tuple(sys.argv[2].split("\n"))
for name in set(sys.modules) - before:
    file = getattr(sys.modules[name], "__file__", None) or ""
    if file.startswith(roots):
        places[name.partition(".")[0]] = file
print(json.dumps([names, sorted(places)]))
"""


@dataclass(frozen=True)
class Runtime:
    """Where the parts of an interpreter are on the host.

    Attributes:
        executable: The interpreter itself, links resolved.
        stdlib: Folder of the standard library.
        loader: The program loader, at the path by which programs name it; empty if there is none.
        libraries: Shared libraries outside the folders above, by the name the loader looks for.
        packages: Files and folders of the packages, by name.
    """

    executable: str
    stdlib: str
    loader: str
    libraries: Mapping[str, str]
    packages: Mapping[str, str]


@cache
def find_runtime() -> Runtime:
    """Return the files of this interpreter and of the packages.

    Raises:
        MissingDependencyError: If a package is not installed.
        SandboxUnavailableError: If the files cannot be told.
    """
    roots = []
    for package in PACKAGES:
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise MissingDependencyError(
                f"Full Python needs {package!r}, which is not installed: "
                "pip install 'healthgym[workspace,etl]'."
            )
        roots.append(str(Path(spec.origin).parent.parent))
    command = [sys.executable, "-I", "-S", "-W", "ignore", "-c", _LOOK]
    command += [",".join(PACKAGES), "\n".join(dict.fromkeys(roots))]
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={}, cwd="/", check=False
    )
    if found.returncode:
        raise SandboxUnavailableError(
            f"The interpreter's libraries cannot be listed: {found.stderr.strip()[-500:]}"
        )
    names, modules = json.loads(found.stdout)
    stdlib = os.path.realpath(sysconfig.get_path("stdlib"))
    packages = {
        os.path.basename(path): path for path in (_place(name, roots) for name in modules) if path
    }
    held = (f"{stdlib}/", *(f"{path}/" for path in packages.values()))
    libraries, loader = {}, ""
    for name in filter(os.path.isabs, names):
        real = os.path.realpath(name)
        if os.path.basename(name).startswith(("ld-linux", "ld-musl", "ld64")):
            loader = name
        elif not real.startswith(held) and os.path.isfile(real):
            libraries[os.path.basename(name)] = real
    executable = os.path.realpath(sys.executable)
    return Runtime(executable, stdlib, loader, libraries, packages)


def _place(module: str, roots: list[str]) -> str:
    """Return the folder or file of a top-level module in one of the roots."""
    for root in roots:
        for path in (os.path.join(root, module), os.path.join(root, f"{module}.py")):
            if os.path.exists(path):
                return os.path.realpath(path)
    return ""
