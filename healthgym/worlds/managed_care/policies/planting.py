"""Facts that make criteria take the posture a case needs, near misses among them.

Each posture of a kind of criterion has several stories, such as a value just short of the
threshold, one in another unit, one too old by some days. Several criteria may look at the same
thing (two thresholds of one value); so a whole policy is planted by drawing postures, planting
one of those criteria, asking the evaluation, and drawing again until it agrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from functools import cache

from numpy.random import Generator

from healthgym.core.records import replace
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts.hours import some_business_day
from healthgym.worlds.managed_care.facts import AnyFact
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
from healthgym.worlds.managed_care.policies.documents import documented_in
from healthgym.worlds.managed_care.policies.evaluation import stance_of
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import combined
from healthgym.worlds.managed_care.policies.reading import bearing, by_kind
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.stories import drafts
from healthgym.worlds.managed_care.policies.treatment_stories import Draft
from healthgym.worlds.managed_care.policies.tree import (
    Group,
    Node,
    Not,
    criteria,
    needed,
    parts,
)
from healthgym.worlds.managed_care.vocabulary.authorization import PlaceOfService, Posture

#: How often a story is drawn until the evaluation agrees with it.
_TRIES = 400
#: The same for all postures of a policy. Of 1,200 cases that could be drawn none took more than 8.
_DRAWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A case made for a policy.

    Attributes:
        facts: What is true of the patient, apart from the rest of the chart.
        request: What is asked for.
        postures: What the evaluation finds of each criterion, by id.
    """

    facts: tuple[AnyFact, ...]
    request: Request
    postures: Mapping[str, Posture]


@kept
def possible(criterion: AnyCriterion) -> tuple[Posture, ...]:
    """Return the postures that a criterion can be planted with."""
    sure = (Posture.SATISFIED, Posture.CONTRADICTS)
    match criterion:
        case SiteCriterion() | AgeCriterion():
            return sure
        case QuantityCriterion():
            return (*sure, Posture.ABSENT)
        case ContraindicationCriterion() | ProcedureCriterion() if criterion.wanted:
            return (Posture.SATISFIED, Posture.INSUFFICIENT, Posture.ABSENT)
        case ContraindicationCriterion() | ProcedureCriterion():
            return sure
        case DiagnosisCriterion() if not criterion.wanted:
            return sure
        case DiagnosisCriterion() if not criterion.near:
            return (*sure, Posture.ABSENT)
    return (Posture.SATISFIED, Posture.INSUFFICIENT, Posture.CONTRADICTS, Posture.ABSENT)


def plant(
    criterion: AnyCriterion,
    stance: Posture,
    request: Request,
    today: date,
    rng: Generator,
    first: int = 1,
) -> tuple[AnyFact, ...]:
    """Return facts that give a criterion a posture; those of a request are made by `shape`.

    Args:
        criterion: The criterion.
        stance: The posture, one of `possible`.
        request: What is asked for, with the patient's age.
        today: Day of the review.
        rng: Draws which story and its numbers.
        first: Number of the first fact's id.

    Raises:
        ConfigurationError: If the criterion cannot take the posture.
    """
    if stance not in possible(criterion):
        accepted = ", ".join(possible(criterion))
        raise ConfigurationError(f"{criterion.id} cannot be {stance}; it can be {accepted}.")
    if stance is Posture.ABSENT or isinstance(
        criterion, SiteCriterion | QuantityCriterion | AgeCriterion
    ):
        return ()
    stories = drafts(criterion, stance, today)
    for _ in range(_TRIES):
        draft = stories[int(rng.integers(len(stories)))]
        facts = _written(draft(rng), criterion, first)
        # Nothing is measured, begun or ended on a Sunday, unless a story hangs on that very day.
        for told in (tuple(map(_on_business_days, facts)), facts):
            if stance_of(criterion, told, request, today) is stance:
                return told
    raise ConfigurationError(f"No story makes {criterion.id} {stance}.")


