"""Whether triage and routing were done, and done rightly. Hours and deadlines are never checked."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, rule
from healthgym.worlds.managed_care.records.review import PayerRoutingRecord, TriageRecord


def _triage(case: CaseFile) -> TriageRecord | None:
    return case.last(case.world.triage.triages.values())


def _routing(case: CaseFile) -> PayerRoutingRecord | None:
    return case.last(case.world.triage.routings.values())


def _exists(case: CaseFile) -> Answer:
    return _triage(case) is not None or _routing(case) is not None


def _disposition(case: CaseFile) -> Answer:
    record = _triage(case)
    if not _exists(case):
        return None
    return record is not None and record.disposition == case.expectation.triage.disposition


def _urgency(case: CaseFile) -> Answer:
    record = _triage(case)
    if not _exists(case):
        return None
    return record is not None and record.urgency_level == case.expectation.triage.urgency_level


def _gold_card(case: CaseFile) -> Answer:
    record, truth = _triage(case), case.expectation.triage.gold_card_eligible
    if not _exists(case):
        return None
    return record is not None and record.gold_card_eligible == truth


def _route(case: CaseFile) -> Answer:
    record = _routing(case)
    if not _exists(case):
        return None
    return record is not None and record.recommended_target == case.expectation.payer_route


def _audit(case: CaseFile) -> Answer:
    return case.acted("route_case")


RULES = (
    rule("triage.record_exists", _exists),
    rule(
        "triage.disposition_matches",
        _disposition,
        lambda c: c.expectation.triage.disposition is not None,
    ),
    rule(
        "triage.urgency_matches", _urgency, lambda c: c.expectation.triage.urgency_level is not None
    ),
    rule(
        "triage.gold_card_matches",
        _gold_card,
        lambda c: c.expectation.triage.gold_card_eligible is not None,
    ),
    rule("triage.route_matches", _route, lambda c: c.expectation.payer_route is not None),
    rule("triage.audit", _audit),
)
