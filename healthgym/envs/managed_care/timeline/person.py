"""Who answered the phone, and what was right: for the head of a care-management page."""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.envs.managed_care.timeline.calls import counted, points
from healthgym.envs.managed_care.timeline.markdown import clean
from healthgym.envs.managed_care.timeline.offices import words
from healthgym.envs.managed_care.timeline.solution import CareSolution
from healthgym.envs.managed_care.timeline.story import Exhibit
from healthgym.envs.managed_care.timeline.values import chip
from healthgym.worlds.managed_care.conversation.described import surroundings
from healthgym.worlds.managed_care.conversation.mind import Mind
from healthgym.worlds.managed_care.conversation.persona import Persona, Trigger, Willingness
from healthgym.worlds.managed_care.voices import Consent, Memory

_WILLING = {
    Willingness.READY: "good",
    Willingness.HESITANT: "open",
    Willingness.INITIALLY_REFUSES: "open",
    Willingness.REFUSES: "bad",
}


def person_html(exhibit: Exhibit) -> str:
    """Return what the person was like, what won them and what would not; empty if it is not told.

    Whether a worry was answered and whether what they waited for happened is the person's own
    account, at the end.
    """
    care = exhibit.care
    if care is None:
        return ""
    persona = care.persona
    mind = exhibit.world.outreach.memory(care.case_id).mind or Mind()
    kind = chip(persona.willingness, _WILLING[persona.willingness])
    rows = "".join(
        f"<div><dt>{clean(name)}</dt><dd>{shown}</dd></div>"
        for name, shown in (*_waits(persona, mind), *_facts(persona, mind))
    )
    return (
        f'<section class="person" id="person"><h2>Who was on the phone: '
        f"{clean(persona.patient_name)} {chip(persona.kind)} {kind}</h2>"
        '<p class="quiet">For readers, after the episode: whoever calls sees nothing of it.</p>'
        f'<dl class="facts">{rows}</dl></section>'
    )


def _facts(persona: Persona, mind: Mind) -> Iterator[tuple[str, str]]:
    yield (
        "Worries, the first one first",
        _list(
            _ticked(words(one), done=one in mind.answered, done_as="answered")
            for one in persona.concerns
        ),
    )
    if persona.hint:
        about = f" ({words(persona.hint_topic)})" if persona.hint_topic else ""
        given = "" if mind.hinted else f" {chip('never said')}"
        yield f"Hint at what worries them most{about}", f"“{clean(persona.hint)}”{given}"
    yield "Trust, at first", points(persona.trust)
    yield (
        "Strength for a call",
        f"{persona.patience} messages, {persona.items_at_once} questions of an instrument at once",
    )
    yield "Refuses for good after", clean(", ".join(sorted(map(words, persona.anti_triggers))))
    if persona.only:
        yield "Agrees only to", clean(", ".join(sorted(map(words, persona.only))))
    if persona.busy is not None:
        days = persona.busy.free_days
        after = f", after {days} {'day' if days == 1 else 'days'} at the earliest" if days else ""
        told = f"{persona.busy.says}; free from {persona.busy.free_from}:00{after}"
        yield "No time for the first call", clean(told)
    if persona.breaks is not None:
        yield (
            "Breaks off for good",
            clean(f"before {words(persona.breaks.before)}: {persona.breaks.reason}"),
        )
    between = "; ".join(surroundings(persona.around))
    if between:
        yield "Besides", clean(between)


def _waits(persona: Persona, mind: Mind) -> Iterator[tuple[str, str]]:
    if persona.triggers:
        shown = (
            _ticked(_trigger(one), done=place in mind.triggers, done_as="done")
            for place, one in enumerate(persona.triggers)
        )
        yield "Must happen before they agree", _list(shown)


def _trigger(one: Trigger) -> str:
    acts = " or ".join(map(words, one.acts))
    about = [words(part) for part in (one.topic, one.concern) if part is not None]
    after = ", after the hint" * one.after_hint
    named = f" ({', '.join(about)})" if about else ""
    return f"{acts}{named}{after}"


def _ticked(text: str, *, done: bool, done_as: str) -> str:
    return f"{clean(text)} {chip(done_as if done else f'not {done_as}', 'good' if done else 'bad')}"


def _list(parts: Iterator[str]) -> str:
    return "<br>".join(parts) or "none"


def care_title(exhibit: Exhibit) -> str:
    """Return what the page of an episode is called; empty if none was opened."""
    case = exhibit.world.referrals.cases.get(exhibit.case_id)
    return f"{case.case_id}: {case.referral_reason}" if case is not None else ""


def care_facts(exhibit: Exhibit) -> Iterator[tuple[str, str]]:
    """Yield what stands in the head: the calls to the person, and what is right."""
    heard = exhibit.world.outreach.memory(exhibit.case_id)
    if heard.calls:
        calls, said = counted(heard.calls, "call"), counted(heard.exchanges, "message")
        yield "On the phone", f"{calls}, {said}, {_consent(heard)}"
    if exhibit.care is not None:
        yield "What is right", _right(exhibit.care)


def _consent(heard: Memory) -> str:
    kind = {Consent.GIVEN: "good", Consent.REFUSED: "bad"}.get(heard.consent, "open")
    return f"consent {chip(heard.consent, kind)}"


def _right(care: CareSolution) -> str:
    handling = (care.program, f"priority {care.priority}", f"risk {care.risk_level}")
    return f"{chip(care.ending)} {clean(', '.join(map(words, handling)))}"
