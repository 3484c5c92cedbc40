"""What reviewers found, criterion by criterion, and whether a decision can rest on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.texts import require_length
from healthgym.worlds.managed_care.policies.criteria import REQUEST_KINDS
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.naming import criteria_named
from healthgym.worlds.managed_care.policies.postures import combined, decisive, failing
from healthgym.worlds.managed_care.policies.tree import Node
from healthgym.worlds.managed_care.policies.tree import criteria as tree_criteria
from healthgym.worlds.managed_care.records.case import PriorAuthCase
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.records.review import LineReview, NurseCriterionEvaluation
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CriterionResult,
    Posture,
    RollUp,
)

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Line and id of a criterion.
Place = tuple[int, str]
_MOST_NAMED = 6
_POSTURES = {
    CriterionResult.MET: Posture.SATISFIED,
    CriterionResult.NOT_MET: Posture.CONTRADICTS,
    CriterionResult.UNCLEAR: Posture.INSUFFICIENT,
}


def lines(world: ManagedCareWorld, case_id: str) -> Mapping[int, int | None]:
    """Return the lines of a case, and how many units each asks for where that is known."""
    found = {
        line.line_number: line.requested_units
        for line in world.cases.lines.values()
        if line.case_id == case_id
    }
    intake = world.intake.find(case_id)
    for item in intake.line_items if intake else ():
        found.setdefault(item.line_number, item.requested_units)
        if found[item.line_number] is None:
            found[item.line_number] = item.requested_units
    return found


def findings(reviews: Iterable[LineReview]) -> dict[Place, NurseCriterionEvaluation]:
    """Return what was found about each criterion, a later review before an earlier one."""
    return {
        (review.line_number, found.criterion_id): found
        for review in reviews
        for found in review.criteria_evaluations
    }


def tally(reviews: Iterable[LineReview]) -> dict[str, int]:
    """Return how many criteria are met, not met and unclear."""
    results = [found.result for found in findings(reviews).values()]
    return {result.value: results.count(result) for result in CriterionResult}


def not_met(world: ManagedCareWorld, case_id: str) -> tuple[str, ...]:
    """Return the ids of the criteria that a denial rests on.

    Where it is known how they are put together, those whose change would turn the result. Else
    those that are not met, or, where none is, those that nothing shows to be met. A physician's
    finding overrules a nurse's, and where a physician has looked in a strict world, nothing is
    denied on what the nurse alone found: if the physician went by another branch that fails, that
    is what it rests on.

    Args:
        world: The world.
        case_id: The case.
    """
    own = findings(world.medical.reviews_of(case_id))
    found = findings(world.nursing.reviews_of(case_id)) | own
    named = _against(world, case_id, found)
    if world.rules is Rules.COMPAT or not own:
        return named
    looked_at = {name for _, name in own}
    seen = tuple(name for name in named if name in looked_at)
    tree = world.nursing.tree(case_id)
    if seen or tree is None:
        return seen
    return tuple(name for name in failing(tree, _as_found(tree, found)) if name in looked_at)


def rested_on(world: ManagedCareWorld, case_id: str) -> tuple[str, ...]:
    """Return the ids of the criteria on which an adverse decision of a physician rests.

    In a strict world those that the physician's reason names and that are found against the
    request, or, where it names none of them, whatever the physician found so. Without a finding or
    a word of a physician's it is what :func:`not_met` says.

    Args:
        world: The world.
        case_id: The case.
    """
    own = findings(world.medical.reviews_of(case_id))
    tree, made = world.nursing.tree(case_id), world.medical.active(case_id)
    if world.rules is Rules.COMPAT or tree is None or made is None or not own:
        return not_met(world, case_id)
    found = findings(world.nursing.reviews_of(case_id)) | own
    looked_at = {name for _, name in own}
    against = [name for name in failing(tree, _as_found(tree, found)) if name in looked_at]
    lines_said = [one.denial_rationale for one in made.line_item_decisions]
    said = " ".join(text for text in (made.denial_rationale, *lines_said) if text.strip())
    named = criteria_named(said or made.determination_rationale)
    return tuple(name for name in against if name in named) or tuple(against)


def _against(
    world: ManagedCareWorld, case_id: str, found: Mapping[Place, NurseCriterionEvaluation]
) -> tuple[str, ...]:
    """Return the criteria that stand against a request, by what was found."""
    tree = world.nursing.tree(case_id)
    if tree is not None and found:
        return decisive(tree, _as_found(tree, found))
    for result in (CriterionResult.NOT_MET, CriterionResult.UNCLEAR):
        failed = [criterion for (_, criterion), one in found.items() if one.result is result]
        if failed:
            return tuple(dict.fromkeys(failed))
    return ()


def _as_found(tree: Node, found: Mapping[Place, NurseCriterionEvaluation]) -> dict[str, Posture]:
    """Return how the record stands to each criterion, by what was found of it."""
    unread = {item.id: Posture.ABSENT for item in tree_criteria(tree)}
    return unread | {name: _POSTURES[one.result] for (_, name), one in found.items()}


def require_sound(
    world: ManagedCareWorld,
    case: PriorAuthCase,
    line_number: int,
    evaluations: Iterable[NurseCriterionEvaluation],
) -> None:
    """Refuse findings on lines, criteria or evidence that do not exist; in a strict world only.

    Raises:
        Refusal: Naming what does not exist.
    """
    if world.rules is Rules.COMPAT:
        return
    evaluations = tuple(evaluations)
    require_length(world, evaluations=evaluations)
    numbers = lines(world, case.id)
    if line_number not in numbers:
        raise Refusal(
            RefusalCode.NOT_FOUND,
            f"Case {case.id} has no line {line_number}; it has {', '.join(map(str, numbers))}.",
        )
    known = {item.criterion_id for item in world.nursing.catalog(case.id, line_number)}
    sources = evidence(world, case)
    times = Counter(found.criterion_id for found in evaluations)
    for found in evaluations:
        if times[found.criterion_id] > 1:
            raise Refusal(
                RefusalCode.DUPLICATE,
                f"evaluations: criterion {found.criterion_id[:60]!r} is evaluated "
                f"{times[found.criterion_id]} times; once is accepted.",
            )
        if known and found.criterion_id not in known:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"Line {line_number} has no criterion {found.criterion_id[:60]!r}; its criteria "
                f"are {', '.join(sorted(known))}.",
            )
        _require_evidence(case.id, found, sources)


def require_grounds(world: ManagedCareWorld, case_id: str) -> None:
    """Refuse an approval that the nurse's own findings do not carry; in a strict world only.

    Every criterion of every line must be found met, each on evidence that exists.

    Raises:
        Refusal: Naming the criteria that are not answered, not met, or rest on nothing.
    """
    if world.rules is Rules.COMPAT:
        return
    found = findings(world.nursing.reviews_of(case_id))
    wanted: set[Place] = set()
    for number in lines(world, case_id):
        catalog = world.nursing.catalog(case_id, number)
        wanted |= {(number, item.criterion_id) for item in catalog}
        if not catalog and not any(line == number for line, _ in found):
            _refuse(f"No criterion of line {number} is evaluated")
    open_ones = sorted(place for place in wanted if place not in found)
    if open_ones:
        _refuse(f"Not evaluated: {_named(open_ones)}")
    met = {place: one for place, one in found.items() if one.result is CriterionResult.MET}
    unmet = sorted(place for place in found if place not in met)
    if unmet and not _carried(world, case_id, found):
        _refuse(f"Not met, or unclear: {_named(unmet)}")
    tree = world.nursing.tree(case_id)
    own = frozenset() if tree is None else _without_pages(tree)
    bare = sorted(place for place, one in met.items() if place[1] not in own)
    bare = [place for place in bare if not _references(met[place])]
    if bare:
        _refuse(f"Without evidence: {_named(bare)}")


@kept
def _without_pages(tree: Node) -> frozenset[str]:
    """Return the criteria for which no page has to be named.

    The request answers some by itself, and silence what must not be on record.
    """
    return frozenset(
        item.id
        for item in tree_criteria(tree)
        if isinstance(item, REQUEST_KINDS) or item.roll_up is RollUp.ANY_NOT_MET
    )


def _carried(
    world: ManagedCareWorld, case_id: str, found: Mapping[Place, NurseCriterionEvaluation]
) -> bool:
    """Return whether the findings carry the policy although some criterion is not met.

    That is so where another one stands in for it: any of several, or an exception.
    """
    tree = world.nursing.tree(case_id)
    if tree is None:
        return False
    postures = {name: _posture(one) for (_, name), one in found.items()}
    return combined(tree, postures) is Posture.SATISFIED


def _posture(finding: NurseCriterionEvaluation) -> Posture:
    """Return how the packet stands to a criterion; nothing is named where it says nothing."""
    silent = finding.result is CriterionResult.UNCLEAR and not _references(finding)
    return Posture.ABSENT if silent else _POSTURES[finding.result]


def _refuse(what: str) -> None:
    raise Refusal(
        RefusalCode.UNSUPPORTED_CLAIM,
        f"{what}; a nurse approves only what every criterion, met and with its source, carries, "
        "and otherwise escalates or asks for information.",
    )


def _named(places: list[Place]) -> str:
    shown = ", ".join(f"{criterion} (line {line})" for line, criterion in places[:_MOST_NAMED])
    more = len(places) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _references(found: NurseCriterionEvaluation) -> tuple[str, ...]:
    of_items = (ref for item in found.item_observations for ref in item.source_refs_used)
    return (*found.source_refs_used, *of_items)


def _require_evidence(
    case_id: str, found: NurseCriterionEvaluation, sources: frozenset[str]
) -> None:
    for reference in _references(found):
        if reference not in sources:
            raise Refusal(
                RefusalCode.NOT_FOUND,
                f"{found.criterion_id[:60]} refers to {reference[:60]!r}, which is no document of "
                f"case {case_id}, not its intake record, and no entry of the chart.",
            )


def seen_documents(world: ManagedCareWorld, case_id: str) -> tuple[DocumentReference, ...]:
    """Return the documents that a reviewer of a case sees.

    In a strict world that is what was sent, where there is a packet; the source shows the chart.
    """
    if _has_packet(world, case_id):
        return world.intake.documents(case_id)
    return world.documents.of_case(case_id)


def _has_packet(world: ManagedCareWorld, case_id: str) -> bool:
    strict = world.rules is Rules.STRICT
    return strict and world.authorizations.packet(case_id) is not None


def evidence(world: ManagedCareWorld, case: PriorAuthCase) -> frozenset[str]:
    """Return the ids of everything that a reviewer of a case can point to.

    In a strict world nobody points to what was not sent, where there is a packet. What the request
    itself states is in the intake record.
    """
    documents = {document.id for document in seen_documents(world, case.id)}
    intake = world.intake.find(case.id)
    if intake is not None:
        documents.add(intake.id)
    chart = world.charts.get(case.patient_id)
    if chart is None or _has_packet(world, case.id):
        return frozenset(documents)
    entries = (
        {entry.id for entry in chart.encounters},
        {entry.id for entry in chart.conditions},
        {entry.id for entry in chart.observations},
        {entry.id for entry in chart.procedures},
        {entry.id for entry in chart.medications},
        {entry.id for entry in chart.allergies},
        {entry.id for entry in chart.coverages},
        {entry.id for entry in chart.documents},
    )
    return frozenset(documents.union(*entries))
