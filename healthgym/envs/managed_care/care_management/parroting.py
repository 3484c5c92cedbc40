"""A caller who says back what the person said, and understands none of it.

Neither chart nor handbook is opened. The episode is classed as most are that come from where this
one does, the review says the referral back, the call opens as every call does, and from then on
each message is the person's own words and a question that fits anybody. What is filed is what was
said, by whether it sounded like a yes, and a plan for everybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import Final

from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.blind import (
    EVERYBODYS,
    HELLO,
    TOLD,
    likeliest,
)
from healthgym.envs.managed_care.care_management.lookups import (
    find_referral,
    read_brief,
)
from healthgym.envs.managed_care.care_management.speech import PhraseBook, phrase_book
from healthgym.envs.managed_care.care_management.writing import Findings, Score, plan, sections
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.layout import Row, value
from healthgym.errors import DataError
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.vocabulary.care import RiskLevel
from healthgym.worlds.managed_care.voices import Topic

#: An hour, in UTC, at which it is day in every state.
_CALLED_AT: Final = time(18, 5)
#: Messages of a call, and of the questions that follow an agreement.
_WINNING, _CALLS, _PHRASES = 8, 2, "plain"
_AGREES: Final = re.compile(r"\b(?:yes|sure|okay|all right|fine|agree|let's|sign me)\b", re.I)
_DECLINES: Final = re.compile(r"\b(?:no|not|don't|won't|suppose|guess|but)\b", re.I)
#: How words are turned that somebody says of themselves.
_TURNED: Final[Mapping[str, str]] = {
    "i": "you",
    "i'm": "you are",
    "i've": "you have",
    "i'd": "you would",
    "i'll": "you will",
    "am": "are",
    "me": "you",
    "my": "your",
    "mine": "yours",
    "myself": "yourself",
}
_WORD: Final = re.compile(r"[A-Za-z']+")
#: What goes with the words that are said back, message by message.
_BESIDES: Final[Sequence[Sequence[Act]]] = (
    (Act.ACKNOWLEDGE, Act.ASK_HESITATION),
    (Act.ACKNOWLEDGE, Act.EXPLAIN_BENEFIT, Act.OFFER_AUTONOMY),
    (Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY, Act.REQUEST_CONSENT),
)
#: The same after what sounds like a no, and how many of these are one.
_AFTER_NO, _NOES = (Act.ACKNOWLEDGE, Act.ASK_HESITATION, Act.OFFER_AUTONOMY), 2
#: What is asked of everybody who agreed, message by message.
_ASKED: Final[Sequence[Sequence[Topic]]] = (
    (Topic.MEDICATION,),
    (Topic.MEDICATION,),
    (Topic.MOOD,),
    (Topic.SAFETY,),
    (Topic.TRANSPORTATION, Topic.FOOD, Topic.HOUSING),
    (Topic.CAREGIVER, Topic.LITERACY, Topic.WORK),
    (Topic.FINANCES,),
)
_PRIVATE: Final = frozenset({Topic.MOOD, Topic.SAFETY, Topic.FINANCES})


def parrot(instruction: str) -> Play[None]:
    """Say back what is said, and file it."""
    with suppress(DataError, KeyError, ValueError):
        yield from _work(instruction)
    yield call("finish")


def _work(instruction: str) -> Play[None]:
    brief = read_brief(instruction)
    row = yield from find_referral(brief)
    program, priority, level = likeliest(row["source"])
    case = row["case_id"]
    yield call(
        "cm_intake.open_case",
        referral_id=row["referral_id"],
        priority=str(priority),
        program=str(program),
    )
    yield call("cm_chart.submit_chart_review", case_id=case, review=_said_back(row, level))
    caller = Parrot(case, phrase_book(_PHRASES, brief.caller))
    for _ in range(_CALLS):
        yield from caller.ring()
        if caller.agreed or caller.declined:
            break
    yield from caller.file()


def _said_back(row: Row, level: RiskLevel) -> dict[str, object]:
    """Return a review that holds what the referral does."""
    told = (row.get(name, "") for name in ("reason", "diagnosis_codes", "utilization_flags"))
    return {
        "primary_concerns": [row["reason"]],
        "preliminary_risk_level": str(level),
        "key_findings": f"{'; '.join(filter(None, told))}. {row.get('notes', '')}",
    }


class Parrot:
    """Somebody who says back what was said last.

    Args:
        case: The episode.
        book: How they say what everybody says.
    """

    def __init__(self, case: str, book: PhraseBook) -> None:
        self.case, self.book = case, book
        self.session = self.heard = ""
        self.over = self.agreed = self.declined = False
        self.said: list[str] = []

    def ring(self) -> Play[None]:
        """Call: the openers, then what was said back, until it sounds like an answer."""
        shown = yield call("cm_intake.list_referral_queue")
        now = datetime.fromisoformat(f"{shown[1:17]}:00+00:00")
        at = datetime.combine(now.date(), _CALLED_AT, now.tzinfo)
        if at < now:
            at += timedelta(days=1)
        yield call("wait", until=f"{at:%Y-%m-%dT%H:%M}")
        answer = yield from ask("cm_outreach.start_outreach_call", case_id=self.case)
        self.session, self.over = value(answer, "session_id"), False
        yield from self._say(*HELLO)
        yield from self._say(*TOLD)
        yield from self._say(Act.REQUEST_CONSENT)
        yield from self._win()
        if self.agreed:
            yield from self._ask()

    def _win(self) -> Play[None]:
        """Say back what is said until it sounds like a yes, or twice like a no."""
        noes = 0
        for turn in range(_WINNING):
            no = bool(_DECLINES.search(self.heard))
            noes += no
            self.agreed = bool(_AGREES.search(self.heard)) and not no
            self.declined = noes >= _NOES
            if self.over or self.agreed or self.declined:
                return
            besides = _AFTER_NO if no else _BESIDES[turn % len(_BESIDES)]
            yield from self._say(self._back(), *besides)
        self.declined = True

    def _ask(self) -> Play[None]:
        for topics in _ASKED:
            acts = [
                Meant(act=act, topic=topic)
                for topic in topics
                for act in (Act.ASK_PERMISSION, Act.ASK_TOPIC)
                if act is Act.ASK_TOPIC or topic in _PRIVATE
            ]
            yield from self._say(self._back(), Act.ACKNOWLEDGE, *acts)
        yield from self._say(self._back(), Act.NEXT_STEPS, Act.CLOSE)

    def _back(self) -> str:
        """Return what was said last, as said to whoever said it."""
        return _WORD.sub(lambda word: _TURNED.get(word[0].lower(), word[0]), self.heard)

    def _say(self, *parts: Act | Meant | str) -> Play[None]:
        if self.over:
            return
        said = (
            part
            if isinstance(part, str) and not isinstance(part, Act)
            else self.book.say([Meant(act=part) if isinstance(part, Act) else part])
            for part in parts
        )
        shown = yield from ask(
            "cm_outreach.send_message", session_id=self.session, message=" ".join(said)
        )
        told = shown.partition("patient_response:")[2].partition("\nturn_number:")[0]
        self.heard = " ".join(told.split())
        self.over = "session_status: ended" in shown or not told
        self.said.append(self.heard)

    def file(self) -> Play[None]:
        """File what was said: a yes with sections and a plan, anything else as a no."""
        quoted = [f'"{words}"' for words in self.said[-3:] if words]
        yield call(
            "cm_outreach.end_outreach_call",
            session_id=self.session,
            summary={
                "engagement_status": "engaged" if self.agreed else "refused",
                "consent_obtained": self.agreed,
                "notes": f"The person said: {' '.join(quoted)}",
            },
        )
        if not self.agreed:
            reason = f"The person declined: {quoted[-1] if quoted else 'no answer'}"
            yield call("cm_intake.disenroll_case", case_id=self.case, reason=reason)
            return
        shown = yield call("cm_assessment.start_assessment", case_id=self.case)
        today = datetime.fromisoformat(f"{shown[1:17]}:00+00:00").date()
        none = Score(points=None, day=today)
        found = Findings(diagnoses=(), medicines=(), phq9=none, gad7=none, barriers=frozenset())
        for payload in sections(found):
            # Who breaks off is heard by the call being over.
            block = {"blocked_reason": f"private: {quoted[-1]}"} if self.over and quoted else {}
            yield call("cm_assessment.save_section", case_id=self.case, payload=payload, **block)
            if block:
                return
        yield call("cm_assessment.complete_assessment", case_id=self.case)
        yield call("cm_care_plan.create_draft", case_id=self.case)
        data = plan(EVERYBODYS, found, today)
        yield call("cm_care_plan.save_care_plan", case_id=self.case, plan_data=data)
        yield call("cm_care_plan.finalize", case_id=self.case)
