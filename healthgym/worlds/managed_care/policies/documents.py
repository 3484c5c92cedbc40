"""Which documents a packet must hold, and what each must show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from healthgym.worlds.managed_care.policies.criteria import (
    REQUEST_KINDS,
    AnyCriterion,
    CountCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.tree import AllOf, Group, Node, Not, criteria, parts
from healthgym.worlds.managed_care.policies.wording import document_text
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DocumentKind,
    RollUp,
    UploadableDocumentKind,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentNeed:
    """A document that a packet must hold.

    Attributes:
        kind: Its kind.
        criteria: Ids of the criteria it is to show.
        required: Whether one of these is required in any case, or each belongs to an alternative.
        text: What it must show, in words.
    """

    kind: UploadableDocumentKind
    criteria: tuple[str, ...]
    required: bool
    text: str


def documented_in(criterion: AnyCriterion) -> tuple[DocumentKind, ...]:
    """Return the kinds of documents that usually show a criterion; none for a request's."""
    if criterion.documented_in:
        return criterion.documented_in
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            return (DocumentKind.LAB_RESULT, DocumentKind.LAB_SUMMARY)
        case FindingCriterion() if criterion.key.startswith("imaging."):
            return (DocumentKind.IMAGING_REPORT,)
        case TherapyCriterion() | StepTherapyCriterion():
            return (DocumentKind.PROGRESS_NOTE,)
        case ProcedureCriterion():
            return (DocumentKind.CHART_NOTE,)
        case _ if isinstance(criterion, REQUEST_KINDS):
            return ()
    return (DocumentKind.CHART_NOTE,)


def documents_for(policy_id: str, tree: Node) -> tuple[DocumentNeed, ...]:
    """Return the documents that show a tree's criteria, by first use; one need for each kind.

    What silence satisfies needs no document. A kind that cannot be uploaded counts as a chart note.
    """
    always, denied = {item.id for item in _required(tree)}, frozenset(_denied(tree))
    return tuple(
        DocumentNeed(
            kind=kind,
            criteria=tuple(item.id for item in shown),
            required=any(item.id in always for item in shown),
            text=document_text(policy_id, kind, shown, denied),
        )
        for kind, shown in _asked(tree).items()
    )


def required_kinds(tree: Node) -> tuple[UploadableDocumentKind, ...]:
    """Return the kinds of documents that are needed in any case, by first use."""
    always = {item.id for item in _required(tree)}
    asked = _asked(tree).items()
    return tuple(kind for kind, shown in asked if any(item.id in always for item in shown))


@kept
def _asked(tree: Node) -> Mapping[UploadableDocumentKind, Sequence[AnyCriterion]]:
    """Return the criteria that documents of each kind show, by first use."""
    asked: dict[UploadableDocumentKind, list[AnyCriterion]] = {}
    for criterion in criteria(tree):
        if criterion.roll_up is not RollUp.ANY_NOT_MET:
            for kind in documented_in(criterion)[:1]:
                asked.setdefault(_uploadable(kind), []).append(criterion)
    return asked


@cache
def _uploadable(kind: DocumentKind) -> UploadableDocumentKind:
    named = {item.value: item for item in UploadableDocumentKind}
    return named.get(kind.value, UploadableDocumentKind.CHART_NOTE)


def _denied(node: Node, under: bool = False) -> Iterator[str]:
    """Yield the ids of the criteria that must not hold."""
    if isinstance(node, Group):
        for part in parts(node):
            yield from _denied(part, under != isinstance(node, Not))
    elif under:
        yield node.id


def _required(node: Node) -> Iterator[AnyCriterion]:
    """Yield the criteria to which there is no alternative."""
    if isinstance(node, AllOf):
        for part in node.parts:
            yield from _required(part)
    elif not isinstance(node, Group):
        yield node