def shape(criterion: AnyCriterion, stance: Posture, request: Request, rng: Generator) -> Request:
    """Return the request that gives a criterion about the request a posture; others leave it."""
    good = stance is Posture.SATISFIED
    match criterion:
        case SiteCriterion():
            pool = [site for site in PlaceOfService if (site in criterion.sites) is good]
            return replace(request, site=pool[int(rng.integers(len(pool)))])
        case QuantityCriterion():
            return replace(request, quantity=_quantity(criterion, stance, rng))
        case AgeCriterion():
            return replace(request, age=_age(criterion, good, request.age, rng))
    return request


def plant_policy(
    policy: Policy,
    stance: Posture,
    request: Request,
    today: date,
    rng: Generator,
    *,
    wanted: Mapping[str, Posture] | None = None,
    first: int = 1,
) -> Planted:
    """Return a case whose evaluation under a policy has a posture.

    Args:
        policy: The policy.
        stance: Posture of the whole tree; `Posture.ABSENT` is for single criteria.
        request: The request to begin with; site, quantity and age may be changed.
        today: Day of the review.
        rng: Draws postures, stories and numbers.
        wanted: Postures that single criteria must take, by id.
        first: Number of the first fact's id.

    Raises:
        ConfigurationError: If no draw gives the posture.
    """
    fixed = dict(wanted or {})
    for _ in range(_DRAWS):
        drawn = {**_assign(policy.criteria, stance, rng), **fixed}
        if combined(policy.criteria, drawn) is not stance:
            continue
        try:
            facts, shaped = _plant_all(policy.criteria, drawn, request, today, rng, first)
        except ConfigurationError:
            continue
        known = by_kind(facts)
        found = {
            item.id: stance_of(item, bearing(item, known), shaped, today)
            for item in criteria(policy.criteria)
        }
        held = all(found[name] is value for name, value in fixed.items())
        if held and combined(policy.criteria, found) is stance:
            return Planted(facts=facts, request=shaped, postures=found)
    raise ConfigurationError(f"No case makes {policy.id} {stance} with {fixed}.")


def subject(criterion: AnyCriterion) -> str:
    """Return what a criterion looks at; two of one subject are planted by one story."""
    match criterion:
        case MeasurementCriterion() | CountCriterion():
            return criterion.code
        case StepTherapyCriterion():
            return criterion.drug_class
        case FindingCriterion():
            return criterion.key
        case TherapyCriterion():
            return criterion.therapy
        case DiagnosisCriterion():
            return "diagnosis " + criterion.prefixes[0][:3]
        case ContraindicationCriterion():
            return "never " + criterion.substances[0]
        case ProcedureCriterion():
            return criterion.codes[0]
    return criterion.kind


def _plant_all(
    tree: Node,
    drawn: Mapping[str, Posture],
    request: Request,
    today: date,
    rng: Generator,
    first: int,
) -> tuple[tuple[AnyFact, ...], Request]:
    facts: list[AnyFact] = []
    done: set[str] = set()
    order = list(criteria(tree))
    # Whichever criterion of a subject comes first writes its story.
    rng.shuffle(order)
    for criterion in order:
        if subject(criterion) in done:
            continue
        done.add(subject(criterion))
        stance = drawn[criterion.id]
        request = shape(criterion, stance, request, rng)
        facts += plant(criterion, stance, request, today, rng, first + len(facts))
    return tuple(facts), request


def _assign(node: Node, stance: Posture, rng: Generator) -> dict[str, Posture]:
    """Draw postures of the criteria below a node that give the node a posture, if they can."""
    if not isinstance(node, Group):
        return {node.id: _feasible(node, stance, rng)}
    if isinstance(node, Not):
        flipped = {Posture.SATISFIED: Posture.CONTRADICTS, Posture.CONTRADICTS: Posture.SATISFIED}
        return _assign(node.part, flipped.get(stance, stance), rng)
    below = parts(node)
    wanted = needed(node)
    order = [int(index) for index in rng.permutation(len(below))]
    given = _shares(stance, len(below), wanted, rng)
    drawn: dict[str, Posture] = {}
    for index, share in zip(order, given, strict=True):
        drawn |= _assign(below[index], share, rng)
    return drawn


