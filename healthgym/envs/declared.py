"""What registered environments share: an environment over a declared family is little but words."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict, Unpack, overload

from healthgym.core import arguments
from healthgym.core.borders import Argument
from healthgym.core.env import HealthEnv
from healthgym.core.family import AGENT, AnyFamily
from healthgym.core.players import Filling
from healthgym.core.reward import RewardFunction
from healthgym.envs.manual import HEADINGS, Manual, document
from healthgym.rewards import Costs, resolve

__all__ = ["AGENT", "HEADINGS", "Common", "DeclaredEnv", "document"]


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


class DeclaredEnv(HealthEnv):
    """An environment over a declared family: ``class XEnv(DeclaredEnv, family=XFamily)``.

    It takes the common arguments and the family's own, which go to the family. A subclass that
    wants the family's own arguments typed, or others, has an ``__init__`` that makes the family
    and passes the common ones on.

    The docstring is the environment's page. Marks in it are replaced by what the declaration says:
    ``{tools}``, ``{checks}``, ``{episode end}``, ``{information}``, ``{common arguments}``,
    ``{configurations}`` and ``{strengths}``; sections that are left out and can be told from the
    declaration are written. What several environments say alike is said once, by a class from which
    they derive: a section that one leaves out is that class's, and ``{inherited}`` puts it into
    one's own. See :mod:`healthgym.envs.manual`.

    Args:
        made: The family, made from its own arguments; if None, it is made of those given.
        role: The role that is played, where there are several; the first one if empty.
        counterparts: Who plays the other roles, by role: a scripted player by name or by weight, or
            somebody from outside.
        **given: The arguments that every environment takes, and the family's own.

    Raises:
        ConfigurationError: If an argument is none of those accepted.
    """

    family_class: ClassVar[type[AnyFamily]]

    def __init_subclass__(
        cls, *, family: type[AnyFamily] | None = None, **keywords: object
    ) -> None:
        super().__init_subclass__(**keywords)
        if family is not None:
            cls.family_class = family
        cls.__signature__ = _signature(cls)  # type: ignore[attr-defined]
        if cls.__doc__:
            cls.__doc__ = Manual(cls.__doc__)  # type: ignore[assignment]

    @overload
    def __init__(
        self,
        made: AnyFamily,
        *,
        role: str = "",
        counterparts: Mapping[str, Filling] | None = None,
        **common: Unpack[Common],
    ) -> None: ...

    @overload
    def __init__(self, **arguments: Argument) -> None: ...

    def __init__(
        self,
        made: AnyFamily | None = None,
        *,
        role: str = "",
        counterparts: Mapping[str, Filling] | None = None,
        **given: Argument,
    ) -> None:
        common = {name: given.pop(name) for name in _COMMON.parameters if name in given}
        family = self.family_class(**given) if made is None else made
        rules = replace(
            family.rules,
            max_turns=arguments.turns(common.get("max_turns", family.rules.max_turns)),
            profile=arguments.profile(common.get("profile", "strict")),
        )
        super().__init__(
            family,
            resolve(common.get("reward", "sparse"), common.get("costs")),
            split=common.get("split", "train"),
            config=rules,
            role=role,
            counterparts=counterparts,
            render_mode=common.get("render_mode"),
        )


def _signature(cls: type[DeclaredEnv]) -> inspect.Signature:
    """Return the signature of an environment: the common arguments around its own."""
    turns = cls.family_class.rules.max_turns
    common = [
        item.replace(default=turns) if item.name == "max_turns" else item
        for item in _COMMON.parameters.values()
    ]
    return inspect.Signature([*common[:3], *own_parameters(cls), *common[3:]])


def own_parameters(cls: type[DeclaredEnv]) -> list[inspect.Parameter]:
    """Return the arguments of an environment that are not common to all."""
    inherited = cls.__init__ is DeclaredEnv.__init__
    source = cls.family_class if inherited else cls.__init__
    return [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(source).parameters.items()
        if name != "self" and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
