"""What an episode did to the world, as the checks ask about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from healthgym.core.borders import Json
from healthgym.envs.managed_care.care_management.assessed import Assessed, subjects_due
from healthgym.envs.managed_care.care_management.clauses import Speaks
from healthgym.envs.managed_care.care_management.grounds import Grounds
from healthgym.envs.managed_care.care_management.planned import Planned
from healthgym.envs.managed_care.care_management.reasons import EndedBecause, read_ending
from healthgym.envs.managed_care.care_management.talk import Talk
from healthgym.envs.managed_care.care_management.task import CareReference
from healthgym.envs.managed_care.care_management.witness import Witness
from healthgym.worlds.managed_care.apps.care_management.evidence import Evidence
from healthgym.worlds.managed_care.apps.care_management.sections import SECTIONS
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.records.assessment import CMAssessment
from healthgym.worlds.managed_care.records.care import (
    CMCase,
    CMChartReview,
    CMOutreachRecord,
    CMReferral,
)
from healthgym.worlds.managed_care.records.care_plan import CMCarePlan
from healthgym.worlds.managed_care.vocabulary.care import (
    CMAssessmentStatus,
    CMCarePlanStatus,
    CMCaseStatus,
)
from healthgym.worlds.managed_care.voices import Topic
from healthgym.worlds.managed_care.world import ManagedCareWorld

_OVER = frozenset({CMCaseStatus.CLOSED, CMCaseStatus.DISENROLLED})
#: Tables that a care manager's work changes, and whose records name an episode.
_TABLES = (
    ("care_chart", "reviews"),
    ("outreach", "sessions"),
    ("outreach", "records"),
    ("assessments", "assessments"),
    ("plans", "plans"),
)
#: What is done once in an episode.
_ONCE = (
    "cm_chart.submit_chart_review",
    "cm_outreach.end_outreach_call",
    "cm_assessment.complete_assessment",
    "cm_care_plan.create_draft",
    "cm_care_plan.finalize",
    "cm_case.case_disenrolled",
)


#: What is filed of a call and not kept in its record.
_FILED = ("key_takeaways", "next_steps")


def _texts(value: Json | None) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


class Inspection:
    """Looks at a world after an episode, beside the same world before it.

    Args:
        before: The world as it began.
        after: The world now; neither is changed.
        reference: The right handling.
    """

    def __init__(
        self, before: ManagedCareWorld, after: ManagedCareWorld, reference: CareReference
    ) -> None:
        self.before, self.after, self.reference = before, after, reference

    # -- the episode -----------------------------------------------------------------------------

    @cached_property
    def opened(self) -> tuple[CMCase, ...]:
        """The episodes that were opened."""
        old = self.before.referrals.cases
        return tuple(case for key, case in self.after.referrals.cases.items() if key not in old)

    @property
    def case_id(self) -> str:
        """Id of the episode that is meant."""
        return self.reference.case_id

    @property
    def case(self) -> CMCase | None:
        """The episode that is meant; None if it is not open."""
        return self.after.referrals.cases.get(self.case_id)

    @property
    def status(self) -> str:
        """Where it stands."""
        return str(self.case.status) if self.case else "no episode"

    @property
    def referral(self) -> CMReferral:
        """The referral that is meant."""
        return self.before.referrals.referrals[self.reference.referral_id]

    @property
    def referral_right(self) -> bool:
        """Whether the one episode that was opened is the right one, rightly classed."""
        case, wanted = self.case, self.reference
        return (
            case is not None
            and [each.case_id for each in self.opened] == [wanted.case_id]
            and (case.program, case.priority) == (wanted.program, wanted.priority)
        )

    @property
    def ended(self) -> bool:
        """Whether it stands where the right work leads."""
        return self.case is not None and self.case.status is self.reference.status

    @cached_property
    def known(self) -> Evidence | None:
        """What chart and person have said; None without an episode."""
        return Evidence.of(self.after, self.case_id) if self.case else None

    @cached_property
    def grounds(self) -> Grounds:
        """What is on file about the person."""
        return Grounds(
            chart=self.before.charts[self.reference.patient_id],
            referral=self.referral,
            operations=self.before.operations,
            today=(self.before.clock.now.date(), self.after.clock.now.date()),
        )

    @cached_property
    def witness(self) -> Witness | None:
        """What was said on file and on the phone, in words; None without an episode."""
        if self.known is None:
            return None
        label = self.reference.label
        return Witness(self.grounds.chart, self.referral, self.known, self.talk, label)

    # -- chart and calls -------------------------------------------------------------------------

    @cached_property
    def reviews(self) -> tuple[CMChartReview, ...]:
        """The reviews of the chart."""
        found = self.after.care_chart.reviews.values()
        return tuple(each for each in found if each.case_id == self.case_id)

    @cached_property
    def review_wrong(self) -> str:
        """What is wrong with the review; empty if nothing is."""
        if not self.reviews:
            return "the chart was not reviewed"
        made = self.reviews[-1]
        calls = self.talk.sessions
        if calls and calls[0].created_at < self.reviews[0].reviewed_at:
            return "reviewed after the first call"
        if made.preliminary_risk_level is not self.reference.risk_level:
            return f"risk {made.preliminary_risk_level}"
        lists = (made.primary_concerns, made.coordination_risks, made.suspected_barriers)
        text = "\n".join((made.key_findings, *(line for each in lists for line in each)))
        if not self.grounds.adds_something(text):
            return "nothing is named that the chart adds to the referral"
        found = [*self.grounds.unfounded(text)]
        if self.witness is not None:
            stated = (*made.primary_concerns, *made.coordination_risks, made.key_findings)
            found += self.witness.unfounded(*stated)
            found += self.witness.unfounded(*made.suspected_barriers, suspected=True)
            found += self.witness.presumed(*made.clarification_needed, speaks=Speaks.PLANS)
            found += self.witness.says_nothing(*stated, *made.suspected_barriers)
        return ", ".join(found)

    @cached_property
    def talk(self) -> Talk:
        """What was said on the phone."""
        return Talk.of(self.after, self.case_id)

    @cached_property
    def untimely(self) -> str:
        """Which call was made at the wrong time; empty if none was."""
        rules = self.before.operations
        state = self.before.charts[self.reference.patient_id].patient.address_state
        calendar = office_calendar(state)
        times = [calendar.local(each.created_at) for each in self.talk.sessions]
        for at in times:
            if not rules.call_opens <= at.hour < rules.call_closes:
                return f"called at {at:%H:%M}"
        busy = self.reference.persona.busy
        if busy is None or not times:
            return ""
        for at in times[1:]:
            early = at.hour < busy.free_from or (at.date() - times[0].date()).days < busy.free_days
            if early:
                return f"called again at {at:%Y-%m-%d %H:%M}"
        return ""

    @cached_property
    def record(self) -> CMOutreachRecord | None:
        """What was filed of the calls last."""
        found = [e for e in self.after.outreach.records.values() if e.case_id == self.case_id]
        return found[-1] if found else None

    @cached_property
    def filed(self) -> Mapping[str, tuple[str, ...]]:
        """What the filing of the last call says in words that its record does not keep."""
        entries = self.after.history.of(self.case_id, EntryKind.AUDIT)
        details = [each.details for each in entries if each.action == "end_outreach_call"]
        last = details[-1] if details else {}
        return {name: _texts(last.get(name)) for name in _FILED}

    @cached_property
    def due(self) -> frozenset[Topic]:
        """The subjects that are to be asked about."""
        return subjects_due(self.reference, self.before.charts[self.reference.patient_id])

    @property
    def medicines(self) -> tuple[str, ...]:
        """All medicines of which the person has something to tell."""
        told = self.reference.persona.tells.get(Topic.MEDICATION, ())
        return tuple(each.item for each in told)

    # -- assessment and plan ---------------------------------------------------------------------

    @cached_property
    def assessment(self) -> CMAssessment | None:
        """The assessment: the completed one, or else the newest."""
        made = list(self.after.assessments.of(self.case_id))
        done = [each for each in made if each.status is CMAssessmentStatus.COMPLETE]
        return next(reversed(done or made), None)

    @cached_property
    def plan(self) -> CMCarePlan | None:
        """The care plan."""
        found = [e for e in self.after.plans.plans.values() if e.case_id == self.case_id]
        return found[-1] if found else None

    def sections_wrong(self, left_out: Iterable[str] = ()) -> tuple[str, ...]:
        """Return what the sections say wrongly, some of them left out."""
        if self.assessment is None or self.known is None or self.witness is None:
            return ("nothing was assessed",)
        seen = Assessed(
            made=self.assessment,
            wanted=self.reference,
            known=self.known,
            grounds=self.grounds,
            witness=self.witness,
        )
        return seen.wrong_so_far(frozenset(left_out))

    @cached_property
    def plan_wrong(self) -> tuple[str, ...]:
        """What the plan has wrongly, or lacks."""
        needs = self.reference.needs
        if self.plan is None or self.assessment is None or needs is None or self.witness is None:
            return ("nothing was planned",)
        if self.plan.status is not CMCarePlanStatus.FINALIZED:
            return ("the plan is a draft",)
        return Planned(
            plan=self.plan,
            assessment=self.assessment,
            needs=needs,
            grounds=self.grounds,
            witness=self.witness,
            most_days=self.before.operations.goal_target_days_most,
        ).wrong()

    @cached_property
    def ended_because(self) -> frozenset[EndedBecause]:
        """The reasons for which the episode was ended, as its record says them."""
        reasons = [
            str(entry.details.get("reason", ""))
            for entry in self.after.history.of(self.case_id, EntryKind.AUDIT)
            if entry.action == "case_disenrolled"
        ]
        return read_ending(reasons[-1]) if reasons else frozenset()

    # -- what else changed -----------------------------------------------------------------------

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Other episodes that were opened or changed."""
        own = self.case_id
        found = [case.case_id for case in self.opened if case.case_id != own]
        before = self.before.referrals.cases
        for key, case in self.after.referrals.cases.items():
            if key in before and before[key] != case and key != own:
                found.append(key)
        for app, table in _TABLES:
            old: Mapping[str, object] = getattr(getattr(self.before, app), table)
            for key, record in getattr(getattr(self.after, app), table).items():
                if old.get(key) != record and record.case_id != own:
                    found.append(record.case_id)
        return tuple(dict.fromkeys(found))

    @cached_property
    def repeated(self) -> tuple[str, ...]:
        """Steps that were finished, and taken again; a strict world refuses each of them."""
        entries = self.after.history.of(self.case_id, EntryKind.AUDIT)
        names = [entry.name for entry in entries]
        found = [name for name in _ONCE if names.count(name) > 1]
        if sum(1 for _ in self.after.assessments.of(self.case_id)) > 1:
            found.append("assessment")
        return tuple(found)

    # -- how far it came -------------------------------------------------------------------------

    @property
    def stage(self) -> float:
        """How far the work came, right or wrong, from 0 to 1.

        Of several episodes that were opened the furthest counts, whosever it is: which of them is
        meant must not be told by what is paid.
        """
        drilled = (self.case,) if self.reference.drilled and self.case else ()
        return max((self._stage(case) for case in (*self.opened, *drilled)), default=0.0)

    def _stage(self, case: CMCase) -> float:
        after, name = self.after, case.case_id
        talk = Talk.of(after, name)
        assessment = after.assessments.latest(name)
        saved = [assessment and getattr(assessment, section) for section in SECTIONS]
        plans = [each for each in after.plans.plans.values() if each.case_id == name]
        reviewed = any(each.case_id == name for each in after.care_chart.reviews.values())
        steps = (
            1.0,
            float(reviewed),
            float(talk.identified),
            float(talk.purpose_told),
            float(talk.answered),
            min(len(talk.topics) / 8, 1.0),
            sum(each is not None for each in saved) / len(SECTIONS),
            float(any(each.problems for each in plans)),
            float(case.status in _OVER),
        )
        return sum(steps) / len(steps)
