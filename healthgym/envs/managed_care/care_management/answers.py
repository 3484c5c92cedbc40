"""What a member has to tell: items of questionnaires, medicines as taken, barriers, worries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from healthgym.envs.managed_care.care_management.circumstances import works
from healthgym.envs.managed_care.care_management.history import History
from healthgym.worlds.managed_care.charts.stays import StayKind
from healthgym.worlds.managed_care.conversation.persona import Rhythm
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.care import AdherenceLevel
from healthgym.worlds.managed_care.voices import Disclosure, Topic

#: Subjects on which there may be a social barrier, in the order in which they are drawn.
SOCIAL = (
    Topic.TRANSPORTATION,
    Topic.FOOD,
    Topic.HOUSING,
    Topic.FINANCES,
    Topic.CAREGIVER,
    Topic.LITERACY,
    Topic.WORK,
    Topic.LANGUAGE,
    Topic.PHONE_ACCESS,
)
#: LOINC codes of the sums, and items and most points of an item.
PHQ9, GAD7 = "44261-6", "70274-6"
_MOST = 3
#: Days of a week on which a medicine is missed: all of them if it is not taken.
_WEEK = 7
_PARTIAL, _NON_ADHERENT = 2, 5
#: How many medicines are missed on some days, and how many are not taken at all, by how often.
_SKIPPED, _DROPPED = (0.5, 0.27, 0.16, 0.07), (0.72, 0.22, 0.06)
#: How often somebody takes what no chart has; has a barrier that goes with the condition, another.
_UNLISTED, _LIKELY, _UNLIKELY = 0.16, 0.24, 0.05
#: How the frequency of a medicine begins that is not for every day.
_RHYTHMS = {
    Rhythm.NEEDED: ("as needed",),
    Rhythm.SELDOM: ("once weekly", "once monthly", "every other"),
}
#: Days that an episode takes at most.
_EPISODE = 8
_MOODS = ("F32", "F33", "F20", "F41", "F43", "F50", "F10", "F11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a member has to tell.

    Attributes:
        phq9: Points of the nine items.
        gad7: Points of the seven items.
        missed: Doses of a week that are missed, by medicine of the chart that is taken at all.
        rhythms: How medicines of the chart are taken that are not for every day.
        doses: What the labels of all medicines say.
        untaken: Medicines of the chart that are not taken.
        unlisted: Medicines that are taken and not in the chart.
        barriers: Whether there is a barrier, by subject.
        substances: Whether alcohol or other substances are a concern.
        mood: Whether mood keeps them from taking care.
        safety: Whether they think of harming themselves.
        stays: Hospital stays of the last months, as they count them.
        followed_up: Whether they were seen at the practice after the last of all stays.
        diagnoses: Codes of conditions of which they know.
        worry: What worries them most.
    """

    phq9: tuple[int, ...]
    gad7: tuple[int, ...]
    missed: Mapping[str, int]
    rhythms: Mapping[str, Rhythm]
    doses: Mapping[str, str]
    untaken: frozenset[str]
    unlisted: tuple[str, ...]
    barriers: Mapping[Topic, bool]
    substances: bool
    mood: bool
    safety: bool
    stays: int
    followed_up: bool
    diagnoses: tuple[str, ...]
    worry: Topic

    @property
    def careless(self) -> bool:
        """Whether medicines are left out, or on many days."""
        return is_careless(self.missed, self.untaken)

    @property
    def tells(self) -> Mapping[Topic, tuple[Disclosure, ...]]:
        """What is told when asked, by subject."""
        drugs = [
            Disclosure(topic=Topic.MEDICATION, item=name, score=count)
            for name, count in self.missed.items()
        ]
        drugs += [
            Disclosure(topic=Topic.MEDICATION, item=name, present=False, score=_WEEK)
            for name in sorted(self.untaken)
        ]
        drugs += [Disclosure(topic=Topic.MEDICATION, item=name, score=0) for name in self.unlisted]
        flags = {
            Topic.SUBSTANCE_USE: self.substances,
            Topic.MOOD: self.mood,
            Topic.SAFETY: self.safety,
            **self.barriers,
        }
        return {
            Topic.PHQ9: _items(Topic.PHQ9, self.phq9),
            Topic.GAD7: _items(Topic.GAD7, self.gad7),
            Topic.MEDICATION: tuple(drugs),
            Topic.DIAGNOSIS: tuple(
                Disclosure(topic=Topic.DIAGNOSIS, item=code) for code in self.diagnoses
            ),
            Topic.HOSPITAL_STAY: (
                Disclosure(topic=Topic.HOSPITAL_STAY, present=self.stays > 0, score=self.stays),
            ),
            **{
                topic: (Disclosure(topic=topic, present=present),)
                for topic, present in flags.items()
            },
        }

    def adherence(self) -> dict[str, AdherenceLevel]:
        """Return how each medicine of the chart is taken."""
        levels = {name: _level(count) for name, count in self.missed.items()}
        return levels | dict.fromkeys(self.untaken, AdherenceLevel.NON_ADHERENT)


