"""The sections of visit notes, each a block of text from the facts that belong in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import TypeVar, cast

from healthgym.worlds.managed_care.charts.ages import called, is_child
from healthgym.worlds.managed_care.charts.knowledge import (
    Topic,
    measures,
    short_names,
    topic_of_code,
    topics_of,
)
from healthgym.worlds.managed_care.charts.ordering import Ordering
from healthgym.worlds.managed_care.charts.planning import Planned
from healthgym.worlds.managed_care.charts.prose import (
    LASTING,
    Prose,
    Unwritten,
    begun,
    day_of,
    lower_first,
)
from healthgym.worlds.managed_care.charts.stays import Stay
from healthgym.worlds.managed_care.facts import (
    AnyFact,
    Diagnosis,
    Finding,
    Intolerance,
    Measurement,
    MedicationCourse,
    ProcedureDone,
    TherapyCourse,
)
from healthgym.worlds.managed_care.records.chart import Patient, ServiceRequest

_T = TypeVar("_T", bound=AnyFact)

#: Systems that an examiner may call normal.
SYSTEMS = ("heart", "lungs", "abdomen", "skin", "neuro", "neck", "mind")
#: Beginnings of the keys of findings that no examination shows.
_ASKED = ("history.", "family.", "plan.", "consult.", "prognosis.", "social.")
_SELF = {"F": "herself", "M": "himself"}


@dataclass(slots=True)
class Draft:
    """A document on its way.

    Attributes:
        prose: Its words, and what it has stated so far.
        planned: What it is to tell.
        patient: Whom it is about.
        focus: Its subject, in words.
        orders: Orders placed at its visit.
        earlier: The measurement before, by fact id, where the document may compare.
        guarded: Systems that are not to be called normal offhand.
        code: ICD-10-CM code of its subject; empty if it has none.
        ordering: The visit it is the note of, if an order comes from it.
        active: Every condition of the patient that goes on.
        running: Every medicine that is taken on the day, whatever the document is to tell.
        first_study: Whether no earlier study of a report's kind is on file.
        stays: Stays in hospital since the visit before.
        told: Facts that a paragraph told, and a list need not repeat.
        by_kind: The facts by their class; from the plan.
    """

    prose: Prose
    planned: Planned
    patient: Patient
    focus: str
    orders: tuple[ServiceRequest, ...] = ()
    earlier: Mapping[str, Measurement] = field(default_factory=dict)
    guarded: frozenset[str] = frozenset()
    code: str = ""
    ordering: Ordering | None = None
    active: tuple[Diagnosis, ...] = ()
    running: tuple[MedicationCourse, ...] = ()
    first_study: bool = True
    stays: tuple[Stay, ...] = ()
    told: set[str] = field(default_factory=set)
    by_kind: dict[type[object], list[AnyFact]] = field(init=False)

    def __post_init__(self) -> None:
        self.by_kind = {}
        for fact in self.planned.facts:
            self.by_kind.setdefault(type(fact), []).append(fact)

    @property
    def day(self) -> date:
        """The day of the document."""
        return self.planned.day

    def facts(self, kind: type[_T]) -> list[_T]:
        """Return the facts of a kind."""
        return cast("list[_T]", self.by_kind.get(kind, []))

    def fresh(self, fact: AnyFact) -> bool:
        """Return whether something about a lasting fact changed at this visit."""
        since, until = self.planned.since, self.planned.day
        return since <= begun(fact) <= until or since <= day_of(fact) <= until


def history(draft: Draft) -> list[str]:
    """Who the patient is, why here, and what changed, told."""
    prose, patient = draft.prose, draft.patient
    told = [prose.say("opener", **called(patient, draft.day), focus=draft.focus)]
    if prose.chooser.chance(30):
        if is_child(draft.patient, draft.day):
            told.append(prose.say("companion.child"))
        else:
            told.append(prose.say("companion", own=_SELF.get(patient.sex, "themselves")))
    news = [*map(partial(_stayed, prose), draft.stays), *_news(draft)]
    if not news and not draft.facts(Finding) and prose.chooser.chance(50):
        news = [prose.say("nothing_new")]
    told += news
    return [" ".join(told)]


def _stayed(prose: Prose, stay: Stay) -> str:
    """Tell of a stay in hospital."""
    begun_on, ended_on, what = prose.day(stay.begun), prose.day(stay.ended), lower_first(stay.name)
    return prose.say(f"stayed.{stay.kind.value}", begun=begun_on, ended=ended_on, what=what)


def _news(draft: Draft) -> list[str]:
    """Tell what began or ended at this visit, and what was done."""
    prose, news = draft.prose, list[str]()
    for fact in draft.planned.facts:
        if isinstance(fact, ProcedureDone):
            news.append(prose.procedure(fact))
        elif isinstance(fact, LASTING) and draft.fresh(fact) and not isinstance(fact, Intolerance):
            if isinstance(fact, Diagnosis):
                news.append(prose.diagnosis(fact, told=True))
            elif isinstance(fact, MedicationCourse):
                news.append(prose.medication(fact, told=True, on=draft.day))
            else:
                news.append(prose.therapy(fact, told=True, on=draft.day))
            draft.told.add(fact.id)
    return [text if text.endswith(".") else f"{text}." for text in news]


def problems(draft: Draft) -> list[str]:
    """The problem list."""
    return [
        f"- {draft.prose.diagnosis(fact)}"
        for fact in draft.facts(Diagnosis)
        if fact.id not in draft.told or fact.active
    ]


def medications(draft: Draft) -> list[str]:
    """What is taken on the day of the note, by name alone what other notes tell in full."""
    lines = [
        f"- {draft.prose.medication(fact, told=False, on=draft.day)}"
        for fact in draft.facts(MedicationCourse)
        if fact.ended is None or fact.ended > draft.day
    ]
    known = {fact.id for fact in draft.facts(MedicationCourse)}
    others = [fact.medication for fact in draft.running if fact.id not in known]
    names = ", ".join(dict.fromkeys(others))
    return [*lines, f"- {draft.prose.say('medication.also', names=names)}"] if names else lines


def prior(draft: Draft) -> list[str]:
    """What was tried: medicines that ended, and therapies."""
    prose, day = draft.prose, draft.day
    lines = [
        f"- {prose.medication(fact, told=False, on=day)}"
        for fact in draft.facts(MedicationCourse)
        if fact.ended is not None and fact.ended <= day and fact.id not in draft.told
    ]
    lines += [
        f"- {prose.therapy(fact, told=False, on=day)}"
        for fact in draft.facts(TherapyCourse)
        if fact.id not in draft.told
    ]
    return lines


def allergies(draft: Draft) -> list[str]:
    """Allergies and contraindications."""
    return [f"- {draft.prose.intolerance(fact)}" for fact in draft.facts(Intolerance)]


def vitals(draft: Draft) -> list[str]:
    """Vital signs in one line, blood pressure as one pair where both are of one day."""
    found = [fact for fact in draft.facts(Measurement) if is_vital(fact)]
    by_key = {(fact.code, fact.taken): fact for fact in found}
    shown: list[str] = []
    for fact in found:
        if fact.code == "8462-4" and ("8480-6", fact.taken) in by_key:
            continue
        low = by_key.get(("8462-4", fact.taken)) if fact.code == "8480-6" else None
        if low is None:
            shown.append(draft.prose.measurement(fact, draft.day))
        else:
            shown.append(_pressure(draft, fact, low))
    return [", ".join(shown)] if shown else []


def is_vital(fact: Measurement) -> bool:
    """Return whether a measurement is a vital sign."""
    known = measures().get(fact.code)
    return known is not None and known.vital


def _pressure(draft: Draft, high: Measurement, low: Measurement) -> str:
    prose = draft.prose
    first = prose.value(high).split(" ")[0]
    when = "" if high.taken == draft.day else f" ({prose.day(high.taken)})"
    return f"{prose.pick(('BP', 'Blood pressure', 'B/P'))} {first}/{prose.value(low)}{when}"


def results(draft: Draft) -> list[str]:
    """Laboratory results, scores and measures."""
    found = [fact for fact in draft.facts(Measurement) if not is_vital(fact)]
    texts = [draft.prose.measurement(fact, draft.day) for fact in found]
    if not texts:
        return []
    if draft.prose.chooser.chance(40):
        return [f"- {text}" for text in texts]
    return ["; ".join(texts) + "."]


def background(draft: Draft) -> list[str]:
    """What was asked rather than examined: habits, family, plans, opinions."""
    found = [fact for fact in draft.facts(Finding) if not _examined(fact)]
    return [f"- {draft.prose.finding(fact, draft.day)}" for fact in found]


def _examined(fact: Finding) -> bool:
    return not fact.key.startswith(_ASKED)


def exam(draft: Draft) -> list[str]:
    """What was found, then what is unremarkable where nothing forbids to say so."""
    prose = draft.prose
    lines = [f"- {prose.finding(x, draft.day)}" for x in draft.facts(Finding) if _examined(x)]
    plain = [
        prose.say("exam.general.child" if is_child(draft.patient, draft.day) else "exam.general")
    ]
    plain += [
        prose.say(f"exam.{system}")
        for system in SYSTEMS
        if system not in draft.guarded and prose.chooser.chance(55)
    ]
    return [" ".join(plain), *lines]


def assessment(draft: Draft) -> list[str]:
    """Each problem that the visit touched: how it stands, and what is done about it."""
    lines = []
    active = [fact for fact in draft.facts(Diagnosis) if fact.active]
    used: set[str] = set()
    touched = _touched(draft, active)
    if isinstance(draft.prose, Unwritten):  # what is done is told in words that state nothing
        return [_standing(draft, fact, topic_of_code(fact.code), used) for fact in touched]
    for fact in touched:
        topic = topic_of_code(fact.code)
        standing = _standing(draft, fact, topic, used)
        done = _doing(draft, topic, used)
        text = [standing, strung(done)] if done else [standing]
        lines.append(f"- {' '.join(text)}")
    rest = [
        draft.prose.say("plan.start" if draft.fresh(fact) else "plan.continue", **_slots(fact))
        for fact in draft.facts(MedicationCourse)
        if fact.ended is None and fact.id not in used and draft.fresh(fact)
    ]
    rest += [draft.prose.say("plan.order", order=order.description) for order in draft.orders]
    rest.append(draft.prose.say("plan.any"))
    rest.append(draft.prose.say("plan.any"))
    lines.append(f"- {strung(dict.fromkeys(rest))}")
    return lines


def strung(sentences: Iterable[str]) -> str:
    """Return short sentences as one, as plans are written."""
    first, *others = (text.rstrip(".") for text in sentences)
    return f"{'; '.join((first, *map(lower_first, others)))}."


def _slots(fact: MedicationCourse) -> dict[str, str]:
    return {"drug": fact.medication, "dose": fact.dose, "frequency": fact.frequency}


def _touched(draft: Draft, active: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return the problems about which the visit has something, or the first two."""
    active = list(active)
    found = []
    for fact in active:
        topic = topic_of_code(fact.code)
        if draft.fresh(fact) or (
            topic and any(_about(draft, topic, x) for x in draft.planned.facts)
        ):
            found.append(fact)
    return found or active[:2]