def _shares(stance: Posture, count: int, wanted: int, rng: Generator) -> list[Posture]:
    """Return postures for the parts of a group, those that make the group's first."""
    loose = (Posture.ABSENT, Posture.ABSENT, Posture.INSUFFICIENT, Posture.CONTRADICTS)
    every = (Posture.SATISFIED, *loose)
    match stance:
        case Posture.ABSENT:
            return [Posture.ABSENT] * count
        case Posture.SATISFIED:
            return [Posture.SATISFIED] * wanted + _some(loose, count - wanted, rng)
        case Posture.CONTRADICTS:
            against = count - wanted + 1
            rest = (Posture.SATISFIED,) if wanted == count else every[1:]
            return [Posture.CONTRADICTS] * against + _some(rest, count - against, rng)
    # Open: as many satisfied parts as fall short by one or two, the rest undecided.
    short = min(wanted, 1 + int(rng.integers(2)))
    shown = wanted - short
    undecided = _some((Posture.INSUFFICIENT, Posture.ABSENT), short, rng)
    if shown == 0 and Posture.INSUFFICIENT not in undecided:
        undecided[0] = Posture.INSUFFICIENT
    return [Posture.SATISFIED] * shown + undecided + _some(loose[:2], count - wanted, rng)


def _some(pool: tuple[Posture, ...], count: int, rng: Generator) -> list[Posture]:
    return [pool[int(rng.integers(len(pool)))] for _ in range(count)]


def _feasible(criterion: AnyCriterion, stance: Posture, rng: Generator) -> Posture:
    """Return a posture, or the nearest that the criterion can take."""
    can = possible(criterion)
    if stance in can:
        return stance
    nearest = {
        Posture.INSUFFICIENT: (Posture.ABSENT, Posture.SATISFIED),
        Posture.CONTRADICTS: (Posture.INSUFFICIENT, Posture.ABSENT),
        Posture.ABSENT: (Posture.SATISFIED,),
    }
    return next(item for item in nearest[stance] if item in can)


def _quantity(criterion: QuantityCriterion, stance: Posture, rng: Generator) -> float | None:
    if stance is Posture.ABSENT:
        return None
    if stance is Posture.SATISFIED:
        return float(rng.integers(max(1, criterion.maximum // 2), criterion.maximum + 1))
    return float(criterion.maximum + 1 + rng.integers(max(1, criterion.maximum // 2)))


def _age(criterion: AgeCriterion, good: bool, age: int, rng: Generator) -> int:
    """Return an age on the right or wrong side, the given one where it will do."""
    low, high = criterion.minimum, criterion.maximum
    if (low <= age <= high) is good:
        return age
    if good:
        return int(rng.integers(low, min(high, low + 40) + 1))
    outside = [value for value in (low - 1, low - 2, high + 1, high + 2) if 0 <= value < 110]
    return outside[int(rng.integers(len(outside)))]


def _on_business_days(fact: AnyFact) -> AnyFact:
    """Return a fact with its days moved to near ones on which offices open."""
    kind: type = type(fact)
    days = {
        name: near
        for name in _days_in(kind)
        if (day := getattr(fact, name)) is not None and (near := some_business_day(day)) != day
    }
    return replace(fact, **days) if days else fact  # type: ignore[arg-type]


#: Fields of facts that hold a day; how long somebody has had an illness is no visit.
_DAYS = frozenset({"taken", "found", "performed", "started", "ended", "recorded"})


@cache
def _days_in(kind: type) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind) if item.name in _DAYS)


def _written(drafted: Iterable[Draft], criterion: AnyCriterion, first: int) -> tuple[AnyFact, ...]:
    """Return drafted facts with ids, and the documents that state them."""
    kinds = documented_in(criterion)
    make: Callable[[int, Draft], AnyFact] = lambda number, draft: replace(  # noqa: E731
        draft, id=f"F-{first + number:04d}", noted_in=kinds
    )
    return tuple(make(number, draft) for number, draft in enumerate(drafted))
