"""What is found where something stood between the caller and the person, or a yes did not hold."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from healthgym.core.verdict import CheckResult
from healthgym.envs.managed_care.care_management import requirements as want
from healthgym.envs.managed_care.care_management.inspection import Inspection
from healthgym.envs.managed_care.care_management.reasons import EndedBecause
from healthgym.envs.managed_care.care_management.task import Ending
from healthgym.worlds.managed_care.apps.care_management.blocks import read_block
from healthgym.worlds.managed_care.apps.care_management.sections import SECTIONS, barriers_of
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.conversation.mind import Mind
from healthgym.worlds.managed_care.conversation.persona import BlockedBecause, Mark
from healthgym.worlds.managed_care.conversation.surroundings import (
    PLAIN,
    UNANSWERED,
    Answering,
    Capacity,
)
from healthgym.worlds.managed_care.records.care import ConversationSession
from healthgym.worlds.managed_care.vocabulary.care import CMAssessmentStatus, CMEngagement
from healthgym.worlds.managed_care.voices import Consent

_TO_OTHERS = (Mark.TOLD_OTHERS, Mark.MESSAGE)
#: Hours at which the afternoon and the evening begin.
_AFTERNOON, _EVENING = 12, 17
_PARTS_OF_DAY = 3


def around(seen: Inspection) -> Iterator[CheckResult]:
    """Yield what is found of others, of attempts and of emergencies, where there are any."""
    persona = seen.reference.persona
    if persona.around == PLAIN:
        return
    talk, mind = seen.talk, _mind(seen)
    done = [mark for mark in _TO_OTHERS if mark in talk.marks]
    left = sum(turn.to is Answering.MACHINE for turn in talk.turns)
    most = seen.before.operations.voicemails_most
    found = f"{left} messages" if left > most else ", ".join(done)
    yield want.MESSAGES.result(not found, found)
    early = _too_soon(seen, mind)
    yield want.SPACED.result(not early, early)
    if persona.around.emergency is not None and seen.reference.ending is Ending.PLANNED:
        passed = Mark.SAFETY_PASSED_OVER in talk.marks or mind.alarmed
        yield want.EMERGENCY.result(mind.struck and not passed, "passed over" if passed else "")
    if persona.around.capacity is Capacity.NONE and seen.reference.ending is not Ending.UNABLE:
        asked = Mark.NO_CAPACITY in talk.marks
        yield want.CAPACITY.result(not asked, "asked somebody who cannot decide" if asked else "")


def _mind(seen: Inspection) -> Mind:
    return seen.talk.memory.mind or Mind()


def _calls(seen: Inspection, mind: Mind) -> list[tuple[datetime, Answering]]:
    """Return when each call was made, on the person's clock, and what it reached."""
    state = seen.before.charts[seen.reference.patient_id].patient.address_state
    calendar, sessions = office_calendar(state), seen.talk.sessions

    def local(session: ConversationSession) -> datetime:
        return calendar.local(session.created_at)

    return list(zip(map(local, sessions), mind.answered_by, strict=False))


def _too_soon(seen: Inspection, mind: Mind) -> str:
    """Return which call followed one that nobody took too soon; empty if none did."""
    least = seen.before.operations.outreach_spacing_days
    for (at, reached), (then, _) in pairwise(_calls(seen, mind)):
        if reached in UNANSWERED and (then.date() - at.date()).days < least:
            return f"called again at {then:%Y-%m-%d %H:%M}"
    return ""


def _ended(seen: Inspection, because: EndedBecause) -> Iterator[str]:
    """Yield what is wrong with the end of an episode in which nothing is assessed."""
    if seen.ended_because != {because}:
        yield f"ended because: {', '.join(sorted(seen.ended_because)) or 'nothing said'}"
    if seen.assessment is not None or seen.plan is not None:
        yield "assessed or planned"


