"""Rows of chats with tools as a data set that ``datasets.load_dataset`` reads.

What differs from tool to tool (arguments, schemas) is JSON text in the rows: Arrow has one type per
column, and would fill objects up with each other's keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from healthgym.core.borders import JsonObject
from healthgym.core.optional import require
from healthgym.core.writing import write_whole
from healthgym.errors import ConfigurationError
from healthgym.version import __version__

#: What Hugging Face's cards call sizes: each name, for fewer rows than its bound.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))


def write_parquet(path: Path, rows: Iterable[JsonObject]) -> int:
    """Write rows as a Parquet file; return how many there are.

    Raises:
        ConfigurationError: If there are none: they have no columns then.
        MissingDependencyError: If pyarrow is not installed.
    """
    arrow = require("pyarrow", extra="workspace", purpose="Parquet")
    parquet = require("pyarrow.parquet", extra="workspace", purpose="Parquet")
    held = list(rows)
    if not held:
        raise ConfigurationError("There is no episode to write.")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.part")
    try:
        parquet.write_table(arrow.Table.from_pylist(held), aside)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return len(held)


def write_card(data: Path, *, env_id: str, split: str, rows: int, policy: str) -> Path:
    """Write the card of a data set beside its file, and return where; ``load_dataset`` reads both.

    Args:
        data: The file of rows.
        env_id: The environment.
        split: Split of the tasks.
        rows: How many rows there are.
        policy: Who is shown, in words.
    """
    size = next((name for bound, name in _SIZES if rows < bound), "100K<n<1M")
    title = json.dumps(f"healthgym: {env_id}")
    card = f"""---
pretty_name: {title}
task_categories: [text-generation]
tags: [healthcare, agents, tool-use]
size_categories: [{size}]
configs:
- config_name: default
  data_files:
  - split: {split}
    path: {data.name}
---

# {env_id}

{rows} episodes of {policy} on tasks of the {split} split, written by healthgym {__version__}.

| column | what |
|---|---|
| `task_id`, `kind` | the task, and its type |
| `messages` | the chat; arguments of calls are JSON text |
| `tools` | the tools in OpenAI's function form, as JSON text |

Synthetic, unless the environment was given real data: then the terms of that data hold for this.
Whoever learns from these tasks is not to be scored on them.
"""
    return write_whole(data.parent / "README.md", card)
