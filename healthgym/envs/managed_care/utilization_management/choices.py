"""What a case may be about: where it is taken over, how it is decided, and under which policies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.editions import Ending, Groups, able_policies, tries
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.utilization_management.task import (
    PUBLISHED_PATHS,
    PUBLISHED_STAGES,
    WORDS,
    Path,
    ReviewConfig,
    StartStage,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import DeterminationDecision

#: Of what kinds of requests a path is made.
ENDINGS: Mapping[Path, tuple[Ending, ...]] = {
    Path.NURSE_APPROVES: (Course.APPROVED, Course.DELEGATED, Course.SPECIALTY, Course.VENDOR),
    Path.PHYSICIAN_APPROVES: (Course.APPROVED,),
    Path.PARTLY: (Course.PARTIAL,),
    Path.DENIED: (Bar.CONTRADICTED,),
    Path.INFORMED: (Course.APPROVED,),
    Path.UNINFORMED: (Gap.INSUFFICIENT, Gap.ABSENT, Gap.DOCUMENT),
    Path.LANE: (Course.GOLD_CARD, Course.NOTIFICATION),
    Path.UPHELD: (Gap.INSUFFICIENT, Gap.ABSENT),
    Path.OVERTURNED: (Course.APPROVED,),
    Path.RETURNED: (Bar.NOT_REQUIRED, Bar.INACTIVE, Bar.OUT_OF_NETWORK),
    # A request that deserves approval is denied for good where its appeal has no grounds.
    Path.APPEAL_UPHELD: (Gap.INSUFFICIENT, Gap.ABSENT, Bar.CONTRADICTED, Course.APPROVED),
    Path.APPEAL_OVERTURNED: (Course.APPROVED,),
}
_REVIEWED = (
    Path.PARTLY,
    Path.DENIED,
    Path.UNINFORMED,
    Path.UPHELD,
    Path.OVERTURNED,
)
#: Which paths lead on from a stage.
PATHS: Mapping[StartStage, tuple[Path, ...]] = {
    StartStage.FRONT_DOOR: PUBLISHED_PATHS,
    StartStage.INTAKE: PUBLISHED_PATHS,
    StartStage.TRIAGE: tuple(path for path in PUBLISHED_PATHS if path is not Path.RETURNED),
    StartStage.NURSE_REVIEW: (Path.NURSE_APPROVES, Path.INFORMED, *_REVIEWED),
    StartStage.MD_REVIEW: (Path.PHYSICIAN_APPROVES, *_REVIEWED),
    StartStage.PEER_TO_PEER: (Path.UPHELD, Path.OVERTURNED),
    StartStage.APPEAL: (Path.APPEAL_UPHELD, Path.APPEAL_OVERTURNED),
}
#: Paths without a review: neither what was sent nor who may approve the service matters.
UNREVIEWED = (Path.LANE, Path.RETURNED)
#: Policies of any depth.
_ANY = (1, 20)
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Way:
    """Where a case is taken over, how it is rightly decided, and what request it is.

    Attributes:
        stage: Where the agent takes it over.
        path: How it is rightly decided.
        ending: What the request deserves at the provider.
    """

    stage: StartStage
    path: Path
    ending: Ending


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be drawn under a configuration.

    Attributes:
        ways: Ways, by stage, and then by path.
        known: Policies under which a case can go a way, category by category.
        unreviewed: Share that is kept of ways without a review.
    """

    ways: tuple[tuple[tuple[Way, ...], ...], ...]
    known: Mapping[Way, Groups]
    unreviewed: float = 1.0

    def way(self, rng: np.random.Generator) -> Way:
        """Return what a case is: each stage as often, each path of it, each request of that.

        Where nobody reviews, record and policy alone decide, and whoever leaves the packet
        unopened is right: so most of these are drawn again, of the paths with a review.
        """
        stage = self.ways[int(rng.integers(len(self.ways)))]
        path = stage[int(rng.integers(len(stage)))]
        others = [each for each in stage if each[0].path not in UNREVIEWED]
        if path not in others and others:
            # From a stream beside, so that a case that is kept stays what it is.
            beside = rng.spawn(1)[0]
            if beside.random() >= self.unreviewed:
                path = others[int(beside.integers(len(others)))]
        return path[int(rng.integers(len(path)))]

    def policies(self, way: Way, rng: np.random.Generator) -> Iterator[Policy]:
        """Yield policies to try: of one category, each category as often, then of the others."""
        yield from tries(self.known[way], rng)


@lru_cache(maxsize=_KEPT)
def choices_of(config: ReviewConfig) -> Choices:
    """Return what can be drawn under a configuration.

    Args:
        config: What cases are like.

    Raises:
        ConfigurationError: If no policy gives cases for one of the stages, or a path is possible
            from none of them.
    """
    known: dict[Way, Groups] = {}
    ways = []
    for stage in config.stages:
        paths = []
        for path in (one for one in PATHS[stage] if one in config.paths):
            found = {
                Way(stage, path, ending): _policies(config, stage, path, ending)
                for ending in ENDINGS[path]
                if _possible(stage, path, ending)
            }
            able = tuple(way for way, groups in found.items() if groups)
            known |= {way: found[way] for way in able}
            paths += [able] if able else []
        if not paths:
            low, high = config.criteria
            raise ConfigurationError(
                f"No policy of {low} to {high} criteria in the categories "
                f"{', '.join(config.categories)} gives a case that is taken over at {stage} and "
                f"ends in {' or '.join(config.paths)}; widen criteria, categories or paths, or "
                "leave the stage out."
            )
        ways.append(tuple(paths))
    _require_all(config, known)
    return Choices(tuple(ways), known, config.unreviewed)


