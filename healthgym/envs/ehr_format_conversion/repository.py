"""The repository an agent finds: configuration, code, documentation."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from importlib.resources import files

from healthgym.envs.ehr_format_conversion.defaults import DefaultConfig
from healthgym.envs.ehr_format_conversion.resources import dictionary, text
from healthgym.envs.ehr_format_conversion.wording import DEFAULT_CONFIG, WIRING

#: Folders that cannot be written, beside the raw tables.
LOCKED = ("docs", "etl/pipeline", "README.md")
#: The line of the package that makes the default configuration the default.
WIRING_LINE = 'DEFAULT_EVENT_CONFIG = CONFIGS / "event_configs.yaml"'
#: The modules that do the work, shown as they are.
_MODULES = (
    "config",
    "events",
    "expressions",
    "codes",
    "premeds",
    "pipeline",
    "splits",
    "tables",
)


def repository(default: DefaultConfig, tables: Collection[str]) -> dict[str, bytes]:
    """Return the files of the repository by path, raw tables left out.

    Args:
        default: The default configuration.
        tables: The raw tables that are documented.
    """
    pages = {
        "README.md": text("README.md"),
        "docs/event_config.md": text("event_config.md"),
        "docs/pipeline.md": text("pipeline.md"),
        "docs/tables.md": _tables_page(tables),
        DEFAULT_CONFIG: default.text,
        WIRING: text("etl_init.py.txt"),
    }
    return {**{path: page.encode() for path, page in pages.items()}, **_code()}


@cache
def _code() -> dict[str, bytes]:
    folder = files("healthgym.worlds.etl")
    return {
        f"etl/pipeline/{name}.py": folder.joinpath(f"{name}.py").read_bytes() for name in _MODULES
    }


def _tables_page(tables: Collection[str]) -> str:
    lines = ["# Raw tables", ""]
    for table, entry in dictionary().items():
        if table in tables:
            columns = [f"- `{name}`: {what}" for name, what in entry["columns"].items()]
            lines += [f"## {table}", "", entry["about"], "", *columns, ""]
    return "\n".join(lines)
