"""The policies of one task: the one in force with its own numbers, and those that resemble it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Protocol

import numpy as np

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.clinic import bulletin, page_of
from healthgym.envs.managed_care.cases.shelf import Shelf
from healthgym.envs.managed_care.cases.situations import Situation
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.contracts import PeerContract
from healthgym.worlds.managed_care.facts import AnyFact
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.peers.making import reviewing
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.drawing import drawn as with_own_numbers
from healthgym.worlds.managed_care.policies.drawing import (
    former_version,
    movable,
    moved,
    moves,
    near_duplicate,
)
from healthgym.worlds.managed_care.policies.evaluation import evaluate, posture
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.postures import combined
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import (
    DeterminationDecision,
    Posture,
    UploadableDocumentKind,
)

#: Plans for which a near-duplicate may hold.
_PLANS = (
    "Larkfield Choice PPO",
    "Larkfield Select HMO",
    "Larkfield Exchange Silver",
    "Larkfield Advantage Medicare",
    "Larkfield Community Medicaid",
    "Larkfield Open EPO",
)
#: What the office writes itself is not asked for.
_NEVER_ASKED = {"letter_of_medical_necessity", "questionnaire_form", "other"}


class Surroundings(Protocol):
    """How much stands around a policy."""

    @property
    def rivals(self) -> int:
        """Pages that are nearly the one in force."""

    @property
    def amended(self) -> float:
        """Chance that a later page amends a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rulebook:
    """The policies of a task.

    Attributes:
        printed: The one that the request falls under, as its page has it.
        in_force: The same, amendments included.
        book: All of the payer's policies.
        pages: Handbook pages that the task changes or adds.
        misread: The superseded version that the payer's reviewers go by in error; None if they
            make no such error.
    """

    printed: Policy
    in_force: Policy
    book: PolicyBook
    pages: tuple[Page, ...]
    misread: Policy | None = None
    on_request: tuple[UploadableDocumentKind, ...] = ()

    def asking_for(self, on_file: Iterable[str], rng: np.random.Generator) -> Rulebook:
        """Return the book with a document that is sent on request only, and its page says so.

        Raises:
            ConfigurationError: If the chart has none that could be asked for.
        """
        required = {str(kind) for kind in self.in_force.required_documents}
        there = set(on_file) - required
        able = [kind for kind in UploadableDocumentKind if str(kind) in there - _NEVER_ASKED]
        if not able:
            raise ConfigurationError("The chart has no document that could be asked for.")
        kind = able[int(rng.integers(len(able)))]
        words = str(kind).replace("_", " ")
        note = (
            f"Keep the latest {words} (`{kind}`) at hand and do not send it with the request: the "
            "reviewer asks for it before approving."
        )
        printed = _noting(self.printed, note)
        in_force = _noting(self.in_force, note)
        others = [each for each in self.book.policies if each is not self.in_force]
        pages = tuple(page for page in self.pages if page.path != page_of(printed).path)
        return replace(
            self,
            printed=printed,
            in_force=in_force,
            book=PolicyBook([in_force, *others]),
            pages=(page_of(printed), *pages),
            on_request=(kind,),
        )

    def with_misread(
        self,
        drawn: Situation,
        facts: Iterable[AnyFact],
        today: date,
        rng: np.random.Generator,
    ) -> Rulebook:
        """Return the book with a superseded version under which the request would be denied.

        Raises:
            ConfigurationError: If no such version is found.
        """
        known = tuple(facts)
        needed = drawn.needed(drawn.assess(known, today))
        sent = tuple(fact for fact in known if fact.id in needed)
        old = _denying(self.in_force, known, sent, drawn.request, today, rng)
        pages = tuple(page for page in self.pages if "/archive/" not in page.path)
        return replace(self, misread=old, pages=(*pages, page_of(old, archived=True)))

    def call(self, rng: np.random.Generator) -> PeerContract:
        """Return what the payer's physician holds on a call before denying by the misread version.

        Args:
            rng: Where the wording comes from.

        Raises:
            ConfigurationError: If no version is misread.
        """
        if self.misread is None:
            raise ConfigurationError("There is no misread version to call about.")
        return reviewing(self.misread, self.in_force, rng)


