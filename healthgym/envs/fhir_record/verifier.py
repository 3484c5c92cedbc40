"""The verdict on a question over a record system.

The strict profile compares the record before and after: every write must be one the rule asks for,
and the finish value must be right on every branch. The paper profile hands the episode to the
published grader of the task type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from healthgym.core.borders import Json, JsonObject
from healthgym.core.seeding import Split
from healthgym.core.verdict import Check, CheckResult, Judgement, Profile
from healthgym.core.verifier import Verifier
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS
from healthgym.envs.fhir_record.ledger import Ledger
from healthgym.envs.fhir_record.paper.base import MISREADINGS, Defect
from healthgym.envs.fhir_record.paper.grading import GRADERS, PAPER_CHECKS, Found, grade
from healthgym.envs.fhir_record.task import Decision, FhirReference, FhirTask, OrderSpec
from healthgym.worlds.fhir.world import FhirWorld

ANSWER = Check(
    "answer",
    "The finish value is what the chart says, element by element.",
    loophole="An empty or constant answer passes the published graders on many branches.",
)
STOPPED = Check(
    "orders_stopped",
    "Every order that must not go on is discontinued.",
    loophole="One stop of any drug passes the published graders.",
)
NO_STRAY_WRITES = Check(
    "no_stray_writes",
    "Nothing is written to the record beyond what the question calls for.",
    idle=True,
    loophole="Ordering everything, or twice, would otherwise cover every branch.",
)

WITHDRAWN = Check(
    "mistakes_withdrawn",
    "What was written by mistake and taken back again is forgiven, up to three entries.",
    idle=True,
    loophole="Writing all that might be right, and taking back what is not, would need no chart.",
)
MOST_WITHDRAWN = 3


def order_checks(name: str, resource_type: str) -> tuple[Check, Check]:
    """Return the two checks of a required order."""
    label = name.replace("_", " ")
    return (
        Check(
            f"{name}_written",
            f"There is exactly one new {resource_type} for {label}, for the right patient.",
            weight=0.5,
        ),
        Check(
            f"{name}_details",
            f"Its dose, route, timing, priority and text are as the question asks ({label}).",
            weight=0.5,
        ),
    )


class FhirRecordVerifier(Verifier[FhirTask, FhirReference, FhirWorld]):
    """Judges an episode by the rule of its task type.

    Args:
        defects: Defects the paper profile reproduces. Outside the test split, charts hold traps
            for some of them, which are then off.
        own: Whether types of no published benchmark are asked, too. Nobody published a grader of
            them; the paper profile judges them by the strict checks.
    """

    def __init__(self, defects: frozenset[Defect] = frozenset(), *, own: bool = False) -> None:
        self.defects = defects
        self.own = own

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of all task types under a profile."""
        strict = (ANSWER, *_all_order_checks(), STOPPED, NO_STRAY_WRITES, WITHDRAWN)
        if profile is Profile.PAPER:
            return (*PAPER_CHECKS, *strict) if self.own else PAPER_CHECKS
        return strict

    def judge(self, evidence: Found, profile: Profile) -> Judgement:
        """Return what is found; total over whatever was written and handed in."""
        if profile is Profile.PAPER and evidence.reference.kind in GRADERS:
            held_out = evidence.task.key.split == Split.TEST
            return grade(evidence, self.defects if held_out else self.defects - MISREADINGS)
        return Judgement.of(strict_results(evidence))


def _all_order_checks() -> Iterator[Check]:
    """Yield the checks of every order that some task type may call for, each once."""
    for name, resource_type in {
        o: t for kind in FOLDER_KINDS.values() for o, t in kind.orders.items()
    }.items():
        yield from order_checks(name, resource_type)


def strict_results(evidence: Found) -> list[CheckResult]:
    """Return the results of the strict checks."""
    reference = evidence.reference
    decision = reference.decision
    ledger = Ledger(
        evidence.before.store,
        evidence.after.store,
        reference.facts.patient,
        evidence.task.now,
        evidence.after.clock.now,
        decision.stops,
    )
    results = [_answer(evidence.submission, decision)]
    for spec in decision.orders:
        results += _order(ledger, spec)
    if not decision.answer and decision.orders:
        results[0] = _with_the_orders(results[0], results[1:])
    if decision.stops:
        stopped = sum(map(ledger.stop, sorted(decision.stops)))
        results.append(_stopped(stopped, len(decision.stops)))
    results.append(_stray(ledger))
    if ledger.withdrawn:
        results.append(_withdrawn(ledger))
    return results


def _order(ledger: Ledger, spec: OrderSpec) -> list[CheckResult]:
    """Judge one required order."""
    written, details = order_checks(spec.name, spec.resource_type)
    meant = ledger.meant(spec)
    if len(meant) != 1:
        return [
            written.result(False, f"there are {len(meant)} such orders"),
            details.result(False, "there is no one order to look at"),
        ]
    wrong = ledger.settle(spec, meant[0])
    detail = f"wrong or missing: {', '.join(wrong)}" if wrong else ""
    return [written.result(True), details.result(not wrong, detail)]


def _with_the_orders(answer: CheckResult, orders: Sequence[CheckResult]) -> CheckResult:
    """Return an empty answer, worth as much as the orders: there was nothing else to find out."""
    share = sum(result.credit for result in orders) / len(orders)
    return replace(answer, credit=min(answer.credit, share))


def _stopped(stopped: int, due: int) -> CheckResult:
    """Judge whether orders were discontinued, by update or by filing a stopped copy."""
    detail = f"{due - stopped} of {due} are still active" if stopped < due else ""
    return STOPPED.result(stopped == due, detail, credit=stopped / due)


def _stray(ledger: Ledger) -> CheckResult:
    """Judge whatever no other check accounted for."""
    kinds = ", ".join(sorted({write.resource_type for write in ledger.open}))
    return NO_STRAY_WRITES.result(not ledger.open, f"also written: {kinds}" if kinds else "")


def _withdrawn(ledger: Ledger) -> CheckResult:
    """Judge mistakes that were taken back: a few are forgiven, trying everything is not."""
    count = ledger.withdrawn
    return WITHDRAWN.result(count <= MOST_WITHDRAWN, f"{count} taken back")


def _answer(submission: JsonObject | None, decision: Decision) -> CheckResult:
    given = finish_value(submission)
    if given is None:
        return ANSWER.result(False, "no answer was handed in")
    expected = decision.answer
    if len(given) != len(expected):
        return ANSWER.result(False, "the answer has the wrong number of elements")
    right = [item.accepts(value) for item, value in zip(expected, given, strict=True)]
    credit = sum(right) / len(right) if right else 1.0
    return ANSWER.result(all(right), "" if all(right) else "the answer is wrong", credit=credit)


def finish_value(submission: JsonObject | None) -> Sequence[Json] | None:
    """Return the list handed in, or None."""
    value = submission.get("value") if submission is not None else None
    return value if isinstance(value, list) else None