def _about(draft: Draft, topic: Topic, fact: AnyFact) -> bool:
    if isinstance(fact, Diagnosis) or topic not in topics_of(fact):
        return False
    return not isinstance(fact, LASTING) or draft.fresh(fact)


def _standing(draft: Draft, problem: Diagnosis, topic: Topic | None, used: set[str]) -> str:
    """Say how a problem stands, by the measure that follows it."""
    prose = draft.prose
    name = prose.pick((*short_names(problem.code), problem.display))
    for fact in draft.facts(Measurement):
        if topic is None or fact.code not in topic.codes or fact.id in used:
            continue
        used.add(fact.id)
        value = _measured(draft, fact)
        before = draft.earlier.get(fact.id)
        if before is None:
            return prose.say("assessment.first", problem=name, value=value)
        key = "same" if before.value == fact.value else "down"
        key = "up" if before.value < fact.value else key
        earlier = f"{prose.value(before)} ({prose.day(before.taken)})"
        if fact.code == "8480-6":
            earlier = f"{earlier} systolic"
        return prose.say(f"assessment.{key}", problem=name, value=value, before=earlier)
    return prose.say("assessment.plain", problem=name)


def _measured(draft: Draft, fact: Measurement) -> str:
    """Return a measure in words, a systolic pressure with its diastolic one."""
    if fact.code == "8480-6":
        for low in draft.facts(Measurement):
            if low.code == "8462-4" and low.taken == fact.taken:
                return _pressure(draft, fact, low)
    return draft.prose.measurement(fact, draft.day)


