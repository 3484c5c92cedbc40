"""What the handbook makes of what is known: programme, priority, level of risk, control."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from healthgym.worlds.managed_care.charts.stays import Stay, StayKind
from healthgym.worlds.managed_care.control import basis_of, control_of, counted, status_of
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.vocabulary.care import (
    CMPriority,
    CMProgram,
    DiseaseControlStatus,
    RiskLevel,
)

#: Chapters of ICD-10-CM that are mental and substance-use disorders, without the organic ones.
_FIRST_BEHAVIORAL, _LAST_BEHAVIORAL = 10, 69


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a referral or a chart shows of somebody.

    Attributes:
        day: The day of the referral, from which all time is counted back.
        main: ICD-10-CM code of the main reason.
        codes: Codes of active conditions.
        values: LOINC code, day and value of measurements.
        stays: Stays in hospital and emergency visits.
        medicines: How many medicines are active.
        score: Predicted risk from 0 to 1; None if there is none.
        safety: Whether a concern about safety is stated.
    """

    day: date
    main: str
    codes: tuple[str, ...]
    values: tuple[tuple[str, date, float], ...]
    stays: tuple[Stay, ...]
    medicines: int = 0
    score: float | None = None
    safety: bool = False

    def discharged_within(self, days: int) -> bool:
        """Return whether an inpatient stay ended in so many days before the referral."""
        return any(
            0 <= (self.day - stay.ended).days <= days
            for stay in self.stays
            if stay.kind is StayKind.INPATIENT
        )

    def count(self, kind: StayKind, months: int) -> int:
        """Return how many stays of a kind ended in so many months before the referral."""
        first = months_before(self.day, months)
        return sum(first <= stay.ended <= self.day for stay in self.stays if stay.kind is kind)

    def control(self, rules: OperatingRules) -> dict[str, DiseaseControlStatus]:
        """Return how well each condition that counts is controlled, by its code."""
        return {
            code: status_of(code, self.values, self.day, rules)
            for code in self.codes
            if control_of(code) is not None
        }

    def basis(self, code: str, rules: OperatingRules) -> str:
        """Return the value by which a condition is controlled or not, with its day."""
        return basis_of(code, self.values, self.day, rules)

    def chronic(self) -> int:
        """Return how many chronic conditions count, each once."""
        return len(counted(self.codes))


def is_behavioral(code: str) -> bool:
    """Return whether a code is of a mental or substance-use disorder."""
    number = code[1:3]
    return (
        code.startswith("F")
        and number.isdigit()
        and _FIRST_BEHAVIORAL <= int(number) <= _LAST_BEHAVIORAL
    )


def program_of(known: Known, rules: OperatingRules) -> CMProgram:
    """Return the right programme, by the page on eligibility: the first that fits."""
    if known.discharged_within(rules.transition_program_days):
        return CMProgram.TRANSITIONS_OF_CARE
    if is_behavioral(known.main):
        return CMProgram.BEHAVIORAL_HEALTH
    uncontrolled = DiseaseControlStatus.UNCONTROLLED in known.control(rules).values()
    if known.chronic() >= rules.complex_conditions_least and uncontrolled:
        return CMProgram.COMPLEX_CARE
    if known.count(StayKind.INPATIENT, rules.utilization_months) >= rules.admissions_least:
        return CMProgram.COMPLEX_CARE
    return CMProgram.CHRONIC_DISEASE


def level_of(known: Known, rules: OperatingRules) -> RiskLevel:
    """Return the level of risk, by the page on risk stratification."""
    score = None if known.score is None else round(known.score * 100)
    months = rules.utilization_months
    if (
        (score is not None and score >= rules.high_risk_score)
        or known.count(StayKind.INPATIENT, months) >= rules.admissions_least
        or known.count(StayKind.EMERGENCY, months) >= rules.ed_visits_least
        or known.safety
    ):
        return RiskLevel.HIGH
    if (
        (score is not None and score >= rules.moderate_risk_score)
        or known.medicines >= rules.polypharmacy_medicines
        or DiseaseControlStatus.UNCONTROLLED in known.control(rules).values()
    ):
        return RiskLevel.MODERATE
    return RiskLevel.LOW


def priority_of(referred: Known, rules: OperatingRules) -> CMPriority:
    """Return the right priority, by what the referral shows."""
    high = level_of(referred, rules) is RiskLevel.HIGH
    if referred.safety or (high and referred.discharged_within(rules.urgent_discharge_days)):
        return CMPriority.URGENT
    return CMPriority.HIGH if high else CMPriority.STANDARD
