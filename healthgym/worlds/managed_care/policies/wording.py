"""Criteria put into words, from templates in ``data/wording.json``.

Which of several wordings a criterion gets follows from the ids of policy and criterion, so a page
reads the same whenever it is made, and no two policies read alike. Numbers, terms and lists are
printed in one way each, so that a reader can take them back from the sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from importlib.resources import files

from healthgym.core.borders import JsonDict
from healthgym.core.seeding import stable_hash
from healthgym.worlds.managed_care.policies.criteria import (
    AgeCriterion,
    AnyCriterion,
    ContraindicationCriterion,
    CountCriterion,
    DiagnosisCriterion,
    FindingCriterion,
    MeasurementCriterion,
    ProcedureCriterion,
    QuantityCriterion,
    SiteCriterion,
    StepTherapyCriterion,
    TherapyCriterion,
)
from healthgym.worlds.managed_care.policies.tree import AtLeast, Group
from healthgym.worlds.managed_care.policies.units import printed
from healthgym.worlds.managed_care.records.review import ClinicalEvidenceItemTemplate
from healthgym.worlds.managed_care.vocabulary.authorization import ItemMode, UploadableDocumentKind


@cache
def wordings() -> JsonDict:
    """Return the templates and phrases; shared, not to be changed."""
    table: JsonDict = json.loads((files(__package__) / "data" / "wording.json").read_text("utf-8"))
    return table


def pick(options: Sequence[str], *key: str) -> str:
    """Return one of several wordings, the same for the same key."""
    return options[_number(key) % len(options)]


@lru_cache(maxsize=2048)
def _number(key: tuple[str, ...]) -> int:
    return stable_hash("/".join(key))


def criterion_text(policy_id: str, criterion: AnyCriterion) -> str:
    """Return the sentence that states a criterion on its policy's page."""
    template = pick(
        wordings()["criteria"][variant_of(criterion)], policy_id, criterion.id, "criterion"
    )
    return _sentence(template.format(**_slots(policy_id, criterion)))


def group_text(policy_id: str, group: Group) -> str:
    """Return the line that says how many of a group's parts are required."""
    kind: str = getattr(group, "kind")  # noqa: B009 - every subclass has one
    table = wordings()["titled_groups" if group.title else "groups"]
    template = pick(table[kind], policy_id, group.id, "group")
    n = group.n if isinstance(group, AtLeast) else 0
    topic = f"*{group.title}*" if group.title else ""
    return template.format(n=n, topic=topic)


def question_text(
    policy_id: str, criterion: AnyCriterion, item: ClinicalEvidenceItemTemplate
) -> str:
    """Return the question that a form asks for an item."""
    template = pick(
        wordings()["questions"][_question_kind(criterion, item)], policy_id, item.item_id
    )
    return _sentence(template.format(**_slots(policy_id, criterion)))


def document_text(
    policy_id: str,
    kind: UploadableDocumentKind,
    shown: Sequence[AnyCriterion],
    denied: AbstractSet[str] = frozenset(),
) -> str:
    """Return what a document must show, in words.

    Args:
        policy_id: Whose document it is.
        kind: Its kind.
        shown: The criteria that it shows.
        denied: Ids of criteria that the tree asks not to hold.
    """
    listed = "; ".join(
        f"{summary(policy_id, item, denied=item.id in denied)} ({item.id})" for item in shown
    )
    template = pick(wordings()["documents"][kind.value], policy_id, kind.value)
    return template.format(items=listed) + "."


def summary(policy_id: str, criterion: AnyCriterion, *, denied: bool = False) -> str:
    """Return a criterion in a few words, with its numbers; its contrary where it is denied."""
    slots = _slots(policy_id, criterion)
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            form = "{display} {bound} within {months} months"
        case StepTherapyCriterion():
            form = "trials of {class} with dates ({weeks} weeks each) and reasons for stopping"
        case TherapyCriterion():
            form = "attendance of {display} within {months} months"
        case ProcedureCriterion():
            form = "{display} within {months} months"
        case FindingCriterion() if criterion.months:
            form = "{display} within {months} months"
        case _:
            form = "{display}"
    # A packet with the thing itself would show the opposite of what is asked for.
    if denied != variant_of(criterion).endswith(("_absent", "_absent_ever", "_not")):
        form = f"absence of {form}"
    return _months(form.format(**slots))


