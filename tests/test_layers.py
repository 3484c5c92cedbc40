"""Imports go one way.

The order is a table, and a walker over the syntax trees holds every module to it: imports inside
functions and under TYPE_CHECKING count, because what a module knows does not depend on when it is
loaded. Only the search for circles leaves TYPE_CHECKING out. The walker is shown modules that
break each rule, so that it is known to be able to fail.
"""

import ast
import itertools
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

# What each part of the package may know. `healthgym` itself stands for the facade, what
# `import healthgym` offers: it is for users, and for the top of the package.
ENGINE = {"errors", "version", "spaces", "core"}
FACES = {"wrappers", "policies", "integrations", "testing"}
BELOW_FACES = ENGINE | {"presentation", "worlds", "rewards", "envs", "registration"}
EVERYTHING = BELOW_FACES | FACES | {"cli", "healthgym"}
MAY_KNOW: Mapping[str, set[str]] = {
    "errors": set(),
    "version": set(),
    "spaces": {"errors"},
    "core": ENGINE,
    "registration": ENGINE,
    "presentation": ENGINE,
    "worlds": ENGINE,
    "rewards": ENGINE,
    "envs": ENGINE | {"worlds", "rewards"},
    **dict.fromkeys(FACES, BELOW_FACES | FACES),
    "healthgym": ENGINE | FACES | {"registration"},
    "cli": EVERYTHING,
    "__main__": EVERYTHING,
}

# The engine's face draws itself when it is asked to, and loads what draws only then.
DRAWN_WHEN_ASKED: Mapping[str, set[str]] = {
    "healthgym.core.env": {"healthgym.presentation.render"},
}

# The page of an environment lists its ids with their titles. The table names classes as text.
KNOWS_THE_TABLE: Mapping[str, set[str]] = {
    "healthgym.envs.manual": {"healthgym.registration"},
}
# Modules beside the families, which all of them know.
BESIDE_FAMILIES = {"declared", "manual"}

# Inside a family of environments, by the first word of a module's name. Only `env` knows them all.
FAMILY_MAY_NOT_REACH: Mapping[str, set[str]] = {
    "generator": {"toolset", "verifier", "oracle", "env"},
    "toolset": {"generator", "verifier", "oracle", "env"},
    "verifier": {"toolset", "oracle", "env"},
    "oracle": {"env"},
}

FIELD_WORDS = (
    "bedside", "chart", "clinic", "diagnos", "disease", "doctor", "dosage", "dose", "drug", "ehr",
    "fhir", "hospital", "medic", "nurse", "patient", "payer", "physician", "prescri", "radiolog",
    "symptom", "treatment",
)  # fmt: skip


