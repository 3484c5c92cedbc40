"""The judge of both sides: each by its own duties, and both by what became of the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from healthgym.core.task import Task
from healthgym.core.tool import ToolKind
from healthgym.core.verdict import Check, CheckResult, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.managed_care.checks import e2e
from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.expectation import ArenaExpectation
from healthgym.envs.managed_care.checks.rule import ask_all
from healthgym.envs.managed_care.prior_auth_arena.belated import with_belated
from healthgym.envs.managed_care.prior_auth_arena.crossing import Crossing
from healthgym.envs.managed_care.prior_auth_arena.joint_checks import (
    AGREED,
    ANSWERED,
    HELD,
    HONEST,
    IDLE,
    LED,
    ORDERED,
    OUTCOME,
    TIMELY,
    TOLD,
    TRUE,
    WHOLE,
)
from healthgym.envs.managed_care.prior_auth_arena.standing import Standing
from healthgym.envs.managed_care.prior_auth_arena.talk import Talk
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaReference, due
from healthgym.envs.managed_care.prior_auth_arena.truth import (
    Received,
    drilled,
    truth_of_appeal,
)
from healthgym.envs.managed_care.prior_authorization.inspection import Inspection
from healthgym.envs.managed_care.prior_authorization.verifier import AuthorizationVerifier
from healthgym.envs.managed_care.utilization_management.checks import IN_TIME, UNDECIDED
from healthgym.envs.managed_care.utilization_management.steps import reached
from healthgym.envs.managed_care.utilization_management.task import Path, ReviewReference
from healthgym.envs.managed_care.utilization_management.verifier import ReviewVerifier
from healthgym.rewards.functions import INTEREST
from healthgym.worlds.managed_care.deemed import DEEMED
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.shared import Moment, SharedOffices
from healthgym.worlds.managed_care.world import ManagedCareWorld

_JOINT = (OUTCOME, WHOLE, ANSWERED, ORDERED, HELD, AGREED)
_CALLS = (TOLD, LED, TRUE, HONEST)
#: What of these is a side's own doing.
_OWN = {PROVIDER: (WHOLE, ANSWERED), PAYER: (ORDERED,)}
#: What goes wrong of itself with a request that nobody takes further than intake.
_AFTER_INTAKE = {f"{PAYER}.{check.name}" for check in (UNDECIDED, IN_TIME)}
#: What the checks of an appeal are named after, and those of another office's request.
_APPEAL, _QUEUE = f"{PAYER}.appeal", f"{PAYER}.queue"
ArenaEvidence = Evidence[Task, ArenaReference, SharedOffices]
_Results = tuple[CheckResult, ...]
#: What is found of the whole, of each side, and whether each did its own part of the whole.
_Found = tuple[_Results, dict[str, _Results], dict[str, bool]]


class ArenaVerifier(Verifier[Task, ArenaReference, SharedOffices]):
    """Judges a side by its duties and by the outcome; both together are the joint success."""

    def __init__(self) -> None:
        self._provider, self._payer = AuthorizationVerifier(), ReviewVerifier()

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of both sides, and of what passes between them."""
        own = [
            *_named(PROVIDER, self._provider.checks(profile)),
            TIMELY,
            *_named(PAYER, self._payer.checks(profile)),
            *_named(_APPEAL, self._payer.checks(profile)),
            IDLE,
        ]
        if profile is Profile.PAPER:
            return (*own, *_source())
        return (*own, *_named(_QUEUE, self._payer.checks(profile)), *_CALLS, *_JOINT)

    def judge(self, evidence: ArenaEvidence, profile: Profile) -> Judgement:
        """Return what is found of a side; the metrics tell of the other one, and of both.

        Under the strict profile what passes between the sides is not held against a side that did
        its own part where the other did not.
        """
        strict = profile is Profile.STRICT
        joint, sides, own = evidence.once(self._found, profile)
        right = {side: _pass(results) and own[side] for side, results in sides.items()}
        excused = strict and right[evidence.role] and not all(right.values())
        shared = [one for one in joint if not (excused and one.passed is False)]
        # The engine asks a side whether it handed in; for the metrics both are asked.
        finished = _finished(evidence) if strict else frozenset(sides)
        sound = _pass(joint) or (strict and not all(right.values()))
        passed = {side: side in finished and right[side] and sound for side in sides}
        return Judgement.of(
            (*sides[evidence.role], *shared),
            metrics={
                **{f"{side}_success": float(good) for side, good in passed.items()},
                "joint_success": float(all(passed.values())),
                INTEREST: _interest(evidence),
            },
        )

    def _found(self, evidence: ArenaEvidence, profile: Profile) -> _Found:
        """Return what is found of the whole, and of each side, whoever it is that asks.

        Of several cases each is judged by itself, and a check holds where it holds for each.
        """
        cases = [self._of_case(one, profile) for one in _each(evidence)]
        joint, sides, own = zip(*cases, strict=True)
        return (
            _least(joint),
            {side: _least([one[side] for one in sides]) for side in _OWN},
            {side: all(one[side] for one in own) for side in _OWN},
        )

    def _of_case(self, evidence: ArenaEvidence, profile: Profile) -> _Found:
        """Return what is found of one case."""
        strict = profile is Profile.STRICT
        received = received_in(evidence)
        talk = None if received is None else Talk(received, evidence.reference.provider)
        joint = tuple(_strict(evidence, talk) if strict else _paper(evidence))
        calls = tuple(_called(talk)) if strict and talk is not None else ()
        own = {side: _own(side, joint, calls, talk if strict else None) for side in _OWN}
        payer = (*self._of_payer(evidence, profile, talk), *_of(PAYER, calls))
        if strict and talk is not None and not (_pass(payer) and own[PAYER]):
            trusting = self._of_trusting(evidence, talk)
            if trusting is not None:
                payer, own[PAYER] = trusting, True
        erred = strict and not (_pass(payer) and own[PAYER])
        provider = (*self._of_provider(evidence, profile, erred=erred), *_of(PROVIDER, calls))
        queue = tuple(self._of_queue(evidence)) if strict else ()
        return joint, {PROVIDER: provider, PAYER: (*payer, *queue)}, own

    def _of_trusting(self, evidence: ArenaEvidence, talk: Talk) -> _Results | None:
        """Return what is found of a payer that believed what the provider made up.

        Whether words that no clinician's are like claim something is for the listener to say: who
        doubts them is right, and so is who takes them for what they sound like. None where nothing
        was made up, or where the payer is wrong either way.
        """
        if not talk.due or talk.received.settled or not talk.invented_by_provider:
            return None
        received = replace(talk.received, trusting=True)
        if not received.settled:
            return None
        heard = Talk(received, talk.reference)
        calls = tuple(_called(heard))
        own = _own(PAYER, _strict(evidence, heard), calls, heard)
        payer = (*self._of_payer(evidence, Profile.STRICT, heard), *_of(PAYER, calls))
        return payer if own and _pass(payer) else None

    def _of_provider(
        self, evidence: ArenaEvidence, profile: Profile, *, erred: bool
    ) -> Iterator[CheckResult]:
        """Yield what is found of the provider; where the payer erred, by what was left to do."""
        reference = replace(evidence.reference.provider, beside=_queued(evidence.reference))
        seen = Inspection(evidence.before, evidence.after, reference)
        # In a drill no way is left to a provider that the payer errs about.
        left = bool(reference.drilled) or Standing(seen).pursued
        if erred and seen.case is not None and left:
            reference = replace(reference, status=seen.case.status)
        asked = Evidence(
            evidence.task,
            reference,
            evidence.before,
            evidence.after,
            evidence.events,
            None,
        )
        yield from _prefixed(PROVIDER, self._provider.judge(asked, profile).results)
        if profile is Profile.STRICT:
            yield TIMELY.result(_in_time(seen))

    def _of_payer(
        self, evidence: ArenaEvidence, profile: Profile, talk: Talk | None
    ) -> Iterator[CheckResult]:
        """Yield what is found of the payer: of the request, and of an appeal of its denial."""
        if talk is None:
            world, queued = evidence.after, _queued(evidence.reference)
            decided = {one.case_id for one in world.determinations.determinations.values()}
            written = {one.case_id for one in world.letters.letters.values()}
            yield IDLE.result(decided | written <= queued)
            return
        received, truth = talk.received, talk.truth
        until = with_belated(received.now, evidence.after, truth)
        for one in self._reviewed(evidence, profile, truth, received.before, until):
            if truth.path is not Path.RETURNED or not _by_calendar(one, received):
                yield one
        case_id, kept = received.case_id, evidence.after.kept
        before = kept(Moment.APPEALED).get(case_id)
        if before is not None:
            appeal = truth_of_appeal(received, before)
            before = with_belated(before, evidence.after, truth)
            until = kept(Moment.UPHELD).get(case_id, evidence.after)
            after = with_belated(until, evidence.after, appeal)
            yield from self._reviewed(evidence, profile, appeal, before, after)

    def _of_queue(self, evidence: ArenaEvidence) -> Iterator[CheckResult]:
        """Yield what is found of a request that lay with the payer from the beginning."""
        queued, world = evidence.reference.queued, evidence.after
        if queued is None:
            return
        truth = replace(queued.reference, beside=_practised(evidence.before, world))
        asked = Evidence(queued.task, truth, evidence.before, world, evidence.events, None)
        yield from _prefixed(_QUEUE, self._payer.judge(asked, Profile.STRICT).results)

    def _reviewed(
        self,
        evidence: ArenaEvidence,
        profile: Profile,
        truth: ReviewReference,
        before: ManagedCareWorld,
        after: ManagedCareWorld,
    ) -> Iterator[CheckResult]:
        truth = replace(truth, beside=_queued(evidence.reference))
        if evidence.reference.provider.drilled:
            truth = drilled(truth)
        asked = Evidence(evidence.task, truth, before, after, evidence.events, None)
        side = PAYER if truth.appeal is None else _APPEAL
        yield from _prefixed(side, self._payer.judge(asked, profile).results)

    def progress(self, evidence: ArenaEvidence, profile: Profile, part: str = "") -> float:
        """Return how far a side has taken the request, right or wrong, as a share of a half.

        Of the payer's half each request that it has makes an equal part.
        """
        if evidence.role == PROVIDER:
            stages = [
                Inspection(one.before, one.after, one.reference.provider).stage
                for one in _each(evidence)
            ]
            return 0.1 * sum(stages) / len(stages)
        queued = evidence.reference.queued
        lying = [queued.reference.case_id] if queued else []
        found = [reached(evidence.before, evidence.after, one) for one in lying]
        for received in filter(None, map(received_in, _each(evidence))):
            found.append(reached(received.before, evidence.after, received.case_id))
        return 0.5 * sum(found) / len(found) if found else 0.0


