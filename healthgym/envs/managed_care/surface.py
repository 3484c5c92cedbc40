"""What an agent is given of the offices: parts of the handbook, tools, and a way to call them.

Tasks, the offices' rules and verdicts are the same whichever is chosen.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from datetime import date
from enum import StrEnum

from healthgym.core.commands import CommandLine
from healthgym.core.players import Solver
from healthgym.core.tool import ToolCall
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Page

#: First word of each command.
PROGRAM = "chi"


class Ablation(StrEnum):
    """Which parts of the handbook are withheld, as in the source's ablations."""

    NONE = "none"
    DOMAIN = "domain"  #: how the three offices work
    MEDICAL = "medical"  #: the medical library, policies among it
    BOTH = "both"


class Surface(StrEnum):
    """How tools are called."""

    NATIVE = "native"  #: typed calls, the tools listed with what they take
    CLI = "cli"  #: command lines, the tools asked for with ``--help``


class ToolSet(StrEnum):
    """Which tools there are."""

    PUBLISHED = "published"  #: those that the source's agents had
    EXTENDED = "extended"  #: besides, those that the source describes and its agents had not


_DOMAIN = ("provider-pa", "payer-um", "care-manager")
_MEDICAL = ("medical-library",)
_FOLDERS: Mapping[Ablation, tuple[str, ...]] = {
    Ablation.NONE: (),
    Ablation.DOMAIN: _DOMAIN,
    Ablation.MEDICAL: _MEDICAL,
    Ablation.BOTH: (*_DOMAIN, *_MEDICAL),
}
_FRONTS = {"medical-library": "README.md"}
_STUB = "# Not available\n\nThis part of the handbook is not available to you.\n"
_LINES = (
    "\n\nTools are commands, one a line: {program} <server> <tool> --argument value. Quote values "
    "as in a shell; lists and objects are JSON. {program} --help names servers and tools, "
    "{program} <server> <tool> --help what a tool takes."
)


def withheld(library: Library, ablation: Ablation) -> Library:
    """Return a handbook without the parts that an ablation withholds.

    In place of each there is one page, which says so. Search, contents and reading know of no
    other page of it, those that the task has changed or added included.

    Args:
        library: The whole handbook.
        ablation: What to withhold.
    """
    folders = _FOLDERS[ablation]
    if not folders:
        return library
    return library.without(*folders).overlay(map(_stub, folders))


def _stub(folder: str) -> Page:
    return Page(
        path=f"{folder}/{_FRONTS.get(folder, 'SKILL.md')}",
        title="Not available",
        version="2026.1",
        effective=date(2026, 1, 1),
        text=_STUB,
    )


def withholds_policies(ablation: Ablation) -> bool:
    """Return whether no page of a policy can be read."""
    return set(_MEDICAL) <= set(_FOLDERS[ablation])


def instructed(instruction: str, surface: Surface) -> str:
    """Return an instruction with what an agent has to know of how to call tools."""
    lines = _LINES.format(program=PROGRAM) if surface is Surface.CLI else ""
    return f"{instruction}{lines}"


def worded(script: Iterable[object], commands: CommandLine | None) -> list[object]:
    """Return the actions of a script as a surface takes them: calls, or command lines.

    Args:
        script: The actions.
        commands: What writes the lines; None where calls are typed.
    """
    return [
        commands.line(action) if commands is not None and isinstance(action, ToolCall) else action
        for action in script
    ]


def spoken(solver: Solver, commands: CommandLine | None) -> Solver:
    """Return a solver that calls tools as a surface takes it, by typed calls or command lines.

    Args:
        solver: A solver that yields typed calls.
        commands: What writes the lines; None where calls are typed.
    """
    if commands is None:
        return solver

    def play(instruction: str) -> Generator[object, str, None]:
        moves = solver(instruction)
        move = next(moves)
        while True:
            observation = yield worded((move,), commands)[0]
            try:
                move = moves.send(observation)
            except StopIteration:
                return

    return play