def is_careless(missed: Mapping[str, int], untaken: frozenset[str]) -> bool:
    """Return whether medicines are left out, or on many days."""
    return bool(untaken) or any(count >= _PARTIAL for count in missed.values())


def _items(topic: Topic, points: tuple[int, ...]) -> tuple[Disclosure, ...]:
    return tuple(
        Disclosure(topic=topic, item=str(number), present=score > 0, score=score)
        for number, score in enumerate(points, 1)
    )


def _level(missed: int) -> AdherenceLevel:
    if missed >= _NON_ADHERENT:
        return AdherenceLevel.NON_ADHERENT
    return AdherenceLevel.PARTIAL if missed >= _PARTIAL else AdherenceLevel.ADHERENT


def documented(history: History, code: str, today: date, rules: OperatingRules) -> int | None:
    """Return the latest sum in the chart that stands in the place of asking; None without one."""
    found = [
        (fact.taken, fact.value)
        for fact in history.measured
        if fact.code == code and 0 <= (today - fact.taken).days <= rules.screening_age_days
    ]
    return int(max(found)[1]) if found else None


def soon_out_of_date(history: History, today: date, rules: OperatingRules) -> bool:
    """Return whether a sum in the chart stands in the place of asking for only some days more.

    An episode lasts some days; what is right in it must not hang on which.
    """
    last = rules.screening_age_days
    return any(
        fact.code in (PHQ9, GAD7) and last - _EPISODE <= (today - fact.taken).days <= last
        for fact in history.measured
    )


def draw_answers(
    history: History,
    language: str,
    today: date,
    rules: OperatingRules,
    safety: bool,
    unlisted: Mapping[str, str],
    rng: np.random.Generator,
) -> Answers:
    """Draw what a member has to tell, in agreement with the chart.

    Args:
        history: What the chart knows.
        language: Which language they prefer.
        today: The day of the task.
        rules: The task's numbers.
        safety: Whether the referral states a concern about safety.
        unlisted: What may be taken that no chart has, with what stands on its label.
        rng: Where chance comes from.
    """
    low = any(code.startswith(_MOODS) for code in history.codes)
    phq9 = _phq9(documented(history, PHQ9, today, rules), low, safety, rng)
    gad7 = _spread(_sum(documented(history, GAD7, today, rules), low, 21, rng), 7, rng)
    missed, untaken = _medicines(history, rng)
    barriers = _barriers(history, language, today, rng)
    mood = sum(phq9) >= rules.phq9_problem and rng.random() < 0.7
    used = any(code.startswith("F1") for code in history.codes)
    extra = tuple(unlisted)[:1] if unlisted and rng.random() < _UNLISTED else ()
    worries = [topic for topic in SOCIAL[:7] if barriers[topic]]
    careless = is_careless(missed, untaken)
    worries += [Topic.MEDICATION] * careless + [Topic.MOOD] * mood
    worries = worries or [Topic.DIAGNOSIS]
    return Answers(
        phq9=phq9,
        gad7=gad7,
        missed=missed,
        rhythms=_rhythms(history),
        doses={**unlisted, **{fact.medication: fact.dose for fact in history.medicines}},
        untaken=untaken,
        unlisted=extra,
        barriers=barriers,
        substances=used or bool(rng.random() < 0.08),
        mood=bool(mood),
        safety=phq9[-1] > 0,
        stays=history.known().count(StayKind.INPATIENT, 12),
        followed_up=_followed_up(history),
        diagnoses=history.counted,
        worry=worries[int(rng.integers(len(worries)))],
    )


