"""Reading a folder of FHIR R4 files into a base."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from healthgym.core.files import read_whole
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.fhir.base import Resource
from healthgym.worlds.fhir.documents import DocumentBase

_SUFFIXES = (".json", ".json.gz", ".ndjson", ".ndjson.gz")
_EXPECTED = "FHIR R4 Bundles or resources as .json, .json.gz, .ndjson or .ndjson.gz"
_URN = "urn:"
#: Most bytes of a file, unpacked; as Python values they take ten times as much.
_MOST = 256 << 20


def load_bundles(folder: Path | str) -> DocumentBase:
    """Read every FHIR file of a folder, in order of file name.

    Bundles of any type and bare resources are accepted, and every resource type is kept.
    References to the ``urn:uuid`` of an entry become ``Type/id``. A resource that comes again
    replaces the earlier one, as a second upload would.

    Args:
        folder: Folder with the files; subfolders are not read.

    Returns:
        The base, with resources in the order of first appearance.

    Raises:
        MissingDataError: If the folder does not exist or has no such files.
        DamagedDataError: If a file cannot be read or holds something else; nothing is loaded.
    """
    root = Path(folder)
    if not root.is_dir():
        raise MissingDataError(f"{root} is not a folder; expected a folder of {_EXPECTED}.")
    paths = _files(root)
    if not paths:
        below = [folder.name for folder in sorted(root.iterdir()) if folder.is_dir()]
        held = [name for name in below if _files(root / name)]
        hint = f" Subfolders are not read; name one of them: {', '.join(held[:5])}." if held else ""
        raise MissingDataError(f"{root} has no FHIR files; expected {_EXPECTED}.{hint}")
    resources: dict[tuple[str, str], Resource] = {}
    addresses: dict[str, str] = {}
    for path in paths:
        for position, document in enumerate(_documents(path)):
            where = f"{path}, document {position + 1}"
            for full_url, resource in _entries(document, where):
                key = _identify(resource, full_url, where)
                resources[key] = resource
                if full_url.startswith(_URN):
                    addresses[full_url] = "/".join(key)
    for resource in resources.values():
        _resolve(resource, addresses)
    return DocumentBase(resources.values())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES))


def _documents(path: Path) -> Iterator[Any]:
    """Yield the JSON values of a file: one, or one a line."""
    try:
        text = read_whole(path, _MOST).decode("utf-8")
        if ".ndjson" in path.name:
            for line in text.splitlines():
                if line.strip():
                    yield json.loads(line)
        else:
            yield json.loads(text)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise DamagedDataError(
            f"{path} cannot be read as {_EXPECTED}: {type(error).__name__}: {error}"
        ) from error


def _entries(document: object, where: str) -> Iterator[tuple[str, Resource]]:
    """Yield the full URL (or "") and the resource of each entry."""
    if not isinstance(document, dict) or not isinstance(document.get("resourceType"), str):
        raise DamagedDataError(f"{where}: not a FHIR resource; expected {_EXPECTED}.")
    if document["resourceType"] != "Bundle":
        yield "", document
        return
    entries = document.get("entry", [])
    if not isinstance(entries, list):
        raise DamagedDataError(f"{where}: 'entry' of the Bundle is not a list.")
    for number, entry in enumerate(entries):
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if not isinstance(resource, dict):
            raise DamagedDataError(f"{where}: entry {number} of the Bundle has no resource.")
        full_url = entry.get("fullUrl", "")
        yield full_url if isinstance(full_url, str) else "", resource


def _identify(resource: Resource, full_url: str, where: str) -> tuple[str, str]:
    """Return type and id; an entry without an id is given the uuid of its full URL."""
    kind = resource.get("resourceType")
    if not isinstance(kind, str):
        raise DamagedDataError(f"{where}: a resource has no resourceType.")
    if "id" not in resource and full_url.startswith(_URN):
        resource["id"] = full_url.rpartition(":")[2]
    key = resource.get("id")
    if not isinstance(key, str) or not key:
        raise DamagedDataError(f"{where}: a {kind} has neither an id nor a urn:uuid full URL.")
    return kind, key


def _resolve(node: object, addresses: dict[str, str]) -> None:
    """Replace references to a urn by local ones, in place and at any depth."""
    if isinstance(node, dict):
        reference = node.get("reference")
        if isinstance(reference, str) and reference in addresses:
            node["reference"] = addresses[reference]
        for child in node.values():
            _resolve(child, addresses)
    elif isinstance(node, list):
        for child in node:
            _resolve(child, addresses)
