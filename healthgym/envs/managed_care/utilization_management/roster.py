"""The page that says who works at the plan, as what, when, and with which licence."""

from __future__ import annotations

from datetime import date
from functools import cache

from healthgym.envs.managed_care.cases.clinic import workforce
from healthgym.worlds.managed_care.handbook.page import Audience, Page
from healthgym.worlds.managed_care.staff import Worker

ROSTER = "payer-um/operational/roster.md"
_TITLE = "Roster"
_INTRO = (
    "Who works at the desks of the plan. Hours are those of the worker's own region, Monday to "
    "Friday; a region keeps its holidays. Sign with the id. The reviewers of delegates, vendors "
    "and programmes are among them: a nurse reads a case in the queue of its lane, and what "
    "follows is the same as in standard review. A licence is named by its kind and the states in "
    "which it is in force; intake, letters and supervision need none. Nurses, coordinators and "
    "letter specialists report to a supervisor; physician reviewers, appeals directors and "
    "supervisors report to the plan's chief medical officer, who sits at no desk. Nobody here "
    "reports to somebody who reviews."
)


@cache
def roster() -> Page:
    """Return the page; one for all tasks, as the people are the same."""
    rows = [_row(worker) for worker in workforce().workers if _at_plan(worker)]
    head = (
        "| Id | Name | Works as | Specialty | Region | Hours | Licence |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    )
    text = "\n".join((f"# {_TITLE}", "", _INTRO, "", *head, *rows, ""))
    return Page(
        path=ROSTER,
        title=_TITLE,
        version="2026.1",
        effective=date(2026, 1, 1),
        audience=(Audience.PAYER,),
        text=text,
    )


def _at_plan(worker: Worker) -> bool:
    return worker.organization_id == workforce().payer.id


def _row(worker: Worker) -> str:
    begin, end = worker.hours
    cells = (
        worker.id,
        worker.name,
        str(worker.role),
        worker.specialty or "-",
        worker.region,
        f"{begin:%H:%M}-{end:%H:%M}",
        f"{worker.licence}: {', '.join(worker.licensed_in)}" if worker.licence else "-",
    )
    return f"| {' | '.join(cells)} |"
