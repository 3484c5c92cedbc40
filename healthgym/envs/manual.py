"""The page of an environment: what its author wrote, and what follows from the declaration."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

import gymnasium as gym

from healthgym.core.docstrings import describe
from healthgym.core.env import HealthEnv
from healthgym.core.family import AnyFamily, Role
from healthgym.core.verdict import Check, Harm, Profile
from healthgym.registration import TABLE

#: Headings of an environment's docstring, in their order.
HEADINGS = (
    "Description",
    "Observation Space",
    "Action Space",
    "Starting State",
    "Rewards",
    "Episode End",
    "Information",
    "Arguments",
    "Registered Configurations",
    "Example",
    "Version History",
)
#: What a section says that is not written; the others only their author can write.
_SECTIONS: Mapping[str, str] = {
    "Observation Space": "``UnicodeText``: first the task, then the result of each call.",
    "Action Space": "{tools}",
    "Rewards": "{rewards}\n\n{checks}",
    "Episode End": "{episode end}",
    "Information": "{information}",
    "Arguments": "{common arguments}{own arguments}",
    "Registered Configurations": "{configurations}",
}
_HEADING = re.compile(rf"^## ({'|'.join(HEADINGS)})\n", re.MULTILINE)

_COMMON_TEXT = """\
- `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``; no task is in two.
- `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
- `profile` (str, "strict"): Profile that decides success and reward.
- `max_turns` (int, {turns}): Tool calls an episode may take.
- `costs` (Costs or dict, None): Charges per call, per refused call, for not handing in{harms}.
- `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``."""

_ACTIONS = """\
``JsonText``: a tool call ``{{"name": ..., "arguments": {{...}}}}``, or any other form that
:func:`healthgym.core.action.parse` accepts.

| Tool | Kind | Effect |
| --- | --- | --- |
{rows}"""

_REWARDS = """\
``sparse``: 1 if the episode ends with `{verb}` and every check of the profile passes, else 0.
``shaped``: each change of the progress, {paid}. Doing nothing scores 0."""

_END = """\
``terminated`` when `{verb}` is called. ``truncated`` when ``max_turns`` calls were made without
it; the episode is scored all the same."""

_INFORMATION = """\
``reset``: ``task_id``, ``split``, ``kind``, ``tools`` (OpenAI function form). ``step``:
``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused, ``images`` if it showed
pictures; at the end ``success`` and ``verdict`` with both profiles."""


class Manual:
    """A docstring that is written when it is read: ids are registered after their class is made.

    Args:
        text: What the author wrote, with marks and without the sections that can be written.

    Attributes:
        first: What stands before the first section.
        sections: What the author wrote of each section, by heading.
    """

    def __init__(self, text: str) -> None:
        first, *written = _HEADING.split(inspect.cleandoc(text))
        self.first = first.strip()
        bodies = (body.strip() for body in written[1::2])
        self.sections = dict(zip(written[::2], bodies, strict=True))

    def __get__(self, env: HealthEnv | None, cls: type[HealthEnv]) -> str:
        return document(self.first, cls, cls.family_class)  # type: ignore[attr-defined]


def document(first: str, cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    """Return the page of an environment.

    Args:
        first: What its author says before the first section.
        cls: The environment.
        family: Its family, whose class states verifier and roles.
    """
    sections = _sections(cls)
    parts = [f"## {heading}\n\n{sections[heading]}" for heading in HEADINGS if heading in sections]
    whole = "\n\n".join([first, *parts])
    for mark, write in _MARKS.items():
        if f"{{{mark}}}" in whole:
            whole = whole.replace(f"{{{mark}}}", write(cls, family))
    return whole


def _sections(cls: type[HealthEnv]) -> dict[str, str]:
    """Return what is said of each section: by the class, by what it derives from, or by default."""
    said = dict(_SECTIONS)
    for base in reversed(cls.__mro__):
        manual = vars(base).get("__doc__")
        if isinstance(manual, Manual):
            for heading, body in manual.sections.items():
                said[heading] = body.replace("{inherited}", said.get(heading, ""))
    return said


def _tools(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    return _ACTIONS.format(rows=_tool_rows(family.roles.values()))


def _tool_rows(roles: Iterable[Role]) -> str:
    """Return a row for each tool; one that several roles have is listed once."""
    rows = (
        f"| `{spec.identifier}` | {spec.kind} | {_first_sentence(spec.description)} |"
        for role in roles
        for spec in role.catalog.specs
    )
    return "\n".join(dict.fromkeys(rows))


def _first_sentence(text: str) -> str:
    line = " ".join(text.split("\n\n")[0].split())
    return line.partition(". ")[0].rstrip(".").replace("|", "\\|")


def _rewards(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    withheld = family.hand_in.withheld
    paid = "paid when the work is handed in" if withheld else "paid as it comes"
    return _REWARDS.format(verb=family.hand_in.verb, paid=paid)


def _checks(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    """Return the checks of both profiles, each in its sentence."""
    parts = []
    for profile in (Profile.STRICT, Profile.PAPER):
        own = (family.hand_in.check,) if family.hand_in.needed(profile) else ()
        checks = (*own, *family.verifier.checks(profile))
        parts.append(
            f"Checks of the ``{profile}`` profile:\n\n" + "\n".join(map(_check_row, checks))
        )
    return "\n\n".join(parts)


def _check_row(check: Check) -> str:
    idle = "doing nothing passes it and earns nothing" if check.idle else "doing nothing fails it"
    closes = f" Closes: {check.loophole}" if check.loophole else ""
    return f"- *{check.name}*: {check.requirement} ({idle}){closes}"


def _harms(family: type[AnyFamily]) -> str:
    """Return the further charges, where a family's checks tell of harm."""
    told = {check.harm for profile in Profile for check in family.verifier.checks(profile)}
    names = [f"``{harm}``" for harm in Harm if harm in told]
    return f", and for harm: {', '.join(names)}" if names else ""


def _own_arguments(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    """Return the arguments of a family's own, each as its class describes it."""
    said = describe(family)[1] if family.__doc__ else {}
    rows = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if f"`{name}`" not in _COMMON_TEXT:
            kind = inspect.formatannotation(parameter.annotation).strip("'")
            rows.append(f"\n- `{name}` ({kind}, {parameter.default!r}): {said.get(name, '')}")
    return "".join(row.rstrip() for row in rows)


def _strengths(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    """Return a row for each seat: who can fill it, the strongest first."""
    rows = []
    for role, known in family.strengths.items():
        ranked = sorted(known.items(), key=lambda one: -one[1])
        rows.append(f"- {role}: " + ", ".join(f"``{name}`` ({each:.2f})" for name, each in ranked))
    return "\n".join(rows)


def _configurations(cls: type[HealthEnv], family: type[AnyFamily]) -> str:
    titles = {row.id: row.title for row in TABLE}
    rows = []
    for spec in _specs(cls):
        arguments = ", ".join(f"``{name}={value!r}``" for name, value in spec.kwargs.items())
        title = titles.get(spec.id, "")
        arguments = f"({arguments})" if title and arguments else arguments
        said = " ".join(part for part in (title, arguments) if part)
        rows.append(f"- ``{spec.id}``{f': {said}' if said else ''}.")
    return "\n".join(rows)


def _specs(cls: type[HealthEnv]) -> Iterator[gym.envs.registration.EnvSpec]:
    """Yield what Gymnasium has registered of a class, ours or a stranger's."""
    for spec in gym.registry.values():
        entry = spec.entry_point
        if isinstance(entry, str):
            # Another's module is not imported only to find that it is another's.
            module, _, name = entry.partition(":")
            entry = getattr(sys.modules.get(module), name, None)
        if entry is cls:
            yield spec


_MARKS: Mapping[str, Callable[[type[HealthEnv], type[AnyFamily]], str]] = {
    "tools": _tools,
    "rewards": _rewards,
    "checks": _checks,
    "episode end": lambda cls, family: _END.format(verb=family.hand_in.verb),
    "information": lambda cls, family: _INFORMATION,
    "common arguments": lambda cls, family: _COMMON_TEXT.format(
        turns=family.rules.max_turns, harms=_harms(family)
    ),
    "own arguments": _own_arguments,
    "configurations": _configurations,
    "strengths": _strengths,
}
