"""What one does who knows the answer, and what those do who do not look, or look at one half.

All of them play one seat, with the scripted colleague in the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import ToolCall, call
from healthgym.envs.medication_reconciliation.rules import Answer, by_chart, by_pharmacy
from healthgym.envs.medication_reconciliation.task import ReconciliationInstance
from healthgym.envs.medication_reconciliation.wording import SECTIONS
from healthgym.worlds.reconciliation.formulary import formulary
from healthgym.worlds.reconciliation.record import Record
from healthgym.worlds.reconciliation.world import PHYSICIAN, Disposition, Reason

#: A policy of one seat, from an instance and randomness to its actions.
Play = Callable[[ReconciliationInstance, np.random.Generator], Script]

_CHECK = call("send_message", text="Please check my lines.")
_SIGN = call("sign")


def solve(instance: ReconciliationInstance, role: str) -> Script:
    """Read, ask about every medicine, propose every line, have them checked, and sign."""
    answers = instance.reference.answers
    return [
        *_reads(role),
        call("send_message", text=f"What do you have on {', '.join(answers)}?"),
        *lines_of(answers),
        _CHECK,
        call("show_list"),
        _SIGN,
    ]


def baselines(role: str) -> Mapping[str, Play]:
    """Return the scripts of a seat that do not have both halves."""

    def script(
        answer: Callable[[Record, np.random.Generator], Mapping[str, Answer]],
    ) -> Play:
        def play(instance: ReconciliationInstance, rng: np.random.Generator) -> Script:
            lines = lines_of(answer(instance.start.record, rng))
            return [*_reads(role), *lines, _CHECK, _SIGN]

        return play

    def own_half(record: Record, rng: np.random.Generator) -> Mapping[str, Answer]:
        return by_chart(record) if role == PHYSICIAN else by_pharmacy(record)

    def unread(instance: ReconciliationInstance, rng: np.random.Generator) -> Script:
        return [_SIGN]

    return {
        "flood": script(lambda record, rng: _all(formulary(), Disposition.CONTINUE, record)),
        "prior": script(lambda record, rng: _copied(record, role)),
        "own_half": script(own_half),
        "always_continue": script(
            lambda record, rng: _all(record.medicines(), Disposition.CONTINUE, record)
        ),
        "always_stop": script(
            lambda record, rng: _all(record.medicines(), Disposition.STOP, record)
        ),
        "always_clarify": script(
            lambda record, rng: _all(record.medicines(), Disposition.CLARIFY, record)
        ),
        "guess": script(_guessed),
        "sign_unread": unread,
    }


def _reads(role: str) -> list[ToolCall]:
    return [call(name) for name in SECTIONS[role]]


def lines_of(answers: Mapping[str, Answer]) -> list[ToolCall]:
    """Return the calls that propose these answers."""
    return [_line(name, answer) for name, answer in answers.items()]


def _line(name: str, answer: Answer) -> ToolCall:
    dose = {"daily_dose": answer.dose} if answer.dose else {}
    return call(
        "propose_line",
        medicine=name,
        disposition=str(answer.disposition),
        reason=str(answer.reason),
        **dose,
    )


def _known_dose(record: Record, name: str) -> float:
    """Return the first dose that the record has for a medicine, or the usual one."""
    rows = (*record.chart.rows(), *record.pharmacy.rows())
    return next((row.dose for row in rows if row.medicine == name), formulary()[name].doses[0])


def _all(names: Iterable[str], end: Disposition, record: Record) -> Mapping[str, Answer]:
    """Return the same answer for all medicines."""
    reasons = {Disposition.STOP: Reason.STOPPED_BY_GP, Disposition.CLARIFY: Reason.NOT_COLLECTED}
    goes_on = end in (Disposition.CONTINUE, Disposition.CHANGE)
    return {
        name: Answer(
            end, _known_dose(record, name) if goes_on else 0.0, reasons.get(end, Reason.CURRENT)
        )
        for name in names
    }


def _copied(record: Record, role: str) -> Mapping[str, Answer]:
    """Return one's own list, continued as it stands."""
    rows = record.chart.rows() if role == PHYSICIAN else record.pharmacy.rows()
    return {row.medicine: Answer(Disposition.CONTINUE, row.dose, Reason.CURRENT) for row in rows}


def _guessed(record: Record, rng: np.random.Generator) -> Mapping[str, Answer]:
    """Return an answer by chance for each medicine, with the record's dose."""
    ends = tuple(Disposition)
    found: dict[str, Answer] = {}
    for name in record.medicines():
        end = ends[int(rng.integers(len(ends)))]
        found.update(_all([name], end, record))
    return found
