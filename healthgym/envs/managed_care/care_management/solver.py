"""A care manager who reads what an agent reads, and listens to what the person says.

It is handed no instance and looks nothing up but by the tools. What it knows beforehand is how the
pages and tables are worded, how people talk, and how a good call goes; its own words are a phrase
book of its own.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from healthgym.core.borders import JsonDict
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.dialling import (
    PAGE,
    Dialling,
    proxy_of,
    read_page,
)
from healthgym.envs.managed_care.care_management.listening import Listener
from healthgym.envs.managed_care.care_management.lookups import (
    Brief,
    Chart,
    charted,
    find_referral,
    read_brief,
    read_chart,
    read_numbers,
    referred,
)
from healthgym.envs.managed_care.care_management.reaching import Reaching
from healthgym.envs.managed_care.care_management.reasons import read_break
from healthgym.envs.managed_care.care_management.reckoning import Reckoning
from healthgym.envs.managed_care.care_management.rulings import (
    Known,
    level_of,
    priority_of,
    program_of,
)
from healthgym.envs.managed_care.care_management.speech import phrase_book
from healthgym.envs.managed_care.care_management.writing import plan, sections
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.layout import fields, is_cut, value
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
    line = _line(brief, chart, listener, rules, row.get("notes", ""))
    session = yield from _talk(case, line, chart)
    yield from _file(session, line)
    found = Reckoning(chart, known, rules, listener, program, struck=line.struck)
    match listener.view.stage:
        case Stage.AGREED if listener.only is not None:
            yield from _assess_a_part(case, found)
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
            yield call("cm_intake.disenroll_case", case_id=case, reason=_reason(line))


def _reason(line: Dialling) -> str:
    """Return why nothing is assessed."""
    if line.unable:
        return "The patient cannot consent, and nobody with papers on file can."
    if not line.reached:
        return "The patient could not be reached by phone: unreachable after all attempts."
    return "The patient said no on the phone; declined the programme."


def _line(
    brief: Brief, chart: Chart, listener: Listener, rules: OperatingRules, notes: str
) -> Dialling:
    caller = brief.caller.split(",")[0]
    first, last = chart.patient.get("first_name", ""), chart.patient.get("last_name", "")
    name = f"{first} {last}".strip()
    reaching = Reaching(_BOOK, caller, name, rules, proxy=proxy_of(notes))
    return Dialling(listener, reaching, phrase_book(_BOOK, brief.caller))


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


def _talk(case: str, line: Dialling, chart: Chart) -> Play[str]:
    """Call as often as it takes and may be done; return the id of the last call."""
    session, read = "", False
    calendar = office_calendar(chart.patient.get("address_state", ""))
    while line.attempts < line.reaching.rules.outreach_attempts_least:
        now = yield from _clock(case)
        local = calendar.local(now).replace(tzinfo=None)
        at = line.next_time(local)
        if at > local:
            yield call("wait", until=f"{calendar.utc(at.date(), at.time()):%Y-%m-%dT%H:%M}")
        line.begin_call(at)
        answer = yield from ask("cm_outreach.start_outreach_call", case_id=case)
        session = value(answer, "session_id")
        heard = fields(answer.split("\n")).get("heard", "")
        if heard and not read:
            page = yield from ask("handbook.read", path=PAGE)
            line.reaching.rules, read = read_page(page, line.reaching.rules), True
        line.picked_up(heard)
        yield from _call(session, line)
        if line.done:
            break
    return session


def _clock(case: str) -> Play[datetime]:
    """Return what time it is; every answer says so."""
    shown = yield call("cm_intake.list_referral_queue")
    return datetime.fromisoformat(f"{shown[1:17]}:00+00:00")


def _call(session: str, line: Dialling) -> Play[None]:
    for _ in range(_MOST_MESSAGES):
        acts, words = line.next_words()
        if not words:
            return
        observation = yield call("cm_outreach.send_message", session_id=session, message=words)
        while is_cut(observation):
            observation += yield call("read_more")
        if "patient_response:" not in observation:
            return
        said = observation.partition("patient_response:")[2].partition("\nturn_number:")[0]
        line.hear(" ".join(said.split()), acts)
        if "session_status: ended" in observation:
            return


def _file(session: str, line: Dialling) -> Play[None]:
    listener = line.listener
    given = listener.agreed
    refused = not given and listener.view.stage in (Stage.REFUSED, Stage.REFUSED_FOR_GOOD)
    summary: JsonDict = {
        "engagement_status": "engaged" if given else "refused" if refused else "pending",
        "consent_obtained": given,
    }
    if listener.only is not None:
        summary["notes"] = f'Agreed to a part: "{listener.last_words}"'
    yield call("cm_outreach.end_outreach_call", session_id=session, summary=summary)


# -- what follows ------------------------------------------------------------------------------


def _assess(case: str, found: Reckoning) -> Play[None]:
    yield call("cm_assessment.start_assessment", case_id=case)
    for payload in sections(found.findings()):
        yield call("cm_assessment.save_section", case_id=case, payload=payload)
    yield call("cm_assessment.complete_assessment", case_id=case)


def _assess_a_part(case: str, found: Reckoning) -> Play[None]:
    yield call("cm_assessment.start_assessment", case_id=case)
    payload = next(each for each in sections(found.findings()) if each["section"] == "sdoh")
    reason = f'scope: "{found.listener.last_words}"'
    yield call("cm_assessment.save_section", case_id=case, payload=payload, blocked_reason=reason)


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
