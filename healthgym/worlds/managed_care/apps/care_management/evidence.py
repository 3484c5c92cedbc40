"""What an assessment may rest on: the chart, and what the person told on the phone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.charts.chart import PatientChart
from healthgym.worlds.managed_care.charts.knowledge import generic_name, short_names
from healthgym.worlds.managed_care.control import control_of
from healthgym.worlds.managed_care.voices import Disclosure, Part, Topic

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known about the person of an episode.

    Attributes:
        chart: Their chart.
        referred_codes: Diagnosis codes of the referral.
        told: What they told, oldest first.
        called: The days on which they were called.
        today: The day it is, in UTC.
    """

    chart: PatientChart
    referred_codes: frozenset[str]
    told: tuple[Disclosure, ...]
    called: frozenset[date]
    today: date
    # What they told, by topic: a section asks about up to a dozen.
    _by_topic: dict[Topic, list[Disclosure]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found: dict[Topic, list[Disclosure]] = {}
        for item in self.told:
            found.setdefault(item.topic, []).append(item)
        object.__setattr__(self, "_by_topic", found)

    @classmethod
    def of(cls, world: ManagedCareWorld, case_id: str) -> Evidence:
        """Return what is known about the person of an episode.

        Raises:
            Refusal: If there is no such episode, or no chart.
        """
        referred = (
            code
            for referral in world.referrals.referrals.values()
            if referral.case_id == case_id
            for code in referral.diagnosis_codes
        )
        return cls(
            chart=world.care_chart.of(case_id),
            referred_codes=frozenset(referred),
            told=world.outreach.memory(case_id).disclosed,
            called=frozenset(call.created_at.date() for call in world.outreach.calls(case_id)),
            today=world.clock.now.date(),
        )

    def about(self, topic: Topic) -> Sequence[Disclosure]:
        """Return what was told about a topic, oldest first."""
        return self._by_topic.get(topic, ())

    def knows_diagnosis(self, code: str) -> bool:
        """Return whether a diagnosis is on the problem list, referred, or told."""
        listed = {condition.code for condition in self.chart.conditions}
        told = {item.item for item in self.about(Topic.DIAGNOSIS)} - set(Part)
        return code in listed | self.referred_codes | told

    def knows_condition(self, name: str) -> bool:
        """Return whether a condition is on the problem list or told, by its code or its name."""
        listed = self.chart.conditions
        if any(same_condition(name, each.code, each.display) for each in listed):
            return True
        wanted = name.casefold()
        told = {item.item for item in self.about(Topic.DIAGNOSIS)} - set(Part)
        return wanted in map(str.casefold, told)

    def level(self, part: Part) -> int | None:
        """Return which level of a part of an illness was told last; None if none was."""
        levels = [item.score for item in self.about(Topic.DIAGNOSIS) if item.item == part]
        return levels[-1] if levels else None

    @property
    def treated(self) -> bool | None:
        """Whether somebody treats how they feel, as they told last; None if nobody asked."""
        told = [item for item in self.about(Topic.DIAGNOSIS) if item.item == Part.TREATMENT]
        return told[-1].present if told else None

    def has_code(self, *prefixes: str) -> bool:
        """Return whether an active condition's code begins with one of these."""
        return any(
            condition.active and condition.code.startswith(prefixes)
            for condition in self.chart.conditions
        )

    def medicines(self) -> tuple[str, ...]:
        """Return the names of the medicines that the chart has as active."""
        return tuple(
            order.medication_name for order in self.chart.medications if order.status == "active"
        )

    def charted_medicine(self, name: str) -> bool:
        """Return whether the chart has a medicine, active or not."""
        return any(same_medicine(order.medication_name, name) for order in self.chart.medications)

    def told_medicine(self, name: str) -> bool:
        """Return whether the person said anything about a medicine."""
        return any(same_medicine(item.item, name) for item in self.about(Topic.MEDICATION))

    def stays(self) -> int:
        """Return how many stays in a hospital the chart has."""
        words = rules().hospital
        return sum(
            any(word in encounter.encounter_type.casefold() for word in words)
            for encounter in self.chart.encounters
        )

    def documented(self, code: str, score: int) -> frozenset[date]:
        """Return the days on which the chart has a score.

        Args:
            code: LOINC code of the instrument's sum.
            score: The sum.
        """
        return frozenset(
            found.observed_at.date()
            for found in self.chart.observations
            if found.code == code and found.value_quantity == score
        )

    def barrier(self, topic: Topic) -> bool | None:
        """Return whether there is a social barrier; None if neither chart nor person says.

        The person's last word counts; the chart knows a barrier by its code.
        """
        told = self.about(topic)
        if told:
            return told[-1].present
        return True if self.coded_barrier(topic) else None

    def coded_barrier(self, topic: Topic) -> str:
        """Return the active code of the problem list that says of a barrier; blank without one."""
        codes = rules().social.get(topic.value, ())
        able = (each.code for each in self.chart.conditions if each.active)
        return next((code for code in able if codes and code.startswith(codes)), "")

    def speaks_another_language(self) -> bool:
        """Return whether the chart has another language than English as the preferred one."""
        return self.chart.patient.preferred_language != "English"


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionRules:
    """What the sections' rules are stated in.

    Attributes:
        social: ICD-10-CM codes of a social barrier, by topic.
        required_social: Topics on which chart or person must have said something.
        hospital: Words of an encounter's type that make it a stay in a hospital.
        instruments: LOINC code and number of items of a screening instrument, by topic.
    """

    social: Mapping[str, tuple[str, ...]]
    required_social: tuple[Topic, ...]
    hospital: tuple[str, ...]
    instruments: Mapping[Topic, tuple[str, int]]


@cache
def rules() -> SectionRules:
    """Return the rules of the sections, from ``data/section_rules.json``."""
    package = "healthgym.worlds.managed_care"
    loaded = json.loads((files(package) / "data" / "section_rules.json").read_text("utf-8"))
    return SectionRules(
        social={topic: tuple(codes) for topic, codes in loaded["social"].items()},
        required_social=tuple(map(Topic, loaded["required_social"])),
        hospital=tuple(loaded["hospital"]),
        instruments={
            Topic(topic): (row["loinc"], row["items"])
            for topic, row in loaded["instruments"].items()
        },
    )


def same_condition(words: str, code: str, display: str) -> bool:
    """Return whether words name a condition: by code, by title, or as handbook or notes call it.

    Args:
        words: What it was called.
        code: Its ICD-10-CM code.
        display: The title of the code.
    """
    said, shown = words.casefold(), display.casefold()
    if said == code.casefold() or said in shown or shown in said:
        return True
    row = control_of(code)
    names = (*short_names(code), *((row.name,) if row else ()))
    return any(_holds(said, each.casefold()) or _holds(each.casefold(), said) for each in names)


def _holds(text: str, part: str) -> bool:
    """Return whether a text has another in it, in whole words: "AF" is not in "after"."""
    if not part or part not in text:
        return False
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


#: What may stand before the name of a medicine, in somebody's own words.
_QUOTES = " '\"\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT SINGLE QUOTATION MARK}"


def same_medicine(one: str, other: str) -> bool:
    """Return whether two names are of one medicine.

    A dose is no part of a name, and a name may be short for a longer one: ``insulin`` for
    ``insulin glargine``, which is another one than ``insulin lispro``. A brand is a name of what is
    in it.
    """
    first, second = _name_words(one), _name_words(other)
    shared = min(len(first), len(second))
    return shared > 0 and first[:shared] == second[:shared]


@lru_cache(maxsize=4096)
def _name_words(medicine: str) -> tuple[str, ...]:
    """Return the words of a medicine's name, up to the dose."""
    words = generic_name(medicine.replace(",", " ").strip(_QUOTES)).split()
    return tuple(takewhile(lambda word: not word[0].isdigit(), words))
