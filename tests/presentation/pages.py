"""What a page of episodes holds, unpacked."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

_BLOCK = re.compile(r'<script type="text/plain" id="([\w-]+)">([^<]*)</script>')


def blocks(page: str) -> dict[str, str]:
    """Return the blocks of a page by name, as they stand in it."""
    return dict(_BLOCK.findall(page))


def unpacked(text: str) -> str:
    return zlib.decompress(base64.b64decode(text), -15).decode("utf-8")


def index(page: str) -> dict[str, Any]:
    return json.loads(unpacked(blocks(page)["index"]))


def bodies(page: str) -> list[dict[str, Any]]:
    """Return the episodes of a page."""
    texts = [unpacked(text) for name, text in blocks(page).items() if name.startswith("block-")]
    return [json.loads(line) for text in texts for line in text.split("\n")]


def pictures(page: str) -> list[str]:
    return [text for name, text in blocks(page).items() if name.startswith("picture-")]
