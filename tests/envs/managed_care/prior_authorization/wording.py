"""Words put into right work of the practice: letters, notes, appeals, reasons and calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance
from healthgym.envs.managed_care.prior_auth_arena.working import Seat
from healthgym.envs.managed_care.prior_authorization.task import (
    AuthorizationInstance,
    AuthorizationReference,
)
from healthgym.worlds.managed_care.relay import PROVIDER
from healthgym.worlds.managed_care.start import WorldStart
from tests.envs.managed_care.prior_auth_arena.table import failed as failed_of
from tests.envs.managed_care.prior_auth_arena.table import instance as arena_task
from tests.envs.managed_care.prior_auth_arena.table import played
from tests.envs.managed_care.prior_authorization.playing import (
    CASE,
    Ending,
    Kind,
    before,
    fails,
    play,
    solution,
    task,
)

_DATA = Path(__file__).parent / "data"
_DIFFICULTIES = ("easy", "medium", "hard")
_LETTER, _PACK = "docs.upload_evidence", "docs.create_submission_bundle"
_DECIDE = "auth.finalize_provider_determination"
#: By field: in which tasks it is written, in which call, and as what.
_PLACES: Mapping[str, tuple[tuple[Ending, ...], str, str]] = {
    "letter": ((Course.APPROVED, Course.APPEALED, Course.PENDED), _LETTER, "content"),
    "pend_note": ((Course.PENDED,), "auth.respond_to_pend", "note"),
    "appeal": ((Course.APPEALED,), "auth.file_appeal", "rationale"),
    "external": ((Course.EXTERNAL,), "auth.file_external_appeal", "rationale"),
    "peer_turn": ((Course.PEER_CALL,), "p2p_session.send_turn", "message"),
    "peer_summary": ((Course.PEER_CALL,), "p2p_session.submit_summary", "summary"),
    "gather_reason": (tuple(Gap), _DECIDE, "override_reason"),
    "stop_reason": (tuple(Bar), _DECIDE, "override_reason"),
}
#: How many tasks are looked through for one that has a field.
_TASKS = 20
#: How many arena tasks are looked through for those with a call.
_LOOKED_AT = 400


@cache
def variants(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the texts of a file, by the field in which they are written."""
    found = json.loads((_DATA / f"{name}.json").read_text("utf-8"))
    return {field: tuple(texts) for field, texts in found.items()}


def failing(field: str, text: str, place: int) -> set[str]:
    """Return what fails in right work with a text in a field.

    Args:
        field: The field.
        text: The words, with slots in braces.
        place: Which of the tasks that have the field, counted round.
    """
    if field == "speak":
        return _spoken(text, place)
    _, name, key = _PLACES[field]
    instance, script = _work(field, place)
    slots = _slots(instance.start, instance.reference)
    return fails(play(instance, [_given(one, name, key, text, slots) for one in script]))


@cache
def _work(field: str, place: int) -> tuple[AuthorizationInstance, tuple[ToolCall, ...]]:
    """Return a task and right work on it; a letter more may be more than its channel takes."""
    endings, _, _ = _PLACES[field]
    difficulty, ending = _DIFFICULTIES[place % len(_DIFFICULTIES)], endings[place % len(endings)]
    for index in range(place, place + _TASKS):
        instance = task(Kind(ending, difficulty=difficulty, index=index))
        script = _with_letter(instance) if field == "letter" else solution(instance)
        if not fails(play(instance, script)):
            return instance, tuple(script)
    raise LookupError(f"No task has a field {field}.")


def _given(one: ToolCall, name: str, key: str, text: str, slots: Mapping[str, str]) -> ToolCall:
    if one.name != name:
        return one
    right = str(one.arguments[key])
    said = filled(text, {**slots, "right": right})
    return replace(one, arguments={**one.arguments, key: said})


def filled(text: str, slots: Mapping[str, str]) -> str:
    """Return a text with its slots filled."""
    for name, value in slots.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _with_letter(instance: AuthorizationInstance) -> list[ToolCall]:
    """Return the right calls, with a letter in the packet where the policy asks for none."""
    script = solution(instance)
    if any(one.name == _LETTER for one in script):
        return script
    policy = instance.reference.policy
    letter = call(
        _LETTER,
        case_id=CASE,
        kind="letter_of_medical_necessity",
        title="Letter of medical necessity",
        content=f"The attached documents show what {policy.id} requires.",
    )
    sent = before(script, _PACK, letter)
    return [_packed(one) if one.name == _PACK else one for one in sent]


def _packed(one: ToolCall) -> ToolCall:
    pages = one.arguments["document_ids"]
    assert isinstance(pages, list)
    return replace(one, arguments={**one.arguments, "document_ids": [*pages, "DOC-UP-0001"]})


def _slots(start: WorldStart, wanted: AuthorizationReference) -> Mapping[str, str]:
    """Return for whom what is asked for, by whom, why, and something that the chart has."""
    chart = start.charts[wanted.patient_id]
    order = next(one for one in chart.orders if one.id == wanted.order_id)
    known = {one.code: one.display for one in chart.conditions}
    staff = start.staff.workers
    measured = next(one for one in reversed(chart.observations) if one.value_quantity is not None)
    return {
        "member": f"{chart.patient.first_name} {chart.patient.last_name}",
        "doctor": staff[wanted.practitioner_id].name,
        "service": order.description,
        "diagnosis": known.get(wanted.diagnosis_codes[0], wanted.diagnosis_codes[0]),
        "policy": wanted.policy.id,
        "version": wanted.policy.version,
        "plan": chart.coverages[-1].plan_name,
        "value": (
            f"{measured.display} {measured.value_quantity:g} {measured.value_unit} on "
            f"{measured.observed_at:%Y-%m-%d}"
        ),
    }


@cache
def _calls() -> tuple[ArenaInstance, ...]:
    """Return test tasks of the arena in which the clinician knows what settles the case."""
    drawn: Iterator[ArenaInstance] = (arena_task(index) for index in range(_LOOKED_AT))
    found = [one for one in drawn if one.task.kind.endswith("-said")]
    return tuple(found)


def _spoken(text: str, place: int) -> set[str]:
    asked = _calls()[place % len(_calls())]
    memo = asked.reference.memo
    assert memo is not None
    slots = _slots(asked.start, asked.reference.provider)
    said = filled(text, {**slots, "right": f"On {memo.criterion}: {memo.said}"})
    return failed_of(played(asked, provider=_saying(said)), PROVIDER)


def _saying(said: str) -> Callable[[Seat, ArenaInstance], ProviderOracle]:
    class Saying(ProviderOracle):
        """Knows the answer, and says it in those words."""

        def speak(self) -> None:
            line = self.seat.offices.parley.open_line
            if line is None or line.turns:
                super().speak()
                return
            position = "overturn_to_approval"
            self.seat.do("call.speak", message=said, position=position, ready=True)

    return Saying
