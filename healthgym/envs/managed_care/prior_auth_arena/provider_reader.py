"""A coordinator who reads memos, too, and says on a call what stands in one."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena.memos import told
from healthgym.envs.managed_care.prior_authorization.lookups import Brief
from healthgym.envs.managed_care.prior_authorization.solver import (
    Besides,
    Memory,
    appeal,
    remembering,
    reply,
)
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.chart_page import ChartReading
from healthgym.envs.managed_care.reading.layout import record
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus, PeerToPeerOutcome

_MEMO = re.compile(r"\bMSG-MEMO-\d+\b")
_OFFER = re.compile(r"offers times for a call, request (P2P-\d+), case \S+: ([^(]+) \(UTC\)")
_INSISTS = "whether or not the policy is met"
_BEGUN = re.compile(r"the call of request (P2P-\d+)")
_STAMP = re.compile(r"\A\[(\d{4}-\d\d-\d\d \d\d:\d\d)\]")
_PATIENCE = timedelta(days=55)
#: It looks that often, for no letter tells of a denial by the calendar.
_LOOK = timedelta(days=20)
#: Answers of the payer that are seen to.
_MOST_ANSWERS = 14
_NOTHING = "There is nothing more that we know of it."
_OPEN = (
    CaseStatus.SUBMITTED,
    CaseStatus.UNDER_REVIEW,
    CaseStatus.RESUBMITTED,
    CaseStatus.PENDED_ACTION_REQUIRED,
    CaseStatus.APPEALED,
)


def solve(instruction: str) -> Play[None]:
    """Read what holds today and what clinicians wrote, decide from it, and see it through."""
    yield from remembering(Memory(), instruction, Memos())


class Memos(Besides):
    """What the practice's clinicians wrote, and what is said of it on a call."""

    def __init__(self) -> None:
        self.text = ""

    def known(self, policy: PolicyReading) -> Play[tuple[AnyFact, ...]]:
        """Return what memos tell of the policy's criteria."""
        listed = yield from ask("inbox.list_messages")
        for memo in dict.fromkeys(_MEMO.findall(listed)):
            self.text += yield from ask("inbox.read_message", message_id=memo)
        self.insists = _INSISTS in self.text
        found = (fact for item in criteria(policy.page.criteria) for fact in told(self.text, item))
        return tuple(dict.fromkeys(found))

    def see_through(
        self, case: str, brief: Brief, chart: ChartReading, policy: PolicyReading
    ) -> Play[None]:
        """Wait for the payer, and do what it asks for: send, choose a time, speak; or appeal."""
        now, last = brief.now.replace(tzinfo=None), brief.now.replace(tzinfo=None) + _PATIENCE
        for _ in range(_MOST_ANSWERS):
            until = max(now, min(last, now + _LOOK))
            shown = yield call("wait", until=f"{until:%Y-%m-%dT%H:%M}")
            now = max(now, _now(shown))
            offer = _OFFER.search(shown)
            if offer is not None:
                yield from _choose(case, offer, shown)
                continue
            begun = _BEGUN.search(shown)
            if begun is not None:
                yield from self._talk(begun[1])
                continue
            status = yield from ask("auth.check_status", case_id=case, channel="portal")
            match state := record(status, "case").get("status", ""):
                case CaseStatus.PENDED_ACTION_REQUIRED:
                    letters = yield from ask("inbox.list_messages", case_id=case)
                    yield from reply(case, letters, chart)
                case CaseStatus.DENIED | CaseStatus.APPEAL_UPHELD if not self.short:
                    yield from appeal(case, state, policy)
                    last = now + _PATIENCE
                case _ if state not in _OPEN or now >= last:
                    return

    def _talk(self, request: str) -> Play[None]:
        """Say what the memo tells, whenever it is the provider's turn."""
        line = yield from ask("call.read", request_id=request)
        if "provider's turn" not in line:
            return
        position = PeerToPeerOutcome.OVERTURN_TO_APPROVAL
        if not self.text or self.short:
            position = PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION
        spoken = "provider (" in line
        yield call(
            "call.speak",
            message=_said(self.text) if self.text and not spoken else _NOTHING,
            position=str(position),
            ready=True,
        )


def _said(text: str) -> str:
    """Return the body of a memo, as it is shown."""
    found = re.search(r"^body: (.+)$", text, re.MULTILINE)
    return found[1] if found else text


def _choose(case: str, offer: re.Match[str], shown: str) -> Play[None]:
    """Take the first time on offer that is not past."""
    at = _now(shown)
    slots = [slot.strip() for slot in offer[2].split(",")]
    ahead = [slot for slot in slots if datetime.fromisoformat(slot).replace(tzinfo=None) > at]
    yield call(
        "auth.respond_to_peer_to_peer",
        case_id=case,
        request_id=offer[1],
        note="" if ahead else f"All times to {slots[-1]} are past; please offer others.",
        selected_slot=ahead[0] if ahead else None,
    )


def _now(shown: str) -> datetime:
    """Return the time that stands before what is shown."""
    now = _STAMP.match(shown)
    return datetime.fromisoformat(now[1]) if now else datetime.min
