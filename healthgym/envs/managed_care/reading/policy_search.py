"""The policy in force: among what a search finds, by the cards and headers of the pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date

from healthgym.envs.managed_care.reading.policy_page import PageReading, read_terms
from healthgym.envs.managed_care.reading.sentences import criterion_from
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.pages import page_wordings
from healthgym.worlds.managed_care.policies.policy import Policy, ProcedureCode, Texts
from healthgym.worlds.managed_care.policies.tree import transform
from healthgym.worlds.managed_care.vocabulary.authorization import UploadableDocumentKind

_HIT = re.compile(r"^(\S+\.md) \| ", re.MULTILINE)
_SINCE = re.compile(r"From (\d{4}-\d\d-\d\d) criterion (C\d+) of \[([^\]]+)\]")
_READS = re.compile(r"^- \*\*(C\d+)\*\* (.+)$", re.MULTILINE)
_ON_REQUEST = re.compile(r"Keep the latest [\w ]+ \(`(\w+)`\) at hand and do not send it")


@dataclass(frozen=True, slots=True)
class PolicyReading:
    """A policy as a reader has it.

    Attributes:
        page: What its page says, amendments included.
        out_of_network: Whether providers outside the network may ask.
        on_request: Kinds of documents that are sent when the payer asks for them.
    """

    page: PageReading
    out_of_network: bool
    on_request: frozenset[str]

    def policy(self) -> Policy:
        """Return it as a policy, for what evaluates policies."""
        page = self.page
        return Policy(
            id=page.id,
            title=page.title,
            version=page.version,
            effective=page.effective,
            terminated=page.terminated,
            plans=page.plans,
            states=page.states,
            category=page.category,
            procedures=tuple(
                ProcedureCode(code=code, display="", authorization=asked)
                for code, asked in page.authorization.items()
            ),
            diagnosis_prefixes=page.diagnosis_prefixes,
            sites=page.sites,
            criteria=page.criteria,
            out_of_network=self.out_of_network,
            texts=Texts(scope=""),
        )

    def required(self) -> tuple[UploadableDocumentKind, ...]:
        """Return the kinds of documents that a packet must hold."""
        return tuple(dict.fromkeys(self.page.documents))


def paths_in(hits: str) -> tuple[str, ...]:
    """Return the paths of the pages that a search shows, the best first."""
    return tuple(dict.fromkeys(_HIT.findall(hits)))


def in_force(
    pages: Mapping[str, PageReading], code: str, plan: str, state: str, day: date
) -> str | None:
    """Return the path of the page that a request falls under; None if there is none.

    A page that names the state goes before one for all states.
    """
    fitting = [
        (not page.states, page.effective, path)
        for path, page in pages.items()
        if code in page.authorization
        and plan in page.plans
        and (not page.states or state in page.states)
        and page.in_force(day)
    ]
    return min(fitting)[2] if fitting else None


def reading_of(page: PageReading, text: str, amendments: Iterable[str], day: date) -> PolicyReading:
    """Return a policy as its page and later pages have it.

    Args:
        page: What the page says.
        text: The page.
        amendments: Pages that may amend it.
        day: The day of the request.
    """
    for later in amendments:
        page = _amended(page, text, later, day)
    return PolicyReading(
        page=page,
        out_of_network=any(pattern.search(text) for pattern in _network()),
        on_request=frozenset(_ON_REQUEST.findall(text)),
    )


def _amended(page: PageReading, text: str, later: str, day: date) -> PageReading:
    since = _SINCE.search(later)
    if since is None or since[3] != page.id or date.fromisoformat(since[1]) > day:
        return page
    new = {
        name: criterion_from(said, name, read_terms(text)) for name, said in _READS.findall(later)
    }

    def swap(item: AnyCriterion) -> AnyCriterion:
        return new.get(item.id, item)

    return replace(page, criteria=transform(page.criteria, swap))


def _network() -> tuple[re.Pattern[str], ...]:
    """Return what pages say where the network does not matter."""
    return tuple(
        re.compile(re.escape(said).replace(r"\{title\}", ".+").replace(r"\{id\}", r"[\w-]+"))
        for said in page_wordings()["network"]
    )
