"""What a reviewer finds in a packet, in the forms in which it is written down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from healthgym.worlds.managed_care.charts.prose import day_of
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.packets import Packet
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS, AnyCriterion
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.policies.documents import documented_in, documents_for
from healthgym.worlds.managed_care.policies.evaluation import Assessment, PolicyAssessment
from healthgym.worlds.managed_care.policies.evidence import evidence_items
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import decisive, favourable
from healthgym.worlds.managed_care.policies.units import printed_units
from healthgym.worlds.managed_care.policies.wording import summary as brief
from healthgym.worlds.managed_care.records.review import NurseCriterionEvaluation
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    Posture,
    UploadableDocumentKind,
)

_OPEN, _NOT_SHOWN = CriterionResult.UNCLEAR, CriterionResult.NOT_MET
_UNDECIDED = (Posture.INSUFFICIENT, Posture.ABSENT)
#: Days in a month, where a period is given in months and a page counts it in days.
_MONTH = 30


@dataclass(frozen=True, slots=True)
class Finding:
    """What a reviewer sees in a packet."""

    policy: Policy
    packet: Packet
    assessment: PolicyAssessment

    @property
    def carried(self) -> bool:
        """Whether the packet shows everything that the policy asks for."""
        return (
            self.assessment.posture is Posture.SATISFIED
            and not self.assessment.missing_documents
            and self.policy.covers_diagnosis(self.packet.request.diagnosis_codes)
        )

    def evaluations(
        self, *, closed: bool = False, withheld: bool = False
    ) -> tuple[NurseCriterionEvaluation, ...]:
        """Return the findings, each with the documents it rests on.

        Args:
            closed: Whether nothing more is awaited: what is still open is not met, then; what must
                not hold stays unclear, since not met it would help.
            withheld: Whether a document that was asked for did not come: without it the reviewer
                takes nothing for shown.
        """
        known, results = self.packet.by_id, self.results(closed=closed, withheld=withheld)
        return tuple(
            NurseCriterionEvaluation(
                criterion_id=name,
                criterion_text=self.policy.text(name),
                criteria_source=self.policy.id,
                criteria_version=self.policy.version,
                result=results[name],
                notes=self._noted(one, known),
                source_refs_used=self._showing(one.facts),
                item_observations=one.items,
            )
            for name, one in self.assessment.criteria.items()
        )

    def results(
        self, *, closed: bool = False, withheld: bool = False
    ) -> dict[str, CriterionResult]:
        """Return what is found of each criterion; arguments as of :meth:`evaluations`."""
        good = favourable(self.policy.criteria)
        shown = {CriterionResult.MET: _OPEN} if withheld else {}
        moved = {_OPEN: _NOT_SHOWN, **shown} if closed else shown
        return {
            name: (moved if good[name] is Posture.SATISFIED else shown).get(one.result, one.result)
            for name, one in self.assessment.criteria.items()
        }

    def _noted(self, one: Assessment, known: Mapping[str, AnyFact]) -> str:
        """Return the days of what a finding rests on; that nothing was sent, where there is none.

        Silence has no source, and what the request states itself needs none.
        """
        if isinstance(self.policy.criterion(one.criterion_id), REQUEST_KINDS):
            told = any(item.observed_value is not None for item in one.items)
            return "As the request states." if told else "Not stated in the request."
        days = {day_of(known[name]) for name in one.facts if name in known}
        if not days:
            return "Not documented in what was sent."
        return f"On record: {', '.join(f'{day}' for day in sorted(days))}."

    def _showing(self, facts: Iterable[str]) -> tuple[str, ...]:
        found = [name for fact in facts for name in self.packet.sources.get(fact, ())]
        return tuple(dict.fromkeys(found))

    def open_ones(self) -> tuple[str, ...]:
        """Return the criteria that the packet leaves open."""
        found = self.assessment.criteria
        return tuple(name for name, one in found.items() if one.posture in _UNDECIDED)

    def named(self) -> tuple[str, ...]:
        """Return the criteria because of which it does not carry: those that would turn it."""
        postures = {name: one.posture for name, one in self.assessment.criteria.items()}
        return decisive(self.policy.criteria, postures)

    def summary(self) -> str:
        """Return the finding in one paragraph: policy and version, criterion, what is shown."""
        head = f"{self.policy.id}, version {self.policy.version}: "
        if self.carried:
            return head + "the documents on file show what its criteria ask for."
        said = [f"{name}: {self.policy.text(name)} {self._shown(name)}" for name in self.named()]
        lacking = self.assessment.missing_documents
        if lacking and not said:
            kinds = ", ".join(str(kind).replace("_", " ") for kind in lacking)
            said.append(f"Of what the policy asks to be sent, this is missing: {kinds}.")
        if not said:
            codes = ", ".join(self.packet.request.diagnosis_codes)
            said.append(f"No diagnosis code of the request ({codes}) is one that it covers.")
        return head + " ".join(said)

    def _shown(self, name: str) -> str:
        """Return what the packet shows of a criterion, in words."""
        found = self.assessment.criteria[name]
        documents = ", ".join(self._showing(found.facts))
        where = f" ({documents})" if documents else ""
        labels = {item.item_id: item.label for item in evidence_items(self.policy.criterion(name))}
        seen = [
            f"{labels[item.item_id]}: {_value(item.observed_value, item.observed_unit)}"
            for item in found.items
            if item.observed_value is not None
        ]
        if seen:
            return f"Finding{where}: {', '.join(dict.fromkeys(seen))}."
        if documents:
            return f"Finding: what is sent on it{where} does not settle it."
        return "Finding: nothing that was sent shows it."

    def wanted(
        self,
        asked: Iterable[UploadableDocumentKind],
        rules: OperatingRules,
        today: date,
    ) -> tuple[str, ...]:
        """Return what is still to be asked for: document, period, and criterion if there is one.

        Args:
            asked: Kinds of documents that a reviewer wants to see besides those of the policy.
            rules: The numbers that operations run on, for the age of documents.
            today: The day of the request.
        """
        lacking = self.assessment.missing_documents
        kinds = (kind for kind in (*lacking, *asked) if str(kind) not in self.packet.kinds)
        found = [
            _asked_for(self.policy, kind, kind in lacking, rules, today)
            for kind in dict.fromkeys(kinds)
        ]
        if self.assessment.posture in _UNDECIDED:
            found += [self._evidence(name, today) for name in self.named()]
        return tuple(found)

    def _evidence(self, name: str, today: date) -> str:
        criterion = self.policy.criterion(name)
        kinds = " or ".join(map(_named, documented_in(criterion)))
        months = _months(criterion)
        period = f", dated {months_before(today, months)} to {today}" if months else ""
        source = f" Please send {kinds}{period}." if kinds else ""
        return _item(f"{name}: {self.policy.text(name)}{source}")


def _named(kind: str) -> str:
    """Return a kind of document in prose, such as "an imaging report"."""
    if kind == UploadableDocumentKind.OTHER:
        return "another document"
    name = str(kind).replace("_", " ")
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _asked_for(
    policy: Policy,
    kind: UploadableDocumentKind,
    required: bool,
    rules: OperatingRules,
    today: date,
) -> str:
    """Return a request for a document: its kind, its period, and which criterion it is to show.

    One that the policy does not require has to do with no criterion, and none is named for it.
    """
    name = str(kind).replace("_", " ")
    if not required:
        latest = "other document" if kind is UploadableDocumentKind.OTHER else name
        return _item(f"Document: the latest {latest} on file up to {today}, to complete the file")
    shown = list(_shown_in(policy, kind))
    about = ", ".join(f"{brief(policy.id, item)} ({item.id})" for item in shown)
    months = max(map(_months, shown), default=0)
    start = months_before(today, months) if months else today - _age(kind, rules)
    told = f", showing {about}" if about else ""
    return _item(f"Document: {name}, dated {start} to {today}{told}")


def _shown_in(policy: Policy, kind: UploadableDocumentKind) -> Iterator[AnyCriterion]:
    """Yield the criteria that a kind of document is to show, by the policy's page."""
    for need in documents_for(policy.id, policy.criteria):
        if need.kind is kind:
            yield from map(policy.criterion, need.criteria)


def _months(criterion: AnyCriterion) -> int:
    """Return how far a criterion looks back; 0 where it does not say."""
    return getattr(criterion, "months", None) or 0


def _age(kind: UploadableDocumentKind, rules: OperatingRules) -> timedelta:
    """Return how old a document of a kind may be where its criteria do not say."""
    match kind:
        case UploadableDocumentKind.IMAGING_REPORT:
            days = rules.imaging_age_months * _MONTH
        case UploadableDocumentKind.LAB_RESULT | UploadableDocumentKind.LAB_SUMMARY:
            days = rules.lab_age_days
        case UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY:
            days = rules.letter_age_days
        case UploadableDocumentKind.QUESTIONNAIRE_FORM:
            days = rules.questionnaire_age_days
        case _:
            days = rules.note_age_days
    return timedelta(days=days)


def _item(text: str) -> str:
    """Return a text as one item of a request, whose items stand between semicolons and lines."""
    return text.replace(";", ",").replace("\n", " ")


def _value(value: object, unit: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{number} {printed_units().get(unit, unit)}".strip()
