"""What registered environments share: common arguments, and documentation of what they declare."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypedDict, Unpack

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.family import AGENT, AnyFamily, Role
from healthgym.core.reward import RewardFunction
from healthgym.core.verdict import Check, Profile
from healthgym.registration import TABLE
from healthgym.rewards import Costs, resolve


class Common(TypedDict, total=False):
    """The arguments that every environment takes."""

    split: str
    reward: str | RewardFunction
    profile: str
    max_turns: int
    costs: Costs | Mapping[str, float] | None
    render_mode: str | None


_COMMON = inspect.Signature(
    [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in (
            ("split", "train"),
            ("reward", "sparse"),
            ("profile", "strict"),
            ("max_turns", None),
            ("costs", None),
            ("render_mode", None),
        )
    ]
)

_COMMON_TEXT = """\
- `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``; no task is in two.
- `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
- `profile` (str, "strict"): Profile that decides success and reward.
- `max_turns` (int, {turns}): Tool calls an episode may take.
- `costs` (Costs or dict, None): Charges per call, per refused call, and for not handing in.
- `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``."""

_ACTIONS = """\
``JsonText``: a tool call ``{{"name": ..., "arguments": {{...}}}}``, or any other form that
:func:`healthgym.core.action.parse` accepts.

| Tool | Kind | Effect |
| --- | --- | --- |
{rows}"""

_END = """\
``terminated`` when `{verb}` is called. ``truncated`` when ``max_turns`` calls were made without
it; the episode is scored all the same."""

_INFORMATION = """\
``reset``: ``task_id``, ``split``, ``kind``, ``tools`` (OpenAI function form). ``step``:
``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused, ``images`` if it showed
pictures; at the end ``success`` and ``verdict`` with both profiles."""


class DeclaredEnv(HealthEnv):
    """An environment over a declared family.

    Subclasses name their family as ``class XEnv(DeclaredEnv, family=XFamily)``, take the family's
    own arguments, and pass on the common ones. Marks in their docstrings are replaced by what the
    declaration says: ``{tools}``, ``{checks}``, ``{episode end}``, ``{information}``,
    ``{common arguments}`` and ``{configurations}``.

    Args:
        made: The family, made from its own arguments.
        common: The arguments that every environment takes.

    Raises:
        ConfigurationError: If an argument is none of those accepted.
    """

    family_class: ClassVar[type[AnyFamily]]

    def __init_subclass__(cls, *, family: type[AnyFamily], **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.family_class = family
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]
        cls.__doc__ = document(cls)

    def __init__(self, made: AnyFamily, **common: Unpack[Common]) -> None:
        rules = replace(
            made.rules,
            max_turns=arguments.turns(common.get("max_turns", made.rules.max_turns)),
            profile=arguments.profile(common.get("profile", "strict")),
        )
        super().__init__(
            made,
            resolve(common.get("reward", "sparse"), common.get("costs")),
            split=common.get("split", "train"),
            config=rules,
            render_mode=common.get("render_mode"),
        )


def _signature(cls: type[DeclaredEnv]) -> inspect.Signature:
    """Return the signature of an environment: the common arguments around its own."""
    own = [
        parameter
        for name, parameter in inspect.signature(cls.__init__).parameters.items()
        if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    turns = cls.family_class.rules.max_turns
    common = [
        item.replace(default=turns) if item.name == "max_turns" else item
        for item in _COMMON.parameters.values()
    ]
    return inspect.Signature([*common[:3], *own, *common[3:]])


def document(cls: type[DeclaredEnv]) -> str:
    """Return the docstring of an environment with its marks replaced."""
    family = cls.family_class
    text = inspect.cleandoc(cls.__doc__ or "")
    parts = {
        "tools": _ACTIONS.format(rows="\n".join(map(_tool_rows, family.roles.values()))),
        "checks": _check_text(family),
        "episode end": _END.format(verb=family.hand_in.verb),
        "information": _INFORMATION,
        "common arguments": _COMMON_TEXT.format(turns=family.rules.max_turns),
        "configurations": _configurations(cls),
    }
    for mark, part in parts.items():
        text = text.replace(f"{{{mark}}}", part)
    return text


def _tool_rows(role: Role) -> str:
    return "\n".join(
        f"| `{spec.identifier}` | {spec.kind} | {_first_sentence(spec.description)} |"
        for spec in role.catalog.specs
    )


def _first_sentence(text: str) -> str:
    line = " ".join(text.split("\n\n")[0].split())
    return line.partition(". ")[0].rstrip(".").replace("|", "\\|")


def _check_text(family: type[AnyFamily]) -> str:
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
    return f"- *{check.name}*: {check.requirement} ({idle})"


def _configurations(cls: type[DeclaredEnv]) -> str:
    entry = f"{cls.__module__}:{cls.__name__}"
    rows = []
    for row in TABLE:
        if row.entry_point == entry:
            arguments_ = ", ".join(f"``{name}={value!r}``" for name, value in row.kwargs.items())
            rows.append(f"- ``{row.id}``: {row.title}{f' ({arguments_})' if arguments_ else ''}.")
    return "\n".join(rows)


__all__ = ["AGENT", "Common", "DeclaredEnv", "document"]
