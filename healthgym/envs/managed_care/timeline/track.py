"""The left side of the page: days, moments, and in each who did what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date
from itertools import groupby

from healthgym.core.verifier import Event
from healthgym.envs.managed_care.presentation import scalar
from healthgym.envs.managed_care.timeline.cards import Card
from healthgym.envs.managed_care.timeline.due import Deadline, Fate, in_words
from healthgym.envs.managed_care.timeline.markdown import clean
from healthgym.envs.managed_care.timeline.offices import (
    Offices,
    closed_because,
    days_between,
    shown_time,
    words,
)
from healthgym.envs.managed_care.timeline.story import Beat, Exhibit, Moment
from healthgym.envs.managed_care.timeline.values import (
    chip,
    label,
    local,
    table_html,
    tone,
    tree_html,
    turn,
    value_html,
)
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemObservation,
    NurseCriterionEvaluation,
)

#: Arguments of a call that stand beside its name; the rest opens.
_SHORT = 160
#: Lists on demand are shown at once up to this length.
_LISTED = 160
#: Long fields of a record open from this length on.
_LONG = 420


class Track:
    """The timeline of an exhibit.

    Args:
        exhibit: What is shown.
        offices: Its people and clocks.
        questions: What the keys of forms ask.
    """

    def __init__(self, exhibit: Exhibit, offices: Offices, questions: Mapping[str, str]) -> None:
        self._exhibit, self._offices, self._questions = exhibit, offices, questions
        self._looks = {entry.number for entry in exhibit.world.history.looks}

    def html(self, story: Sequence[Moment]) -> Iterator[str]:
        """Yield the days, and what lies between them."""
        before: date | None = None
        days = groupby(story, key=lambda moment: self._offices.home.local(moment.at).date())
        for day, found in days:
            if before is not None:
                yield self._gap(before, day)
            yield self._day(day, list(found))
            before = day

    def _gap(self, before: date, day: date) -> str:
        between = list(days_between(before, day))
        if not between:
            return ""
        why = [closed_because(self._offices.home, each) for each in between]
        shut = sum(map(bool, why))
        holidays = sorted({reason for reason in why if reason not in ("", "weekend")})
        told = f"{len(between)} day{'s' * (len(between) > 1)} without an entry"
        closed = f", {shut} closed" if shut else ""
        named = f" ({', '.join(map(clean, holidays))})" if holidays else ""
        return f'<p class="gap">{told}{closed}{named}</p>'

    def _day(self, day: date, story: Sequence[Moment]) -> str:
        home = self._offices.home
        closed = closed_because(home, day)
        hours = f"closed: {closed}" if closed else f"open {home.opens:%H:%M}–{home.closes:%H:%M}"
        begun = self._exhibit.world.start.now
        early = " · before the episode" if story[-1].at < begun else ""
        head = (
            f"<h3>{day:%A} {day.day} {day:%B %Y} "
            f'<span class="quiet">{clean(hours)}{early}</span></h3>'
        )
        inner = "".join(map(self._moment, story))
        return f'<section class="day{" closed" if closed else ""}">{head}{inner}</section>'

    def _moment(self, moment: Moment) -> str:
        clock = self._offices.home.local(moment.at)
        shut = not self._offices.home.is_open(moment.at)
        before = (None, *(beat.actor for beat in moment.beats))
        parts = [
            self._beat(beat, moment, named=beat.actor != earlier)
            for beat, earlier in zip(moment.beats, before, strict=False)
        ]
        parts += [self._settled(one) for one in moment.settled]
        parts += [self._set(one) for one in moment.set if one not in moment.settled]
        note = '<span class="shut">office closed</span>' if shut else ""
        return (
            f'<div class="moment{" off" if shut else ""}"><div class="clock">'
            f"<b>{shown_time(clock)}</b><span>{moment.at:%H:%M} UTC</span>{note}</div>"
            f'<div class="beats">{"".join(parts)}</div></div>'
        )

    # -- deadlines -------------------------------------------------------------------------------

    def _settled(self, one: Deadline) -> str:
        kind = tone(one.fate) or "good"
        if one.fate is Fate.MISSED:
            told = "it was due now, and is not done"
        else:
            told = (
                f"{in_words(one.margin)} {'late' if one.fate is Fate.LATE else 'before the limit'}"
            )
        return (
            f'<div class="mark {kind}" data-fate="{clean(one.fate)}">{chip(one.fate, kind)} '
            f"<b>{clean(one.name)}</b>: {told}</div>"
        )

    def _set(self, one: Deadline) -> str:
        rule = f' <span class="quiet">({clean(one.rule)})</span>' if one.rule else ""
        return (
            f'<div class="mark">{chip("due")} {clean(one.name)} by '
            f"<b>{local(self._offices, one.due)}</b>{rule}</div>"
        )

    # -- who did what ----------------------------------------------------------------------------

    def _beat(self, beat: Beat, moment: Moment, *, named: bool) -> str:
        side = self._offices.side(beat.actor)
        who = self._who(beat.actor, side, moment) if named else ""
        return (
            f'<div class="beat {side}">{who}'
            f"{''.join(map(self._call, beat.calls))}"
            f"{self._entries(beat.entries)}"
            f"{''.join(map(self._card, beat.cards))}</div>"
        )

    def _who(self, actor: str, side: str, moment: Moment) -> str:
        if not actor:
            return ""
        told = [part for part in (self._offices.role(actor), side) if part]
        region = self._offices.region_of(actor)
        clock = self._offices.calendar(actor).local(moment.at)
        if region and clock != self._offices.home.local(moment.at):
            told.append(f"{shown_time(clock)} in {region}")
        if side == "calendar":
            told = ["what fell due by itself"]
        code = f" {clean(actor)}" if self._offices.known(actor) and side != "calendar" else ""
        return (
            f'<div class="who"><b>{clean(self._offices.name(actor))}</b>'
            f'<span class="quiet">{code} · {clean(" · ".join(told))}</span></div>'
        )

    def _call(self, event: Event) -> str:
        given = {k: v for k, v in event.arguments.items() if v not in (None, "", (), [], {})}
        name = f"<code>{clean(event.tool or 'no call')}</code>"
        plain = {k: "…" if is_dataclass(v) else v for k, v in given.items()}
        brief = ", ".join(f"{k} {v}" for k, v in plain.items())
        brief = brief if len(brief) <= _SHORT else f"{brief[:_SHORT]}…"
        refused = (
            f'<p class="sentence">{chip("refused", "bad")} {clean(event.error)}</p>'
            if event.error
            else ""
        )
        kind = "call refused" if event.error else "call"
        if not given:
            return f'<div class="{kind}">{name}{refused}</div>'
        return (
            f'<div class="{kind}"><details><summary>{name} <span class="quiet">{clean(brief)}'
            f"</span></summary>{table_html(self._offices, given, self._questions)}</details>"
            f"{refused}</div>"
        )

    def _entries(self, entries: Sequence[Entry]) -> str:
        rows = "".join(map(self._entry, entries))
        return f'<ol class="log">{rows}</ol>' if rows else ""

    def _entry(self, entry: Entry) -> str:
        look = entry.number in self._looks
        match entry.kind:
            case EntryKind.TRANSITION:
                told = (
                    f"{chip(entry.source, turn(entry.source))} → "
                    f"<b>{chip(entry.action, turn(entry.action))}</b>"
                )
            case EntryKind.STAGE:
                told = f"stage <b>{clean(words(entry.app))}</b>: {clean(words(entry.action))}"
            case EntryKind.EVENT:
                told = f"{chip('fell due', 'open')} <b>{clean(words(entry.action))}</b>"
            case _:
                told = f"{clean(words(entry.app))} · {clean(words(entry.action))}"
        other = entry.case_id if entry.case_id not in ("", self._exhibit.case_id) else ""
        told += f" {chip(other, 'bad')}" if other else ""
        details = "; ".join(
            f"{clean(words(key))} {value_html(self._offices, value)}"
            for key, value in entry.details.items()
            if value not in (None, "", (), [], {})
        )
        told += f' <span class="quiet">({details})</span>' if details else ""
        kind = "look" if look else str(entry.kind)
        return (
            f'<li class="{kind}" data-number="{entry.number}">'
            f'<span class="number">{entry.number}</span><span>{told}</span></li>'
        )

    # -- records ---------------------------------------------------------------------------------

    def _card(self, card: Card) -> str:
        key = f' <span class="quiet">{clean(card.key)}</span>' if card.key else ""
        line = " ".join(
            f'<span class="pair"><i>{label(name)}</i> {value_html(self._offices, value)}</span>'
            for name, value in card.line.items()
        )
        text = "".join(self._text(name, value) for name, value in _joined(card.text))
        inside = "".join(self._inside(name, value) for name, value in card.inside.items())
        tree = "".join(tree_html(self._offices, name, value) for name, value in card.tree.items())
        findings = self._findings(card.findings) if card.findings else ""
        return (
            f'<div class="card"><div class="title"><b>{clean(card.title)}</b>{key}</div>'
            f"{f'<div class=line>{line}</div>' if line else ''}{text}{findings}{tree}{inside}</div>"
        )

    def _text(self, name: str, value: object) -> str:
        if not isinstance(value, str):
            return f'<div class="text"><i>{name}</i> {value_html(self._offices, value)}</div>'
        if len(value) > _LONG:
            shown = f'<div class="text">{clean(value)}</div>'
            return f"<details><summary>{name}</summary>{shown}</details>"
        return f'<div class="text"><i>{name}</i> {clean(value)}</div>'

    def _inside(self, name: str, value: object) -> str:
        if isinstance(value, Mapping):
            shown = table_html(self._offices, value, self._questions)
            name = f"{len(value)} {name}"
        elif isinstance(value, str):
            shown = f'<div class="text">{clean(value)}</div>'
        else:
            shown = f'<div class="text">{value_html(self._offices, value)}</div>'
            if len(str(value)) <= _LISTED:
                return self._text(label(name), value)
        return f"<details><summary>{clean(words(name))}</summary>{shown}</details>"

    def _findings(self, findings: Sequence[NurseCriterionEvaluation]) -> str:
        version = findings[0].criteria_version
        source = f"{findings[0].criteria_source} {version}".strip()
        rows = "".join(
            f"<tr><td><b>{clean(one.criterion_id)}</b></td>"
            f"<td>{chip(one.result, tone(one.result))}</td>"
            f"<td>{self._observed(one)}</td></tr>"
            for one in findings
        )
        return (
            f'<div class="scroll"><table class="findings"><tr><th></th><th>on {clean(source)}</th>'
            f"<th>what the packet shows</th></tr>{rows}</table></div>"
        )

    def _observed(self, one: NurseCriterionEvaluation) -> str:
        seen = [_observation(item) for item in one.item_observations]
        sources = f' <span class="quiet">{clean(", ".join(one.source_refs_used))}</span>'
        notes = f" {clean(one.notes)}" if one.notes else ""
        return clean("; ".join(seen)) + notes + sources


def _observation(item: ClinicalEvidenceItemObservation) -> str:
    """Return a value that was observed: ``gain 12.5 points``, ``weeks not documented``."""
    name, value, unit = item.item_id.rpartition(".")[2], item.observed_value, item.observed_unit
    shown = "not documented" if value is None else scalar(value)
    return words(f"{name} {shown} {unit if unit != name and value is not None else ''}".strip())


def _joined(texts: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield texts with their labels; one that stands in several fields once, with all of them."""
    labels: dict[str, str] = {}
    for name, value in texts.items():
        if isinstance(value, str):
            labels[value] = f"{labels[value]}, {label(name)}" if value in labels else label(name)
        else:
            yield label(name), value
    yield from ((named, text) for text, named in labels.items())
