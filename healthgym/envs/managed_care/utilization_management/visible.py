"""What the payer's people can see of a case, and whether what they wrote states anything else.

What can be looked up is looked up: days and numbers, values of what the policy measures, and what
is said of a criterion. That a number belongs to what it is said of is judged for what is measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import cached_property
from itertools import combinations
from typing import TypeGuard, TypeVar

from healthgym.envs.managed_care.utilization_management.dealings import Dealings
from healthgym.envs.managed_care.utilization_management.entered import is_number
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.envs.managed_care.utilization_management.judged import misjudged
from healthgym.envs.managed_care.utilization_management.measured import Measured
from healthgym.envs.managed_care.utilization_management.on_record import (
    account_of,
    amounts_of,
    dealings_of,
)
from healthgym.worlds.managed_care.accounts import Account, unaccounted
from healthgym.worlds.managed_care.apps.payer.replies import replies
from healthgym.worlds.managed_care.borne_out import still_doubted
from healthgym.worlds.managed_care.charts.ages import age_on
from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.handbook.rules import values_of
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.policies.naming import criteria_named
from healthgym.worlds.managed_care.policies.pages import page_path, render_page
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.relay import PAYER
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.shared import SharedOffices
from healthgym.worlds.managed_care.stated import Stated, stated
from healthgym.worlds.managed_care.texts import Texts

#: Whatever is counted is counted up to here: documents, criteria, trials, months.
_COUNTED_MOST = 12
#: Days of a week, a month and a year.
_UNITS_OF_TIME = (1, 7, 30.44, 365.25)
#: A number that is a time.
_TIMED = r"(?<![\d.])%s\+?[ -](?:\w+ )?(?:hours?|days?|weeks?|months?|years?|yrs?|wks?|mos?|d|h)\b"
Value = TypeVar("Value", date, str)


class Visible:
    """Knows what somebody at the payer's can state of a case.

    Args:
        findings: What the packet shows, and what was found.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.before, self.after = findings.before, findings.after
        self.policy, self._case = findings.policy, findings.case_id

    def unfounded(self, text: str) -> tuple[str, ...]:
        """Return days, numbers and values that a text states and nobody could see."""
        if not text.strip():
            return ()
        said = stated(text)
        # What is nearest is looked through first: most of what is written stands there.
        days = said.days and said.days - self._shown_days
        days = days and days - self._days
        days = days and days - self._reckoned
        days = days and self._untold(days, "days")
        numbers = frozenset(each for each in said.numbers if not self._is_count(each))
        numbers = numbers and numbers - self._measured.asked
        numbers = numbers and numbers - self._shown_numbers
        numbers = numbers and numbers - self._numbers
        numbers = frozenset(each for each in numbers if not self._follows(float(each), text))
        numbers = numbers and self._untold(numbers, "numbers")
        loose = [f"{y}-{m}-{d}" for y, m, d in sorted(said.loose) if not self._is_near(y, m, d)]
        values = self._measured.mismeasured(text.lower())
        return (*map(str, sorted(days)), *loose, *sorted(numbers), *values)

    def _is_near(self, year: int, month: int, day: int) -> bool:
        """Return whether a year, a month of one, or a day without one, is that of a day on file."""
        if any((year, month, day) in told.loose for told in self._told):
            return True
        known = self._known_days | self._reckoned
        return any(
            year in (0, one.year) and month in (0, one.month) and day in (0, one.day)
            for one in known
        )

    def uncovered(self, text: str) -> tuple[str, ...]:
        """Return what a text claims beyond days and numbers that nobody could see or hear."""
        if not text.strip():
            return ()
        own_work = (*unaccounted(text, self._account), *self._dealings.unfounded(text))
        return (*still_doubted(uncovered(text, self._seen), text, self._seen), *own_work)

    def misjudged(self, text: str) -> tuple[str, ...]:
        """Return criteria that a text calls met or not met, and that the packet shows otherwise.

        What the ordering clinician told on a call may be called either: the packet is as it was.
        """
        shown, told = self.findings.shown.criteria, self._told_on_calls
        return tuple(
            misjudged(text, self.policy, {n: one for n, one in shown.items() if n not in told})
        )

    def agrees(self, name: str, text: str) -> bool:
        """Return whether the words of a criterion are its own: as on the page, or as good as that.

        Args:
            name: The criterion.
            text: What is written for it; blank is the id alone.
        """
        if name not in self._names or text == self.policy.text(name):
            return True  # another check says that there is no such criterion
        words = _content(text) - _content(f"{self.policy.id} {self.policy.version}")
        words -= {"policy", "criterion", "version", "polic", "crite", "versi"}
        if not _content(text):
            return not text.strip() or bool(criteria_named(text))
        own = self._words[name]
        shared = len(words & own)
        others = (len(words & each) for other, each in self._words.items() if other != name)
        enough = bool(words) and 2 * shared > len(words)
        return enough and shared >= max(others, default=0) and not self.unfounded(text)

    # -- what is there -------------------------------------------------------------------------

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names of the criteria."""
        return frozenset(item.id for item in criteria(self.policy.criteria))

    @cached_property
    def _words(self) -> Mapping[str, frozenset[str]]:
        """The words of each criterion, as its page, its items and its name have them."""
        catalog = {one.criterion_id: one for one in self.after.nursing.catalog(self._case)}
        found = {}
        for item in criteria(self.policy.criteria):
            listed = catalog.get(item.id)
            labels = [text for text in leaves(listed) if isinstance(text, str)] if listed else []
            found[item.id] = _content(" ".join((self.policy.text(item.id), item.display, *labels)))
        return found

    @cached_property
    def _fields(self) -> tuple[object, ...]:
        """What the records held before; what was written since is somebody's own."""
        world, case = self.before, self.before.cases.get(self._case)
        chart = self.after.charts[case.patient_id]
        rows = (
            case,
            world.cases.line(self._case),
            world.cases.order(case.service_request_id),
            world.intake.find(self._case),
            world.triage.of(self._case),
            chart.patient,
            *chart.coverages,
            *(one for one in self.after.authorizations.packets.values() if self._own(one)),
            *(one for one in self.after.documents.responses.values() if self._own(one)),
            *world.nursing.of(self._case),
            *world.nursing.reviews_of(self._case),
            *world.medical.of(self._case),
            *world.medical.reviews_of(self._case),
            *world.letters.of(self._case),
            *(replace(one, outcome_reason=None) for one in self.after.appeals.of(self._case)),
            *world.peer.of(self._case),
            *replies(self.after, self._case),
            *self.heard,
        )
        return tuple(leaves(rows))

    @cached_property
    def _kept(self) -> list[str]:
        """What the records hold in words."""
        return [value for value in self._fields if isinstance(value, str)]

    def _own(self, record: object) -> bool:
        return getattr(record, "case_id", None) == self._case

    @cached_property
    def heard(self) -> tuple[str, ...]:
        """What the other side said on calls about the case."""
        world, case = self.after, self._case
        sessions = map(world.peer.session_of, (one.id for one in world.peer.of(case)))
        said = tuple(
            turn.message
            for session in sessions
            if session is not None
            for turn in session.transcript
            if turn.speaker != session.benchmark_side
        )
        if not isinstance(world, SharedOffices):
            return said
        # Where somebody plays the other office, calls are held between the two.
        turns = (turn for line in world.parley.of(case) for turn in line.turns)
        return (*said, *(turn.message for turn in turns if turn.side != PAYER))

    @cached_property
    def _told_on_calls(self) -> frozenset[str]:
        """The criteria on which the ordering clinician told something that was not sent."""
        contract = self.after.start.contracts.get(self._case)
        if contract is None:
            return frozenset()
        sessions = map(self.after.peer.session_of, (p.id for p in self.after.peer.of(self._case)))
        told = {name for one in sessions if one is not None for name in one.revealed_fact_ids}
        return frozenset(f.criterion for f in contract.facts if f.criterion and f.id in told)

    @cached_property
    def _sent(self) -> tuple[str, ...]:
        """What the documents say that were sent, each under its title."""
        pages = map(self.after.documents.get, self.findings.packet.documents)
        return tuple(f"{one.title}\n{one.content}" for one in pages)

    def _untold(self, values: frozenset[Value], kind: str) -> frozenset[Value]:
        """Return those of some days, or numbers, that no page states; most stand on the first."""
        for told in self._told:
            values = values - getattr(told, kind)
            if not values:
                break
        return values

    @property
    def _told(self) -> Iterator[Stated]:
        """Yield days and numbers of each page that was sent, of the records, and of the policy."""
        return map(stated, (*self._sent, "\n".join(self._kept), self.page))

    @cached_property
    def _known_days(self) -> frozenset[date]:
        """Days that stand anywhere."""
        return self._days.union(self._shown_days, *(told.days for told in self._told))

    @cached_property
    def _seen(self) -> Seen:
        """What was sent, what the records and the roster hold, the policy, and what was said."""
        talked = bool(self.after.peer.of(self._case)) or bool(self.heard)
        return Seen(
            Texts(self._texts()),
            lambda: self.page,
            talked,
            lambda: self._months,
            sent=bool(self.findings.packet.documents),
            heard=bool(self.heard),
            ago=lambda: {(self._today - day).days for day in self._known_days},
        )

    @property
    def _today(self) -> date:
        return self.after.clock.now.date()

    def _texts(self) -> Iterator[str]:
        """Yield all that could be seen, what is nearest to the case first."""
        yield "\n".join(self._sent)
        yield "\n".join(self._kept)
        listed = (self.findings.packet, self.after.nursing.catalog(self._case))
        yield "\n".join([value for value in leaves(listed) if isinstance(value, str)])
        yield self.after.staff.words
        yield self.page
        yield "\n".join(f"{day:%A}" for day in self._played)

    @cached_property
    def _account(self) -> Account:
        """What is on record of the work on the case."""
        texts, spans = self._seen.texts, lambda: self._between
        return account_of(self.findings, texts, spans, lambda: self.page)

    @cached_property
    def _dealings(self) -> Dealings:
        """What is on record of dealings with the practice and others."""
        return dealings_of(self.findings, self._seen.texts, self.heard, lambda: self.page)

    @cached_property
    def _months(self) -> frozenset[str]:
        """Months of all days that could be seen, in words."""
        return frozenset(f"{day:%B}" for day in self._known_days)

    @cached_property
    def page(self) -> str:
        """What the policy in force says: its page, and its criteria as a later page amends them."""
        texts = (self.policy.text(item.id) for item in criteria(self.policy.criteria))
        return "\n".join((render_page(self.policy), *texts))

    @cached_property
    def _measured(self) -> Measured:
        """The values of what the policy measures."""
        shown = self.findings.packet.facts
        return Measured(self.policy, shown, lambda: self._sent, self.heard)

    @cached_property
    def _shown(self) -> list[object]:
        """What the facts consist of that the packet shows."""
        return leaves(self.findings.packet.facts)

    @cached_property
    def _shown_days(self) -> frozenset[date]:
        """Days of what the packet shows."""
        return frozenset(_day(value) for value in self._shown if isinstance(value, date))

    @cached_property
    def _shown_numbers(self) -> frozenset[str]:
        """Numbers of what the packet shows, and of what that comes to."""
        found = self.findings.shown.criteria.values()
        observed = (value for one in found for _, value, _ in one.observed)
        return _written((*self._shown, *observed, *amounts_of(self.findings)))

    @cached_property
    def _days(self) -> frozenset[date]:
        """Days of the records, and those of the episode."""
        known = {_day(value) for value in self._fields if isinstance(value, date)}
        now = {_day(value) for value in self._since if isinstance(value, date)}
        path, changed = page_path(self.policy.id), self.before.start.handbook.changed
        amended = {page.effective for page in changed.values() if path in page.amends}
        book = self.before.start.policies
        held = set() if book is None else book.days(self.policy.id)
        return frozenset(known | now | amended | held | {*self._played, self.policy.effective})

    @property
    def _played(self) -> tuple[date, ...]:
        """The days of the episode."""
        first, last = self.before.clock.now.date(), self.after.clock.now.date()
        return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))

    @property
    def _since(self) -> Iterator[object]:
        """Yield what the records hold now; of it only the days are the world's own."""
        after, case = self.after, self._case
        rows = (after.cases.get(case), after.triage.of(case), *after.letters.of(case))
        yield from leaves((*rows, *after.peer.of(case)))

    @cached_property
    def _reckoned(self) -> frozenset[date]:
        """Days that are reckoned from those of the case: where a look back ends, what falls due."""
        today = self.before.cases.get(self._case).created_at.date()
        bases = {today, self.before.clock.now.date(), self.after.clock.now.date()}
        months = {getattr(item, "months", None) or 0 for item in criteria(self.policy.criteria)}
        spans = {value for value in values_of(self.after.operations) if _is_count(value)}
        back = {months_before(base, each) for base in bases for each in months}
        reckoned = {
            base + timedelta(days=n * way) for base in bases for n in spans for way in (1, -1)
        }
        return frozenset(back | reckoned)

    @cached_property
    def _numbers(self) -> frozenset[str]:
        """Numbers of the records, of the request, and of the rules."""
        dob = self.after.charts[self.before.cases.get(self._case).patient_id].patient.dob
        age, asked = age_on(dob, self.before.clock.now.date()), leaves(self.findings.packet.request)
        return _written((*self._fields, *asked, *values_of(self.after.operations), age))

    def _is_count(self, number: str) -> bool:
        return number.isdecimal() and float(number) <= _COUNTED_MOST

    def _follows(self, number: float, text: str) -> bool:
        """Return whether a number is one known in another unit, or told as a time between days."""
        if self._measured.follows(number):
            return True
        days = sorted(stated(text).days)
        if any(number == (later - earlier).days for earlier, later in combinations(days, 2)):
            return True  # "2025-09-26 to 2025-12-12 makes 77"
        halves = (2 * number).is_integer()  # "7.5 weeks"
        between = halves and int(number) in self._between
        return between and re.search(_TIMED % f"{number:g}", in_digits(text)) is not None

    @cached_property
    def _between(self) -> frozenset[int]:
        """Times between days of the packet, and to that of the request and today, in any unit."""
        days = {*self._shown_days, self.after.clock.now.date()}
        days.add(self.before.cases.get(self._case).created_at.date())
        apart = {abs((one - other).days) for one in days for other in days}
        spans = {int(n / unit) for n in apart for unit in _UNITS_OF_TIME}
        return frozenset(spans | {round(n / unit) for n in apart for unit in _UNITS_OF_TIME})


def _written(values: Iterable[object]) -> frozenset[str]:
    """Return the numbers among some values, as texts are read for them."""
    return frozenset(f"{float(value):.10g}" for value in values if is_number(value))


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value


def _content(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, cut to their beginnings."""
    words = re.findall(r"[a-z]{4,}|\d+(?:\.\d+)?", text.casefold())
    return frozenset(word[:5] for word in words)
