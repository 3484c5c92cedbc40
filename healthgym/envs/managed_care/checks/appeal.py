"""Whether an appeal ended as it should, before somebody else."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, rule


def _outcome(case: CaseFile) -> Answer:
    outcomes = {appeal.outcome for appeal in case.of(case.world.appeals.appeals.values())}
    return case.expectation.appeal_outcome in outcomes


def _independent(case: CaseFile) -> Answer:
    appeals = case.of(case.world.appeals.appeals.values())
    if not appeals:
        return None
    internal = [one for one in appeals if one.level == "internal" and one.assigned_reviewer_id]
    return all(one.assigned_reviewer_id != one.original_reviewer_id for one in internal)


RULES = (
    rule("appeal.outcome_matches", _outcome, lambda c: c.expectation.appeal_outcome is not None),
    rule("appeal.reviewer_independence", _independent),
)
