"""The right side of the page: the policy in force as the handbook has it, and what was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from healthgym.envs.managed_care.timeline.markdown import clean, to_html
from healthgym.envs.managed_care.timeline.offices import words
from healthgym.envs.managed_care.timeline.story import Exhibit
from healthgym.envs.managed_care.timeline.values import chip, tone
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import Group, Node, Not, criteria, parts
from healthgym.worlds.managed_care.records.review import LineReview

_POLICIES = "medical-library/medical-policies"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyPages:
    """What the handbook has on a policy.

    Attributes:
        policy: The policy in force; None if none is known.
        page: Its page; None if the handbook has none.
        amendments: Later pages that amend it, the oldest first.
        cited: Former versions by which reviewers went, that the handbook keeps.
    """

    policy: Policy | None = None
    page: Page | None = None
    amendments: tuple[Page, ...] = ()
    cited: tuple[Page, ...] = ()


def policy_of(exhibit: Exhibit) -> Policy | None:
    """Return the policy that a case falls under: the solution's, or as the payer looks it up."""
    world = exhibit.world
    if exhibit.solution is not None:
        return exhibit.solution.policy
    case = world.cases.cases.get(exhibit.case_id)
    book, chart = world.start.policies, world.charts.get(case.patient_id) if case else None
    lines = world.cases.lines_of(exhibit.case_id) if case else ()
    if case is None or book is None or chart is None or not lines:
        return None
    plan = chart.coverage.plan_name if chart.coverage else ""
    state = chart.patient.address_state
    return book.in_force(lines[0].procedure_code, plan, state, case.created_at.date())


def pages_of(exhibit: Exhibit) -> PolicyPages:
    """Return what the handbook has on the policy of a case."""
    policy, handbook = policy_of(exhibit), exhibit.world.handbook
    if policy is None:
        return PolicyPages()
    path = f"{_POLICIES}/{policy.id}.md"
    if path not in handbook:
        return PolicyPages(policy=policy)
    today = exhibit.world.start.now.date()
    amending = map(handbook.read, handbook.amendments(path))
    archive = (f"{_POLICIES}/archive/{policy.id}-{version}.md" for version in _cited(exhibit))
    return PolicyPages(
        policy=policy,
        page=handbook.read(path),
        amendments=tuple(page for page in amending if page.effective <= today),
        cited=tuple(handbook.read(name) for name in archive if name in handbook),
    )


def policy_html(exhibit: Exhibit, pages: PolicyPages) -> Iterator[str]:
    """Yield the pages, their criteria marked by what was found."""
    policy = pages.policy
    if policy is None:
        yield '<p class="quiet">No policy of the payer is known for this case.</p>'
        return
    marks = _Marks(exhibit, pages)
    yield marks.legend()
    for page in pages.amendments:
        yield (
            f'<section class="bulletin"><p>{chip("amends the page below", "open")} '
            f"{_card(page)}</p>{to_html(page.text, marks.of)}</section>"
        )
    if pages.page is None:
        yield '<p class="quiet">The handbook has no page on it.</p>'
    else:
        yield f'<p class="path">{_card(pages.page)}</p>'
        yield f'<article class="handbook">{to_html(pages.page.text, marks.printed)}</article>'
    for page in pages.cited:
        yield (
            f"<details><summary>{chip('superseded', 'bad')} version {clean(page.version)}, by "
            f'which the payer’s reviewers went</summary><p class="path">{_card(page)}</p>'
            f'<article class="handbook">{to_html(page.text)}</article></details>'
        )


def _card(page: Page) -> str:
    return (
        f"<code>{clean(page.path)}</code> version {clean(page.version)}, "
        f'<span class="whole">effective {page.effective}</span>'
    )


def _reviews(exhibit: Exhibit) -> Iterator[tuple[str, LineReview]]:
    for record in exhibit.world.nursing.reviews.values():
        yield "nurse", record
    for other in exhibit.world.medical.reviews.values():
        yield "physician", other
    for anew in exhibit.world.appeals.reviews.values():
        yield "appeal", anew


def _cited(exhibit: Exhibit) -> tuple[str, ...]:
    """Return the versions that reviewers of the case went by, each once."""
    return tuple(
        dict.fromkeys(
            found.criteria_version
            for _, record in _reviews(exhibit)
            if record.case_id == exhibit.case_id
            for found in record.criteria_evaluations
        )
    )


class _Marks:
    """What stands beside a criterion: the chart's posture, and what reviewers found last."""

    def __init__(self, exhibit: Exhibit, pages: PolicyPages) -> None:
        policy = pages.policy
        self._version = policy.version if policy else ""
        self._texts = (
            {item.id: policy.text(item.id) for item in criteria(policy.criteria)} if policy else {}
        )
        self._barred = frozenset(_barred(policy.criteria)) if policy else frozenset()
        self._page = pages.page.text if pages.page else ""
        self._postures = exhibit.solution.postures if exhibit.solution else {}
        self._found: dict[tuple[str, str], tuple[str, str]] = {}
        for who, record in _reviews(exhibit):
            if record.case_id == exhibit.case_id:
                for one in record.criteria_evaluations:
                    self._found[one.criterion_id, who] = (str(one.result), one.criteria_version)

    def of(self, label: str) -> str:
        """Return the marks of a criterion; nothing for other labels."""
        if label not in self._texts:
            return ""
        shown = []
        if label in self._postures:
            posture = self._postures[label]
            shown.append(chip(f"chart: {posture}", self._tone(label, posture) or "absent"))
        for who in ("nurse", "physician", "appeal"):
            if (label, who) in self._found:
                result, version = self._found[label, who]
                on = f" on {version}" if version != self._version else ""
                shown.append(chip(f"{who}{on}: {words(result)}", self._tone(label, result)))
        return f'<span class="marks">{"".join(shown)}</span>' if shown else ""

    def _tone(self, label: str, found: object) -> str:
        """Return how a finding is coloured: what must not hold is well when it does not."""
        kind = tone(found)
        return {"good": "bad", "bad": "good"}.get(kind, kind) if label in self._barred else kind

    def printed(self, label: str) -> str:
        """Return the marks of a criterion on the page, and whether a bulletin amends it."""
        marks = self.of(label)
        if label in self._texts and self._texts[label] not in self._page:
            marks += f'<span class="marks">{chip("amended: the bulletin holds", "open")}</span>'
        return marks

    def legend(self) -> str:
        """Return what the marks say."""
        told = []
        if self._postures:
            told.append("<b>chart</b>: what the whole chart shows of a criterion")
        if self._found:
            who = "<b>nurse</b>, <b>physician</b>, <b>appeal</b>"
            told.append(f"{who}: what they found in the packet, last")
        return f'<p class="quiet">{"; ".join(told)}.</p>' if told else ""


def _barred(node: Node, *, inside: bool = False) -> Iterator[str]:
    """Yield the ids of the criteria that must not hold."""
    if not isinstance(node, Group):
        if inside:
            yield node.id
        return
    for part in parts(node):
        yield from _barred(part, inside=inside != isinstance(node, Not))