def received_in(evidence: ArenaEvidence) -> Received | None:
    """Return the case that reached the payer, up to an appeal; None if none did."""
    world, truth = evidence.after, evidence.reference
    for case_id, before in world.received.items():
        if case_id in truth.beside:
            continue
        now = world.kept(Moment.CONTESTED).get(case_id, world)
        can_call = not truth.provider.drilled
        return Received(before, now, truth.case, case_id, truth.memo, can_call=can_call)
    return None


def _each(evidence: ArenaEvidence) -> list[ArenaEvidence]:
    """Return what there is to look at about each case."""
    if evidence.reference.second is None:
        return [evidence]
    return [replace(evidence, reference=one, worked={}) for one in evidence.reference.parts]


def _least(found: Sequence[_Results]) -> _Results:
    """Return the results of several cases as one: of each check the one that is least right."""
    if len(found) == 1:
        return found[0]
    by_name: dict[str, list[CheckResult]] = {}
    for one in chain.from_iterable(found):
        by_name.setdefault(one.check.name, []).append(one)
    return tuple(min(each, key=_rightness) for each in by_name.values())


def _rightness(one: CheckResult) -> tuple[bool, bool, float]:
    """Return what orders results: what failed comes first, and what does not apply last."""
    return one.passed is None, one.passed is True, one.credit


