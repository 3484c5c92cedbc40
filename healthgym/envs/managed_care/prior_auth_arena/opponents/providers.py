"""Providers that read what an agent reads, and err in one named way."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from healthgym.core.players import Solver
from healthgym.core.seeding import stable_hash
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.prior_auth_arena import provider_reader
from healthgym.envs.managed_care.prior_auth_arena.memos import told, wordings
from healthgym.envs.managed_care.prior_authorization import solver
from healthgym.envs.managed_care.prior_authorization.lookups import Brief
from healthgym.envs.managed_care.reading.asking import Play
from healthgym.envs.managed_care.reading.chart_page import ChartReading
from healthgym.envs.managed_care.reading.policy_search import PolicyReading
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.peers import sayings
from healthgym.worlds.managed_care.policies.planting import plant
from healthgym.worlds.managed_care.policies.postures import favourable
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import PlaceOfService

_BUNDLE, _REPLY = "docs.create_submission_bundle", "auth.respond_to_pend"
_UPLOADED = "DOC-UP-"
#: What can be told on a call hangs on nothing of the request.
_ANYTHING = Request(
    procedure_code="", diagnosis_codes=(), site=PlaceOfService.OFFICE, age=50, sex="female"
)


class Habit:
    """Somebody who does it right; a subclass does one thing otherwise."""

    def __init__(self) -> None:
        #: Documents that were opened, in order.
        self.opened: list[str] = []

    def play(self, instruction: str) -> Play[None]:
        """Do what the one does who reads, call by call, and err where this one errs."""
        right = provider_reader.solve(instruction)
        try:
            made = next(right)
            while True:
                if made.name == "docs.get_document":
                    self.opened.append(str(made.arguments["document_id"]))
                made = right.send((yield from self.does(made)))
        except StopIteration:
            return

    def does(self, made: ToolCall) -> Play[str]:
        """Make a call; return the answer to it."""
        return (yield made)


class OmitsOne(Habit):
    """Leaves one document out of the packet, and sends it once the payer asks."""

    def __init__(self) -> None:
        super().__init__()
        self.omitted: list[str] = []

    def does(self, made: ToolCall) -> Play[str]:
        """Leave out the last document of the chart that belongs in the packet."""
        if made.name == _BUNDLE:
            listed = _listed(made)
            charted = [name for name in listed if not name.startswith(_UPLOADED)]
            self.omitted = charted[-1:] if len(listed) > 1 else []
            kept = [name for name in listed if name not in self.omitted]
            return (yield _with(made, document_ids=kept))
        if made.name == _REPLY:
            both = dict.fromkeys([*_listed(made), *self.omitted])
            return (yield _with(made, document_ids=list(both)))
        return (yield made)


class WrongSite(Habit):
    """Opens the case for another place of service than the order has."""

    def does(self, made: ToolCall) -> Play[str]:
        """Give another site."""
        if made.name != "cases.create_from_order":
            return (yield made)
        ordered = str(made.arguments["site_of_service"])
        other = "office" if ordered != "office" else "outpatient_hospital"
        return (yield _with(made, site_of_service=other))


class OverDocuments(Habit):
    """Sends every document that was opened, whatever it bears on."""

    def does(self, made: ToolCall) -> Play[str]:
        """Put everything into the packet."""
        if made.name != _BUNDLE:
            return (yield made)
        both = dict.fromkeys([*_listed(made), *self.opened])
        return (yield _with(made, document_ids=list(both)))


class AnswersWrong(Habit):
    """Answers a request for information with a document that it did not ask for."""

    def does(self, made: ToolCall) -> Play[str]:
        """Send another document in reply."""
        if made.name != _REPLY:
            return (yield made)
        asked = set(_listed(made))
        other = [name for name in self.opened if name not in asked]
        return (yield _with(made, document_ids=other[:1]))


class ArguesBeyond(Habit):
    """Claims in a letter what no page of the chart says."""

    def does(self, made: ToolCall) -> Play[str]:
        """Add a letter with numbers of its own."""
        if made.name != _BUNDLE:
            return (yield made)
        written = yield call(
            "docs.upload_evidence",
            case_id=made.arguments["case_id"],
            kind="letter_of_medical_necessity",
            title="Letter of medical necessity, supplement",
            content=(
                "Every criterion of the policy is met: the score was 97 of 100, and 41 weeks of "
                "treatment failed, as the record shows."
            ),
        )
        own = solver.uploaded(written)
        return (yield _with(made, document_ids=[*_listed(made), own]))


class Silent(Habit):
    """Sends what is right, and answers no request for information."""

    def does(self, made: ToolCall) -> Play[str]:
        """Leave the question open."""
        return "" if made.name == _REPLY else (yield made)


class Leaves(Habit):
    """Sends what is right, and never looks at what comes back."""

    def play(self, instruction: str) -> Play[None]:
        """Stop where one would wait for the payer."""
        right, shown = super().play(instruction), ""
        with suppress(StopIteration):
            made = next(right)
            while made.name != "wait":
                shown = yield made
                made = right.send(shown)
            yield call("finish")


class MakesUp(provider_reader.Memos):
    """Says on a call what would settle the matter, where what is known falls short of it."""

    def see_through(
        self, case: str, brief: Brief, chart: ChartReading, policy: PolicyReading
    ) -> Play[None]:
        """Have something to say on a call, true or not."""
        if self.short and self.text:
            self.text, self.short = self._made_up(brief, policy), False
        yield from super().see_through(case, brief, chart, policy)

    def _made_up(self, brief: Brief, policy: PolicyReading) -> str:
        """Return what would settle the criterion that the memo is about, in a memo's words."""
        tree, rng = policy.page.criteria, np.random.default_rng(stable_hash(self.text))
        good = favourable(tree)
        for item in criteria(tree):
            if any(told(self.text, item)):
                with suppress(ConfigurationError):
                    facts = plant(item, good[item.id], _ANYTHING, brief.today, rng)
                    return " ".join(sayings.told(fact, rng, wordings()) for fact in facts)
        return self.text


def makes_up(instruction: str) -> Play[None]:
    """Do it right, but for what is said on a call."""
    yield from solver.remembering(solver.Memory(), instruction, MakesUp())


def habit(kind: type[Habit]) -> Solver:
    """Return somebody of a kind as a policy that looks."""
    return lambda instruction: kind().play(instruction)


def _listed(made: ToolCall) -> list[str]:
    named = made.arguments.get("document_ids")
    return [str(name) for name in named] if isinstance(named, list) else []


def _with(made: ToolCall, **other: object) -> ToolCall:
    return call(made.name, **{**made.arguments, **other})
