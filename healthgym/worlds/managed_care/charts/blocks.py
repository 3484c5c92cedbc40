"""The sections that notes are made of, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from healthgym.worlds.managed_care.charts import narrative, sections
from healthgym.worlds.managed_care.charts.sections import Draft

Section = Callable[[Draft], list[str]]

#: Sections that state no fact, and need not be gone through to know what is stated.
TALK: Mapping[str, Section] = {
    "presenting": narrative.presenting,
    "review": narrative.review,
    "beside": narrative.beside,
    "by_problem": narrative.by_problem,
    "records": narrative.records,
    "opinion": narrative.opinion,
    "family": narrative.family,
    "social": narrative.social,
    "reasoning": narrative.reasoning,
    "reason": sections.reason,
    "stay": narrative.stay,
}

SECTIONS: Mapping[str, Section] = {
    **TALK,
    "history": narrative.history,
    "background": sections.background,
    "problems": sections.problems,
    "medications": sections.medications,
    "prior": sections.prior,
    "allergies": sections.allergies,
    "vitals": sections.vitals,
    "results": sections.results,
    "exam": sections.exam,
    "assessment": sections.assessment,
    "course": sections.course,
    "disposition": sections.disposition,
}