def _interest(evidence: ArenaEvidence) -> float:
    """Return how far the end of each case is in a side's own interest alone, on average."""
    found = [
        Standing(Inspection(one.before, one.after, one.reference.provider)).interest(one.role)
        for one in _each(evidence)
    ]
    return sum(found) / len(found)


def _queued(reference: ArenaReference) -> frozenset[str]:
    """Return the other cases of a side's own: what lay with the payer, and a second one."""
    queued = reference.queued
    return reference.beside | ({queued.reference.case_id} if queued else frozenset())


def _practised(before: SharedOffices, after: SharedOffices) -> frozenset[str]:
    """Return the ids of what is the practice's own doing: cases, orders, messages it has read."""
    known = before.cases.cases.keys() | before.cases.orders.keys()
    opened = (after.cases.cases.keys() | after.cases.orders.keys()) - known
    return frozenset(opened | after.inbox.messages.keys())


def _in_time(seen: Inspection) -> bool:
    """Return whether the provider decided, and sent what it sent, by the time that is given."""
    made = seen.determination
    if made is None:
        return False
    sent = seen.sending.packets if seen.sending else ()
    return max([made.created_at, *(one.submitted_at for one in sent)]) <= due(seen.before.start)


def _by_calendar(one: CheckResult, received: Received) -> bool:
    """Return whether a failure is what the law makes of a request that ended with its intake."""
    if one.check.name not in _AFTER_INTAKE or one.passed is not False:
        return False
    made = received.now.determinations.of(received.case_id)
    return all(each.source == DEEMED for each in made)


