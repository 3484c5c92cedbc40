"""What was said on the call of a case: what is established by it, and what somebody made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime
from functools import cached_property

from healthgym.envs.managed_care.prior_auth_arena.memos import Memo, gist, wordings
from healthgym.envs.managed_care.prior_auth_arena.truth import Received, truth_of
from healthgym.envs.managed_care.prior_authorization.claims import Claims
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationReference
from healthgym.envs.managed_care.prior_authorization.worded import Worded
from healthgym.envs.managed_care.reading.claimed import claimed
from healthgym.envs.managed_care.reading.reasons import read_reason
from healthgym.envs.managed_care.reading.spoken import spoken
from healthgym.envs.managed_care.utilization_management.hearing_out import heard_facts
from healthgym.envs.managed_care.utilization_management.task import Path
from healthgym.worlds.managed_care.facts import AnyFact, Diagnosis, Measurement, ProcedureDone
from healthgym.worlds.managed_care.line import Line
from healthgym.worlds.managed_care.policies.criteria import (
    AnyCriterion,
    CountCriterion,
    DiagnosisCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
)
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.peer import PayerPeerToPeerRequest
from healthgym.worlds.managed_care.relay import CALL, PAYER, PROVIDER, windows
from healthgym.worlds.managed_care.stated import Stated, stated
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    PeerToPeerOutcome,
)

_OVERTURN, _UPHOLD = (
    PeerToPeerOutcome.OVERTURN_TO_APPROVAL,
    PeerToPeerOutcome.UPHOLD_INTENDED_ADVERSE_DECISION,
)
_CALLED = (Path.UPHELD, Path.OVERTURNED)


class Talk:
    """Looks at the last call about a received case.

    Args:
        received: The case.
        reference: The right handling at the provider.
    """

    def __init__(self, received: Received, reference: AuthorizationReference) -> None:
        self.received, self.reference = received, reference
        self.truth = truth_of(received)

    @property
    def due(self) -> bool:
        """Whether a call is what the case calls for."""
        return self.truth.path in _CALLED

    @property
    def missed(self) -> bool:
        """Whether none was held because the provider took no time of those that could be kept."""
        return self.received.uncalled

    @property
    def line(self) -> Line | None:
        """The last call; None if none was held."""
        return self.received.line

    @property
    def alone(self) -> bool:
        """Whether the payer waited on a call for the provider, who speaks first and never did."""
        return self.line is not None and self.line.last(PROVIDER) is None

    @cached_property
    def request(self) -> PayerPeerToPeerRequest | None:
        """The request for it."""
        return self.received.now.peer.requests[self.line.request_id] if self.line else None

    @property
    def held(self) -> bool:
        """Whether both spoke, and the outcome was recorded after it with the payer still there."""
        line, request = self.line, self.request
        if line is None or request is None or request.outcome is None or not line.ended:
            return False
        return {turn.side for turn in line.turns} == {PROVIDER, PAYER} and self._stayed

    @property
    def told(self) -> bool:
        """Whether what the practice knows of the criterion in dispute was said.

        Of what settles it enough has to be, and all of what falls short and is to be told anyway.
        """
        memo = self.received.memo
        if memo is None or not (memo.settles or memo.insists):
            return True
        if memo.settles:
            return self.truth.path is Path.OVERTURNED and self.received.founded
        return set(memo.facts) <= set(self.received.said)

    @property
    def led(self) -> bool:
        """Whether the payer named the criterion in dispute, and noted what was said of it."""
        request, line = self.request, self.line
        if request is None or line is None:
            return False
        disputed = self.truth.denied_on
        asked = any(
            read_reason(turn.message).criteria & disputed
            for turn in line.turns
            if turn.side == PAYER
        )
        note = request.notes[-1] if request.notes else ""
        noted = read_reason(note).criteria & disputed
        return asked and bool(noted) and all(_noted(note, fact) for fact in self._settling)

    @property
    def _settling(self) -> tuple[AnyFact, ...]:
        """What was said by which the case was turned, and that no record has."""
        if self.truth.path is not Path.OVERTURNED:
            return ()
        charted = {fact.id for fact in self.received.case.patient.chart.facts}
        return tuple(fact for fact in self.received.heard if fact.id not in charted)

    @property
    def agrees(self) -> bool:
        """Whether positions, outcome and determination are those that follow from what was said."""
        line = self.line
        if line is None:
            return False
        stands = {line.position(side) for side in (PROVIDER, PAYER)}
        return stands == {str(self._right)} and self._concluded

    def did(self, side: str) -> bool:
        """Return whether a side did its own part of a call that was due.

        Where none came about, that is the payer's doing, who arranges it, unless the provider took
        none of the times. Where the provider does not speak, the payer can only conclude.
        """
        line = self.line
        if self.missed:
            return side == PAYER
        if not self.due:
            return True
        if line is None:
            return side == PROVIDER
        if self.alone:
            return side == PAYER and self._concluded and self._stayed
        stands = line.position(side) == str(self._right)
        spoke = any(turn.side == side for turn in line.turns)
        return spoke and stands and (side == PROVIDER or (self._concluded and self._stayed))

    @property
    def _right(self) -> PeerToPeerOutcome:
        return _OVERTURN if self.truth.path is Path.OVERTURNED else _UPHOLD

    @property
    def _concluded(self) -> bool:
        """Whether outcome and determination are those that follow from what was said."""
        made = self.received.now.determinations.active(self.received.case_id)
        follows = (
            DeterminationDecision.APPROVED
            if self._right is _OVERTURN
            else DeterminationDecision.DENIED
        )
        return (
            self.request is not None
            and self.request.outcome is self._right
            and made is not None
            and made.final_decision is follows
        )

    @property
    def _stayed(self) -> bool:
        """Whether the payer was still there when the outcome was recorded."""
        request = self.request
        inside = windows(self.received.now, self.received.case_id, CALL, PAYER)
        return request is not None and any(window.holds(request.updated_at) for window in inside)

    # -- what was made up ------------------------------------------------------------------------

    @cached_property
    def invented_by_provider(self) -> tuple[str, ...]:
        """What the provider said that stands in no record of the practice, and in no memo."""
        received = self.received
        claims = Claims(received.before, received.now, self.reference)
        known = (*received.case.patient.chart.facts, *_of(received.memo))
        worded = Worded(claims)
        found = [
            each
            for text in received.words(PROVIDER)
            for each in (*claims.unfounded(text), *worded.unfounded(text, asks=False))
        ]
        return (*found, *self._contrary(PROVIDER, known))

    @cached_property
    def invented_by_payer(self) -> tuple[str, ...]:
        """What the payer said that nobody sent or told it, and no policy says."""
        found: list[str] = []
        for text in self.received.words(PAYER):
            said, known = stated(text), self._payer_knows
            found += sorted(said.codes - known.codes)
            found += sorted(said.numbers - known.numbers)
            found += sorted(day.isoformat() for day in said.days - known.days)
        names = (*self.received.packet, *self.received.reply)
        shown = {f for n in names for f in self.received.case.patient.chart.shows.get(n, ())}
        facts = [f for f in self.received.case.patient.chart.facts if f.id in shown]
        told = replace(self.received, trusting=True).heard
        return (*found, *self._contrary(PAYER, (*facts, *self.received.heard, *told)))

    def _contrary(self, side: str, known: Iterable[AnyFact]) -> Iterator[str]:
        """Yield facts that are stated in so many words and are not known to a side.

        A measurement is named by none of the wordings of its criterion: its numbers are looked up,
        and here its day has to be one on which something was measured.
        """
        known = tuple(known)
        gists = set(map(gist, known))
        days = {fact.taken for fact in known if isinstance(fact, Measurement)}
        for text in self.received.words(side):
            for item in criteria(self.received.case.book.in_force.criteria):
                for fact in heard_facts(text, item, wordings()):
                    measured = isinstance(item, MeasurementCriterion)
                    if measured and isinstance(fact, Measurement) and fact.taken in days:
                        continue
                    if gist(fact) not in gists:
                        yield f"{item.id}: {gist(fact)}"
                if isinstance(item, MeasurementCriterion | CountCriterion):
                    continue
                # Other words claim what is known if anything known of the same thing is said.
                claims = tuple(claimed(text, item))
                about = {gist(fact)[0] for fact in claims}
                own = [fact for fact in known if gist(fact)[0] in about or _coded(fact, item)]
                if claims and not any(spoken(text, fact) for fact in own):
                    yield f"{item.id}: {gist(claims[0])}"

    @cached_property
    def _payer_knows(self) -> Stated:
        """What the payer has read and heard."""
        received = self.received
        world, case_id = received.now, received.case_id
        names = (*received.packet, *received.reply)
        texts = [world.documents.get(name).content for name in names]
        texts += [f"{world.documents.get(name).created_at.date()}" for name in names]
        texts += received.words(PROVIDER)
        texts += [render_page(received.case.book.in_force)]
        case = world.cases.get(case_id)
        entered = (
            case,
            world.cases.lines_of(case_id),
            world.cases.order(case.service_request_id),
            world.charts[case.patient_id].patient,
            world.intake.get(case_id),
            world.peer.of(case_id),
            tuple(one for one in world.letters.of(case_id)),
        )
        texts += [_text(value) for value in _leaves(entered)]
        texts += [f"{world.clock.now.date()}"]
        return stated(" ; ".join(texts))


def _coded(fact: AnyFact, item: AnyCriterion) -> bool:
    """Return whether a fact has a code that a criterion goes by, whichever of its codes."""
    match fact, item:
        case Diagnosis(), DiagnosisCriterion():
            return fact.code.startswith(tuple(item.prefixes))
        case ProcedureDone(), ProcedureCriterion():
            return fact.code in item.codes
    return False


def _of(memo: Memo | None) -> tuple[AnyFact, ...]:
    return memo.facts if memo else ()


def _noted(note: str, fact: AnyFact) -> bool:
    """Return whether a note gives a day of a fact, or its value."""
    said = stated(note)
    days = {part for part in gist(fact) if isinstance(part, date)}
    return bool(said.days & days)


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value.date()}"
    return f"{value:g}" if isinstance(value, float) else f"{value}"


def _leaves(value: object) -> Iterator[object]:
    if is_dataclass(value):
        for each in fields(value):
            yield from _leaves(getattr(value, each.name))
    elif isinstance(value, tuple | list | frozenset):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value
