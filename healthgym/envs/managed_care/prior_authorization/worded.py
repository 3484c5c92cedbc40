"""Whether what the practice writes in words of its own can stand, and is covered by its records.

Letters, replies, appeals, reasons and what is said on calls are read by the reader that reads the
payer's: nothing unfilled, no abuse, nothing taken back, and no name, test, illness, person, talk or
word that neither the practice's file nor the payer's letters nor the policy has. An appeal does not
give up what it asks for, and a letter asks for what was ordered and no more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date, timedelta
from functools import cached_property

from healthgym.envs.managed_care.checks.wording import Flaw
from healthgym.envs.managed_care.prior_authorization.amounts import TIMES, PracticeAccount
from healthgym.envs.managed_care.prior_authorization.claims import Claims
from healthgym.envs.managed_care.prior_authorization.dealings import Dealings
from healthgym.worlds.managed_care.accounts import unaccounted
from healthgym.worlds.managed_care.borne_out import still_doubted
from healthgym.worlds.managed_care.charts.knowledge import short_names
from healthgym.worlds.managed_care.charts.prose import names_of
from healthgym.worlds.managed_care.covered import uncovered
from healthgym.worlds.managed_care.facts import Diagnosis, Measurement, TherapyCourse
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.own_words import stated_sentences, unsound
from healthgym.worlds.managed_care.policies.dates import months_before
from healthgym.worlds.managed_care.policies.pages import render_page
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.word_forms import form

#: What is quoted, with its quotation marks.
_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")
#: Folders of the handbook whose words are the practice's own.
_PAGES = ("provider-pa", "platform", "medical-library/utilization-review")
#: What a form is answered with where the chart says nothing, so that it may be quoted.
_ANSWERS = ("not documented",)
#: Whom anybody at this desk may bring in.
_FREE = frozenset({"clinic", "hospital"})
#: What a practice may tell of the payer's work, and of money that nobody decides by.
_NOT_ITS_OWN = frozenset({"turned_away", "outside", "money", "costs"})


class Worded:
    """Reads the words of a practice about its request.

    Args:
        claims: What the practice's records hold.
    """

    def __init__(self, claims: Claims) -> None:
        self.claims = claims

    def flaw(self, text: str, *, asks: bool = True, alone: bool = False) -> Flaw | None:
        """Return what is wrong with a text; None if nothing is.

        Args:
            text: The text.
            asks: Whether it speaks for the request, with the chart's figures.
            alone: Whether the payer had written and said nothing when it was written.
        """
        found = [*(self.claims.unfounded(text) if asks else ())]
        found += self.unfounded(text, asks=asks, alone=alone)
        if not found:
            return None
        return Flaw(", ".join(found), grave=any(self._cannot_stand(text, asks=asks)))

    def unfounded(self, text: str, *, asks: bool = True, alone: bool = False) -> Iterator[str]:
        """Yield what in a text cannot stand, or is covered by nothing.

        Args:
            text: The text.
            asks: Whether it speaks for the request.
            alone: Whether the payer had written and said nothing when it was written.
        """
        if not text.strip() or text in self._ordered:
            return
        yield from self._cannot_stand(text, asks=asks)
        version = re.escape(self.claims.reference.policy.version)
        if re.search(rf"\b{version}\b(?: \w+){{0,2}} (?:is|was) (?:never|not) ", text):
            yield f"{version} is in force"
        ignored = form("unanswered").search(text.casefold())
        if ignored and self._wrote:
            yield f"the payer answered: {ignored[0][:60]!r}"
        # All that is on file is read only where something is not found nearer.
        if any(uncovered(text, self._near)) or form("no_call").search(text.casefold()):
            doubted = uncovered(self._as_charted(text), self._seen)
            yield from still_doubted(doubted, text, self._seen)
        yield from unaccounted(text, self._account)
        yield from self._dealings.unfounded(text, alone=alone)

    def _cannot_stand(self, text: str, *, asks: bool) -> Iterator[str]:
        # A reason may name the bar by its code, in capitals and brackets.
        yield from filter(None, (unsound(text if asks else text.casefold()),))
        if asks:
            for sentence in stated_sentences(text):
                given_up = form("gives_up").search(sentence) or form("widens").search(sentence)
                if given_up:
                    yield f"not what is asked for: {given_up[0][:60]!r}"

    # -- what could be seen ----------------------------------------------------------------------

    @cached_property
    def _ordered(self) -> frozenset[str]:
        return frozenset(order.description for order in self.claims.chart.orders)

    @cached_property
    def _near(self) -> Seen:
        """What the order, its coverage and the head of the policy say."""
        policy, plans = self.claims.reference.policy, self.claims.chart.coverages
        kept = (*self._ordered, policy.id, policy.title, *(one.plan_name for one in plans))
        return self._of(["\n".join(kept)])

    @cached_property
    def _seen(self) -> Seen:
        """All that is on file, the policy, and what the payer wrote and said."""
        return self._of(self._texts(), render_page(self.claims.reference.policy))

    def _texts(self) -> Iterator[str]:
        """Yield all of it, the chart last: its pages are written when somebody reads them."""
        claims = self.claims
        yield render_page(claims.reference.policy)
        staff = tuple(claims.after.staff.workers.values())
        kept = (value for value in leaves(staff) if isinstance(value, str))
        days = (f"{day:%A}" for day in self._played)
        told = (claims.answered, *kept, *claims.spoken, *days, *_ANSWERS)
        yield "\n".join((*self._ordered, *told))
        yield from claims.own

    def _as_charted(self, text: str) -> str:
        """Return a text in which illnesses and values have the names that the chart has.

        What is quoted stays as it is.
        """
        parts = _QUOTED.split(text)
        parts[::2] = (self._aliases.sub(self._charted, part) for part in parts[::2])
        return "".join(parts)

    def _charted(self, found: re.Match[str]) -> str:
        return self._names[found[0].casefold()]

    @cached_property
    def _aliases(self) -> re.Pattern[str]:
        names = "|".join(sorted(map(re.escape, self._names), key=len, reverse=True))
        return re.compile(rf"(?<![\w-])(?:{names or '(?!)'})(?![\w-])", re.IGNORECASE)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Every name of the patient's illnesses and values, with the one that the chart has."""
        found: dict[str, str] = {}
        for fact in self.claims.chart.facts:
            if isinstance(fact, Measurement):
                found |= {name.casefold(): fact.display for name in names_of(fact)}
            if isinstance(fact, Diagnosis):
                found |= {name.casefold(): fact.display for name in short_names(fact.code)}
        return found

    @cached_property
    def _account(self) -> PracticeAccount:
        """What is on record of the practice's work, read where something is not found nearer."""
        return PracticeAccount(
            self._seen.texts,
            spans=self._spans,
            free=_NOT_ITS_OWN,
            ages=self.claims.ages,
            service=self._service,
            found=self._asked_for,
            courses=sum(isinstance(fact, TherapyCourse) for fact in self.claims.chart.facts),
        )

    @cached_property
    def _dealings(self) -> Dealings:
        """What is on record of its dealings with the payer and others."""
        texts, gave_in = Texts(self._filed()), self.claims.conceded
        return Dealings(texts, self._theirs, self._service, self._called, conceded=gave_in)

    def _asked_for(self) -> Set[float]:
        """Return the numbers that the policy's criteria ask for."""
        asked = leaves(self.claims.reference.policy.criteria)
        return {float(one) for one in asked if isinstance(one, int | float)}

    def _service(self) -> str:
        """Return what the policy says, and what the service is called that was ordered."""
        return "\n".join((render_page(self.claims.reference.policy), *self._ordered))

    def _theirs(self) -> str:
        """Return what the payer wrote and said."""
        return "\n".join((self.claims.answered, *self.claims.heard))

    def _filed(self) -> Iterator[str]:
        """Yield all that is on file but for what the practice said itself, which proves nothing."""
        yield f"{render_page(self.claims.reference.policy)}\n{self._theirs()}"
        yield from self.claims.own

    @cached_property
    def _called(self) -> Mapping[str, str]:
        """Who and what is called by a name, longer names before shorter ones."""
        claims, policy = self.claims, self.claims.reference.policy
        patient = claims.chart.patient
        found = {f"{patient.first_name} {patient.last_name}": "the patient"}
        for worker in claims.after.staff.workers.values():
            found |= {worker.name: "the doctor", worker.name.partition(",")[0]: "the doctor"}
        found |= {plan.plan_name: "the plan" for plan in claims.chart.coverages}
        found |= {policy.id: "the policy", policy.version: "the version"}
        found |= dict.fromkeys(self._ordered, "the service")
        longest = sorted(found, key=len, reverse=True)
        return {name.casefold(): found[name] for name in longest if name}

    def _spans(self) -> Set[int]:
        """Return the times between days on file, and to where a policy's look-backs begin.

        In days, weeks, months and years: of a time of less than a week there is always one.
        """
        days = self.claims.days
        asked = criteria(self.claims.reference.policy.criteria)
        months = {each for each in (getattr(one, "months", None) for one in asked) if each}
        opened = {months_before(day, each) for each in months for day in self._played}
        found = {abs((one - other).days) for one in days for other in (*days, *opened)}
        return {
            turn(one / each) for one in found for each in TIMES.values() for turn in (int, round)
        }

    def _of(self, texts: Iterable[str], page: str = "") -> Seen:
        """Return what texts show, with the policy's page where it is looked up."""
        return Seen(
            Texts(texts),
            lambda: page,
            talked=bool(page) and bool(self.claims.spoken),
            months=self._months,
            free=_FREE,
            pages=_PAGES,
            wrote=bool(page) and self._wrote,
            sent=self._sent,
            heard=bool(page) and bool(self.claims.spoken),
        )

    @cached_property
    def _sent(self) -> bool:
        """Whether anything of the patient's was sent to the payer."""
        world, own = self.claims.after, self.claims.chart.patient.id
        packets = world.authorizations.packets.values()
        return any(world.cases.get(packet.case_id).patient_id == own for packet in packets)

    @cached_property
    def _wrote(self) -> bool:
        """Whether the payer wrote about the patient's cases."""
        return bool(self.claims.answered.strip())

    def _months(self) -> frozenset[str]:
        """Return the months of all days on file, in words."""
        return frozenset(f"{day:%B}" for day in self.claims.days | self.claims.known.days)

    @cached_property
    def _played(self) -> tuple[date, ...]:
        """The days of the episode."""
        claims = self.claims
        first, last = claims.before.clock.now.date(), claims.after.clock.now.date()
        return tuple(first + timedelta(days=n) for n in range((last - first).days + 1))