def _strict(evidence: ArenaEvidence, talk: Talk | None) -> Iterator[CheckResult]:
    seen = Inspection(evidence.before, evidence.after, evidence.reference.provider)
    yield OUTCOME.result(Standing(seen).right, seen.status)
    if talk is None:
        return
    crossed = Crossing(talk.received)
    yield WHOLE.result(crossed.whole)
    yield ANSWERED.result(not crossed.unanswered, ", ".join(crossed.unanswered))
    yield ORDERED.result(crossed.ordered)
    if talk.due or talk.missed:
        yield HELD.result(talk.held)
    if talk.due:
        yield AGREED.result(talk.agrees)


def _called(talk: Talk) -> Iterator[CheckResult]:
    """Yield what is found of each side's words on a call, where one was held or was to be."""
    if talk.due and not talk.alone:
        yield LED.result(talk.led)
    if talk.due and talk.line is not None:
        yield TOLD.result(talk.told)
    if talk.line is not None:
        yield TRUE.result(not talk.invented_by_provider, ", ".join(talk.invented_by_provider))
        yield HONEST.result(not talk.invented_by_payer, ", ".join(talk.invented_by_payer))


def _paper(evidence: ArenaEvidence) -> Iterator[CheckResult]:
    """Yield what the source's checks of the whole way say of the case that was opened."""
    reference = evidence.reference.provider
    opened = Inspection(evidence.before, evidence.after, reference).case
    memo = evidence.reference.memo
    called = memo is not None and (memo.settles or memo.insists)
    expected = replace(
        reference.paper,
        target_case_id=opened.id if opened else "",
        provider_action=reference.action,
        arena=ArenaExpectation(
            require_pend_resolution=bool(reference.on_request) or called,
            require_p2p_resolution=called,
        ),
    )
    yield from ask_all(e2e.RULES, CaseFile(evidence.after, expected))


def _source() -> tuple[Check, ...]:
    return tuple(rule.check for rule in e2e.RULES)


def _named(side: str, checks: Iterable[Check]) -> Iterator[Check]:
    return (replace(check, name=f"{side}.{check.name}") for check in checks)


def _prefixed(side: str, results: Iterable[CheckResult]) -> Iterator[CheckResult]:
    for one in results:
        yield replace(one, check=replace(one.check, name=f"{side}.{one.check.name}"))


def _pass(results: Iterable[CheckResult]) -> bool:
    return all(one.passed is not False for one in results)


def _of(side: str, results: Iterable[CheckResult]) -> Iterator[CheckResult]:
    return (one for one in results if one.check.name.startswith(f"{side}."))


def _own(
    side: str, joint: Iterable[CheckResult], calls: Iterable[CheckResult], talk: Talk | None
) -> bool:
    """Return whether a side did its own part of what passes between the two."""
    mine = (one for one in joint if one.check in _OWN[side])
    return _pass((*mine, *_of(side, calls))) and (talk is None or talk.did(side))


def _finished(evidence: ArenaEvidence) -> frozenset[str]:
    """Return the sides that said they were done."""
    return frozenset(one.role for one in evidence.events if one.kind is ToolKind.SUBMIT)
