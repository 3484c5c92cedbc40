"""Orders, authorization cases and their work list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from healthgym.core.records import replace
from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import find
from healthgym.worlds.managed_care.apps.provider import case_view, deadlines, opening
from healthgym.worlds.managed_care.apps.provider.office import ProviderApp, View, listing
from healthgym.worlds.managed_care.apps.provider.readiness import preview
from healthgym.worlds.managed_care.machines import case_edges, require_edge
from healthgym.worlds.managed_care.records.case import (
    PriorAuthCase,
    PriorAuthLine,
    ProviderDeterminationPreview,
    RequirementCheck,
)
from healthgym.worlds.managed_care.records.chart import ServiceRequest
from healthgym.worlds.managed_care.records.policy import CasePolicy
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PlaceOfService,
    RequirementOutcome,
    ServiceTypeCategory,
    SubmissionChannel,
    Urgency,
)

_FIND_CASES = "cases.list_cases names the open ones"


class OrdersAndCases(ProviderApp):
    """Orders and cases.

    Attributes:
        cases: The cases, by id.
        lines: Their lines, by id.
        orders: Orders made during the episode, by id.
        policies: The rule card of each case, by its id; never shown to the provider.
        checks: Requirement checks, by id.
    """

    name = "pa_queue"
    cases = table[str, PriorAuthCase]()
    lines = table[str, PriorAuthLine]()
    orders = table[str, ServiceRequest]()
    policies = table[str, CasePolicy]()
    checks = table[str, RequirementCheck]()

    # What other applications ask for.

    def get(self, case_id: str) -> PriorAuthCase:
        """Return a case.

        Raises:
            Refusal: If there is none.
        """
        return find(self.cases, case_id, "case", _FIND_CASES, self._known)

    def put(self, case: PriorAuthCase) -> PriorAuthCase:
        """Keep a case as changed now; its status is for :meth:`move` alone."""
        kept = replace(case, updated_at=self.world.clock.now)
        self.cases[case.id] = kept
        return kept

    def move(self, case_id: str, to: CaseStatus, actor: str = "") -> PriorAuthCase:
        """Change the status of a case: the only place where that happens.

        The source lets a status follow itself, unlogged; a strict world refuses it.

        Args:
            case_id: The case.
            to: The new status.
            actor: Who changes it; whoever uses the tools if omitted.

        Raises:
            Refusal: If there is no such case, or its status may not be followed by this one.
        """
        case = self.get(case_id)
        again = case.status is to
        if self.strict or not again:
            require_edge(case_edges(), case.status, to, f"Case {case_id}")
        moved = self.put(deadlines.stamped(self.world, replace(case, status=to), self.strict))
        if not again:
            self.world.history.moved(case_id, case.status, to, actor or self.world.actor)
        return moved

    def line(self, case_id: str) -> PriorAuthLine:
        """Return the line of a case.

        Raises:
            Refusal: If it has none.
        """
        for line in self.lines_of(case_id):
            return line
        raise Refusal(RefusalCode.NOT_FOUND, f"Case {case_id[:60]!r} has no line; {_FIND_CASES}.")

    def lines_of(self, case_id: str) -> tuple[PriorAuthLine, ...]:
        """Return the lines of a case, by number."""
        found = [line for line in self.lines.values() if line.case_id == case_id]
        return tuple(sorted(found, key=lambda line: line.line_number))

    def policy(self, case_id: str) -> CasePolicy | None:
        """Return the rule card of a case; None if it has none. Never shown to the provider."""
        card = self.policies.get(f"POL-{case_id}")
        if card is not None:
            return card
        card = next((one for one in self.policies.values() if one.case_id == case_id), None)
        case = self.cases.get(case_id)
        if card is not None or case is None or self.world.start.policies is None:
            return card
        # A case of the start without a card of its own: the payer's policy in force decides.
        return opening.card_for(self.world, case_id, self.order(case.service_request_id))

    def order(self, order_id: str) -> ServiceRequest:
        """Return an order, of the chart or made during the episode.

        Raises:
            Refusal: If there is none.
        """
        found = self.orders.get(order_id) or self.world.charts.order(order_id)
        if found is None:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"There is no order {order_id[:60]!r}; chart.list_candidate_orders names them.",
            )
        return found

    def orders_of(self, patient_id: str) -> Iterator[ServiceRequest]:
        """Return the orders of a patient, in no particular order."""
        chart = self.world.charts.get(patient_id)
        for order in chart.orders if chart else ():
            if order.id not in self.orders:
                yield order
        for order in self.orders.values():
            if order.patient_id == patient_id:
                yield order

    # What the provider does.

    def create_from_order(
        self,
        patient_id: str,
        ordering_practitioner_id: str,
        service_type: ServiceTypeCategory,
        procedure_code: str,
        description: str,
        priority: Urgency,
        diagnosis_codes: Sequence[str],
        site_of_service: PlaceOfService,
        source_order_id: str | None = None,
        requested_date: datetime | None = None,
    ) -> View:
        """Open a case for an order: a new one, or one that is in the chart.

        Args:
            patient_id: The patient.
            ordering_practitioner_id: Who orders.
            service_type: Category of the service.
            procedure_code: CPT or HCPCS code.
            description: The service in words.
            priority: Whether it is urgent.
            diagnosis_codes: ICD-10-CM codes, at least one.
            site_of_service: Where it is to be done.
            source_order_id: An order of this patient to take over; a new one is written if omitted.
            requested_date: The day the service is wanted; if omitted, today, and in a strict world
                the day of the order that is taken over.

        Raises:
            Refusal: If patient, practitioner or order is unknown, the order is another patient's,
                codes or description are blank, or nobody coordinates authorizations. A strict
                world also refuses what :mod:`opening` names.
        """
        wish = ServiceRequest(
            id=source_order_id or "",
            patient_id=patient_id,
            ordering_practitioner_id=ordering_practitioner_id,
            service_type=service_type,
            procedure_code=procedure_code.strip(),
            description=description.strip(),
            priority=priority,
            diagnosis_codes=tuple(code.strip() for code in diagnosis_codes if code.strip()),
            site_of_service=site_of_service,
            requested_date=requested_date or self._usual_date(source_order_id),
        )
        coordinator = opening.require_openable(self.world, wish)
        if self.strict:
            opening.require_sound(self.world, wish)
        order = wish if wish.id else replace(wish, id=self._unused_order())
        case = self._open(order, coordinator)
        self.noted("pa_queue.create_case_from_order", case.id)
        return self.get_case(case.id)

    def get_case(self, case_id: str) -> View:
        """Return a case with everything that belongs to it.

        Raises:
            Refusal: If there is no such case.
        """
        view = case_view.of_case(self.world, self.get(case_id))
        self.saw("comms.list_messages", case_id)
        self.saw("pa_queue.get_case", case_id)
        return view

    def list_cases(self, status: CaseStatus | None = None) -> View:
        """Return the work list: open cases, expedited first, the last changed first.

        Args:
            status: Only cases in this status; closed ones are never listed.
        """
        open_ones = [
            case
            for case in self.cases.values()
            if case.status is not CaseStatus.CLOSED
            and status in (None, case.status)
            and self._known(case)
        ]
        open_ones.sort(key=lambda case: case.id)
        open_ones.sort(key=lambda case: case.updated_at, reverse=True)
        open_ones.sort(key=lambda case: case.urgency is not Urgency.EXPEDITED)
        self.saw("pa_queue.list_cases")
        return listing(case_view.summary_of(self.world, case) for case in open_ones)

    def check_requirement(self, case_id: str, channel: str) -> ProviderDeterminationPreview:
        """Ask the payer whether a service needs authorization, and what for.

        Args:
            case_id: The case.
            channel: How it is asked.

        Raises:
            Refusal: If there is no such case.
        """
        case = self.get(case_id)
        found = preview(self.world, case)
        asked = RequirementCheck(
            id=self.draw_id("REQ-"),
            case_id=case_id,
            channel=SubmissionChannel(channel),
            outcome=found.requirement_outcome,
            required_documents=()
            if (card := self.policy(case_id)) is None
            else card.required_documents,
            created_at=self.world.clock.now,
        )
        self.checks[asked.id] = asked
        # The check sorts a draft into where it belongs; later it is only an answer.
        if case.status is CaseStatus.DRAFT:
            self.move(case_id, _after_check(found))
        self.noted("payer_hub.check_requirement", case_id)
        return found

    # Helpers.

    def _known(self, case: PriorAuthCase) -> bool:
        return self.world.knows(case.patient_id)

    def _open(self, order: ServiceRequest, coordinator: str) -> PriorAuthCase:
        now = self.world.clock.now
        case_id = self._unused_case()
        self.orders[order.id] = order
        case = PriorAuthCase(
            id=case_id,
            external_case_id=case_id.replace("CASE-", "PA-"),
            patient_id=order.patient_id,
            service_request_id=order.id,
            status=CaseStatus.DRAFT,
            urgency=order.priority,
            requested_by=order.ordering_practitioner_id,
            assigned_to=coordinator,
            created_at=now,
            updated_at=now,
            decision_due_at=deadlines.decision_due(
                self.world, order.priority, order.patient_id, self.strict
            ),
        )
        self.cases[case_id] = case
        line = opening.first_line(order, case_id)
        self.lines[line.id] = line
        if self.policy(case_id) is None:
            card = opening.card_for(self.world, case_id, order)
            self.policies[card.id] = card
        return case

    def _usual_date(self, source_order_id: str | None) -> datetime:
        """Return when a service is wanted for which nobody says it."""
        known = source_order_id and (
            self.orders.get(source_order_id) or self.world.charts.order(source_order_id)
        )
        return known.requested_date if known and self.strict else self.world.clock.now

    def _unused_order(self) -> str:
        """Return the next id of an order that nothing of the start has."""
        while True:
            made = self.draw_id("SR-", 3)
            if made not in self.orders and self.world.charts.order(made) is None:
                return made

    def _unused_case(self) -> str:
        while True:
            made = self.draw_id("CASE-ACT-", 3)
            if made not in self.cases:
                return made


def _after_check(found: ProviderDeterminationPreview) -> CaseStatus:
    if found.requirement_outcome is not RequirementOutcome.REQUIRED:
        return CaseStatus.REQUIREMENT_CHECKED
    if found.missing_document_kinds or found.missing_form_fields:
        return CaseStatus.DOCS_NEEDED
    return CaseStatus.READY_TO_SUBMIT