def _pending(seen: Inspection) -> Iterator[str]:
    record = seen.record
    if record is None or record.engagement_status is not CMEngagement.PENDING:
        yield "not filed as pending"
    if seen.talk.consent is not Consent.OPEN:
        yield f"the person's answer is {seen.talk.consent}"


def withdrawn(seen: Inspection) -> CheckResult:
    """Return whether a yes that was taken back was left at that."""
    talk, record, wrong = seen.talk, seen.record, list(_ended(seen, EndedBecause.DECLINED))
    if not _mind(seen).withdrawn:
        wrong.append("the person did not take back a yes")
    if talk.went_on_after_final_refusal:
        wrong.append("went on")
    if record is None or record.engagement_status is not CMEngagement.REFUSED:
        wrong.append("not filed as refused")
    return want.WITHDRAWN.result(not wrong, "; ".join(wrong))


def unable(seen: Inspection) -> CheckResult:
    """Return whether nobody was asked who cannot decide, and why the episode was ended."""
    wrong = [*_ended(seen, EndedBecause.UNABLE), *_pending(seen)]
    if Mark.NO_CAPACITY in seen.talk.marks:
        wrong.append("asked somebody who cannot decide")
    if not any(turn.to is Answering.PERSON for turn in seen.talk.turns):
        wrong.append("never talked with the person")
    return want.CAPACITY.result(not wrong, "; ".join(wrong))


def unreached(seen: Inspection) -> CheckResult:
    """Return whether all was tried that the handbook asks for."""
    rules, wrong = seen.before.operations, [*_ended(seen, EndedBecause.UNREACHABLE)]
    wrong += _pending(seen)
    calls = _calls(seen, _mind(seen))
    tried = [at for at, reached in calls if reached is not Answering.STRANGER]
    if len(tried) < rules.outreach_attempts_least:
        wrong.append(f"{len(tried)} attempts")
    elif (tried[-1].date() - tried[0].date()).days > rules.outreach_window_days:
        wrong.append("outside the window")
    parts = {(at.hour >= _AFTERNOON) + (at.hour >= _EVENING) for at in tried}
    if len(parts) < _PARTS_OF_DAY:
        wrong.append("always at the same time of day")
    return want.UNREACHED.result(not wrong, "; ".join(wrong))


def partial(seen: Inspection) -> CheckResult:
    """Return whether a yes to a part is on record, and nothing else was done with it."""
    return want.SCOPE.result(not (wrong := list(_partly(seen))), "; ".join(wrong[:5]))


def _partly(seen: Inspection) -> Iterator[str]:
    talk, record, made = seen.talk, seen.record, seen.assessment
    only = seen.reference.persona.only
    if talk.consent is not Consent.GIVEN:
        yield f"the person's answer is {talk.consent}"
    if Mark.SCOPE_CREEP in talk.marks:
        yield "asked for more"
    noted = "\n".join((record.notes or "", *record.patient_reported_issues)) if record else ""
    if not talk.quotes(noted, talk.yes):
        yield "the scope is not on record in the person's words"
    missing = talk.not_asked(only)
    if missing:
        yield f"not asked: {', '.join(missing)}"
    if made is None or made.status is not CMAssessmentStatus.BLOCKED:
        yield f"{made.status if made else 'nothing was assessed'}"
        return
    block = read_block(made.blocked_reason or "")
    if block is None or block.kind is not BlockedBecause.SCOPE:
        yield "the reason is another one"
    elif not talk.quotes(f'"{block.words}"', talk.yes):
        yield "the reason is not in the person's words"
    if seen.plan is not None:
        yield "planned"
    if any(getattr(made, name) is not None for name in SECTIONS if name != "sdoh"):
        yield "assessed beyond it"
    # A section in which nothing stands is none: nothing of it is a barrier.
    flags = barriers_of(made.sdoh) if made.sdoh is not None else {}
    for topic in only:
        if flags.get(topic, False) != seen.reference.barriers[topic]:
            yield f"{topic}"