def module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_package(package: Path) -> dict[str, str]:
    """Every module's source by dotted name; a package's name stands for its `__init__`."""
    return {
        module_name(path, package): path.read_text(encoding="utf-8")
        for path in sorted(package.rglob("*.py"))
    }


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from running(other)
        else:
            yield node
            yield from running(node)


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a source, which several rules go over."""
    return ast.parse(source)


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement, wherever it stands; what is within expressions imports nothing."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            below = getattr(node, part, None)
            left += below if isinstance(below, list) else []


def imports_of(
    name: str,
    sources: Mapping[str, str],
    nodes: Callable[[ast.AST], Iterator[ast.AST]] | None = None,
) -> Iterator[str]:
    """The healthgym modules that module `name` imports, in all of its nodes or those given."""
    is_package = any(other.startswith(f"{name}.") for other in sources)
    for node in (nodes or statements)(parsed(sources[name])):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = name.split(".")
                up = node.level - 1 if is_package else node.level
                base = ".".join([*parent[: len(parent) - up], *([base] if base else [])])
            # `from package import module` names a module; `from module import thing` does not.
            found = [
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in sources else base
                for alias in node.names
            ]
        else:
            continue
        yield from (module for module in found if module.split(".")[0] == "healthgym")


def part_of(name: str) -> str:
    return [*name.split("."), "healthgym"][1]


def layer_faults(sources: Mapping[str, str]) -> list[str]:
    """Imports between parts of the package that the table does not allow."""
    faults = []
    for name in sources:
        part = part_of(name)
        if part not in MAY_KNOW:
            faults.append(f"{name}: {part} has no place in the order of layers")
            continue
        for imported in imports_of(name, sources):
            allowed = imported in {*DRAWN_WHEN_ASKED.get(name, ()), *KNOWS_THE_TABLE.get(name, ())}
            if part_of(imported) not in MAY_KNOW[part] | {part} and not allowed:
                faults.append(f"{name} imports {imported}")
    return faults


def family_of(name: str) -> str | None:
    parts = name.split(".")
    inside = parts[1:2] == ["envs"] and len(parts) > 2 and parts[2] not in BESIDE_FAMILIES
    return parts[2] if inside else None


def role_of(name: str) -> str | None:
    parts = name.split(".")
    words = parts[3].split("_") if family_of(name) and len(parts) > 3 else []
    return words[0].removesuffix("s") if words else None


def family_faults(sources: Mapping[str, str]) -> list[str]:
    """Imports between families, and what the rooms of a family reach, directly or not."""
    faults = []
    inside: dict[str, set[str]] = {}
    for name in sources:
        family = family_of(name)
        if family is None:
            continue
        known = {module for module in imports_of(name, sources) if family_of(module)}
        inside[name] = {module for module in known if family_of(module) == family}
        faults += [f"{name} imports {module}" for module in sorted(known - inside[name])]
    for name in inside:
        forbidden = FAMILY_MAY_NOT_REACH.get(role_of(name) or "", set())
        reached, queue = set(), [name]
        while queue:
            for module in inside.get(queue.pop(), set()) - reached:
                reached.add(module)
                queue.append(module)
        faults += [f"{name} reaches {m}" for m in sorted(reached) if role_of(m) in forbidden]
    return faults


def circle(sources: Mapping[str, str]) -> list[str]:
    """A circle of modules each of which imports the next, or nothing.

    Imports inside functions count: they put off a circle and do not undo it.
    """
    graph = {name: {*imports_of(name, sources, running)} - {name} for name in sources}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def field_words(source: str) -> set[str]:
    """Words of the field in a source: identifiers are taken apart, text is taken whole."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", source)
    return {word.lower() for word in words if word.lower().startswith(FIELD_WORDS)}


@pytest.fixture(scope="module")
def package(repo_root: Path) -> dict[str, str]:
    return read_package(repo_root / "healthgym")


def test_imports_go_one_way(package: dict[str, str]) -> None:
    assert layer_faults(package) == []


def test_the_engine_loads_nothing_that_draws() -> None:
    script = "import sys, healthgym.core.env; print('healthgym.presentation' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False"]


def test_families_keep_apart_and_verifiers_know_no_toolset(package: dict[str, str]) -> None:
    assert family_faults(package) == []


def test_no_modules_import_each_other_in_a_circle(package: dict[str, str]) -> None:
    assert circle(package) == []


def test_the_engine_has_no_word_of_the_field(package: dict[str, str]) -> None:
    parts = {"core", "presentation"}
    engine = {name: text for name, text in package.items() if part_of(name) in parts}
    assert {part_of(name) for name in engine} == parts
    assert {name: words for name, text in engine.items() if (words := field_words(text))} == {}


def test_the_table_names_entry_points_as_strings_only(package: dict[str, str]) -> None:
    knowing = [name for name in package if "healthgym.registration" in imports_of(name, package)]
    assert "healthgym" in knowing
    assert not [m for m in imports_of("healthgym.registration", package) if part_of(m) == "envs"]


