"""Somebody at the appeals desk who goes by what is shown there: the appeal, the file, the pages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta

from pydantic import TypeAdapter

from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.layout import table
from healthgym.envs.managed_care.utilization_management.caller import Caller
from healthgym.envs.managed_care.utilization_management.lookups import CaseReading
from healthgym.errors import DataError
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import CriterionResult, Posture

_EVALUATIONS = TypeAdapter(tuple[NurseCriterionEvaluation, ...])
_APPEAL = re.compile(r"\bAPL-\d+\b")
#: What an appeal says: in the line of its name, or in lines set in under it.
_RATIONALE = re.compile(r"^( *)rationale:(?P<said>.*(?:\n\1 .*|\n(?=\n))*)", re.MULTILINE)
#: What a finding begins with in a table, and its result.
_FOUND = re.compile(r"criterion_id (C\d+); .*?; result (\w+)(?:;|$|,)")
_RESULTS = {Posture.SATISFIED: CriterionResult.MET, Posture.CONTRADICTS: CriterionResult.NOT_MET}
#: What is left to do once somebody is chosen: somebody who leaves before is not.
_WORK = timedelta(minutes=45)


class AppealReader(Caller):
    """Somebody who hears an appeal."""

    def _hear(self) -> Play[None]:
        """Acknowledge the appeal, have it read anew and decided, and tell the member."""
        listed = yield from self._do("payer_appeals.list", case_id=self.case_id)
        number = _APPEAL.search(listed)
        if number is None:
            raise DataError("No appeal of the case is listed.")
        appeal = number[0]
        file = yield from self._do("payer_appeals.get_file", appeal_id=appeal)
        case = yield from self._look("md")
        found = self._found(case)
        yield from self._do(
            "payer_appeals.acknowledge",
            appeal_id=appeal,
            actor=(yield from self._somebody("letters")),
        )
        reviewer = yield from self._outsider(file)
        yield from self._do("payer_appeals.assign_reviewer", appeal_id=appeal, reviewer_id=reviewer)
        yield from self._do(
            "payer_appeals.save_review",
            appeal_id=appeal,
            reviewer_id=reviewer,
            line_number=1,
            evaluations=json.loads(_EVALUATIONS.dump_json(found.evaluations())),
        )
        # The member is told at once: the practice may go on outside as soon as it hears of it.
        yield from self._somebody("letters")
        while not self.office.people[reviewer].is_in(self.now):
            yield from self._wait(self.office.people[reviewer].opens(self.now))
        grounded = rests_on(rationale_in(file), found.policy)
        overturned = grounded and found.carried
        yield from self._do(
            "payer_appeals.decide",
            appeal_id=appeal,
            reviewer_id=reviewer,
            outcome="appeal_overturned" if overturned else "appeal_upheld",
            rationale=_reason(found, case, grounded=grounded),
        )
        yield from self._tell("appeal_outcome")

    def _outsider(self, file: str) -> Play[str]:
        """Return a director of appeals who had no part in the case, and stays long enough."""
        known = {row["determined_by"] for row in table(file, "determinations")}
        people = self.office.able("appeal", {*self.nurses, *self.physicians, *known})
        if not people:
            raise DataError("Nobody may decide the appeal.")
        while not (able := [p for p in people if self._stays(p) and p.is_in(self.now + _WORK)]):
            yield from self._wait(min(each.opens(self.now + _WORK) for each in people))
        return able[0].id


def rationale_in(file: str) -> str:
    """Return what an appeal says, from the tool's answer that has its file."""
    found = _RATIONALE.search(file)
    return found["said"] if found else ""


def rests_on(rationale: str, policy: Policy) -> bool:
    """Return whether an appeal names the policy in force and its version."""
    words = {word.strip(".,;:()") for word in rationale.split()}
    return policy.id in words and policy.version in words


def _reason(found: Finding, case: CaseReading, *, grounded: bool) -> str:
    """Return why an appeal is decided as it is."""
    head = f"{found.policy.id}, version {found.policy.version}"
    if not grounded:
        return f"{head}, is the policy in force; the appeal does not name it, and has no grounds."
    if not found.carried:
        return f"{head}: the file does not show {' and '.join(found.named())}."
    denial, good = _denial(case), favourable(found.policy.criteria)
    shown = found.assessment.criteria
    turned = [
        name
        for name, result in denial.items()
        if name in shown and shown[name].posture is good[name] and result != _RESULTS[good[name]]
    ]
    return f"{head}: the file shows {' and '.join(turned)}, which was held against the request."


def _denial(case: CaseReading) -> Mapping[str, str]:
    """Return the results that the denial went by, criterion by criterion."""
    rows = table(case.text, "md_reviews")
    return dict(_FOUND.findall(rows[-1]["criteria_evaluations"])) if rows else {}
