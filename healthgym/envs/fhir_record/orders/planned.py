"""Whether what is asked for beside an order with a time of its own names another time."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from healthgym.envs.fhir_record.orders.quantities import Dimension, amount, unit_names
from healthgym.envs.fhir_record.task import OrderSpec

_UNITS = "|".join(unit_names(Dimension.TIME))
_AHEAD = re.compile(rf"\bin (\d+|an?) ?({_UNITS})\b(?! of\b)")
#: Longest span, in hours, that is still a date.
_LONGEST = 1e6
#: How far from its window a time in words may lie: they are rounded.
_SLACK = timedelta(days=1)


def is_at_another_time(spec: OrderSpec, begin: datetime, asked: str) -> bool:
    """Return whether what is asked for is to be done at another time than the order.

    Args:
        spec: The order.
        begin: When the question was asked.
        asked: What is asked for, in the form in which text is scanned.
    """
    if spec.occurrence is None:
        return False
    moments = []
    for count, unit in _AHEAD.findall(asked):
        span = amount(1.0 if count[0] == "a" else float(count), unit)
        if span is not None and span.value < _LONGEST:
            moments.append(begin + timedelta(hours=span.value))
    if re.search(r"\btomorrow\b", asked):
        moments.append(begin + timedelta(days=1))
    first, last = (moment.date() for moment in spec.occurrence)
    slack = _SLACK if last - first > _SLACK else timedelta(0)
    return any(not first - slack <= moment.date() <= last + slack for moment in moments)
