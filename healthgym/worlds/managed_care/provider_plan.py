"""What the provider's staff goes by where nobody plays them; never shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.worlds.managed_care.vocabulary.authorization import SlotRule


@dataclass(frozen=True, slots=True, kw_only=True)
class PendAnswer:
    """What the practice does about one request for information.

    Attributes:
        documents: Ids of the documents of the chart that it sends; none if empty.
        sentence: What it writes; with no document, that there is none.
        hours: Business hours after which it answers.
        silent: Whether it does not answer at all, so that the pend lapses.
    """

    documents: tuple[str, ...] = ()
    sentence: str = ""
    hours: int = 4
    silent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderPlan:
    """What the provider's staff goes by; never shown.

    Attributes:
        answers: What it does about requests for information, the first of a case first, by case
            id; a question after the last is answered like the last, and a case that is not named
            stays silent.
        slot_rules: Which of the offered times it takes, by case id; the first if not named.
        slot_hours: Business hours after which it takes a time that was offered.
        appeals: Ids of cases of which it appeals a denial.
        listener: The role that is told when something arrives from the provider.
    """

    answers: Mapping[str, tuple[PendAnswer, ...]] = field(default_factory=dict)
    slot_rules: Mapping[str, SlotRule] = field(default_factory=dict)
    slot_hours: int = 2
    appeals: frozenset[str] = frozenset()
    listener: str = "agent"
