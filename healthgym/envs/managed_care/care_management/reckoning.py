"""What a reader concludes from chart and call: findings, and what the plan needs."""

from __future__ import annotations

from datetime import date, timedelta

from healthgym.envs.managed_care.care_management.listening import SOCIAL, Listener
from healthgym.envs.managed_care.care_management.lookups import Chart
from healthgym.envs.managed_care.care_management.rulings import Known
from healthgym.envs.managed_care.care_management.talk import SECTION_OF
from healthgym.envs.managed_care.care_management.task import Needs
from healthgym.envs.managed_care.care_management.writing import (
    Diagnosis,
    Findings,
    Medicine,
    Score,
)
from healthgym.worlds.managed_care.apps.care_management.evidence import rules as section_rules
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.vocabulary.care import (
    AdherenceLevel,
    CMInterventionOwner,
    CMProblemCategory,
    CMProgram,
    DiseaseControlStatus,
    EscalationReason,
)
from healthgym.worlds.managed_care.voices import Topic

_SOCIAL_WORK = {Topic.TRANSPORTATION, Topic.FOOD, Topic.HOUSING, Topic.FINANCES}
_MIND = {Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SUBSTANCE_USE, Topic.SAFETY}
_OPEN = {DiseaseControlStatus.SUBOPTIMAL, DiseaseControlStatus.UNCONTROLLED}
_Category, _Owner = CMProblemCategory, CMInterventionOwner


class Reckoning:
    """What follows from what was read and heard.

    Args:
        chart: The tables of the chart.
        known: What they show.
        rules: Today's numbers.
        listener: What was heard.
        program: The programme.
        struck: Whether something befell the person in a call.
    """

    def __init__(
        self,
        chart: Chart,
        known: Known,
        rules: OperatingRules,
        listener: Listener,
        program: CMProgram,
        *,
        struck: bool = False,
    ) -> None:
        self.struck = struck
        self.chart, self.known, self.rules = chart, known, rules
        self.listener, self.program = listener, program
        self.control = known.control(rules)

    def findings(self) -> Findings:
        """Return what was found."""
        barriers = self.barriers()
        return Findings(
            diagnoses=[
                Diagnosis(
                    code=row["code"],
                    display=row["display"],
                    control=self.control[row["code"]],
                    note=self.known.basis(row["code"], self.rules),
                )
                for row in self.chart.conditions
                if row["code"] in self.control
            ],
            medicines=self._medicines(),
            phq9=self.score(Topic.PHQ9),
            gad7=self.score(Topic.GAD7),
            barriers=frozenset(barriers),
            safety=self._danger(),
            escalation=self._escalation(),
            language=self.chart.patient.get("preferred_language", ""),
            readiness=self.listener.readiness,
        )

    def barriers(self) -> set[Topic]:
        """Return the social barriers, told or in the chart by a code."""
        codes = section_rules().social
        found = {topic for topic in SOCIAL if self.listener.barriers.get(topic)}
        for topic in SOCIAL:
            begins = codes.get(topic.value, ("-",))
            coded = any(code.startswith(begins) for code in self.known.codes)
            if coded and topic not in self.listener.barriers:
                found.add(topic)
        return found

    def _medicines(self) -> list[Medicine]:
        heard = self.listener.taken
        found = []
        for row in self.chart.medications:
            name = row["medication_name"]
            taken = heard.get(name)
            found.append(
                Medicine(
                    name=name,
                    dose=f"{row.get('dose', '')} {row.get('frequency', '')}".strip() or "as told",
                    adherence=taken.level if taken else AdherenceLevel.UNKNOWN,
                    report=f"Does not take {name}" if taken and not taken.at_all else "",
                )
            )
        charted = {row["medication_name"] for row in self.chart.medications}
        for name, taken in heard.items():
            if name not in charted:
                found.append(
                    Medicine(
                        name=name,
                        dose="dose not told",
                        adherence=taken.level,
                        report=f"Takes {name}, which the chart does not have",
                        charted=False,
                    )
                )
        return found

    def score(self, topic: Topic) -> Score:
        """Return the sum of an instrument: as answered, or as documented in time."""
        code, items = section_rules().instruments[topic]
        told = self.listener.view.answered.get(topic, {})
        day = self._today()
        if len(told) == items:
            return Score(points=sum(score or 0 for score in told.values()), day=day)
        first = self.known.day - timedelta(days=self.rules.screening_age_days)
        found = self.chart.latest(code, first) if topic not in self.listener.view.open else None
        return Score(points=found[0], day=found[1]) if found else Score(points=None, day=day)

    def _today(self) -> date:
        return self.listener.now.date()

    def _danger(self) -> bool:
        item = self.listener.view.answered.get(Topic.PHQ9, {}).get("9")
        return bool(item) or self.listener.barriers.get(Topic.SAFETY, False)

    def _escalation(self) -> EscalationReason | None:
        if self._danger():
            return EscalationReason.SAFETY
        if self.struck:
            return EscalationReason.CLINICAL
        high = (self.score(Topic.PHQ9).points or 0) >= self.rules.phq9_escalate
        return EscalationReason.BEHAVIORAL_HEALTH if high else None

    def needs(self) -> Needs:
        """Return what the plan must hold, by the page on care plans."""
        rules, barriers = self.rules, self.barriers()
        medicines = self._medicines()
        differs = any(each.report for each in medicines)
        partly = any(each.adherence is not AdherenceLevel.ADHERENT for each in medicines)
        many = len(self.chart.medications) >= rules.polypharmacy_medicines
        score, worry = self.score(Topic.PHQ9).points or 0, self.score(Topic.GAD7).points or 0
        low = score >= rules.phq9_problem or worry >= rules.gad7_problem or self._danger()
        due = {
            _Category.CLINICAL: bool(_OPEN & set(self.control.values())),
            _Category.MEDICATION: many or differs or partly,
            _Category.BEHAVIORAL_HEALTH: low or self.program is CMProgram.BEHAVIORAL_HEALTH,
            _Category.SDOH: bool(barriers),
            _Category.COORDINATION: self.program is CMProgram.TRANSITIONS_OF_CARE,
        }
        owners = {
            _Owner.PHARMACIST: many or differs,
            _Owner.BEHAVIORAL_HEALTH_PROVIDER: score >= rules.phq9_provider,
            _Owner.SOCIAL_WORKER: bool(barriers & _SOCIAL_WORK),
        }
        wide = self.program is CMProgram.COMPLEX_CARE
        return Needs(
            problems_least=rules.complex_problems_least if wide else rules.problems_least,
            categories=frozenset(kind for kind, is_due in due.items() if is_due),
            owners=frozenset(owner for owner, is_due in owners.items() if is_due),
            first=_Category.BEHAVIORAL_HEALTH if self._danger() else self._first(),
            cadence=rules.cadences[self.program],
            escalation=self._escalation(),
        )

    def _first(self) -> CMProblemCategory:
        """Return the kind of problem that the person named first."""
        worry = self.listener.worry
        if worry is Topic.MEDICATION:
            return _Category.MEDICATION
        if worry in _MIND:
            return _Category.BEHAVIORAL_HEALTH
        return _Category.SDOH if worry in SOCIAL else _Category.CLINICAL

    def open_sections(self) -> tuple[set[str], str]:
        """Return the sections that cannot be filled, and the one at which the person broke off."""
        left = self.listener.view.left()
        names = {SECTION_OF.get(topic, "sdoh") for topic in left}
        stuck = SECTION_OF.get(left[0], "sdoh") if left else "sdoh"
        return names, stuck