def _require_all(config: ReviewConfig, known: Mapping[Way, Groups]) -> None:
    named = {way.path for way in known}
    usual = set(config.paths) in (set(PUBLISHED_PATHS), set(Path))
    for path in config.paths:
        if path not in named and not usual:
            raise ConfigurationError(
                f"{path} is possible from none of the stages {', '.join(config.stages)} under "
                "these policies; leave it out, or add a stage."
            )


def _possible(stage: StartStage, path: Path, ending: Ending) -> bool:
    """Return whether a request of a kind can go a path from a stage.

    A required document that is nowhere is asked for and never comes, so that nobody decides.
    """
    late = stage in (StartStage.MD_REVIEW, StartStage.PEER_TO_PEER)
    return not (late and path is Path.UNINFORMED and ending is Gap.DOCUMENT)


def _policies(config: ReviewConfig, stage: StartStage, path: Path, ending: Ending) -> Groups:
    groups = able_policies(config.categories, config.criteria, ending)
    kept = (tuple(p for p in group if _leads(p, stage, path)) for group in groups)
    return tuple(group for group in kept if group)


def _leads(policy: Policy, stage: StartStage, path: Path) -> bool:
    """Return whether a case under a policy can go a path from a stage.

    What is reserved to a physician never reaches a nurse, and is approved by the physician.
    """
    if path is Path.LANE and policy.lanes.gold_card and not policy.nurse_may_approve:
        return False  # a gold card never covers what is reserved to a physician
    if path in UNREVIEWED:
        return True
    if path is Path.PHYSICIAN_APPROVES:
        return stage is StartStage.MD_REVIEW or not policy.nurse_may_approve
    return policy.nurse_may_approve


@dataclass(frozen=True, slots=True)
class Ask:
    """What a canonical case is, besides the case of prior authorization.

    Attributes:
        stage: Where the agent takes it over.
        path: How it is rightly decided.
    """

    stage: StartStage
    path: Path


@lru_cache(maxsize=1)
def canonical_cases() -> tuple[Ask, ...]:
    """Return what becomes of the 25 canonical cases of prior authorization, in their order."""
    text = files(__package__).joinpath("data/canonical.json").read_text("utf-8")
    return tuple(
        Ask(StartStage(row["stage"]), Path(row["path"])) for row in json.loads(text)["cases"]
    )


def canonical_ask(rng: np.random.Generator) -> Ask:
    """Draw what a case is, of stages and paths as frequent as in the canonical ones.

    Whether the payer approves does not hang on the stage: with a few cases of each, the stage would
    tell. Paths that the canonical cases of a word do not go are left to stages without any other.

    Args:
        rng: Where it comes from.
    """
    rows = canonical_cases()
    asked = rows[int(rng.integers(len(rows)))]
    if WORDS[asked.path] is None:
        return asked
    decided = [each.path for each in rows if WORDS[each.path] is not None]
    approved = _approves(decided[int(rng.integers(len(decided)))])
    able = [each for each in PATHS[asked.stage] if WORDS[each] and _approves(each) is approved]
    frequent = [each for each in decided if each in able] or able
    return Ask(asked.stage, frequent[int(rng.integers(len(frequent)))])


def _approves(path: Path) -> bool:
    return WORDS[path] is DeterminationDecision.APPROVED


def canonical_ways(asked: Ask, ending: Ending, policy: Policy) -> Iterator[Way]:
    """Yield the ways that a canonical case may go: as asked, else from the same stage, or any.

    Args:
        asked: What the case is to be.
        ending: What the request deserves at the provider.
        policy: The policy in force.
    """
    yield Way(asked.stage, asked.path, ending)
    for stage in dict.fromkeys((asked.stage, *PUBLISHED_STAGES)):
        for path in PATHS[stage]:
            fits = ending in ENDINGS[path] and _possible(stage, path, ending)
            # Here a physician may be the first who reads, and ask.
            first = path in (Path.INFORMED, *_REVIEWED) and stage is not StartStage.NURSE_REVIEW
            fits = fits and (first or _leads(policy, stage, path))
            if fits and (stage, path) != (asked.stage, asked.path):
                yield Way(stage, path, ending)


def narrowed(config: ReviewConfig, asked: Ask) -> ReviewConfig:
    """Return a configuration that draws one kind of case, under policies of any depth.

    Args:
        config: What cases are like besides.
        asked: What the case is.
    """
    return replace(config, stages=(asked.stage,), paths=(asked.path,), criteria=_ANY)


__all__ = [
    "ENDINGS",
    "PATHS",
    "UNREVIEWED",
    "Ask",
    "Choices",
    "Way",
    "canonical_ask",
    "canonical_cases",
    "choices_of",
    "narrowed",
]
