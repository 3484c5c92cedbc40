"""What a world holds of the case that is judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from heapq import merge
from operator import attrgetter
from typing import Protocol, TypeVar

from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.worlds.managed_care.history import Entry, EntryKind
from healthgym.worlds.managed_care.records.case import PriorAuthCase, SubmissionPacket
from healthgym.worlds.managed_care.records.chart import DocumentReference, ServiceRequest
from healthgym.worlds.managed_care.records.decision import DeterminationRecord
from healthgym.worlds.managed_care.records.intake import IntakeCase
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DocumentKind,
    ProviderDeterminationAction,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld

_Action = ProviderDeterminationAction
#: Where each action of the provider leaves a case.
STATUS_AFTER = {
    _Action.SUBMIT_PA: CaseStatus.SUBMITTED,
    _Action.GATHER_MORE_EVIDENCE: CaseStatus.DOCS_NEEDED,
    _Action.DO_NOT_SUBMIT: CaseStatus.CLOSED,
}


class _OfCase(Protocol):
    @property
    def case_id(self) -> str | None: ...


Row = TypeVar("Row", bound=_OfCase)


class CaseFile:
    """The target case of an expectation, and what a world holds of it. Reads only.

    Args:
        world: The world at the end.
        expectation: What is expected.
    """

    def __init__(self, world: ManagedCareWorld, expectation: Expectation) -> None:
        self.world = world
        self.expectation = expectation

    @cached_property
    def order(self) -> ServiceRequest | None:
        """The order that stands for the target, if exactly one does."""
        expected = self.expectation
        if expected.target_order_id:
            return self._order(expected.target_order_id)
        if expected.target_case_id:
            case = self.world.cases.cases.get(expected.target_case_id)
            return self._order(case.service_request_id) if case else None
        chart = self.world.charts.get(expected.target_patient_id)
        orders = {order.id: order for order in (chart.orders if chart else ())}
        for order in self.world.cases.orders.values():
            if order.patient_id == expected.target_patient_id:
                orders[order.id] = order
        # An older order counts, too, and the expected codes never help to choose.
        return next(iter(orders.values())) if len(orders) == 1 else None

    def _order(self, order_id: str) -> ServiceRequest | None:
        return self.world.cases.orders.get(order_id) or self.world.charts.order(order_id)

    @cached_property
    def case(self) -> PriorAuthCase | None:
        """The case that hangs on that order, if exactly one does, or the one that is named."""
        expected = self.expectation
        cases = self.world.cases.cases
        if expected.target_case_id:
            return cases.get(expected.target_case_id)
        if self.order is None:
            return None
        linked = [case for case in cases.values() if case.service_request_id == self.order.id]
        if len(linked) > 1 and expected.target_order_id:
            linked = [case for case in linked if case.status == self.expected_status]
        return linked[0] if len(linked) == 1 else None

    @property
    def case_id(self) -> str:
        """Id of the case; empty if there is none."""
        if self.expectation.care is not None:
            return self.expectation.target_case_id
        return self.case.id if self.case else ""

    @cached_property
    def expected_status(self) -> CaseStatus | None:
        """Where the provider's right action leaves the case, or else the expected status."""
        action = self.expectation.pre_submission.final_action
        return self.expectation.target_status if action is None else STATUS_AFTER[action]

    # -- records -------------------------------------------------------------------------------

    def of(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """Return the records of the case, oldest first."""
        own = self.case_id
        return tuple([row for row in rows if row.case_id == own]) if own else ()

    def last(self, rows: Iterable[Row]) -> Row | None:
        """Return the newest record of the case."""
        found = self.of(rows)
        return found[-1] if found else None

    @cached_property
    def intake(self) -> IntakeCase | None:
        """The intake record of the case."""
        return self.last(self.world.intake.intakes.values())

    @cached_property
    def packet(self) -> SubmissionPacket | None:
        """The packet that was sent last."""
        return self.last(self.world.authorizations.packets.values())

    @cached_property
    def determination(self) -> DeterminationRecord | None:
        """The newest determination."""
        return self.last(self.world.determinations.determinations.values())

    @cached_property
    def documents(self) -> tuple[DocumentReference, ...]:
        """The documents of the case, and those of the patient that belong to no case.

        The source exports the patient's unattached notes as documents of the case.
        """
        if self.case is None:
            return ()
        chart = self.world.charts.get(self.case.patient_id)
        held = {doc.id: doc for doc in (chart.documents if chart else ())}
        held.update(self.world.documents.documents)
        mine = (self.case.id, None)
        return tuple(
            doc
            for doc in held.values()
            if doc.case_id in mine and doc.patient_id == self.case.patient_id
        )

    @cached_property
    def bundles(self) -> tuple[DocumentReference, ...]:
        """The bundles of the case, oldest first."""
        kept = self.of(self.world.documents.documents.values())
        return tuple(doc for doc in kept if doc.kind == DocumentKind.SUBMISSION_BUNDLE)

    @property
    def final_action(self) -> ProviderDeterminationAction | None:
        """What the provider determined last."""
        record = self.last(self.world.authorizations.determinations.values())
        return record.final_action if record else None

    # -- log -----------------------------------------------------------------------------------

    @cached_property
    def log(self) -> tuple[Entry, ...]:
        """What the log has of the case, looks included, in order."""
        own, history = self.case_id, self.world.history
        rows = [row for row in (*history.entries, *history.looks) if row.case_id == own]
        return tuple(sorted(rows, key=attrgetter("number"))) if own else ()

    @cached_property
    def _audited(self) -> Mapping[str, list[Entry]]:
        """What was done, by its name: dozens of checks ask for it."""
        found: dict[str, list[Entry]] = {}
        for row in self.log:
            if row.kind is EntryKind.AUDIT:
                found.setdefault(row.action, []).append(row)
        return found

    def actions(self, *names: str) -> Iterator[Entry]:
        """Return the entries of some actions, by whichever application, oldest first."""
        found = [self._audited.get(name, ()) for name in names]
        return iter(found[0]) if len(found) == 1 else merge(*found, key=attrgetter("number"))

    def acted(self, *names: str) -> bool:
        """Return whether each of some actions is in the log."""
        return self._audited.keys() >= set(names)

    def first_time(self, *names: str) -> datetime | None:
        """Return when one of some actions was first taken; None if never."""
        return next((row.at for row in self.actions(*names)), None)

    def moves(self) -> Iterator[tuple[str, str]]:
        """Return the changes of status, oldest first."""
        for row in self.log:
            if row.kind is EntryKind.TRANSITION:
                yield row.source, row.action
