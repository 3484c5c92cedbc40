"""What a practice may count: its own work, its patient's age, and what the policy asks for."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.accounts import Account
from healthgym.worlds.managed_care.claim_words import stems
from healthgym.worlds.managed_care.numerals import SMALL_NUMBERS

#: Units that times are told in, by their days.
TIMES = {"day": 1.0, "week": 7.0, "month": 30.44, "year": 365.25}
#: Beginnings of the words by which an age is told, and of those that tell what is asked for.
_OF_AGE = stems("old age aged")
_ASKING = stems(" ".join(SMALL_NUMBERS)) | stems(
    "ask asks asked asking require requires required requirement want wants wanted need needs "
    "needed call calls called demand demands minimum maximum threshold limit bound meet met exceed "
    "exceeds shown attend attended attending fulfil fulfilled"
)
#: A policy, a note and a letter name what somebody attended differently.
_ATTENDED = ("visit", "session", "treatment")


@dataclass(frozen=True)
class PracticeAccount(Account):
    """What is on record of a practice's work.

    Attributes:
        ages: How old the patient was on the days of the file, in years.
    """

    ages: frozenset[int] = frozenset()

    def counts(self, number: float, unit: str, about: Set[str]) -> bool:
        """Return whether an amount stands on file, or follows from days, birth or rules.

        What is said to be asked for, and of nothing besides, is on the policy's page.

        Args:
            number: How many.
            unit: Of what.
            about: Beginnings of the words that it stands with; one of them has to be near.
        """
        if unit == "year" and number in self.ages and about & _OF_AGE:
            return True
        near = about if about - _ASKING else frozenset()
        return any(
            Account.counts(self, number, each, near)
            for each in (_ATTENDED if unit in _ATTENDED else (unit,))
        )


def lengths(one: date, other: date) -> set[str]:
    """Return how far two days are apart, in each unit of time."""
    days = abs((other - one).days)
    return {f"{each(days / unit)}" for unit in TIMES.values() for each in (int, round)}
