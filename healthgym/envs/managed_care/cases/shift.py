"""What the cases of one episode have in common, and what no two of them may share.

Cases that stand beside each other in one world begin on one day, under one set of numbers and one
library of policies. Each is about somebody else, and no two records have one id. A case that does
not fit beside those before it is drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cache, cached_property
from itertools import chain

from healthgym.envs.managed_care.cases.clinic import standing_handbook
from healthgym.envs.managed_care.cases.drawing import MISREAD, DrawnCase
from healthgym.envs.managed_care.cases.editions import Ending
from healthgym.envs.managed_care.cases.rulebook import Rulebook
from healthgym.envs.managed_care.cases.situations import Course, fits
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.handbook.edition import edition
from healthgym.worlds.managed_care.handbook.full import HandbookSize
from healthgym.worlds.managed_care.handbook.library import Library
from healthgym.worlds.managed_care.handbook.page import Page
from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.start import WorldStart

#: Ids of cases begin at this number, and those of each case have a range of their own.
_FIRST_CASE, _RANGE = 6100, 200
#: The same of documents that a practice writes.
_UPLOADS, _PAPERS = "DOC-UP-", 10


class Shift:
    """What cases are drawn under that stand in one world, one after the other.

    Args:
        begins: When the episode begins, in UTC.
        numbers: The numbers that the offices keep to.
        after: How many cases the ids of cases and papers leave room for before the first.
        counters: First numbers of identifiers, by prefix.
        earlier: Whether a case may lie there since a day before.

    Attributes:
        earlier: The same.
        counters: Next numbers of identifiers, by prefix, after the cases so far.
        patients: Ids of whom the cases so far are about.
    """

    def __init__(
        self,
        begins: datetime,
        numbers: OperatingRules,
        *,
        after: int = 0,
        counters: Mapping[str, int] | None = None,
        earlier: bool = False,
    ) -> None:
        self.begins, self.numbers, self.earlier = begins, numbers, earlier
        self.counters: Mapping[str, int] = counters or {}
        self.patients: set[str] = set()
        self._books: dict[str, Rulebook] = {}
        self._own: dict[str, tuple[Policy, ...]] = {}
        self._days: dict[str, date] = {}
        self._cases: list[DrawnCase] = []
        self._count = after

    @cached_property
    def changed(self) -> tuple[Page, ...]:
        """The pages that state other numbers than usual; the same ones for every case."""
        return edition().overlay(self.numbers)

    @property
    def first_case(self) -> int:
        """The number after which the ids of the next case's cases begin."""
        return _FIRST_CASE + _RANGE * self._count

    @property
    def first_paper(self) -> int:
        """Number of the first document that the practice writes for the next case."""
        return 1 + _PAPERS * self._count

    def rulebook(
        self, policy: Policy, ending: Ending, today: date, draw: Callable[[], Rulebook]
    ) -> Rulebook:
        """Return the policies of a case: those of an earlier one under the same policy, or new.

        A payer has one policy for a service and plan. Whoever falls under it falls under the same
        numbers.

        Args:
            policy: The policy on the shelf.
            ending: How the request is to end at the provider.
            today: The day of the request.
            draw: Draws new ones.

        Raises:
            ConfigurationError: If the earlier ones cannot be shared: the payer handles the service
                in a way in which the request cannot end so, a document is sent on request only, or
                the policy was amended between the days of the two.
        """
        known = self._books.get(policy.id)
        if known is None:
            return draw()
        if not fits(known.in_force, ending):
            raise ConfigurationError(f"{policy.id} as it stands gives no such ending.")
        if known.on_request and isinstance(ending, Course):
            raise ConfigurationError(f"{policy.id} asks for more than every case was sent with.")
        self._require_another(known, ending)
        if known.in_force is not known.printed and self._days[policy.id] != today:
            raise ConfigurationError(f"{policy.id} was amended between two cases.")
        return known

    def printed(self, policy: Policy) -> Policy:
        """Return a policy as the pages of the cases so far have it; as it is where none has it."""
        known = self._books.get(policy.id)
        return policy if known is None else known.printed

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages of the policies of the cases so far."""
        return tuple(chain.from_iterable(book.pages for book in self._books.values()))

    def require_free(self, patient: str) -> None:
        """Return if none of the cases so far is about a patient.

        Raises:
            ConfigurationError: If one is.
        """
        if patient in self.patients:
            raise ConfigurationError(f"{patient} has a case already.")

    def require_room(self, case: DrawnCase) -> None:
        """Return if a case can stand beside those so far.

        Raises:
            ConfigurationError: If its policy would rule another, or another one's would rule it.
        """
        book, known = case.book, self._books.get(case.book.printed.id)
        if known is None:
            added = _own(book)
            for earlier in self._cases:
                _require_ruled(earlier, PolicyBook((earlier.book.in_force, *added)))
        _require_ruled(case, PolicyBook((book.in_force, *self._policies({book.printed.id}))))

    def _require_another(self, known: Rulebook, ending: Ending) -> None:
        """Return if a policy can be written as a case will want it and earlier ones do not.

        That is known from the ending, before a chart is written for it: who is asked for more has
        a page that says so, and who is misread a superseded one.
        """
        name, asked = known.printed.id, ending is Course.PENDED
        sent = (c for c in self._cases if isinstance(c.drawn.ending, Course))
        if asked and any(c.book.printed.id == name for c in sent):
            raise ConfigurationError(f"{name} asks for more than every case was sent with.")
        if (asked or ending in MISREAD) and (known.misread or known.on_request):
            raise ConfigurationError(f"{name} cannot be written for both cases.")

    def take(self, patient: str, start: WorldStart, case: DrawnCase | None = None) -> None:
        """Keep a case that was drawn.

        Args:
            patient: Whom it is about.
            start: The beginning of its own world.
            case: What else is known of it, where it falls under a policy.
        """
        self.patients.add(patient)
        self._count += 1
        self.counters = {**self.counters, **start.counters, _UPLOADS: self.first_paper}
        if case is None:
            return
        self._cases.append(case)
        policy, known = case.book.printed.id, self._books.get(case.book.printed.id)
        if known is None or case.book.misread or case.book.on_request:
            self._books[policy] = case.book
            self._own[policy] = _own(case.book)
            self._days.setdefault(policy, case.today)

    @property
    def own_policies(self) -> tuple[Policy, ...]:
        """The policies of the cases so far that are not the library's."""
        return tuple(chain.from_iterable(self._own.values()))

    def policies(self) -> PolicyBook:
        """Return the payer's policies: those of the cases, and the others as they stand."""
        return PolicyBook(self._policies())

    def _policies(self, but: Iterable[str] = ()) -> Iterator[Policy]:
        left_out = {*but}
        own = (each for name, each in self._own.items() if name not in left_out)
        yield from chain.from_iterable(own)
        left_out |= self._own.keys()
        yield from (policy for policy in library().values() if policy.id not in left_out)

    def handbook(self, size: HandbookSize, *more: Page) -> Library:
        """Return the one handbook of the episode: the numbers, and the policies of all cases.

        Args:
            size: How large a handbook stands in the offices.
            more: Pages besides.
        """
        return standing_handbook(size).overlay((*self.changed, *self.pages, *more))


def _own(book: Rulebook) -> tuple[Policy, ...]:
    """Return the policies of a task that are not the library's."""
    return tuple(policy for policy in book.book.policies if id(policy) not in _standing())


@cache
def _standing() -> frozenset[int]:
    """Return which policies are the library's, which lasts as long as the process."""
    return frozenset(map(id, library().values()))


def _require_ruled(case: DrawnCase, book: PolicyBook) -> None:
    """Refuse policies among which another one than a case's own would rule it."""
    chart, order = case.patient.chart, case.patient.order
    coverage = chart.coverages[0]
    state = chart.patient.address_state
    found = book.in_force(order.procedure_code, coverage.plan_name, state, case.today)
    if found is not case.book.in_force:
        raise ConfigurationError(f"Another policy would rule the case of {chart.patient.id}.")