def unsettled(key: str) -> str:
    """Return the value of a finding that decides nothing, in words that fit what was found.

    Args:
        key: The finding's key; an event is begun, a plan is open, what is seen is indeterminate.
    """
    table: Mapping[str, str] = wordings()["unsettled"]
    return next(word for start, word in table.items() if key.startswith(start))


def variant_of(criterion: AnyCriterion) -> str:
    """Return which list of wordings a criterion takes its sentence from."""
    match criterion:
        case MeasurementCriterion():
            return f"measurement_{criterion.recency}"
        case StepTherapyCriterion():
            return "step_early" if criterion.early else "step"
        case FindingCriterion():
            form = criterion.accepted[0] if len(criterion.accepted) == 1 else "graded"
            form = form if form in ("present", "absent") else "graded"
            return f"finding_{form}" + ("" if criterion.months else "_ever")
        case TherapyCriterion():
            if criterion.sessions and criterion.weeks:
                return "therapy_both"
            return "therapy_sessions" if criterion.sessions else "therapy_weeks"
        case ContraindicationCriterion() | DiagnosisCriterion() | ProcedureCriterion():
            return criterion.kind if criterion.wanted else f"{criterion.kind}_not"
        case AgeCriterion():
            if criterion.minimum and criterion.maximum < 120:
                return "age_range"
            return "age_minimum" if criterion.minimum else "age_maximum"
    return criterion.kind


def listed(words: Sequence[str], joint: str = "or") -> str:
    """Return words as a list in a sentence."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def _months(text: str) -> str:
    return re.sub(r"\b1 months\b", "1 month", text)


def _sentence(text: str) -> str:
    """Return text as a sentence: one month in the singular, and a capital where none would hurt."""
    text = _months(text)
    first = text.partition(" ")[0]
    return text if first != first.lower() else text[0].upper() + text[1:]


def _question_kind(criterion: AnyCriterion, item: ClinicalEvidenceItemTemplate) -> str:
    name = item.item_id.rpartition(".")[2]
    match name:
        case "record":
            return f"record_{criterion.kind}"
        case "weeks":
            return "weeks_drug" if isinstance(criterion, StepTherapyCriterion) else "weeks_therapy"
        case "finding":
            return "truth" if item.comparison_mode == ItemMode.BOOLEAN else "grade"
    return name


def _bound(policy_id: str, criterion: MeasurementCriterion | CountCriterion) -> str:
    operators = wordings()["operators"][criterion.operator.value]
    phrase = pick(operators, policy_id, criterion.id, "operator")
    return f"{phrase} {criterion.threshold:g} {printed(criterion.unit)}"


def _reasons(criterion: StepTherapyCriterion, early: bool = False) -> str:
    words = wordings()["reasons"]
    return listed([words[item.value] for item in (criterion.early if early else criterion.reasons)])


def _slots(policy_id: str, criterion: AnyCriterion) -> Mapping[str, object]:
    """Return what the templates' slots stand for."""
    slots: dict[str, object] = {"display": criterion.display}
    match criterion:
        case MeasurementCriterion():
            slots |= {"bound": _bound(policy_id, criterion), "months": criterion.months}
            slots["which"] = "latest" if criterion.recency == "latest" else "decisive"
        case CountCriterion():
            slots |= {"bound": _bound(policy_id, criterion), "months": criterion.months}
            slots["minimum"] = criterion.minimum
        case StepTherapyCriterion():
            agents = "1 agent" if criterion.agents == 1 else f"{criterion.agents} different agents"
            slots |= {"agents": agents, "drugs": listed(criterion.drugs)}
            slots["class"] = criterion.display
            slots |= {"weeks": criterion.weeks, "number": criterion.agents}
            slots |= {"reasons": _reasons(criterion)}
            if criterion.early:
                slots["early"] = _reasons(criterion, early=True)
        case FindingCriterion():
            slots |= {"grades": listed(criterion.accepted), "months": criterion.months}
            slots["when"] = f" in the last {criterion.months} months" if criterion.months else ""
        case TherapyCriterion():
            slots |= {"sessions": criterion.sessions, "weeks": criterion.weeks}
            slots["months"] = criterion.months
        case ProcedureCriterion():
            slots["months"] = criterion.months
        case SiteCriterion():
            slots["sites"] = listed([wordings()["sites"][site.value] for site in criterion.sites])
        case QuantityCriterion():
            slots |= {"maximum": criterion.maximum, "unit": criterion.unit}
        case AgeCriterion():
            slots |= {"minimum": criterion.minimum, "maximum": criterion.maximum}
        case ContraindicationCriterion() | DiagnosisCriterion():
            pass
    return slots