def _denying(
    policy: Policy,
    facts: tuple[AnyFact, ...],
    sent: tuple[AnyFact, ...],
    request: Request,
    today: date,
    rng: np.random.Generator,
) -> Policy:
    """Return a former version under which a request would be denied, by one number that differs.

    It is denied on the least that can be sent and on the most: a packet between them is, too.

    The number alone is asked of first: most of them decide nothing, and a policy is evaluated in
    full only where one does.
    """
    tree = policy.criteria
    found = {item.id: posture(item, facts, request, today).posture for item in criteria(tree)}
    deciding = [
        item
        for item in movable(policy)
        if combined(tree, {**found, item.id: Posture.CONTRADICTS}) is Posture.CONTRADICTS
    ]
    able = [
        (item, name, value)
        for item in deciding
        for name, values in dict(moves(item)).items()
        for value in values
    ]
    for place in rng.permutation(len(able)):
        item, name, value = able[int(place)]
        other = moved(item, name, value)
        if other and posture(other, facts, request, today).posture is Posture.CONTRADICTS:
            old = former_version(policy, rng, with_={item.id: other})
            judged = [evaluate(old, seen, request, today) for seen in (sent, facts)]
            if all(each.determination is DeterminationDecision.DENIED for each in judged):
                return old
    raise ConfigurationError(f"No former version of {policy.id} denies the request.")


def draw_rulebook(
    policy: Policy,
    around: Surroundings,
    today: date,
    rng: np.random.Generator,
    shelf: Shelf | None = None,
) -> Rulebook:
    """Return the policies of a task.

    Args:
        policy: The policy on the shelf.
        around: How much stands around it.
        today: The day of the request.
        rng: Where numbers and rivals come from.
        shelf: The payer's policies; those of the library if None.
    """
    printed = with_own_numbers(policy, rng, len(criteria(policy.criteria)))
    pages = [page_of(printed)]
    in_force = printed
    if rng.random() < around.amended:
        in_force, page = _amended(printed, today, rng)
        pages += [page] if page else []
    rivals, more = _rivals(printed, around.rivals, rng)
    known = tuple(library().values()) if shelf is None else shelf.policies
    others = [each for each in known if each.id != policy.id]
    return Rulebook(
        printed=printed,
        in_force=in_force,
        book=PolicyBook([in_force, *rivals, *others]),
        pages=(*pages, *more),
    )


def _noting(policy: Policy, note: str) -> Policy:
    return replace(policy, texts=replace(policy.texts, notes=(*policy.texts.notes, note)))


def _amended(printed: Policy, today: date, rng: np.random.Generator) -> tuple[Policy, Page | None]:
    """Return a policy one criterion of which a later page has changed."""
    amended = with_own_numbers(printed, rng, 1)
    old = {item.id: item for item in criteria(printed.criteria)}
    changed = [item.id for item in criteria(amended.criteria) if old[item.id] != item]
    if not changed:
        return printed, None
    since = today - timedelta(days=int(rng.integers(5, 40)))
    return amended, bulletin(amended, changed[0], since)


def _rivals(
    policy: Policy, count: int, rng: np.random.Generator
) -> tuple[list[Policy], list[Page]]:
    """Return policies that resemble one: a former version, and twins for other plans."""
    rivals: list[Policy] = []
    pages: list[Page] = []
    free = [plan for plan in _PLANS if plan not in policy.plans]
    for place in range(count):
        if place == 0 or not free:
            if place == 0:
                old = former_version(policy, rng)
                rivals.append(old)
                pages.append(page_of(old, archived=True))
            continue
        plan = free.pop(int(rng.integers(len(free))))
        twin = near_duplicate(policy, "".join(word[0] for word in plan.split()[1:]), rng, plan=plan)
        rivals.append(twin)
        pages.append(page_of(twin))
    return rivals, pages
