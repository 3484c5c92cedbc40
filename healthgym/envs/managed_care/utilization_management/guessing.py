"""A reviewer who never opens the packet: what handbook, policy page and request tell, and a guess.

Everything that is said of the case elsewhere is read and done rightly. Of the documents sent only
the list is looked at: kind, title and day of each. A criterion is taken for shown, by the latest
pages of the kind in which it usually stands, with a value that would just do. An earlier reviewer's
findings are not looked at either: who copies those is :mod:`.habits`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date

from healthgym.core.borders import Json
from healthgym.core.tool import call
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.layout import Row
from healthgym.envs.managed_care.utilization_management.lookups import CaseReading, read_brief
from healthgym.envs.managed_care.utilization_management.memory import Memory
from healthgym.envs.managed_care.utilization_management.solver import Reviewer
from healthgym.errors import DataError
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.facts import Finding as Seen
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS, AnyCriterion
from healthgym.worlds.managed_care.policies.documents import documented_in
from healthgym.worlds.managed_care.policies.evaluation import Assessment, evaluate
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.review import (
    ClinicalEvidenceItemTemplate,
)
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    ItemOperator,
    Posture,
)

#: As many pages may be named for a finding as one of them has no bearing on it.
_PAGES = 2
#: What an operator that excludes its threshold is guessed to be met by.
_BEYOND: Mapping[ItemOperator, float] = {ItemOperator.GT: 1.0, ItemOperator.LT: -1.0}
_RESULTS = {
    Posture.SATISFIED: CriterionResult.MET,
    Posture.CONTRADICTS: CriterionResult.NOT_MET,
}


def guess(instruction: str) -> Play[None]:
    """Do everything but read what was sent, and take it for enough."""
    with suppress(DataError):
        yield from Guesser(read_brief(instruction), Memory()).work()
    yield call("finish")


class Guesser(Reviewer):
    """Somebody who sees a case through, and looks at the list of what was sent alone."""

    def _look(self, who: str) -> Play[CaseReading]:
        case = yield from super()._look(who)
        listed = tuple({**row, "content": ""} for row in case.documents)
        return replace(case, documents=listed)

    def _found(self, case: CaseReading) -> Finding:
        """Return findings by which everything is shown that the request does not tell itself."""
        policy = self._policy.policy()
        known = super()._found(case)
        good = favourable(policy.criteria)
        sources: dict[str, tuple[str, ...]] = {}
        told: dict[str, Assessment] = {}
        facts: list[AnyFact] = []
        for item in criteria(policy.criteria):
            if isinstance(item, REQUEST_KINDS):
                told[item.id] = known.assessment.criteria[item.id]
                continue
            pages = _likely(item, case.documents)
            sources[item.id] = tuple(row["id"] for row in pages)
            facts += [_entry(item, row) for row in pages[:1]]
            told[item.id] = _guessed(item, good[item.id])
        shown = replace(
            evaluate(policy, (), known.packet.request, case.day),
            posture=Posture.SATISFIED,
            criteria=told,
            missing_documents=known.assessment.missing_documents,
        )
        packet: Packet = replace(known.packet, facts=tuple(facts), sources=sources)
        return Finding(policy, packet, shown)


def _likely(item: AnyCriterion, pages: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the latest pages of the kind in which a criterion usually stands."""
    kinds = {str(kind) for kind in documented_in(item)}
    fitting = [row for row in pages if row["kind"] in kinds] or list(pages)
    latest = sorted(fitting, key=lambda row: row["created_at"], reverse=True)
    return tuple(latest[:_PAGES])


def _entry(item: AnyCriterion, page: Row) -> AnyFact:
    """Return what a criterion is said to rest on: an entry of the day of a page."""
    day = date.fromisoformat(page["created_at"][:10])
    return Seen(id=item.id, key="", display=item.display, value="", found=day)


def _guessed(item: AnyCriterion, posture: Posture) -> Assessment:
    """Return a finding that helps the request, with values that would just do."""
    met = posture is Posture.SATISFIED
    return Assessment(
        criterion_id=item.id,
        posture=posture,
        result=_RESULTS[posture],
        observed=tuple(
            (
                each,
                _value(each) if met else None,
                CriterionResult.MET if met else CriterionResult.NOT_MET,
            )
            for each in evidence_items(item)
        ),
        facts=(item.id,),
    )


def _value(item: ClinicalEvidenceItemTemplate) -> Json:
    """Return a value that an item is met by, as near to its threshold as may be."""
    if item.operator == ItemOperator.PRESENT:
        return True
    expected = item.threshold_value
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return expected
    beyond = _BEYOND.get(ItemOperator(item.operator), 0.0) if item.operator else 0.0
    return expected + beyond
