"""Say what keeps a version from being released: python .ci/release.py [DIST]. Status 1 if anything.

Looked at are the metadata (addresses, version, citation), the changelog, and, where a folder of
built distributions is named, the wheel and the sdist in it. Nothing is uploaded.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]
#: Addresses that whoever installs the package needs (names as PyPI knows them).
WANTED = ("Changelog", "Documentation", "Issues", "Repository")
#: What nobody owns (RFC 2606), and what a machine calls itself.
NOBODYS = re.compile(r"(^|\.)(example(\.\w+)?|invalid|test|localhost|local)$")
WHEEL_MB = 5


def addresses(project: dict[str, dict[str, str]]) -> Iterator[str]:
    """Yield what is wrong with the addresses."""
    urls = project.get("urls", {})
    for name in WANTED:
        if name not in urls:
            yield f"pyproject.toml: [project.urls] has no {name}."
    for name, url in urls.items():
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme != "https" or "." not in host or NOBODYS.search(host):
            yield f"pyproject.toml: {name} is no address that others can open: {url}"


def versions(root: Path) -> Iterator[str]:
    """Yield where the version is not the same, or is not told of."""
    source = (root / "healthgym" / "version.py").read_text("utf-8")
    version = re.search(r'__version__\s*=\s*"([^"]+)"', source)[1]  # type: ignore[index]
    cited = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text("utf-8"), re.M)
    if cited is None or cited[1] != version:
        yield f"CITATION.cff: its version is not {version}."
    log = (root / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", log, re.M):
        yield f"CHANGELOG.md: there is no section '## [{version}] - DATE'."
    pending = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## \[|\Z)", log, re.M | re.S)
    if pending and pending[1].strip():
        yield "CHANGELOG.md: changes stand under Unreleased."


def distributions(folder: Path, version: str) -> Iterator[str]:
    """Yield what is wrong with what was built."""
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    for kind, found in (("wheel", wheels), ("sdist", sdists)):
        if [file.name.split("-")[1].removesuffix(".tar.gz") for file in found] != [version]:
            yield f"{folder}: there is not one {kind} of {version}, but {len(found)} files."
    for wheel in wheels:
        if wheel.stat().st_size >= WHEEL_MB * 1_000_000:
            size = wheel.stat().st_size
            yield f"{wheel.name}: {size} bytes; a wheel has less than {WHEEL_MB} MB."


def problems(root: Path, built: Path | None = None) -> list[str]:
    """Return what keeps the version of a checkout from being released."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    found = [*addresses(project), *versions(root)]
    if built is not None:
        source = (root / "healthgym" / "version.py").read_text("utf-8")
        version = re.search(r'__version__\s*=\s*"([^"]+)"', source)[1]  # type: ignore[index]
        found += distributions(built, version)
    return found


if __name__ == "__main__":
    told = problems(ROOT, Path(sys.argv[1]) if len(sys.argv) > 1 else None)
    sys.stdout.write("\n".join(told) or "Nothing keeps this version from being released.")
    sys.stdout.write("\n")
    raise SystemExit(bool(told))
