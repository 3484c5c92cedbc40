"""What was written in an episode in somebody's own words, and whether it can stand.

Findings, notes, reasons and the summary of a call are read by one reader, as letters are: nothing
unfilled, no abuse, nothing taken back, no other decision, no day and no number that nobody could
see, nothing else that is claimed and not covered by what could be seen (letters are read for that
here, too), and a reason where one is owed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property

from healthgym.envs.managed_care.checks.wording import Flaw
from healthgym.envs.managed_care.utilization_management.findings import Findings
from healthgym.envs.managed_care.utilization_management.visible import Visible
from healthgym.worlds.managed_care.apps.payer.letter_remarks import added
from healthgym.worlds.managed_care.apps.payer.letter_texts import wording
from healthgym.worlds.managed_care.grounds import groundless
from healthgym.worlds.managed_care.misstated import OnFile
from healthgym.worlds.managed_care.numerals import in_digits
from healthgym.worlds.managed_care.own_words import Said, says, unsound
from healthgym.worlds.managed_care.records.review import (
    MdCaseDecision,
    NurseCaseRecommendation,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.seen import MONTHS
from healthgym.worlds.managed_care.stated import Stated, stated
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AppealOutcome,
    DeterminationDecision,
    MdReviewDecision,
    NurseReviewRecommendation,
    TriageDisposition,
)
from healthgym.worlds.managed_care.word_forms import form, untitled

#: What words cannot say beside a decision; where something is asked, either.
_CONTRARY: Mapping[object, tuple[Said, ...]] = {
    MdReviewDecision.APPROVE: (Said.DENIED,),
    MdReviewDecision.PARTIAL_APPROVE: (Said.WHOLE,),
    MdReviewDecision.DENY: (Said.APPROVED,),
    MdReviewDecision.P2P_REVIEW: (Said.APPROVED,),
    NurseReviewRecommendation.APPROVE: (Said.DENIED,),
    DeterminationDecision.APPROVED: (Said.DENIED,),
    DeterminationDecision.PARTIALLY_APPROVED: (Said.WHOLE,),
    DeterminationDecision.DENIED: (Said.APPROVED,),
    AppealOutcome.APPEAL_OVERTURNED: (Said.DENIED,),
    AppealOutcome.APPEAL_UPHELD: (Said.APPROVED,),
}
#: Who is on the other end of a call, and what a sentence says of them.
_ATTRIBUTED = re.compile(
    r"\b(?:clinician|doctor|physician|practice|provider|dr\.? [\w.-]+|she|he|they|"
    r"we (?:agreed|arranged|settled|decided))\b(?!')(?P<what>.*)"
)
#: What is said of them besides: "who looked the values up,".
_BESIDE = re.compile(r", (?:who|which|when|while) [^,]*,")
_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d))+")
#: How much is said to be granted; "20 of 24" are 20.
_GRANTED = re.compile(
    r"(?<!of )(?<!of the )(?<![\w.-])(?P<units>\d+)(?: (?!not\b|no\b|\d)[a-z-]+){0,3}? "
    r"(?:is|are|was|were|has been|have been|will be) (?:approved|authori[sz]ed|granted)\b"
)
#: The beginning of a word of four letters or more.
_STEM = re.compile(r"(?<![a-z])[a-z]{4,5}")
#: So many words that nobody used are more than another way to put it.
_NEW_LEAST = 2
#: Words of any account of a call.
_CALLS = (
    "that there this which about call record evidence clinician physician doctor request criterion "
    "patient member provider outcome further more nothing none document documents sent chart shown "
    "does have been would could known held open openly answer answered asked twice when where from "
    "with what were will point points question questions detail details other than only both stays "
    "criteria adverse decision uphold upheld overturned approval available established exist "
    "documented already also during still made make given gave informed writing recorded "
    "written above added missing fact facts opportunity chance present additional information "
    "provide explain "
    f"{' '.join(MONTHS)}"
).casefold()


class Worded:
    """Looks at the words of an episode about a case.

    Args:
        findings: What was found, beside what the packet shows.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.before, self.after = findings.before, findings.after
        self.case_id = findings.case_id
        self._known: dict[str, tuple[str, ...]] = {}

    @cached_property
    def visible(self) -> Visible:
        """What could be seen."""
        return Visible(self.findings)

    @cached_property
    def _facts(self) -> OnFile:
        packet, seen, page = self.findings.packet, self.visible, self.after.documents.get
        return OnFile(
            packet.facts,
            lambda: seen.page,
            lambda: map(page, packet.documents),
            lambda: seen.heard,
        )

    @cached_property
    def unsound(self) -> tuple[Flaw, ...]:
        """Where words stand that cannot, each with what is wrong."""
        parts = (self._evaluated(), self._recommended(), self._decided(), self._closed())
        return tuple(one for each in (*parts, self._spoken(), self._lettered()) for one in each)

    @property
    def disposition_right(self) -> bool:
        """Whether the reason of the disposition, if one was given in the episode, is a reason."""
        found = self.after.triage.of(self.case_id)
        if found is None or found == self.before.triage.of(self.case_id):
            return True
        text = found.disposition_reason or ""
        if found.disposition is None:
            return True
        needless = found.disposition == TriageDisposition.NURSE_REVIEW and form(
            "needless_review"
        ).search(text.casefold())
        return not groundless(text) and not needless and self._wrong(text) is None

    # -- what was written ----------------------------------------------------------------------

    def _evaluated(self) -> Iterator[Flaw]:
        found = self.findings
        for kind in (found.nurse, found.physician, found.on_appeal):
            for name, entry in kind.items():
                told = "\n".join(_own(entry))
                wrong = self._wrong(told)
                if wrong is not None:
                    yield wrong._replace(what=f"{name}: {wrong.what}")
                elif unsound(entry.criterion_text) or not self.visible.agrees(
                    name, entry.criterion_text
                ):
                    yield Flaw(f"{name}: other words than the criterion's", grave=True)

    def _recommended(self) -> Iterator[Flaw]:
        known = self.before.nursing.recommendations
        for one in self.after.nursing.of(self.case_id):
            if one.id not in known:
                yield from self._read(_of_nurse(one), _CONTRARY.get(one.recommendation, ()))

    def _decided(self) -> Iterator[Flaw]:
        known = self.before.medical.decisions
        for one in self.after.medical.of(self.case_id):
            if one.id not in known:
                yield from self._read(_of_physician(one), _CONTRARY.get(one.decision, ()))

    def _closed(self) -> Iterator[Flaw]:
        """Yield what is wrong with reasons of an override, or of an appeal's outcome."""
        made = self.after.determinations.active(self.case_id)
        if made is not None and made != self.before.determinations.active(self.case_id):
            yield from self._read((made.override_reason,), _CONTRARY.get(made.final_decision, ()))
        for appeal in self.after.appeals.of(self.case_id):
            if appeal not in self.before.appeals.of(self.case_id):
                said = (appeal.outcome_reason or "",)
                yield from self._read(said, _CONTRARY.get(appeal.outcome, ()))

    def _spoken(self) -> Iterator[Flaw]:
        """Yield what is wrong with what was said on calls, and with what is said of them."""
        known = {one.id: one for one in self.before.peer.of(self.case_id)}
        for request in self.after.peer.of(self.case_id):
            before = known.get(request.id)
            for note in request.notes[len(before.notes) if before else 0 :]:
                yield from self._read((note,), ())
            session = self.after.peer.session_of(request.id)
            if session is None:
                continue
            mine = (t.message for t in session.transcript if t.speaker == session.benchmark_side)
            for message in mine:
                grave = unsound(message)
                if grave:
                    yield Flaw(grave, grave=True)
                yield from map(Flaw, self.visible.uncovered(message))
            summary = session.submitted_summary or ""
            yield from self._read((summary,), ())
            yield from (Flaw(f"nobody said: {part}") for part in self._unheard(summary))

    def _lettered(self) -> Iterator[Flaw]:
        """Yield what letters say in words of somebody's own that nobody could see."""
        known = {one.id: one for one in self.before.letters.of(self.case_id)}
        standing = wording()["appeal_information"]
        for letter in self.after.letters.of(self.case_id):
            if letter.id in known:
                continue
            told = letter.appeal_information or ""
            basis = letter.supporting_basis or ""
            for text in (*added(letter.body), basis, "" if told == standing else told):
                yield from map(Flaw, self._unseen(text))

    def _unheard(self, summary: str) -> Iterator[str]:
        """Yield what somebody is said to have said whose words are mostly not theirs."""
        for sentence in _SENTENCE.findall(untitled(summary.casefold())):
            found = _ATTRIBUTED.search(" ".join(sentence.split()))
            if found is None:
                continue
            told = _stems(_BESIDE.sub(",", found["what"])) - _of_calls()
            new = told - self._heard
            given = stated(found["what"])
            # Values and days are known again in whatever words they are passed on.
            exact = (given.days or given.numbers) and given.days <= self._given.days
            if exact and given.numbers <= self._given.numbers:
                continue
            if len(new) >= _NEW_LEAST and len(new) * 2 > len(told):
                yield found["what"].strip()[:60]

    @cached_property
    def _given(self) -> Stated:
        """The days and numbers that the other side gave."""
        return stated("\n".join(self.visible.heard))

    @cached_property
    def _heard(self) -> frozenset[str]:
        """The words of the other side, of the policy, and of who works here and there."""
        known = (*self.visible.heard, self.visible.page, self.after.staff.words.casefold())
        return _stems(" ".join(known))

    # -- how it is read ------------------------------------------------------------------------

    def _read(self, texts: Iterable[str], contrary: tuple[Said, ...]) -> Iterator[Flaw]:
        for text in texts:
            wrong = self._wrong(text, contrary)
            if wrong is not None:
                yield wrong

    def _wrong(self, text: str, contrary: tuple[Said, ...] = ()) -> Flaw | None:
        """Return what is wrong with a text; None if nothing is."""
        if not text.strip():
            return None
        grave = unsound(text) or says(contrary, text)
        if grave:
            return Flaw(grave, grave=True)
        unseen = self._unseen(text)
        return Flaw(", ".join(unseen)) if unseen else None

    def _unseen(self, text: str) -> tuple[str, ...]:
        """Return what a text says of the case that nobody could see; letters say again much."""
        if text not in self._known:
            seen = self.visible
            wrong = (*seen.misjudged(text), *self._facts.misstated(text))
            wrong = (*wrong, *self._other_amounts(text))
            found = (*wrong, *seen.unfounded(text), *seen.uncovered(text))
            self._known[text] = found
        return self._known[text]

    def _other_amounts(self, text: str) -> Iterator[str]:
        """Yield how much a text says is granted, of a decision in part, if it is not so much."""
        granted = self.findings.reference.units
        if granted is None:
            return
        for sentence in _SENTENCE.findall(in_digits(untitled(text.casefold()), small=True)):
            for found in _GRANTED.finditer(sentence):
                if float(found["units"]) != granted:
                    yield f"not what is granted: {found[0]!r}"


def _own(entry: NurseCriterionEvaluation) -> Iterator[str]:
    yield entry.notes
    for item in entry.item_observations:
        yield item.notes
        if isinstance(item.observed_value, str):
            yield item.observed_value


def _of_nurse(one: NurseCaseRecommendation) -> tuple[str, ...]:
    return one.clinical_notes, one.info_requested


def _of_physician(one: MdCaseDecision) -> tuple[str, ...]:
    lines = (each.denial_rationale for each in one.line_item_decisions)
    said = (one.clinical_notes, one.determination_rationale, one.denial_rationale)
    return (*said, one.info_requested, *lines)


@cache
def _of_calls() -> frozenset[str]:
    return _stems(_CALLS)


def _stems(text: str) -> frozenset[str]:
    return frozenset(_STEM.findall(text.casefold()))
