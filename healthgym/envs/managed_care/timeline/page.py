"""A case as one HTML page: what happened, when, by whom and why, beside the policy in force.

The page needs nothing beside it: no script, no picture, no other file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.core.world import WORLD
from healthgym.envs.managed_care.timeline.calls import calls_html
from healthgym.envs.managed_care.timeline.cards import opened_at
from healthgym.envs.managed_care.timeline.due import Deadline, Fate, deadlines_of, in_words
from healthgym.envs.managed_care.timeline.markdown import clean
from healthgym.envs.managed_care.timeline.offices import Offices, closed_because, words
from healthgym.envs.managed_care.timeline.person import care_facts, care_title, person_html
from healthgym.envs.managed_care.timeline.policy import PolicyPages, pages_of, policy_html
from healthgym.envs.managed_care.timeline.story import Exhibit, moments
from healthgym.envs.managed_care.timeline.track import Track
from healthgym.envs.managed_care.timeline.values import chip, local, tone, turn, value_html
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.policies.policy import Policy

#: A status, since when and until when.
Span = tuple[str, datetime, datetime]

#: Whose transitions are those of a case.
_CASES = frozenset({"case", "cm_case"})
_DAY = timedelta(days=1)


def case_page(exhibit: Exhibit) -> str:
    """Return the page of a case.

    Args:
        exhibit: What is shown; :func:`~healthgym.envs.managed_care.timeline.story.exhibit_of`
            makes it from an episode.
    """
    return "\n".join(_page(exhibit))


def _page(exhibit: Exhibit) -> Iterator[str]:
    offices, story, pages = Offices(exhibit.world), moments(exhibit), pages_of(exhibit)
    title = _title(exhibit)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{clean(title)}</title><style>{_style()}</style></head><body>"
    )
    yield f"<header>{_head(exhibit, offices, title)}</header>"
    if exhibit.of_care:
        yield person_html(exhibit)
    yield _verdicts(exhibit)
    yield _course(exhibit, offices)
    yield _due(exhibit, offices)
    kind = ' class="care"' if exhibit.of_care else ""
    yield f'<main{kind}><section class="timeline" id="timeline"><h2>Timeline</h2>'
    yield (
        f'<p class="quiet">Times are the desk’s ({clean(offices.zone())}), with UTC below. '
        "Numbers are those of the log; hatched rows are outside business hours. Records are shown "
        "as they stand at the end.</p>"
    )
    yield from Track(exhibit, offices, _questions(pages.policy)).html(story)
    yield from _beside(exhibit, offices, pages)
    yield "</aside></main></body></html>\n"


def _beside(exhibit: Exhibit, offices: Offices, pages: PolicyPages) -> Iterator[str]:
    """Yield what stands beside the timeline: the policy, or the calls of an episode of care."""
    if exhibit.of_care:
        yield '</section><aside class="calls" id="calls"><h2>Calls</h2>'
        yield from calls_html(exhibit, offices)
    else:
        yield '</section><aside class="policy" id="policy"><h2>Policy</h2>'
        yield from policy_html(exhibit, pages)


# -- the head -------------------------------------------------------------------------------------


def _title(exhibit: Exhibit) -> str:
    case = exhibit.world.cases.cases.get(exhibit.case_id)
    if case is None:
        return care_title(exhibit) or exhibit.case_id or "No case was opened"
    asked = exhibit.world.cases.order(case.service_request_id).description
    return f"{case.external_case_id}: {asked}"


def _head(exhibit: Exhibit, offices: Offices, title: str) -> str:
    world = exhibit.world
    case = world.cases.cases.get(exhibit.case_id) or world.referrals.cases.get(exhibit.case_id)
    status = chip(case.status, f"big {turn(case.status)}") if case else ""
    rows = "".join(
        f"<div><dt>{clean(name)}</dt><dd>{shown}</dd></div>"
        for name, shown in _facts(exhibit, offices)
    )
    told, _, rules = exhibit.instruction.partition("\n\n")
    more = (
        f"<details><summary>the rules it was given</summary><p>{clean(rules)}</p></details>"
        if rules
        else ""
    )
    instruction = f'<div class="task"><p>{clean(told)}</p>{more}</div>' if told else ""
    named = f'<p class="quiet">{clean(exhibit.title)}</p>' if exhibit.title else ""
    other = '<a href="#calls">Calls</a>' if exhibit.of_care else '<a href="#policy">Policy</a>'
    jump = f'<p class="jump"><a href="#timeline">Timeline</a> {other}</p>'
    return (
        f'<h1>{clean(title)} {status}</h1>{named}{instruction}<dl class="facts">{rows}</dl>{jump}'
    )


def _facts(exhibit: Exhibit, offices: Offices) -> Iterator[tuple[str, str]]:
    world = exhibit.world
    case = world.cases.cases.get(exhibit.case_id)
    episode = case or world.referrals.cases.get(exhibit.case_id)
    chart = world.charts.get(episode.patient_id) if episode else None
    if chart is not None:
        patient, coverage = chart.patient, chart.coverage
        yield (
            "Patient",
            f"{clean(patient.first_name)} {clean(patient.last_name)} "
            f'<span class="quiet">{clean(patient.id)}, born {patient.dob}, '
            f"{clean(patient.address_state)}</span>",
        )
        yield "Plan", clean(f"{coverage.plan_name}, {coverage.payer_name}" if coverage else "none")
    yield "Desk", value_html(offices, world.actor)
    yield "From", local(offices, world.start.now)
    yield "Until", local(offices, world.clock.now)
    calls = [event for event in exhibit.events if event.role != WORLD]
    refused = sum(bool(event.error) for event in calls)
    if calls:
        yield "Calls", f"{len(calls)}, {refused} refused" if refused else str(len(calls))
    if exhibit.of_care:
        yield from care_facts(exhibit)
    if case is not None and case.authorization_number:
        until = f", until {case.expires_at:%Y-%m-%d}" if case.expires_at else ""
        yield "Authorization", f"{clean(case.authorization_number)}{until}"
    yield "Rules", clean(world.rules)
    solution = exhibit.solution
    if solution is not None:
        open_ones = [*sorted(solution.gaps), *map(words, sorted(solution.missing))]
        gaps = f" ({clean(', '.join(open_ones))})" if open_ones else ""
        yield (
            "What is right",
            f"{chip(solution.action, tone(solution.action))}{gaps}, ending "
            f"{chip(solution.status, tone(solution.status))}",
        )


def _verdicts(exhibit: Exhibit) -> str:
    if not exhibit.verdicts:
        return '<section class="verdict"><p class="quiet">Not judged yet.</p></section>'
    strict = [name for name in exhibit.verdicts if name == "strict"]
    others = [name for name in exhibit.verdicts if name != "strict"]
    shown = [_verdict(name, exhibit.verdicts[name], opened=True) for name in strict]
    shown += [_verdict(name, exhibit.verdicts[name], opened=not strict) for name in others]
    return f'<section class="verdict">{"".join(shown)}</section>'


def _verdict(name: str, verdict: JsonObject, *, opened: bool) -> str:
    checks = _checks(verdict)
    failed = [check for check in checks if check["passed"] is False]
    modes: Mapping[str, None] = dict.fromkeys(str(c.get("failure_mode", "")) for c in failed)
    told = "".join(f" {chip(mode, 'bad')}" for mode in modes if mode)
    won = chip("success", "good") if verdict["success"] else chip("failure", "bad")
    head = f"<b>{clean(name)}</b> {won}{told} <span class=quiet>{_count(checks)}</span>"
    rows = "".join(map(_check, sorted(checks, key=lambda check: check["passed"] is not False)))
    return (
        f"<details{' open' if opened else ''}><summary>{head}</summary>"
        f'<ul class="checks">{rows}</ul></details>'
    )


def _checks(verdict: JsonObject) -> list[JsonDict]:
    """Return the checks of a verdict, those of its parts included."""
    parts = [check for part in verdict.get("parts", {}).values() for check in _checks(part)]
    return [*verdict.get("checks", ()), *parts]


def _count(checks: Sequence[JsonObject]) -> str:
    passed = sum(check["passed"] is True for check in checks)
    skipped = sum(check["passed"] is None for check in checks)
    told = f"{passed} of {len(checks) - skipped} checks"
    return f"{told}, {skipped} do not apply" if skipped else told


def _check(check: JsonObject) -> str:
    sign, kind = {True: ("✓", "good"), False: ("✗", "bad")}.get(check["passed"], ("·", ""))
    mode = check.get("failure_mode", "")
    failed = check["passed"] is False
    shown = f" {chip(mode, 'bad')}" if failed and mode else ""
    detail = f' <span class="quiet">{clean(check["detail"])}</span>' if check.get("detail") else ""
    return (
        f'<li class="{kind}"><span class="sign">{sign}</span><span><b>'
        f"{clean(words(check['name']))}</b>{shown} {clean(check['requirement'])}{detail}"
        "</span></li>"
    )


# -- the course of the case, and its deadlines ----------------------------------------------------


def _course(exhibit: Exhibit, offices: Offices) -> str:
    """Return the statuses of the case, as a band over the days and as a list with durations."""
    world = exhibit.world
    case = world.cases.cases.get(exhibit.case_id) or world.referrals.cases.get(exhibit.case_id)
    opened = opened_at(world, exhibit.case_id)
    if case is None or opened is None:
        return ""
    entries = world.history.of(exhibit.case_id, EntryKind.TRANSITION)
    moves = [entry for entry in entries if entry.app in _CASES]
    spans = _spans(opened, str(case.status), moves, world.clock.now)
    steps = " ".join(
        f'<li>{chip(name, turn(name))}<span class="quiet">{in_words(end - begun)}</span></li>'
        for name, begun, end in spans
    )
    band = _band(spans, offices) if world.clock.now - opened >= _DAY else ""
    return f'<section class="course"><h2>Course</h2>{band}<ol class="steps">{steps}</ol></section>'


def _spans(begun: datetime, status: str, moves: Sequence[Entry], now: datetime) -> list[Span]:
    """Return each status with the time it held; the last one until now."""
    spans: list[Span] = []
    name = moves[0].source if moves else status
    for move in moves:
        spans.append((name, begun, move.at))
        begun, name = move.at, move.action
    return [*spans, (name, begun, now)]


def _band(spans: Sequence[Span], offices: Offices) -> str:
    """Return the statuses as a band, closed days shaded; widths by time."""
    first, last = spans[0][1], spans[-1][2]
    whole = last - first
    parts = []
    day = offices.home.local(first).date()
    while day <= offices.home.local(last).date():
        starts = offices.home.utc(day, datetime.min.time())
        left = max((starts - first) / whole, 0.0)
        width = min((starts + _DAY - first) / whole, 1.0) - left
        closed = " closed" if closed_because(offices.home, day) else ""
        label = f"{day.day} {day:%b}" if width > 0.06 else ""
        parts.append(
            f'<span class="day{closed}" style="left:{left:.2%};width:{width:.2%}">{label}</span>'
        )
        day += _DAY
    for name, begun, end in spans:
        left, width = (begun - first) / whole, (end - begun) / whole
        parts.append(
            f'<span class="span {turn(name)}" title="{clean(words(name))}" '
            f'style="left:{left:.2%};width:{width:.2%}"></span>'
        )
    return f'<div class="band">{"".join(parts)}</div>'


def _due(exhibit: Exhibit, offices: Offices) -> str:
    found = deadlines_of(exhibit.world, exhibit.case_id)
    if not found:
        return ""
    rows = "".join(_deadline(one, offices) for one in found)
    return f'<section class="due"><h2>Due</h2><ul>{rows}</ul></section>'


def _deadline(one: Deadline, offices: Offices) -> str:
    done = ""
    if one.met is not None:
        late = "late" if one.fate is Fate.LATE else "early"
        done = f"<br>done {local(offices, one.met)}, {in_words(one.margin)} {late}"
    rule = f' <span class="quiet">{clean(one.rule)}</span>' if one.rule else ""
    kind = tone(one.fate) or ("good" if one.fate is Fate.MET else "")
    return (
        f'<li class="{kind}" data-fate="{clean(one.fate)}">{chip(one.fate, kind)} '
        f"<b>{clean(one.name)}</b> <span class=quiet>{one.side}</span>"
        f"<br>due <b>{local(offices, one.due)}</b>{rule}{done}</li>"
    )


def _questions(policy: Policy | None) -> Mapping[str, str]:
    """Return what the keys of the policy's form ask."""
    return {question.key: question.text for question in policy.form.questions} if policy else {}


@cache
def _style() -> str:
    return (files(__package__) / "data" / "page.css").read_text("utf-8")
