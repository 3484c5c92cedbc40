"""Words that the handbook sets as code are words of the system: tools, arguments, values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from pkgutil import walk_packages

from healthgym.core.tool import Toolset
from healthgym.worlds.managed_care.handbook.edition import edition

PACKAGES = (
    "healthgym.worlds.managed_care.conversation",
    "healthgym.worlds.managed_care.vocabulary",
    "healthgym.worlds.managed_care.records",
    "healthgym.envs.managed_care.tools",
)
#: Verbs of every environment, and answers of forms.
OTHERS = {"wait", "finish", "yes", "no", "not documented"}
CODE = re.compile(r"`([a-z][a-z0-9_. ]*)`")


def _types() -> Iterator[type]:
    for name in PACKAGES:
        package = import_module(name)
        for found in walk_packages(package.__path__, f"{name}."):
            yield from (each for each in vars(import_module(found.name)).values() if _is_type(each))


def _is_type(each: object) -> bool:
    return isinstance(each, type)


def _known() -> set[str]:
    known = set(OTHERS)
    for each in _types():
        if issubclass(each, Enum):
            known |= {str(member.value) for member in each}
        if is_dataclass(each):
            known |= {field.name for field in fields(each)}
        if issubclass(each, Toolset) and each is not Toolset:
            names = {spec.name for spec in each.specs()}
            known |= names | {name.rpartition(".")[2] for name in names}
    return known


def test_every_code_word_of_an_operations_page_is_one_of_the_system():
    known = _known()
    unknown = {
        (path, word)
        for path, template in edition().templates.items()
        if not path.startswith("medical-library/")
        for word in CODE.findall(template.page.text)
        if word not in known
    }
    assert not unknown
