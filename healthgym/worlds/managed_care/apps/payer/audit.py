"""What an auditor asks of a case: its timeline, its clock, its people, its letters and reasons.

Reports are computed from the log and the records. They change nothing, and a finding names the
rule that was not kept; what the right decision would have been, no report says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta

from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.apps.payer.reviewers import Part, clash, parts_taken
from healthgym.worlds.managed_care.history import EntryKind
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    DeterminationDecision,
    LetterType,
    MdReviewDecision,
    PayerRole,
)

Findings = list[dict[str, str]]
#: Words of a citation that name nothing.
_OF_VERSIONS = frozenset({"policy", "section", "v", "version"})
_STATUS = {
    DeterminationDecision.APPROVED: CaseStatus.APPROVED,
    DeterminationDecision.PARTIALLY_APPROVED: CaseStatus.PARTIALLY_APPROVED,
    DeterminationDecision.DENIED: CaseStatus.DENIED,
}
_LETTER = {
    DeterminationDecision.APPROVED: LetterType.APPROVAL,
    DeterminationDecision.PARTIALLY_APPROVED: LetterType.PARTIAL_APPROVAL,
    DeterminationDecision.DENIED: LetterType.DENIAL,
}
_ADVERSE = (MdReviewDecision.DENY, MdReviewDecision.PARTIAL_APPROVE)
_HOUR = timedelta(hours=1)


class ComplianceAudit(App):
    """Compliance reports. It keeps nothing."""

    name = "payer_audit"

    def timeline(self, case_id: str) -> Mapping[str, object]:
        """Return what happened to a case, oldest first."""
        self.world.cases.get(case_id)
        rows = [
            {
                "number": entry.number,
                "at": entry.at,
                "kind": entry.kind,
                "actor": entry.actor,
                "what": f"{entry.source} -> {entry.action}"
                if entry.kind is EntryKind.TRANSITION
                else entry.name,
            }
            for entry in self.world.history.of(case_id)
        ]
        self.looked("get_case_timeline", case_id)
        return {"case_id": case_id, "items": rows}

    def clock(self, case_id: str) -> Mapping[str, object]:
        """Return where a case stands against its limit, the time that it was pended left out."""
        intake = self.world.intake.get(case_id)
        limit = deadlines.decision_deadline(self.world, case_id)
        decided = self.world.determinations.active(case_id)
        end = decided.created_at if decided else self.world.clock.now
        pended = deadlines.pended_for(self.world, case_id)
        allowed = limit - pended - intake.received_at
        used = end - intake.received_at - pended
        percent = round(100 * used / allowed)
        self.looked("get_sla_status", case_id)
        return {
            "case_id": case_id,
            "received_at": intake.received_at,
            "deadline": limit,
            "decided_at": decided.created_at if decided else None,
            "hours_allowed": allowed / _HOUR,
            "hours_used": round(used / _HOUR, 2),
            "percent_used": percent,
            "warning": percent >= self.world.operations.sla_warning_percent,
            "overdue": end > limit,
        }

    def roles(self, case_id: str) -> Mapping[str, object]:
        """Return who did something that the role does not allow."""
        self.world.cases.get(case_id)
        found = [
            {"rule": rule, "actor": person, "role": str(self._role(person) or "unknown")}
            for rule, person, allowed in self._acts(case_id)
            if self._role(person) not in {str(role) for role in allowed}
        ]
        self.looked("check_role_compliance", case_id)
        return _report(case_id, found)

    def independence(self, case_id: str) -> Mapping[str, object]:
        """Return who had more parts in the reviews of a case than one person may have."""
        self.world.cases.get(case_id)
        taken: dict[str, dict[Part, None]] = {}
        for person, part in parts_taken(self.world, case_id):
            taken.setdefault(person, {})[part] = None
        found = [
            {"rule": "one person, one part", "actor": person, "parts": ", ".join(parts)}
            for person, parts in taken.items()
            if clash(parts)
        ]
        self.looked("check_reviewer_independence", case_id)
        return _report(case_id, found)

    def letters(self, case_id: str) -> Mapping[str, object]:
        """Return what the letters of a case lack."""
        self.world.cases.get(case_id)
        found: Findings = []
        for letter in self.world.letters.of(case_id):
            missing = self.world.letters.check(letter.id)["missing_fields"]
            for name in missing if isinstance(missing, list) else []:
                found.append({"rule": "letter complete", "letter": letter.id, "missing": str(name)})
        self.looked("check_letter_completeness", case_id)
        return _report(case_id, found)

    def citations(self, case_id: str) -> Mapping[str, object]:
        """Return decisions and letters that cite nothing, or nothing that the policy has."""
        self.world.cases.get(case_id)
        policy = self.world.cases.policy(case_id)
        known = policy.policy_citations if policy else ()
        cited = [
            *(
                (one.id, one.policy_citations)
                for one in self.world.determinations.decisions_of(case_id)
            ),
            *((one.id, one.policy_citations) for one in self.world.letters.of(case_id)),
        ]
        found: Findings = []
        for record, citations in cited:
            if known and not citations:
                found.append({"rule": "cites the policy", "record": record, "cited": "nothing"})
            found += [
                {"rule": "cites the policy", "record": record, "cited": one}
                for one in citations
                if known and not any(_is_of(one, other) for other in known)
            ]
        self.looked("check_policy_citation_quality", case_id)
        return _report(case_id, found)

    def consistency(self, case_id: str) -> Mapping[str, object]:
        """Return where determination, status, letter and authorization number disagree."""
        case = self.world.cases.get(case_id)
        found: Findings = []
        decided = self.world.determinations.active(case_id)
        if decided is not None:
            decision = decided.final_decision
            settled = case.status in _STATUS.values()
            if settled and case.status is not _STATUS[decision]:
                found.append({"rule": "status follows decision", "status": str(case.status)})
            if decision is not DeterminationDecision.DENIED and not case.authorization_number:
                found.append({"rule": "approval has a number", "decision": str(decision)})
            if decided.overridden and not decided.override_reason.strip():
                found.append({"rule": "override has a reason", "determination": decided.id})
            # A letter of a decision that was overturned since stays on file as it was.
            letters = self.world.letters.of(case_id)
            kinds = {
                str(one.letter_type) for one in letters if one.created_at >= decided.created_at
            }
            wrong = kinds & {str(kind) for kind in _LETTER.values()} - {str(_LETTER[decision])}
            found += [{"rule": "letter follows decision", "letter": kind} for kind in sorted(wrong)]
        elif case.status in _STATUS.values():
            found.append({"rule": "status follows decision", "status": str(case.status)})
        self.looked("check_decision_consistency", case_id)
        return _report(case_id, found)

    def summary(self, case_id: str) -> Mapping[str, object]:
        """Return how many findings each report has."""
        reports = {
            "roles": self.roles(case_id),
            "independence": self.independence(case_id),
            "letters": self.letters(case_id),
            "citations": self.citations(case_id),
            "consistency": self.consistency(case_id),
        }
        counts = {name: report["count"] for name, report in reports.items()}
        overdue = self.clock(case_id)["overdue"] if self.world.intake.find(case_id) else False
        self.looked("summarize_case_quality", case_id)
        clean = not overdue and not any(counts.values())
        return {"case_id": case_id, "overdue": overdue, "findings": counts, "clean": clean}

    def _acts(self, case_id: str) -> Iterator[tuple[str, str, tuple[PayerRole, ...]]]:
        """Yield each act of a case that is kept for some roles: its rule, who, and the roles."""
        rules = self.world.operations
        for entry in self.world.history.of(case_id, EntryKind.AUDIT):
            if entry.action == "confirm_intake_decisions":
                yield "confirms intake", entry.actor, rules.may_confirm_intake
            elif entry.action == "set_disposition":
                yield "triages", entry.actor, rules.may_route
        for nurse in self.world.nursing.of(case_id):
            yield "recommends", nurse.reviewer_id, rules.may_recommend
        for physician in self.world.medical.of(case_id):
            if physician.decision in _ADVERSE:
                yield "denies", physician.reviewer_id, rules.may_deny
        for appeal in self.world.appeals.of(case_id):
            if appeal.outcome is not None and appeal.assigned_reviewer_id:
                internal = appeal.level == "internal"
                allowed = rules.may_decide_appeal if internal else rules.may_record_external
                yield "decides an appeal", appeal.assigned_reviewer_id, allowed

    def _role(self, person: str) -> str | None:
        role = self.world.staff.role_of(person)
        return str(role) if role else None


def _report(case_id: str, found: Findings) -> Mapping[str, object]:
    return {"case_id": case_id, "compliant": not found, "count": len(found), "findings": found}


def _is_of(citation: str, known: str) -> bool:
    """Return whether a citation is of a policy's, or of a section of it, however it is marked."""
    one, other = _words(citation), _words(known)
    shared = min(len(one), len(other))
    return shared > 0 and one[:shared] == other[:shared]


def _words(citation: str) -> list[str]:
    """Return the words of a citation: "MP-DME-017, version 2026.1" is "MP-DME-017 (2026.1)"."""
    words = re.findall(r"\w[\w.-]*\w|\w", citation.casefold())
    return [word for word in words if word not in _OF_VERSIONS]
