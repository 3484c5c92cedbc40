"""What reviewers found in an episode, beside what the packet shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property

from healthgym.envs.managed_care.utilization_management.observed import bare, misread
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.worlds.managed_care.apps.payer.criteria import evidence
from healthgym.worlds.managed_care.charts.prose import begun, day_of
from healthgym.worlds.managed_care.facts import Diagnosis
from healthgym.worlds.managed_care.packets import Packet, read_packet
from healthgym.worlds.managed_care.peers.subjects import subjects_of
from healthgym.worlds.managed_care.policies.criteria import FindingCriterion
from healthgym.worlds.managed_care.policies.evaluation import PolicyAssessment, evaluate
from healthgym.worlds.managed_care.policies.postures import combined, favourable
from healthgym.worlds.managed_care.policies.tree import (
    Group,
    Node,
    Not,
    criteria,
    needed,
    parts,
)
from healthgym.worlds.managed_care.records.review import (
    AppealReview,
    LineReview,
    NurseCriterionEvaluation,
)
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Findings by criterion.
Found = Mapping[str, NurseCriterionEvaluation]
#: Documents that a finding may name although they have no bearing on it.
NEEDLESS_MOST = 1
#: How policies and their versions are named: MP-ONC-010, 2026.1.
_POLICY = re.compile(r"\bMP-[A-Z]{2,}-\w+(?:-\w+)*", re.IGNORECASE)
_VERSION = re.compile(r"\b20\d\d\.\d+\b")
_RESULTS = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
    CriterionResult.UNCLEAR: Posture.INSUFFICIENT,
}


class Findings:
    """Looks at the reviews of an episode.

    What is right follows from the policy in force and from what was sent until the review's last
    entry, replies included.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
    """

    def __init__(
        self, before: ManagedCareWorld, after: ManagedCareWorld, reference: ReviewReference
    ) -> None:
        self.before, self.after, self.reference = before, after, reference
        self.policy = reference.policy

    # -- what was written down -----------------------------------------------------------------

    @cached_property
    def nurse(self) -> Found:
        """What nurses found in the episode, a later finding in the place of an earlier one."""
        return _last(_new(self.before.nursing.reviews, self.after.nursing.reviews, self.case_id))

    @cached_property
    def physician(self) -> Found:
        """What physicians found in the episode."""
        return _last(_new(self.before.medical.reviews, self.after.medical.reviews, self.case_id))

    @property
    def appeal_reviews(self) -> tuple[AppealReview, ...]:
        """What the reviewer of an appeal wrote down in the episode."""
        known = self.before.appeals.reviews
        return tuple(
            one for one in self.after.appeals.reviews_of(self.case_id) if known.get(one.id) != one
        )

    @cached_property
    def on_appeal(self) -> Found:
        """What the reviewer of an appeal found anew."""
        return _last(self.appeal_reviews)

    @cached_property
    def held_against(self) -> frozenset[str]:
        """Criteria that physicians themselves found, in the episode, not to favour the request."""
        good = favourable(self.policy.criteria)
        known = self.physician.items()
        return frozenset(n for n, one in known if n in good and _RESULTS[one.result] is not good[n])

    @cached_property
    def standing(self) -> Found:
        """What is on record in the end, a physician's finding before a nurse's."""
        nurses = self.after.nursing.reviews_of(self.case_id)
        return {**_last(nurses), **_last(self.after.medical.reviews_of(self.case_id))}

    @property
    def case_id(self) -> str:
        """The case."""
        return self.reference.case_id

    # -- what the packet shows -----------------------------------------------------------------

    @cached_property
    def packet(self) -> Packet:
        """What the provider has sent by now."""
        return self._sent(self.after)

    @cached_property
    def shown(self) -> PolicyAssessment:
        """What it shows of the policy."""
        return self._assessed(self.packet)

    @cached_property
    def shown_first(self) -> PolicyAssessment:
        """What was shown before the episode; the same where nothing was sent in it."""
        sent = self._sent(self.before)
        return self.shown if sent == self.packet else self._assessed(sent)

    def _sent(self, world: ManagedCareWorld) -> Packet:
        return read_packet(world, self.case_id, self.policy, self._day)

    def _assessed(self, packet: Packet) -> PolicyAssessment:
        return evaluate(self.policy, packet.facts, packet.request, self._day)

    @property
    def _day(self) -> date:
        return self.before.cases.get(self.case_id).created_at.date()

    # -- whether it is right -------------------------------------------------------------------

    @cached_property
    def wrong_by_nurse(self) -> tuple[str, ...]:
        """Criteria on which the nurses' last findings are missing or wrong."""
        return self._wrong(self.nurse, closing=False)

    @cached_property
    def wrong_on_record(self) -> tuple[str, ...]:
        """Criteria on which nothing right is on record once a physician has looked."""
        return self._wrong(self.standing, closing=True)

    @cached_property
    def wrong_on_appeal(self) -> tuple[str, ...]:
        """Criteria on which the findings of an appeal's reviewer are missing or wrong."""
        return self._wrong(self.on_appeal, closing=True)

    def _wrong(self, found: Found, *, closing: bool) -> tuple[str, ...]:
        spare = frozenset(self._spare(self.policy.criteria, found))
        good = favourable(self.policy.criteria)
        wrong = []
        for name, right in self._right.items():
            accepted = {right}
            if closing and right is CriterionResult.UNCLEAR and good[name] is Posture.SATISFIED:
                # Nothing more is awaited: what is still open is not shown.
                accepted.add(CriterionResult.NOT_MET)
            if name in spare:
                accepted.add(CriterionResult.UNCLEAR)
            entry = found.get(name)
            if entry is None and name in spare:
                continue
            if entry is None or entry.result not in accepted:
                wrong.append(name)
        return tuple(wrong)

    @property
    def _right(self) -> Mapping[str, CriterionResult]:
        return {name: one.result for name, one in self.shown.criteria.items()}

    def _spare(self, node: Node, found: Found) -> Iterator[str]:
        """Yield criteria that need not be pursued: another part of their group carries it."""
        if not isinstance(node, Group) or isinstance(node, Not):
            return
        below = parts(node)
        if needed(node) < len(below) and _carried(node, found):
            yield from (item.id for item in criteria(node))
        else:
            for part in below:
                yield from self._spare(part, found)

    @cached_property
    def misread(self) -> tuple[str, ...]:
        """Criteria beside which a value stands that the packet does not show, or none of those."""
        return tuple(
            name
            for found in (self.nurse, self.physician, self.on_appeal)
            for name, entry in found.items()
            if name in self.shown.criteria and not self._read(name, entry)
        )

    def _read(self, name: str, entry: NurseCriterionEvaluation) -> bool:
        """Return whether the values beside a finding are those of the packet, and are there."""
        item, shown = self.policy.criterion(name), self.shown.criteria[name]
        wrong = misread(item, shown, entry, self.packet.facts, self._day)
        days, beside = self._days_of(name), self._days_cited(entry)
        return not wrong and not bare(item, shown, entry, days, beside)

    def _days_cited(self, entry: NurseCriterionEvaluation) -> frozenset[date]:
        """Return the days of the pages that a finding names, and that of the request."""
        known = self._days_of_pages
        return frozenset((*(known[name] for name in references(entry) if name in known), self._day))

    @cached_property
    def _days_of_pages(self) -> Mapping[str, date]:
        """The day of each page of the chart."""
        chart = self.after.charts[self.after.cases.get(self.case_id).patient_id]
        return {page.id: page.created_at.date() for page in chart.documents}

    def _days_of(self, name: str) -> frozenset[date]:
        """Return the days by which what shows a criterion is known.

        What somebody finds has the day of the page besides: most of them name no other. So has what
        a page calls resolved: since when it was there, nobody asks.
        """
        resting = frozenset(self.shown.criteria[name].facts)
        facts = [fact for fact in self.packet.facts if fact.id in resting]
        days = {day for fact in facts for day in (begun(fact), day_of(fact))}
        past = any(isinstance(fact, Diagnosis) and not fact.active for fact in facts)
        if past or (facts and isinstance(self.policy.criterion(name), FindingCriterion)):
            known = self._days_of_pages
            days.update(known[page] for page in self.bearing(name) if page in known)
        return frozenset(days)

    @cached_property
    def unsourced(self) -> tuple[str, ...]:
        """Findings of the episode that rest on nothing, on too much, or on what is not there."""
        found = (self.nurse, self.physician, self.on_appeal)
        return tuple(dict.fromkeys(name for each in found for name in self._unsourced(each)))

    def _unsourced(self, found: Found) -> Iterator[str]:
        for name, entry in found.items():
            if not self._sound(name, entry):
                yield name

    def _sound(self, name: str, entry: NurseCriterionEvaluation) -> bool:
        named = references(entry)
        if not named <= self._known or named & self._strangers or self._misquoted(entry):
            return False
        if entry.result is CriterionResult.UNCLEAR:
            return True
        bearing = self.bearing(name)
        if not bearing:  # it is the request's own, or nothing shows it
            return len(named) <= NEEDLESS_MOST + 1
        needless = [page for page in named - bearing if not self._touches(page, name)]
        return bool(named & bearing) and len(needless) <= NEEDLESS_MOST

    def _misquoted(self, entry: NurseCriterionEvaluation) -> bool:
        """Return whether a finding goes, by its own words, by another policy or version."""
        said = f"{entry.criteria_source} {entry.criteria_version}"
        policies = {each.upper() for each in _POLICY.findall(said)}
        versions = set(_VERSION.findall(said))
        return bool(policies - {self.policy.id} or versions - {self.policy.version})

    def bearing(self, name: str) -> frozenset[str]:
        """Return the documents sent that bear on a criterion."""
        known = self.shown.criteria.get(name)
        facts = known.facts if known else ()
        telling = {each for fact in facts for each in self.packet.sources.get(fact, ())}
        return frozenset(telling | self.reference.bearing.get(name, frozenset()))

    def _touches(self, page: str, name: str) -> bool:
        """Return whether a page speaks of what a criterion is about, if not of what settles it.

        A list on which a medicine begins shows no trial of it, and is rightly named beside the note
        that does.
        """
        said = self._spoken.get(page, "")
        return any(re.search(rf"\b{re.escape(term)}", said) for term in self._terms.get(name, ()))

    @cached_property
    def _terms(self) -> Mapping[str, tuple[str, ...]]:
        """The words that people have for what each criterion is about."""
        listed = subjects_of(criteria(self.policy.criteria))
        return {each.id: tuple(map(str.casefold, each.terms)) for each in listed}

    @cached_property
    def _spoken(self) -> Mapping[str, str]:
        """What each page that was sent says."""
        chart = self.after.charts[self.after.cases.get(self.case_id).patient_id]
        sent = [page for page in chart.documents if page.id in self.packet.documents]
        return {page.id: f"{page.title}\n{page.content}".casefold() for page in sent}

    @cached_property
    def _known(self) -> frozenset[str]:
        """Whatever a reviewer can point to."""
        return evidence(self.after, self.after.cases.get(self.case_id))

    @cached_property
    def _strangers(self) -> frozenset[str]:
        """Pages in the packet that are about somebody else."""
        chart = self.after.charts[self.after.cases.get(self.case_id).patient_id]
        own = chart.patient.id
        return frozenset(
            each.id
            for each in chart.documents
            if each.id in self.packet.documents and own not in each.content
        )


def references(entry: NurseCriterionEvaluation) -> frozenset[str]:
    """Return what a finding points to, its items included."""
    of_items = (name for item in entry.item_observations for name in item.source_refs_used)
    return frozenset((*entry.source_refs_used, *of_items))


def _carried(group: Node, found: Found) -> bool:
    """Return whether findings carry a group although some part of it is not pursued."""
    postures = {item.id: Posture.ABSENT for item in criteria(group)}
    known = {name: _RESULTS[one.result] for name, one in found.items() if name in postures}
    return combined(group, postures | known) is Posture.SATISFIED


def _new(
    before: Mapping[str, LineReview], after: Mapping[str, LineReview], case_id: str
) -> Iterator[LineReview]:
    for key, review in after.items():
        if review.case_id == case_id and before.get(key) != review:
            yield review


def _last(reviews: Iterable[LineReview]) -> Found:
    ordered = sorted(reviews, key=lambda each: each.updated_at)
    return {one.criterion_id: one for each in ordered for one in each.criteria_evaluations}
