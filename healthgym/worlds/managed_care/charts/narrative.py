"""What notes tell at length: complaints and their course, other systems, family, habits, reasons.

Nothing here is a fact of the chart, and nothing may bear on a criterion: no finding, no grade, no
habit, treatment or test that a policy asks for.
"""

from __future__ import annotations

from healthgym.worlds.managed_care.charts import sections
from healthgym.worlds.managed_care.charts.ages import called, is_child
from healthgym.worlds.managed_care.charts.knowledge import complaint_of, short_names
from healthgym.worlds.managed_care.charts.persona import persona_of
from healthgym.worlds.managed_care.charts.prose import Unwritten
from healthgym.worlds.managed_care.charts.sections import Draft
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

#: Systems that a patient may be asked about besides, each with what keeps it from being told.
_ASKED = (
    ("eyes", ""),
    ("bladder", "abdomen"),
    ("bowels", "abdomen"),
    ("temperature", "neck"),
    ("skin_asked", "skin"),
    ("appetite", "abdomen"),
)


def complaints(draft: Draft) -> list[str]:
    """Return sentences about the trouble that a visit is about, and its course."""
    prose, life = draft.prose, persona_of(draft.patient, draft.day.year)
    general = "general.child" if is_child(draft.patient, draft.day) else "general"
    key = complaint_of(draft.code) if draft.code else general
    slots = {"hobby": life.hobby, "work": life.work, "focus": draft.focus, "name": _called(draft)}
    # Who sees the patient once tells more than who sees them every month.
    first = draft.planned.kind is DocumentKind.SPECIALIST_CONSULT_NOTE
    told = [prose.say(f"complaint.{key}", **slots) for _ in range(3 if first else 2)]
    # Nobody says the same thing twice with another ending.
    texts = [sections.strung({each.partition(",")[0]: each for each in told}.values())]
    life_told = []
    if first or prose.chooser.chance(40):
        life_told.append(prose.say(f"course.{life.group}", **slots))
    if first or prose.chooser.chance(30):
        life_told.append(prose.say("concern", **slots))
    return [*texts, *([sections.strung(life_told)] if life_told else ())]


def history(draft: Draft) -> list[str]:
    """Who the patient is, what changed, and, in words of their own, what the trouble is."""
    told = sections.history(draft)
    if isinstance(draft.prose, Unwritten):
        return told
    return [" ".join((*told, *complaints(draft)))]


def stay(draft: Draft) -> list[str]:
    """The days in hospital, from arrival to the last round."""
    return [draft.prose.say("stay")]


def _called(draft: Draft) -> str:
    return f"{draft.patient.first_name} {draft.patient.last_name}"


def presenting(draft: Draft) -> list[str]:
    """Who is seen for the first time by whom, why, and how the trouble has gone."""
    prose, patient, ordering = draft.prose, draft.patient, draft.ordering
    slots = {**called(patient, draft.day), "name": _called(draft), "focus": draft.focus}
    known = ordering is not None and ordering.listed is not None
    opening = prose.say("presenting.known" if known else "presenting.open", **slots)
    return [" ".join((opening, *complaints(draft)))]


def review(draft: Draft) -> list[str]:
    """What was asked of other systems."""
    prose = draft.prose
    told = [
        prose.say(f"asked.{name}")
        for name, guard in _ASKED
        if guard not in draft.guarded and prose.chooser.chance(70)
    ]
    prose.chooser.shuffle(told)
    return [sections.strung(told)] if told else []


def beside(draft: Draft) -> list[str]:
    """The other conditions, in a consultation: who looks after them, and what they change."""
    return _by_problem(draft, "problem.beside")


def by_problem(draft: Draft) -> list[str]:
    """The other conditions, over a stay in hospital."""
    return _by_problem(draft, "problem.stay")


def _by_problem(draft: Draft, key: str) -> list[str]:
    """Return a paragraph for each condition that the patient has by then, its name alone."""
    prose, name = draft.prose, _called(draft)
    lines = []
    for fact in draft.active:
        if fact.onset <= draft.day and fact.code != draft.code:
            called = prose.pick((*short_names(fact.code), fact.display))
            lines.append(f"- {prose.say(key, problem=called, name=name, focus=draft.focus)}")
    return lines


def records(draft: Draft) -> list[str]:
    """What was read for the visit."""
    return [draft.prose.say("records", name=_called(draft), focus=draft.focus)]


def opinion(draft: Draft) -> list[str]:
    """The answer to who asked, what else was thought of, and who does what."""
    life = persona_of(draft.patient, draft.day.year)
    slots = {"name": _called(draft), "focus": draft.focus, "hobby": life.hobby}
    parts = ("answer", "thought", "shared")
    return [" ".join(draft.prose.say(f"opinion.{part}", **slots) for part in parts)]


def family(draft: Draft) -> list[str]:
    """Illnesses of the family."""
    one, other = persona_of(draft.patient, draft.day.year).family
    return [draft.prose.say("family", one=one, other=other)]


def social(draft: Draft) -> list[str]:
    """Work, pastimes and meals."""
    life = persona_of(draft.patient, draft.day.year)
    slots = {"work": life.work, "hobby": life.hobby, "food": life.food}
    return [draft.prose.say(f"social.{life.group}", **slots)]


def reasoning(draft: Draft) -> list[str]:
    """What is thought, and what is asked for."""
    prose, ordering = draft.prose, draft.ordering
    if ordering is None:
        return []
    slots = {"focus": draft.focus, "order": ordering.service}
    first = "reasoning.known" if ordering.listed is not None else "reasoning.open"
    return [
        f"- {prose.say(first, **slots)}",
        f"- {prose.say('reasoning.options', **slots)} {prose.say('reasoning.request', **slots)}",
        f"- {prose.say('plan.any')}",
    ]
