"""Whether the values that a text gives of what a policy measures are on file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from healthgym.worlds.managed_care.charts.knowledge import carried
from healthgym.worlds.managed_care.facts import AnyFact, Measurement
from healthgym.worlds.managed_care.policies.criteria import MeasurementCriterion
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.policies.units import convert, other_units
from healthgym.worlds.managed_care.stated import numbers_after, stated

#: How far a value may be off that was carried to another unit and rounded.
_ROUNDED = 0.02
#: The same of one that was carried to another unit and back: 188 mg/dL are 10.4 mmol/L, and 187.
_CARRIED = 0.006
#: What follows a number that counts how often, or for how long.
_OFTEN = (
    r"(?:\.0+)?(?: or more| or fewer| of the| separate| different| consecutive| calendar)* ?-?"
    r"(?:days?|weeks?|months?|years?|hours?|times|occasions|readings?|results?|visits?|values?)\b"
)


class Measured:
    """Values of what a policy measures.

    Args:
        policy: The policy.
        facts: What the packet shows.
        texts: Returns what was sent.
        heard: What was told on calls, where a value goes by many names.
    """

    def __init__(
        self,
        policy: Policy,
        facts: Iterable[AnyFact],
        texts: Callable[[], Iterable[str]],
        heard: Iterable[str],
    ) -> None:
        self._policy, self._texts, self._heard = policy, texts, tuple(heard)
        self._facts = tuple(fact for fact in facts if isinstance(fact, Measurement))

    def follows(self, number: float) -> bool:
        """Return whether a number is a value on file in another unit, or one carried back."""
        carried = any(abs(number - each) <= _ROUNDED * abs(each) for each in self._converted)
        own = (fact.value for fact in self._facts)
        return carried or any(abs(number - each) <= _CARRIED * abs(each) for each in own)

    @cached_property
    def _converted(self) -> tuple[float, ...]:
        """Values on file, and numbers told on calls, in units of what the policy measures."""
        spoken = [float(number) for text in self._heard for number in stated(text).numbers]
        told = (
            convert(number, unit, item.unit, item.code)
            for item in self._measures
            for unit in other_units(item.code, item.unit)
            for number in spoken
        )
        return (*_carried(self._facts), *(value for value in told if value is not None))

    def mismeasured(self, text: str) -> Iterator[str]:
        """Yield values of what the policy measures that no page has; its own limits may be told."""
        for name, limits in self._limits.items():
            if name not in text:
                continue
            for number, sentence in numbers_after(name, text):
                often = rf"(?<![\d.]){re.escape(number)}{_OFTEN}"
                if number in limits or re.search(often, sentence):
                    continue
                near = (
                    abs(float(number) - each) <= _ROUNDED * abs(each) for each in self._values[name]
                )
                if not any(near):
                    yield f"{name} {number}"

    @cached_property
    def _limits(self) -> Mapping[str, frozenset[str]]:
        """The policy's own numbers, by the name of a measure, which several criteria may share."""
        found: dict[str, frozenset[str]] = {}
        for item in self._measures:
            name = item.display.lower()
            found[name] = found.get(name, frozenset()) | stated(self._policy.text(item.id)).numbers
        return found

    @cached_property
    def asked(self) -> frozenset[str]:
        """The numbers of the policy's version and of what it measures."""
        return stated(self._policy.version).numbers.union(*self._limits.values())

    @cached_property
    def _values(self) -> Mapping[str, frozenset[float]]:
        """Values that were sent of each measure, or told on a call, in any unit."""
        texts = [content.lower() for content in self._texts()]
        spoken = {float(number) for text in self._heard for number in stated(text).numbers}
        found: dict[str, frozenset[float]] = {}
        for item in self._measures:
            name = item.display.lower()
            mine = [fact for fact in self._facts if fact.code == item.code]
            told = {float(number) for text in texts for number, _ in numbers_after(name, text)}
            told |= spoken | {fact.value for fact in mine} | _carried(mine)
            found[name] = found.get(name, frozenset()) | told
        return found

    @property
    def _measures(self) -> Iterator[MeasurementCriterion]:
        asked = criteria(self._policy.criteria)
        return (item for item in asked if isinstance(item, MeasurementCriterion))


def _carried(measured: Iterable[Measurement]) -> set[float]:
    """Return values in the other units in which they can be given."""
    return {value for fact in measured for value in carried(fact)}
