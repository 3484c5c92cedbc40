"""``healthgym completion``: a script with which a shell completes commands, options and ids."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from healthgym.cli.common import Commands, write

#: Values of options that are known but not checked by the parser, for a plug-in may add to them.
_VALUES: Mapping[str, tuple[str, ...]] = {
    "split": ("train", "validation", "test"),
    "policy": ("oracle", "nop", "random", "flood", "prior", "llm"),
}
_SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Place:
    """What may follow a command.

    Attributes:
        path: The command, and those it is below of.
        words: Commands and ids that may come next, with what they are.
        options: Options, with what they are.
        values: What an option takes, by the option, where that is known.
    """

    path: tuple[str, ...]
    words: Mapping[str, str]
    options: Mapping[str, str]
    values: Mapping[str, tuple[str, ...]]


def add_commands(commands: Commands, whole: Callable[[], argparse.ArgumentParser]) -> None:
    """Add the command of this module.

    Args:
        commands: Where to.
        whole: Returns the parser of the whole command line.
    """
    parser = commands.add_parser(
        "completion",
        help="a script that has a shell complete commands, options and ids",
        description="Write a completion script. In bash: source <(healthgym completion bash); in "
        "zsh the same with zsh; in fish: healthgym completion fish | source.",
    )
    parser.add_argument("shell", choices=_SHELLS)
    parser.set_defaults(run=lambda args: _write(args.shell, whole()))


def _write(shell: str, parser: argparse.ArgumentParser) -> int:
    found = list(places(parser))
    write(_fish(found) if shell == "fish" else _bash(found, zsh=shell == "zsh"))
    return 0


def places(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield what may follow each command, the outermost first.

    Args:
        parser: The parser of a command.
        path: The command.
    """
    from healthgym.cli.delegates import delegate
    from healthgym.registration import TABLE

    own = delegate(path[0]) if len(path) == 1 else None
    actions = (own or parser)._actions  # argparse has no other way to ask
    words: dict[str, str] = {}
    options: dict[str, str] = {}
    values: dict[str, tuple[str, ...]] = {}
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in actions:
        if isinstance(action, argparse._SubParsersAction):
            below = list(action.choices.items())
            told = {each.dest: each.help or "" for each in action._choices_actions}
            words |= {name: told.get(name, "") for name, _ in below}
        elif not action.option_strings:
            listed = {row.id: row.title for row in TABLE} if action.dest == "id" else {}
            words |= listed or dict.fromkeys(map(str, action.choices or ()), "")
        elif action.help is not argparse.SUPPRESS:
            takes = tuple(map(str, action.choices or _VALUES.get(action.dest, ())))
            for name in action.option_strings:
                options[name] = action.help or ""
                if takes:
                    values[name] = takes
    yield Place(path, words, options, values)
    for name, inner in below:
        yield from places(inner, (*path, name))


def _bash(found: list[Place], *, zsh: bool) -> str:
    """Return a script for bash, which zsh reads with its own stand-in for bash's builtins."""
    paths = "|".join(f'"{" ".join(place.path)}"' for place in found if place.path)
    after, words = [], []
    for place in found:
        key = " ".join(place.path)
        for option, takes in place.values.items():
            after.append(f'    "{key}:{option}") words={shlex.quote(" ".join(takes))} ;;')
        every = " ".join([*place.words, *place.options])
        words.append(f'    "{key}") words={shlex.quote(every)} ;;')
    lines = [
        *(["autoload -U +X compinit && compinit", "autoload -U +X bashcompinit && bashcompinit"]
          if zsh else []),
        "_healthgym() {",
        '  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local path="" words="" next i',
        "  for ((i = 1; i < COMP_CWORD; i++)); do",
        '    next="${path:+$path }${COMP_WORDS[i]}"',
        f'    case "$next" in {paths}) path="$next" ;; esac',
        "  done",
        '  case "$path:$prev" in',
        *after,
        "  esac",
        '  [ -n "$words" ] || case "$path" in',
        *words,
        "  esac",
        '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
        "}",
        "complete -o default -F _healthgym healthgym",
    ]  # fmt: skip
    return "\n".join(lines)


def _fish(found: list[Place]) -> str:
    lines = []
    for place in found:
        names = [other.path[-1] for other in found if other.path[:-1] == place.path and other.path]
        seen = [f"__fish_seen_subcommand_from {name}" for name in place.path]
        here = "; and ".join([*seen, *([f"not __fish_seen_subcommand_from {' '.join(names)}"]
                                       if names else [])]) or "true"  # fmt: skip
        start = f"complete -c healthgym -n {shlex.quote(here)}"
        for word, told in place.words.items():
            lines.append(f"{start} -f -a {shlex.quote(word)} -d {_told(told)}")
        for option, told in place.options.items():
            name = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            takes = place.values.get(option)
            more = f" -x -a {shlex.quote(' '.join(takes))}" if takes else ""
            lines.append(f"{start} {name}{more} -d {_told(told)}")
    return "\n".join(lines)


def _told(text: str) -> str:
    return shlex.quote(" ".join(text.replace("%(default)s", "").split())[:90])
