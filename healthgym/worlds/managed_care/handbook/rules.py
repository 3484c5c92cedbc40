"""Every number and rule of operations, once: pages, world and verifier read the same object.

Clocks, windows, lanes, letter contents and care-management thresholds that the original states
keep its values; what it leaves open (fax indexing, age of documents, retention, outreach attempts)
is set by us, in the range that payers use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from functools import cache
from importlib.resources import files
from operator import attrgetter

from healthgym.core.borders import JsonObject
from healthgym.worlds.managed_care.holidays import holidays_of, states_with_holidays
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.policies.keeping import Keeping, kept
from healthgym.worlds.managed_care.vocabulary.authorization import (
    LetterType,
    PayerRole,
    SubmissionChannel,
    TriageUrgency,
    Urgency,
)
from healthgym.worlds.managed_care.vocabulary.care import CMProgram, FollowUpCadence

#: The years in which tasks are set, and whose holidays the handbook prints.
_YEARS = (2026, 2027)


@dataclass(frozen=True, slots=True)
class TurnaroundHours:
    """Hours from receipt to decision, in calendar time.

    Attributes:
        stat: For a request where delay endangers life or limb.
        urgent: For an expedited request.
        routine: For every other.
    """

    stat: int
    urgent: int
    routine: int

    def of(self, urgency: TriageUrgency) -> int:
        """Return the hours of an urgency."""
        return int(getattr(self, urgency.value))


@dataclass(frozen=True, slots=True)
class Region:
    """Where an office keeps its hours.

    Attributes:
        name: Such as ``pacific``.
        zone: IANA time zone.
        opens: First hour of a working day, local time.
        closes: Hour at which it ends, local time.
        states: Two-letter codes of the states it serves.
    """

    name: str
    zone: str
    opens: int
    closes: int
    states: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holiday:
    """A day on which offices are closed.

    Attributes:
        day: The day.
        name: Its name.
        state: Two letters of the state whose offices are; all are if empty.
    """

    day: date
    name: str
    state: str = ""


def _states() -> dict[str, TurnaroundHours]:
    return {
        "CA": TurnaroundHours(24, 72, 120),
        "IL": TurnaroundHours(24, 48, 120),
        "NY": TurnaroundHours(24, 48, 72),
        "TX": TurnaroundHours(24, 72, 72),
    }


@cache
def _stated() -> JsonObject:
    found = json.loads((files(__package__) / "rules.json").read_text("utf-8"))
    return dict(found)


def _regions() -> tuple[Region, ...]:
    return tuple(Region(**{**row, "states": tuple(row["states"])}) for row in _stated()["regions"])


def _holidays() -> tuple[Holiday, ...]:
    """Return the holidays of the years in which tasks are set."""
    found: list[Holiday] = []
    for year in _YEARS:
        federal = holidays_of(year)
        found += [Holiday(day, name) for day, name in federal.items()]
        for state in states_with_holidays():
            own = holidays_of(year, state).items()
            found += [Holiday(day, name, state) for day, name in own if day not in federal]
    return tuple(sorted(found, key=lambda each: (each.day, each.state)))


def _slots() -> dict[LetterType, tuple[str, ...]]:
    return {LetterType(kind): tuple(slots) for kind, slots in _stated()["letter_slots"].items()}


def _cadences() -> dict[CMProgram, FollowUpCadence]:
    return {
        CMProgram.COMPLEX_CARE: FollowUpCadence.WEEKLY,
        CMProgram.CHRONIC_DISEASE: FollowUpCadence.MONTHLY,
        CMProgram.TRANSITIONS_OF_CARE: FollowUpCadence.WEEKLY,
        CMProgram.BEHAVIORAL_HEALTH: FollowUpCadence.BIWEEKLY,
    }


_PHYSICIANS = (PayerRole.PHYSICIAN_REVIEWER, PayerRole.APPEALS_MEDICAL_DIRECTOR)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingRules(Keeping):
    """The numbers and rules that operations run on.

    A name ends in its unit: ``_days`` and ``_hours`` are calendar time, ``_workdays`` and
    ``_workhours`` pass in business hours only. Where a page states one, the page has a placeholder
    of the field's name (see :mod:`~healthgym.worlds.managed_care.handbook.wording`).
    """

    # Decision clocks.
    cms_hours: TurnaroundHours = TurnaroundHours(72, 72, 168)
    state_hours: Mapping[str, TurnaroundHours] = field(default_factory=_states)
    decision_due_days: int = 7
    decision_due_expedited_hours: int = 72
    sla_warning_percent: int = 75
    overdue_notice_hours: int = 4
    pend_days: int = 2
    pend_reminder_hours: int = 24
    pends_most: int = 2
    authorization_days: int = 30
    extension_request_days: int = 5
    retrospective_days: int = 14
    emergency_notice_hours: int = 48
    concurrent_notice_hours: int = 24
    reopen_days: int = 14

    # Appeals.
    internal_appeal_days: int = 30
    external_appeal_days: int = 120
    appeal_decision_days: int = 30
    appeal_expedited_hours: int = 72
    appeal_acknowledge_workdays: int = 5
    external_assignment_workdays: int = 5
    external_decision_days: int = 45
    external_expedited_hours: int = 72

    # Peer-to-peer.
    p2p_turn_limit: int = 8
    p2p_offer_workdays: int = 3
    p2p_slots_least: int = 3
    p2p_call_minutes: int = 20
    p2p_missed_calls_most: int = 2
    p2p_summary_hours: int = 24

    # Front doors and packets.
    fax_index_workhours: int = 4
    fax_unreadable_workhours: int = 2
    edi_acknowledge_hours: int = 1
    phone_note_workhours: int = 2
    phone_documents_workdays: int = 1
    resubmissions_most: int = 2
    duplicate_days: int = 30
    eligibility_check_days: int = 3
    packet_pages_most: int = 150
    portal_documents_most: int = 12
    api_documents_most: int = 25
    expedited_channel: SubmissionChannel | None = None
    upload_mib_most: int = 10
    inbox_check_workhours: int = 4
    follow_up_days: int = 14

    # Age of what proves something, counted back from the day of the request.
    note_age_days: int = 60
    imaging_age_months: int = 12
    lab_age_days: int = 90
    letter_age_days: int = 60
    questionnaire_age_days: int = 30
    addendum_hours: int = 72

    # Lanes and levels of review.
    gold_card_percent: int = 92
    gold_card_requests_least: int = 20
    gold_card_months: int = 12
    gold_card_recheck_months: int = 6
    high_cost_dollars: int = 75_000
    out_of_network_miles: int = 50
    delegate_handoff_workhours: int = 8
    vendor_handoff_workhours: int = 4
    quality_sample_percent: int = 5
    reviewer_agreement_percent: int = 90
    retention_years: int = 10
    recording_months: int = 24

    # Who may do what. A role that is not named may not.
    may_confirm_intake: tuple[PayerRole, ...] = (PayerRole.INTAKE_COORDINATOR,)
    may_route: tuple[PayerRole, ...] = (PayerRole.INTAKE_COORDINATOR, PayerRole.UM_NURSE)
    may_recommend: tuple[PayerRole, ...] = (PayerRole.UM_NURSE,)
    may_approve: tuple[PayerRole, ...] = (PayerRole.UM_NURSE, *_PHYSICIANS)
    may_deny: tuple[PayerRole, ...] = (PayerRole.PHYSICIAN_REVIEWER,)
    may_sign: tuple[PayerRole, ...] = (PayerRole.PHYSICIAN_REVIEWER,)
    may_override: tuple[PayerRole, ...] = _PHYSICIANS
    may_hold_peer_to_peer: tuple[PayerRole, ...] = (PayerRole.PHYSICIAN_REVIEWER,)
    may_decide_appeal: tuple[PayerRole, ...] = (PayerRole.APPEALS_MEDICAL_DIRECTOR,)
    may_record_external: tuple[PayerRole, ...] = (PayerRole.EXTERNAL_REVIEW_COORDINATOR,)

    letter_slots: Mapping[LetterType, tuple[str, ...]] = field(default_factory=_slots)
    regions: tuple[Region, ...] = field(default_factory=_regions)
    holidays: tuple[Holiday, ...] = field(default_factory=_holidays)

    # Care management.
    cadences: Mapping[CMProgram, FollowUpCadence] = field(default_factory=_cadences)
    referral_open_workdays: int = 2
    outreach_attempts_least: int = 3
    outreach_window_days: int = 14
    outreach_spacing_days: int = 2
    outreach_messages_most: int = 20
    outreach_minutes_most: int = 30
    voicemails_most: int = 2
    spoken_words_most: int = 35
    outreach_line: str = "1-800-555-0142"
    call_opens: int = 8
    call_closes: int = 20
    consent_months: int = 12
    assessment_days: int = 30
    care_plan_days: int = 14
    reassessment_months: int = 6
    transition_call_workdays: int = 2
    transition_visit_days: int = 7
    transition_program_days: int = 30
    bh_follow_up_days: int = 7
    high_risk_score: int = 70
    moderate_risk_score: int = 40
    complex_conditions_least: int = 3
    admissions_least: int = 2
    ed_visits_least: int = 3
    utilization_months: int = 12
    polypharmacy_medicines: int = 10
    phq9_problem: int = 10
    phq9_provider: int = 15
    phq9_escalate: int = 20
    gad7_problem: int = 10
    a1c_controlled_below: float = 7.0
    a1c_uncontrolled_above: float = 9.0
    systolic_controlled_below: int = 140
    systolic_uncontrolled_above: int = 160
    control_months: int = 12
    screening_age_days: int = 30
    urgent_discharge_days: int = 7
    problems_least: int = 2
    complex_problems_least: int = 3
    escalate_urgent_minutes: int = 60
    escalate_clinical_hours: int = 24
    goal_target_days_most: int = 180

    def hours(self, urgency: TriageUrgency, state: str = "") -> tuple[int, str]:
        """Return the hours allowed for a decision, and whose rule that is.

        The stricter of the federal and the state's number wins, and a tie stays federal.

        Args:
            urgency: Of the request.
            state: Two-letter code; blanks and case do not matter, unknown states have no rule.

        Returns:
            The hours, and ``cms`` or ``state:XX``.
        """
        federal, code = self.cms_hours.of(urgency), state.strip().upper()
        own = self.state_hours[code].of(urgency) if code in self.state_hours else federal
        return (own, f"state:{code}") if own < federal else (federal, "cms")

    def channel(self, urgency: Urgency, documents: int) -> SubmissionChannel:
        """Return the channel by which a request goes to the payer: the first that takes it whole.

        Args:
            urgency: Of the request; expedited ones may have a channel of their own.
            documents: How many documents its packet lists.
        """
        if urgency is Urgency.EXPEDITED and self.expedited_channel is not None:
            return self.expedited_channel
        for channel in (SubmissionChannel.PORTAL, SubmissionChannel.API):
            most = self.documents_most(channel, urgency)
            if most is None or documents <= most:
                return channel
        return SubmissionChannel.EDI

    def documents_most(self, channel: SubmissionChannel, urgency: Urgency) -> int | None:
        """Return how many documents of a packet arrive by a channel; None if all of them do."""
        if urgency is Urgency.EXPEDITED and channel is self.expedited_channel:
            return None
        limits = {
            SubmissionChannel.PORTAL: self.portal_documents_most,
            SubmissionChannel.API: self.api_documents_most,
        }
        return limits.get(channel)

    def hastens(self, channel: SubmissionChannel | None) -> bool:
        """Return whether what comes by a channel can be handled as expedited."""
        return self.expedited_channel in (None, channel)

    def changed_from(self, other: OperatingRules) -> frozenset[str]:
        """Return the names of the fields in which two sets of rules differ."""
        names, values = _read_fields()
        pairs = zip(names, values(self), values(other), strict=True)
        return frozenset(name for name, own, its in pairs if own is not its and own != its)


@kept
def values_of(rules: OperatingRules) -> tuple[object, ...]:
    """Return everything that rules set: numbers, channels, roles."""
    return tuple(leaves(rules))


@cache
def _read_fields() -> tuple[tuple[str, ...], Callable[[OperatingRules], tuple[object, ...]]]:
    """Return the names of all fields, and what reads their values in that order."""
    names = tuple(item.name for item in fields(OperatingRules))
    return names, attrgetter(*names)


@cache
def usual_rules() -> OperatingRules:
    """Return the rules as the standing edition prints them; one object, which draws vary."""
    return OperatingRules()
