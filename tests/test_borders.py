"""What passes from room to room has a type.

`Any` ends what a type checker knows, on both sides of a call. So a public signature says it
nowhere: what is passed on unread is an `object`, and what has no type of its own, JSON above all,
goes by a name from a module that lists such names. Narrowing by `assert isinstance` goes the same
way: `python -O` drops it, and a type that has to be asserted was lost on the way.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.test_layers import read_package

#: Modules that may name what has no type of its own, and why.
NAMING: Mapping[str, str] = {
    "healthgym.core.borders": "JSON, and the dictionaries of Gymnasium",
    "healthgym.core.episode": "an episode, whatever its family",
    "healthgym.core.family": "a family, whatever its world",
    "healthgym.core.proofs": "an instance and its world, whatever the family",
    "healthgym.core.task": "a generator and an instance, whatever their start",
    "healthgym.core.tool": "a toolset, whatever its world",
    "healthgym.envs.ehr_data_quality.frames": "a cell: its column knows its type when it runs",
    "healthgym.envs.managed_care.marathon.task": "a case of a queue, whichever desk's it is",
    "healthgym.integrations.trl.foreign": "models and trainers, whose types may not be installed",
    "healthgym.worlds.workspace.box.runner": "JSON, in a program that imports nothing of ours",
    "healthgym.worlds.workspace.sql_worker": "JSON, in a program that imports two modules of ours",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def says_any(annotation: ast.AST) -> bool:
    """Whether an annotation says `Any`, also where it is quoted."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                quoted = ast.parse(node.value, mode="eval")
            except SyntaxError:
                continue
            if says_any(quoted.body):
                return True
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name == "Any":
            return True
    return False


def public_functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Functions and methods that other modules may call, constructors among them."""
    for node in body:
        hidden = getattr(node, "name", "_").startswith("_")
        if isinstance(node, ast.ClassDef) and not hidden:
            yield from public_functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, Function) and (not hidden or node.name == "__init__"):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.If | ast.Try):
            yield from public_functions([*node.body, *node.orelse], prefix)


def annotations(function: Function) -> Iterator[tuple[str, ast.expr]]:
    taken = function.args
    parameters = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg]
    for parameter in parameters:
        if parameter is not None and parameter.annotation is not None:
            yield parameter.arg, parameter.annotation
    if function.returns is not None:
        yield "return", function.returns


def untyped_signatures(source: str) -> list[str]:
    """Public signatures that say `Any`, as ``function(parameter)``."""
    return [
        f"{name}({parameter})"
        for name, function in public_functions(ast.parse(source).body)
        for parameter, annotation in annotations(function)
        if says_any(annotation)
    ]


def untyped_names(source: str) -> list[str]:
    """Aliases of a module behind which there is an `Any`.

    A constant that is no alias has a value, which can be told by its form: a type is a name, a
    subscript or a union.
    """
    found = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
            target, value = node.target, node.value or node.annotation
        else:
            continue
        form = ast.Name | ast.Attribute | ast.Subscript | ast.BinOp
        if isinstance(target, ast.Name) and isinstance(value, form) and says_any(value):
            found.append(target.id)
    return [name for name in found if not name.startswith("_")]


def asserted_types(source: str) -> list[int]:
    """Lines that narrow a type by an assertion."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Assert)
        and any(isinstance(part, ast.Name) and part.id == "isinstance" for part in ast.walk(node))
    ]


@pytest.fixture(scope="module")
def package(repo_root: Path) -> dict[str, str]:
    return read_package(repo_root / "healthgym")


def test_no_public_signature_says_any(package: dict[str, str]) -> None:
    assert len(package) > 400
    found = {name: untyped_signatures(text) for name, text in package.items()}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_what_has_no_type_is_named_in_few_places(package: dict[str, str]) -> None:
    found = {name: untyped_names(text) for name, text in package.items()}
    assert {name: faults for name, faults in found.items() if faults and name not in NAMING} == {}


def test_every_module_that_may_name_does_so(package: dict[str, str]) -> None:
    assert [name for name in NAMING if not untyped_names(package[name])] == []


def test_no_type_is_asserted(package: dict[str, str]) -> None:
    found = {name: asserted_types(text) for name, text in package.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("def f(x: Any): ...", ["f(x)"]),
        ("def f(*x: Any, **y: typing.Any): ...", ["f(x)", "f(y)"]),
        ("async def f() -> dict[str, Any]: ...", ["f(return)"]),
        ("def f(x: 'list[Any]'): ...", ["f(x)"]),
        ("class A:\n    def __init__(self, x: Any): ...", ["A.__init__(x)"]),
        ("class A:\n    class B:\n        def f(self, /, *, x: Any): ...", ["A.B.f(x)"]),
        ("if TYPE_CHECKING:\n    def f(x: Any): ...", ["f(x)"]),
        ("def _f(x: Any): ...", []),
        ("class _A:\n    def f(self, x: Any): ...", []),
        ("def f(x: object) -> JsonDict:\n    y: Any = x\n    return y", []),
        ("def f(x: AnyEnv, y: Literal['Any other']): ...", []),
    ],
)
def test_the_walker_sees_any_in_a_public_signature(source: str, faults: list[str]) -> None:
    assert untyped_signatures(source) == faults


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("Json: TypeAlias = Any", ["Json"]),
        ("Json: typing.TypeAlias = 'dict[str, Any]'", []),
        ("Row = list[Any]", ["Row"]),
        ("Row = list[Any] | None", ["Row"]),
        ("_Row = list[Any]", []),
        ("Row = list[object]", []),
        ("NO_ROWS: list[Any] = []", []),
        ("WORDS = ('Any',)", []),
    ],
)
def test_the_walker_sees_a_name_for_any(source: str, names: list[str]) -> None:
    assert untyped_names(source) == names


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("x = 1\nassert isinstance(x, int)", [2]),
        ("def f(x):\n    assert not isinstance(x, str), x", [2]),
        ("if not isinstance(x, int):\n    raise TypeError", []),
    ],
)
def test_the_walker_sees_an_asserted_type(source: str, lines: list[int]) -> None:
    assert asserted_types(source) == lines