def _doing(draft: Draft, topic: Topic | None, used: set[str]) -> list[str]:
    """Say what is done: what started and stopped, what goes on, and advice."""
    prose, lines = draft.prose, list[str]()
    if topic is None:
        return lines
    going = []
    for fact in draft.facts(MedicationCourse):
        if fact.drug_class not in topic.classes or fact.id in used:
            continue
        used.add(fact.id)
        if fact.ended is not None and fact.ended <= draft.day:
            if draft.fresh(fact):
                why = prose.why(fact.stop_reason)
                lines.append(prose.say("plan.stop", drug=fact.medication, why=why))
        elif draft.fresh(fact):
            lines.append(prose.say("plan.start", **_slots(fact)))
        else:
            going.append(fact.medication)
    if going:
        lines.append(prose.say("plan.continue", drug=_listed(going)))
    if f"plan.{topic.name}" in prose.book and prose.chooser.chance(60):
        lines.append(prose.say(f"plan.{topic.name}"))
    return lines


def _listed(names: list[str]) -> str:
    """Return names as a list in a sentence."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def reason(draft: Draft) -> list[str]:
    """Why the specialist was asked."""
    return [draft.prose.say("reason", focus=draft.focus)]


def course(draft: Draft) -> list[str]:
    """The hospital stay."""
    return [" ".join([draft.prose.say("course", focus=draft.focus), *_news(draft)])]


def disposition(draft: Draft) -> list[str]:
    """How the stay or the assessment ended."""
    orders = [draft.prose.say("plan.order", order=order.description) for order in draft.orders]
    return [" ".join([draft.prose.say("disposition"), *orders])]
