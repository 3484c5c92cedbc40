"""Policies from outside of this package that a payer goes by: those of a folder of data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.sources import load_questionnaires

#: Folders whose policies are kept.
_KEPT = 4


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The policies of a payer in place of those of the library; compared by identity.

    Attributes:
        policies: All of them.
    """

    policies: tuple[Policy, ...]


@lru_cache(maxsize=_KEPT)
def read_shelf(folder: Path) -> Shelf:
    """Return the policies that are made of a folder's published questionnaires and summaries.

    Args:
        folder: Holds ``coverage-determinations``, ``questionnaires`` and ``davinci-pas``.

    Raises:
        MissingDataError: If the folder or one of the files is not there.
        DamagedDataError: If a file is no questionnaire, lacks a question or a number that is
            needed, or contradicts itself; nothing is loaded then.
    """
    return Shelf(tuple(load_questionnaires(folder).values()))
