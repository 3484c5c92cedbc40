"""The verdict on a question over a record system.

The strict profile compares the record before and after: every write must be one the rule asks for,
and the finish value must be right on every branch. The paper profile hands the episode to the
published grader of the task type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from healthgym.core.borders import Json, JsonObject
from healthgym.core.verdict import Check, CheckResult, Judgement, Profile, Verdict
from healthgym.core.verifier import Verifier
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.orders import faults, identifies, is_about
from healthgym.envs.fhir_record.paper.base import Defect
from healthgym.envs.fhir_record.paper.grading import PAPER_CHECKS, Found, grade
from healthgym.envs.fhir_record.task import Decision, FhirReference, FhirTask, OrderSpec
from healthgym.envs.fhir_record.view import concept_text
from healthgym.worlds.fhir.store import Write, WriteKind
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

#: Statuses by which a MedicationRequest is discontinued.
_INACTIVE = frozenset({"stopped", "cancelled", "completed", "entered-in-error"})


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
        defects: Defects the paper profile reproduces.
    """

    def __init__(self, defects: frozenset[Defect] = frozenset()) -> None:
        self.defects = defects

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of all task types under a profile."""
        if profile is Profile.PAPER:
            return PAPER_CHECKS
        return (ANSWER, *_all_order_checks(), STOPPED, NO_STRAY_WRITES)

    def judge(self, evidence: Found, profile: Profile) -> Judgement:
        """Return what is found; total over whatever was written and handed in."""
        if profile is Profile.PAPER:
            return grade(evidence, self.defects)
        return Judgement.of(strict_results(evidence))

    def progress(self, evidence: Found, profile: Profile, part: str = "") -> float:
        """Return how far an episode has come; the published graders pay nothing on the way."""
        if profile is Profile.PAPER:
            return 0.0
        return Verdict.from_judgement(profile, self.judge(evidence, profile)).progress


def _all_order_checks() -> Iterator[Check]:
    """Yield the checks of every order that some task type may call for, each once."""
    for name, resource_type in {
        o: t for kind in KINDS.values() for o, t in kind.orders.items()
    }.items():
        yield from order_checks(name, resource_type)


def strict_results(evidence: Found) -> list[CheckResult]:
    """Return the results of the strict checks."""
    reference = evidence.reference
    decision = reference.decision
    ledger = _Ledger(evidence, reference.facts.patient, evidence.task.now)
    results = [_answer(evidence.submission, decision)]
    for spec in decision.orders:
        results += ledger.judge(spec)
    if decision.stops:
        results.append(ledger.judge_stops(decision.stops))
    results.append(ledger.judge_rest())
    return results


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


class _Ledger:
    """The writes of an episode, crossed off as checks account for them."""

    def __init__(self, evidence: Found, patient: str, begin: datetime) -> None:
        self._before = evidence.before.store
        self._patient = patient
        self._begin = begin
        self._end = evidence.after.clock.now
        self._open: list[Write] = list(evidence.after.store.written)
        self._after = evidence.after.store

    def judge(self, spec: OrderSpec) -> list[CheckResult]:
        """Judge one required order."""
        written, details = order_checks(spec.name, spec.resource_type)
        meant = [
            write
            for write in self._open
            if write.kind is WriteKind.CREATE
            and write.resource.get("status") not in _INACTIVE
            and identifies(spec, write.resource)
            and is_about(write.resource, self._patient)
        ]
        if len(meant) != 1:
            return [
                written.result(False, f"there are {len(meant)} such orders"),
                details.result(False, "there is no one order to look at"),
            ]
        self._open.remove(meant[0])
        wrong = faults(spec, meant[0].resource, self._patient, self._begin, self._end)
        detail = f"wrong or missing: {', '.join(wrong)}" if wrong else ""
        return [written.result(True), details.result(not wrong, detail)]

    def judge_stops(self, stops: frozenset[str]) -> CheckResult:
        """Judge whether orders were discontinued, by update or by filing a stopped copy."""
        stopped = {order for order in stops if self._stop(order)}
        missing = len(stops) - len(stopped)
        detail = f"{missing} of {len(stops)} are still active" if missing else ""
        return STOPPED.result(not missing, detail, credit=len(stopped) / len(stops))

    def _stop(self, order: str) -> bool:
        original = self._before.read("MedicationRequest", order)
        for write in self._open:
            resource = write.resource
            if write.resource_type != "MedicationRequest":
                continue
            if resource.get("status") not in _INACTIVE:
                continue
            updated = write.kind is WriteKind.UPDATE and write.id == order
            copied = (
                write.kind is WriteKind.CREATE
                and is_about(resource, self._patient)
                and _same_drug(resource, original)
            )
            if (updated and _only_status_changed(original, resource)) or copied:
                self._open.remove(write)
                return True
        return False

    def judge_rest(self) -> CheckResult:
        """Judge whatever no other check accounted for."""
        kinds = ", ".join(sorted({write.resource_type for write in self._open}))
        return NO_STRAY_WRITES.result(not self._open, f"also written: {kinds}" if kinds else "")


def _same_drug(one: JsonObject, other: JsonObject) -> bool:
    texts = [concept_text(r.get("medicationCodeableConcept")).strip().lower() for r in (one, other)]
    return bool(texts[0]) and texts[0] == texts[1]


def _only_status_changed(before: JsonObject, after: JsonObject) -> bool:
    ignored = {"status", "statusReason", "meta"}
    keys = (before.keys() | after.keys()) - ignored
    return all(before.get(key) == after.get(key) for key in keys)