EMPTY_FAMILY = {
    "healthgym": "",
    "healthgym.core": "",
    "healthgym.core.tool": "",
    "healthgym.worlds": "",
    "healthgym.worlds.fhir": "",
    "healthgym.envs": "",
    "healthgym.envs.one": "",
    "healthgym.envs.one.env": "",
    "healthgym.envs.one.toolset": "",
    "healthgym.envs.one.shared": "",
    "healthgym.envs.one.verifier": "",
    "healthgym.envs.two": "",
    "healthgym.envs.two.env": "",
}


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("healthgym.core.tool", "import healthgym.worlds.fhir"),
        ("healthgym.core.tool", "from healthgym import worlds"),
        ("healthgym.core.tool", "from ..worlds import fhir"),
        ("healthgym.core", "from ..worlds.fhir import Store"),
        ("healthgym.core.tool", "def f():\n    from healthgym.envs.one.env import Env"),
        ("healthgym.worlds.fhir", "from healthgym.rewards import metrics"),
        ("healthgym.rewards", "from healthgym.worlds.fhir import Store"),
        ("healthgym.envs.one.env", "from healthgym.wrappers import Record"),
        ("healthgym.envs.one.env", "from healthgym.registration import TABLE"),
        ("healthgym.registration", "from healthgym.envs.one.env import Env"),
        ("healthgym.policies", "from healthgym import cli"),
        ("healthgym.policies", "import healthgym"),
        ("healthgym.core.tool", "from healthgym import __version__"),
        ("healthgym.core.tool", "def f():\n    from healthgym.presentation.render import text"),
        ("healthgym.core.env", "from healthgym.presentation.pictures import png"),
        ("healthgym.presentation", "from healthgym.worlds.fhir import Store"),
        ("healthgym.envs.one.env", "from healthgym.presentation.render import text"),
        ("healthgym.helpers", ""),
    ],
)
def test_the_walker_sees_an_import_against_the_order(module: str, statement: str) -> None:
    parts = {
        f"healthgym.{name}": ""
        for name in ("rewards", "cli", "policies", "presentation.render", "presentation.pictures")
    }
    sources = {**EMPTY_FAMILY, **parts, module: statement}
    assert [fault.split()[0].rstrip(":") for fault in layer_faults(sources)] == [module]


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("healthgym.core.tool", "from healthgym.errors import ToolError\nimport numpy.random"),
        ("healthgym.core.tool", "from . import env"),
        ("healthgym.envs.one.env", "from healthgym.worlds.fhir import Store"),
        ("healthgym.core.env", "def f():\n    from healthgym.presentation.render import text"),
        ("healthgym.cli", "import healthgym\nfrom healthgym.policies import oracle"),
        ("healthgym.registration", "ENTRY = 'healthgym.envs.one.env:Env'"),
    ],
)
def test_the_walker_allows_what_the_order_allows(module: str, statement: str) -> None:
    assert layer_faults({**EMPTY_FAMILY, "healthgym.errors": "", module: statement}) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"healthgym.envs.one.verifier": "from healthgym.envs.one.toolset import Tools"},
        {"healthgym.envs.one.verifier": "from . import toolset"},
        {
            "healthgym.envs.one.verifier": "from healthgym.envs.one import shared",
            "healthgym.envs.one.shared": "from healthgym.envs.one.toolset import Tools",
        },
        {"healthgym.envs.one.toolset": "from healthgym.envs.one.verifier import Checks"},
        {"healthgym.envs.two.env": "from healthgym.envs.one import shared"},
        {"healthgym.envs.one": "from healthgym.envs.two.env import Env"},
    ],
)
def test_the_walker_sees_a_family_that_knows_too_much(changes: dict[str, str]) -> None:
    assert len(family_faults({**EMPTY_FAMILY, **changes})) == 1


def test_the_walker_lets_the_env_know_its_family() -> None:
    statement = "from healthgym.envs.one import shared, toolset, verifier"
    assert family_faults({**EMPTY_FAMILY, "healthgym.envs.one.env": statement}) == []


CIRCLE = {
    "healthgym.core.tool": "from healthgym.core import verdict",
    "healthgym.core.verdict": "import healthgym.core.world",
}


@pytest.mark.parametrize(
    "statement",
    [
        "from healthgym.core.tool import Tool",
        "from . import tool",
        "def f():\n    from healthgym.core.tool import Tool",
        "if TYPE_CHECKING:\n    pass\nelse:\n    from healthgym.core import tool",
    ],
)
def test_the_walker_sees_a_circle(statement: str) -> None:
    sources = {**EMPTY_FAMILY, **CIRCLE, "healthgym.core.world": statement}
    found = circle(sources)
    assert found[0] == found[-1]
    assert set(found) == {*CIRCLE, "healthgym.core.world"}
    steps = itertools.pairwise(found)
    assert all(other in imports_of(name, sources) for name, other in steps)


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_the_walker_lets_types_go_in_a_circle(test: str) -> None:
    statement = f"if {test}:\n    from healthgym.core.tool import Tool"
    assert circle({**EMPTY_FAMILY, **CIRCLE, "healthgym.core.world": statement}) == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def search_patients(): ...", {"patients"}),
        ("class FHIRStore: ...", {"fhir"}),
        ("class DrugList: ...", {"drug"}),
        ("# the clinician's chart", {"clinician", "chart"}),
        ("from healthgym.errors import ToolError  # patience, uncharted", set()),
    ],
)
def test_words_of_the_field_are_found_inside_identifiers(source: str, words: set[str]) -> None:
    assert field_words(source) == words