def _followed_up(history: History) -> bool:
    """Return whether the last visit to the practice was after the last stay in a hospital."""
    ended = [stay.ended for stay in history.stays if stay.kind is StayKind.INPATIENT]
    return bool(ended) and history.seen > max(ended)


def _sum(known: int | None, low: bool, most: int, rng: np.random.Generator) -> int:
    if known is not None:
        return min(known, most)
    if low:
        return int(rng.integers(6, most - 1))
    return int(rng.integers(0, 9)) if rng.random() < 0.75 else int(rng.integers(8, most - 4))


def _spread(total: int, items: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return points of items that add up to a sum."""
    points = [0] * items
    while sum(points) < total:
        able = [place for place in range(items) if points[place] < _MOST]
        points[able[int(rng.integers(len(able)))]] += 1
    return tuple(points)


def _phq9(known: int | None, low: bool, safety: bool, rng: np.random.Generator) -> tuple[int, ...]:
    """Return points of the nine items; whoever has many says so in the first two, too."""
    total = _sum(known, low, 24, rng)
    harm = int(safety or (total >= 15 and rng.random() < 0.2))
    total = max(total, 4) if safety and known is None else total
    # Eight items hold 24 points; who has more says so to the ninth.
    harm = max(min(harm, total), total - 8 * _MOST)
    screen = min(int(rng.integers(3, 6)), total - harm) if total >= 8 else 0
    first = _spread(screen, 2, rng)
    left = total - harm - screen
    if total < 8:
        rest = _spread(left, 8, rng)
        return (*rest, harm)
    more = max(left - 6 * _MOST, 0)
    rest = _spread(left - more, 6, rng)
    return (*_topped(first, more), *rest, harm)


def _topped(points: tuple[int, ...], more: int) -> tuple[int, ...]:
    found = list(points)
    for place in range(len(found)):
        step = min(_MOST - found[place], more)
        found[place] += step
        more -= step
    return tuple(found)


def _medicines(history: History, rng: np.random.Generator) -> tuple[dict[str, int], frozenset[str]]:
    """Draw how each medicine of the chart is taken; most trouble is with one or two."""
    names = list(dict.fromkeys(fact.medication for fact in history.medicines))
    missed = {name: int(rng.random() < 0.2) for name in names}
    # What is taken when it is needed, or seldom, is not missed on days of a week.
    seldom = _rhythms(history)
    daily = [fact.medication for fact in history.medicines if fact.medication not in seldom]
    missed |= {name: 0 for name in names if name not in daily}
    order = [daily[int(place)] for place in rng.permutation(len(daily))]
    skipped, days = int(rng.choice(4, p=_SKIPPED)), rng.integers(_PARTIAL, _WEEK, len(order))
    for name, count in zip(order[:skipped], days, strict=False):
        missed[name] = int(count)
    dropped = int(rng.choice(3, p=_DROPPED))
    untaken = frozenset(order[skipped : skipped + dropped])
    return {name: count for name, count in missed.items() if name not in untaken}, untaken


def _rhythms(history: History) -> dict[str, Rhythm]:
    """Return how the medicines of the chart are taken that are not for every day."""
    taken = {fact.medication: fact.frequency for fact in history.medicines}
    return {
        name: rhythm
        for name, frequency in taken.items()
        for rhythm, words in _RHYTHMS.items()
        if frequency.startswith(words)
    }


def _barriers(
    history: History, language: str, today: date, rng: np.random.Generator
) -> dict[Topic, bool]:
    found: dict[Topic, bool] = {}
    at_work = works(history.member.patient, today)
    for topic in SOCIAL:
        chance = _LIKELY if topic in history.condition.barriers else _UNLIKELY
        if topic is Topic.LANGUAGE:
            chance = 0.5 if language != "English" else 0.0
        if topic is Topic.PHONE_ACCESS:
            chance = _UNLIKELY
        if topic is Topic.WORK and not at_work:
            chance = 0.0
        found[topic] = bool(rng.random() < chance) or topic in history.social
    return found
