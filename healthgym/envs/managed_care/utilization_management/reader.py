"""Somebody at the payer's desks: what time it is, who is in, what a case looks like, the post."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from healthgym.core.tool import call
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.layout import body, is_cut, record, table
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.envs.managed_care.utilization_management.lookups import (
    Brief,
    CaseReading,
    Colleague,
    Office,
    packet_of,
    read_case,
)
from healthgym.errors import DataError
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.pages import page_wordings

_T = TypeVar("_T")
_STAMP = re.compile(r"\A\[(\d{4}-\d\d-\d\d \d\d:\d\d)\]")
_LETTER = re.compile(r"\bLET-\d+\b")
#: Somebody who leaves sooner is not begun with.
_STAYS = timedelta(minutes=12)
#: News that may come before the time that is waited for.
MOST_NEWS = 30
#: How long a reply, or the choice of a time, is waited for.
PATIENCE = timedelta(days=12)


class Reader:
    """Somebody with one case, who knows of it what was shown.

    Args:
        brief: What the instruction tells.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.case_id, self.now = brief.case, brief.now
        self.office = Office({}, {}, 0, 0)
        self.reading: PolicyReading | None = None
        self.page = ""
        self.asked = self.called = False
        self.nurses: set[str] = set()
        self.physicians: set[str] = set()

    # -- calling -----------------------------------------------------------------------------------

    def _do(self, name: str, **arguments: object) -> Play[str]:
        """Call a tool, keep the time, and read the answer to the end."""
        observation = yield call(name, **arguments)
        self._stamp(observation)
        text = body(observation)
        while is_cut(observation):
            observation = yield call("read_more")
            self._stamp(observation)
            text += body(observation)
        return text

    def _watching(self, play: Play[_T]) -> Play[_T]:
        """Follow another play, and keep the time."""
        try:
            made = next(play)
            while True:
                observation = yield made
                self._stamp(observation)
                made = play.send(observation)
        except StopIteration as end:
            found: _T = end.value
            return found

    def _stamp(self, observation: str) -> None:
        self.now = moment_of(observation, self.now)

    def _wait(self, until: datetime) -> Play[None]:
        for _ in range(MOST_NEWS):
            if self.now >= until:
                return
            yield from self._do("wait", until=f"{until:%Y-%m-%dT%H:%M}")

    def _somebody(self, desk: str, but: Iterable[str] = ()) -> Play[str]:
        """Return who may work at a desk and is in; wait for the first where nobody is."""
        people = self.office.able(desk, but)
        if not people:
            raise DataError(f"Nobody may work at the {desk} desk.")
        while not (able := [one for one in people if self._stays(one)]):
            yield from self._wait(min(self._back(one) for one in people))
        return able[0].id

    def _stays(self, one: Colleague) -> bool:
        return one.is_in(self.now) and one.is_in(self.now + _STAYS)

    def _back(self, one: Colleague) -> datetime:
        at = one.opens(self.now if not one.is_in(self.now) else self.now + _STAYS)
        return max(at, self.now + timedelta(minutes=1))

    def _same(self, worker: str, desk: str, but: Iterable[str] = ()) -> Play[str]:
        """Return somebody who is in: the same as before, or a colleague."""
        if self.office.people[worker].is_in(self.now):
            return worker
        return (yield from self._somebody(desk, but))

    # -- reading -----------------------------------------------------------------------------------

    def _look(self, who: str) -> Play[CaseReading]:
        text = yield from self._do(f"review.get_{who}_review_data", case_id=self.case_id)
        case = read_case(text)
        self.nurses |= {row["reviewer_id"] for row in table(text, "nurse_reviews")}
        self.nurses |= {record(text, "case_recommendation").get("reviewer_id", "")} - {""}
        self.physicians |= {row["reviewer_id"] for row in table(text, "md_reviews")}
        self.physicians |= {record(text, "case_decision").get("reviewer_id", "")} - {""}
        return case

    @property
    def _policy(self) -> PolicyReading:
        if self.reading is None:
            raise DataError("No page of a policy lists what is asked for.")
        return self.reading

    @property
    def _reserved(self) -> bool:
        return not says(self.page, page_wordings()["nurse"])

    def _found(self, case: CaseReading) -> Finding:
        packet = packet_of(case, self._policy)
        return self._judged(packet, case)

    def _judged(self, packet: Packet, case: CaseReading) -> Finding:
        policy = self._policy.policy()
        found = evaluate(policy, packet.facts, packet.request, case.day)
        # Which kinds are required is on the page; some take the place of others.
        missing = tuple(k for k in self._policy.required() if str(k) not in packet.kinds)
        return Finding(policy, packet, replace(found, missing_documents=missing))

    # -- the post ----------------------------------------------------------------------------------

    def _post(self, kind: str) -> Play[None]:
        """Write a letter, and send it by the channel on which the request came."""
        writer = yield from self._somebody("letters")
        text = yield from self._do(
            f"payer_letter_center.generate_{kind}", case_id=self.case_id, actor=writer
        )
        letter = _LETTER.search(text)
        if letter is None:
            raise DataError("No letter was written.")
        shown = yield from self._do("payer_intake_hub.get_intake_case", case_id=self.case_id)
        channel = fields_of(shown).get("method", "portal")
        channel = "fax" if channel == "phone" else channel
        yield from self._do("payer_letter_center.audit_completeness", letter_id=letter[0])
        yield from self._do("payer_letter_center.deliver", letter_id=letter[0], channel=channel)

    def _tell(self, notice: str) -> Play[None]:
        yield from self._do(
            "payer_letter_center.generate_notification",
            case_id=self.case_id,
            notification_type=notice,
            actor=(yield from self._somebody("letters")),
        )


def moment_of(observation: str, before: datetime) -> datetime:
    """Return the time that stands before what is shown; as before where none does."""
    found = _STAMP.match(observation)
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC) if found else before


def fields_of(text: str) -> Mapping[str, str]:
    """Return the values that stand in lines of their own."""
    found = re.findall(r"^(\w+): (.+)$", text, re.MULTILINE)
    return dict(found)


def rows_of(text: str) -> list[Mapping[str, str]]:
    """Return the rows of an answer that is a table."""
    lines = text.strip().split("\n")
    names = lines[0].split(" | ") if lines else []
    return [dict(zip(names, line.split(" | "), strict=False)) for line in lines[1:]]


def says(page: str, wordings: Iterable[str]) -> bool:
    """Return whether a page says something, in one of its wordings."""
    for said in wordings:
        pattern = re.escape(said)
        for slot in ("title", "id", "name"):
            pattern = pattern.replace(rf"\{{{slot}\}}", ".+?")
        if re.search(pattern, page):
            return True
    return False
