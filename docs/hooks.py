"""Pages of the site that are written when it is built: environments, reference, tables of results.

mkdocs calls the functions by their names (https://www.mkdocs.org/user-guide/plugins/#events).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import measured  # noqa: E402

#: Modules of the reference, with the names they list.
PUBLIC = (
    "healthgym",
    "healthgym.core",
    "healthgym.envs",
    "healthgym.errors",
    "healthgym.policies",
    "healthgym.registration",
    "healthgym.rewards",
    "healthgym.testing",
    "healthgym.wrappers",
    "healthgym.integrations.trl",
    "healthgym.integrations.pettingzoo",
)
#: What a module shows where it lists nothing itself.
LISTED = {
    "healthgym.registration": ("Row", "ids", "arena_ids", "make_health_env", "register_arenas"),
    "healthgym.integrations.pettingzoo": ("env", "parallel_env"),
}
#: A picture of an episode, by the slug of the environment.
PICTURES = {
    "xray-correction": "Synthetic radiographs",
    "ct-abnormality": "Synthetic chest CT, one finding each",
    "tumor-area-selection": "A synthetic slide, and tissue at three magnifications",
    "care-management": "A call beside what the person heard, told and trusted",
    "prior-authorization": "A case as a page: what happened when and why, beside the policy",
    "utilization-management": "A review with findings, evidence and letter",
}
FILES = {
    "xray-correction": "xray_correction.png",
    "ct-abnormality": "ct_abnormality.png",
    "tumor-area-selection": "tumor_area.png",
    "care-management": "care_call.png",
    "prior-authorization": "case_timeline.png",
    "utilization-management": "review_case.png",
}


def on_config(config: Any) -> Any:
    """Put the pages that are written here into the navigation."""
    from healthgym.cli.catalogue import name_of, slug
    from healthgym.registration import TABLE

    for entry in config.nav:
        if "Environments" in entry:
            classes = dict.fromkeys(row.entry_point for row in TABLE)
            entry["Environments"] += [
                {name_of(one): f"environments/{slug(one)}.md"} for one in classes
            ]
        if "Reference" in entry:
            entry["Reference"] += [{name: f"api/{name}.md"} for name in PUBLIC]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Write the pages."""
    for uri, text in written():
        files.append(File.generated(config, uri, content=text))
    return files


def written() -> Iterator[tuple[str, str]]:
    """Yield the address and the text of each page."""
    from healthgym.cli import catalogue
    from healthgym.registration import TABLE

    index = catalogue.index(TABLE, "{}.md".format)
    yield "environments/index.md", re.sub(r"\n\n.*?\n\n", "\n\n", index, count=1, flags=re.DOTALL)
    for slug, _, text in catalogue.pages(TABLE, ROOT / "benchmarks" / "results"):
        yield f"environments/{slug}.md", pictured(slug, text)
    yield "api/index.md", reference()
    for name in PUBLIC:
        yield f"api/{name}.md", module(name)
    yield from measured.pages(ROOT / "benchmarks" / "results")


def pictured(slug: str, text: str) -> str:
    """Return a page with its picture, if there is one, below the first paragraph."""
    if slug not in PICTURES:
        return text
    title, first, rest = text.split("\n\n", 2)
    picture = f"![{PICTURES[slug]}](../images/{FILES[slug]})"
    return "\n\n".join((title, first, picture, rest))


def reference() -> str:
    """Return the page that lists the modules."""
    lines = [
        f"| [`{name}`]({name}.md) | {(import_module(name).__doc__ or '').split(chr(10))[0]} |"
        for name in PUBLIC
    ]
    head = "# Reference\n\nPublic is what these modules list; what lies beneath may change.\n\n"
    return head + "\n".join(("| module | what it holds |", "|---|---|", *lines)) + "\n"


def module(name: str) -> str:
    """Return the page of a module: each name it lists."""
    made = import_module(name)
    names = LISTED.get(name) or getattr(made, "__all__", None) or _classes(made)
    parts = [f"# {name}", (made.__doc__ or "").strip()]
    skipped = {"__version__", "errors"}
    parts += [f"::: {name}.{each}" for each in names if each not in skipped]
    return "\n\n".join(parts) + "\n"


def _classes(made: Any) -> list[str]:
    return [
        name
        for name, each in vars(made).items()
        if isinstance(each, type) and each.__module__ == made.__name__
    ]
