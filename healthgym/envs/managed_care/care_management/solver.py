"""A care manager who reads what an agent reads, and listens to what the person says.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
pages and tables are worded, how people talk, and how a good call goes; its own words are a phrase
book of its own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.listening import Listener
from healthgym.envs.managed_care.care_management.lookups import (
    Brief,
    Chart,
    Play,
    ask,
    charted,
    find_referral,
    read_brief,
    read_chart,
    read_numbers,
    referred,
)
from healthgym.envs.managed_care.care_management.manner import next_words
from healthgym.envs.managed_care.care_management.reasons import read_break
from healthgym.envs.managed_care.care_management.reckoning import Reckoning
from healthgym.envs.managed_care.care_management.rulings import (
    Known,
    level_of,
    priority_of,
    program_of,
)
from healthgym.envs.managed_care.care_management.speech import PhraseBook, phrase_book
from healthgym.envs.managed_care.care_management.writing import plan, sections
from healthgym.envs.managed_care.reading.layout import is_cut, value
from healthgym.errors import DataError
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.conversation.mind import Stage
from healthgym.worlds.managed_care.handbook.rules import OperatingRules

_MOST_MESSAGES = 11
_BOOK = "own"


def solve(instruction: str) -> Play[None]:
    """Read what holds today, call, and do what follows from the answer."""
    with suppress(DataError, KeyError, ValueError):  # what cannot be read is given up
        yield from _work(read_brief(instruction))
    yield call("finish")


def _work(brief: Brief) -> Play[None]:
    rules = yield from read_numbers()
    row = yield from find_referral(brief)
    shown = referred(row)
    shown = replace(shown, codes=tuple(dict.fromkeys(shown.codes)))
    program = program_of(shown, rules)
    yield call(
        "cm_intake.open_case",
        referral_id=row["referral_id"],
        priority=str(priority_of(shown, rules)),
        program=str(program),
    )
    case = row["case_id"]
    chart = yield from read_chart(case)
    known = charted(chart, shown)
    yield from _review(case, chart, known, rules)
    listener = Listener(chart, known, rules, brief.now.date())
    book = phrase_book(_BOOK, brief.caller)
    session = yield from _talk(case, listener, chart, rules, book)
    yield from _file(session, listener)
    found = Reckoning(chart, known, rules, listener, program)
    match listener.view.stage:
        case Stage.AGREED:
            yield from _assess(case, found)
            today = listener.now.date()
            yield call("cm_care_plan.create_draft", case_id=case)
            data = plan(found.needs(), found.findings(), today)
            yield call("cm_care_plan.save_care_plan", case_id=case, plan_data=data)
            yield call("cm_care_plan.finalize", case_id=case)
        case Stage.BROKEN_OFF:
            yield from _assess_in_part(case, found)
        case _:
            yield call(
                "cm_intake.disenroll_case",
                case_id=case,
                reason="The patient said no on the phone; declined the programme.",
            )


def _review(case: str, chart: Chart, known: Known, rules: OperatingRules) -> Play[None]:
    named = [f"{row['display']} ({row['code']})" for row in chart.conditions]
    taken = [row["medication_name"] for row in chart.medications]
    results = [row for row in chart.observations if row.get("value_quantity")]
    last = "".join(
        f" {row['display']} {row['value_quantity']} on {row['observed_at'][:10]}."
        for row in results[-1:]
    )
    yield call(
        "cm_chart.submit_chart_review",
        case_id=case,
        review={
            "primary_concerns": named[:4] or ["Nothing on the problem list"],
            "preliminary_risk_level": str(level_of(known, rules)),
            "key_findings": f"Problem list: {'; '.join(named)}. "
            f"Medicines: {', '.join(taken) or 'none'}.{last}",
        },
    )


# -- the telephone -----------------------------------------------------------------------------


def _talk(
    case: str, listener: Listener, chart: Chart, rules: OperatingRules, book: PhraseBook
) -> Play[str]:
    """Call as often as it takes and may be done; return the id of the last call."""
    session = ""
    calendar = office_calendar(chart.patient.get("address_state", ""))
    for _ in range(rules.outreach_attempts_least):
        now = yield from _clock(case)
        local = calendar.local(now).replace(tzinfo=None)
        at = listener.next_time(local, rules)
        if at > local:
            yield call("wait", until=f"{calendar.utc(at.date(), at.time()):%Y-%m-%dT%H:%M}")
        listener.begin_call(at)
        answer = yield from ask("cm_outreach.start_outreach_call", case_id=case)
        session = value(answer, "session_id")
        yield from _call(session, listener, book)
        if listener.done:
            break
    return session


def _clock(case: str) -> Play[datetime]:
    """Return what time it is; every answer says so."""
    shown = yield call("cm_intake.list_referral_queue")
    return datetime.fromisoformat(f"{shown[1:17]}:00+00:00")


def _call(session: str, listener: Listener, book: PhraseBook) -> Play[None]:
    for _ in range(_MOST_MESSAGES):
        acts = next_words(listener.view)
        observation = yield call(
            "cm_outreach.send_message", session_id=session, message=book.say(acts, listener.said)
        )
        while is_cut(observation):
            observation += yield call("read_more")
        if "patient_response:" not in observation:
            return
        said = observation.partition("patient_response:")[2].partition("\nturn_number:")[0]
        listener.hear(" ".join(said.split()), acts)
        if "session_status: ended" in observation:
            return


def _file(session: str, listener: Listener) -> Play[None]:
    given = listener.agreed
    refused = not given and listener.view.stage in (Stage.REFUSED, Stage.REFUSED_FOR_GOOD)
    outcome = "engaged" if given else "refused" if refused else "pending"
    yield call(
        "cm_outreach.end_outreach_call",
        session_id=session,
        summary={"engagement_status": outcome, "consent_obtained": given},
    )


# -- what follows ------------------------------------------------------------------------------


def _assess(case: str, found: Reckoning) -> Play[None]:
    yield call("cm_assessment.start_assessment", case_id=case)
    for payload in sections(found.findings()):
        yield call("cm_assessment.save_section", case_id=case, payload=payload)
    yield call("cm_assessment.complete_assessment", case_id=case)


def _assess_in_part(case: str, found: Reckoning) -> Play[None]:
    yield call("cm_assessment.start_assessment", case_id=case)
    left, stuck = found.open_sections()
    heard = found.listener.last_words
    payloads = {str(each["section"]): each for each in sections(found.findings())}
    for name, payload in payloads.items():
        if name not in left:
            yield call("cm_assessment.save_section", case_id=case, payload=payload)
    yield call(
        "cm_assessment.save_section",
        case_id=case,
        payload=payloads[stuck],
        blocked_reason=f'{read_break(heard)}: "{heard}"',
    )
