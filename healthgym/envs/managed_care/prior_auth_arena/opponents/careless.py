"""Providers that want the reward without the work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta

from healthgym.core.players import Solver
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_auth_arena.opponents.providers import Habit
from healthgym.envs.managed_care.prior_auth_arena.provider_reader import Memos
from healthgym.envs.managed_care.prior_authorization.lookups import (
    find_policy,
    find_request,
    read_brief,
    read_documents,
)
from healthgym.envs.managed_care.prior_authorization.solver import (
    Memory,
    fill,
    open_case,
    submit,
    uploaded,
)
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.reading.chart_page import ChartReading
from healthgym.envs.managed_care.reading.judging import Judged
from healthgym.envs.managed_care.reading.layout import value
from healthgym.errors import DataError
from healthgym.worlds.managed_care.vocabulary.authorization import ProviderDeterminationAction

_SENDS = str(ProviderDeterminationAction.SUBMIT_PA)
_LEAVES = str(ProviderDeterminationAction.DO_NOT_SUBMIT)
_MONTH = timedelta(days=30)
#: Chooses documents of a chart.
Choosing = Callable[[ChartReading], Sequence[str]]


def whole_chart(chart: ChartReading) -> Sequence[str]:
    """Return every document."""
    return [each.id for each in chart.documents]


def first_page(chart: ChartReading) -> Sequence[str]:
    """Return the first document there is."""
    return whole_chart(chart)[:1]


def nothing(chart: ChartReading) -> Sequence[str]:
    """Return no document."""
    return ()


def sending(chosen: Choosing) -> Solver:
    """Return who submits whatever is ordered, and reads nothing.

    Args:
        chosen: What is sent with it, beside a letter that claims everything.
    """

    def play(instruction: str) -> Play[None]:
        with suppress(DataError):
            chart, order = yield from find_request(read_brief(instruction))
            case = yield from open_case(order)
            yield from fill(case, {}, chart, order)
            letter = yield from ask(
                "docs.upload_evidence",
                case_id=case,
                kind="letter_of_medical_necessity",
                title="Letter of medical necessity",
                content="Everything that is required is met.",
            )
            packet = yield from ask(
                "docs.create_submission_bundle",
                case_id=case,
                document_ids=[*chosen(chart), uploaded(letter)],
            )
            bundle = value(packet, "id", "bundle_document")
            yield call(
                "auth.finalize_provider_determination",
                case_id=case,
                final_action=_SENDS,
                bundle_document_id=bundle,
            )
            yield call("auth.submit_authorization", case_id=case, channel="portal")
            yield call("wait", until=f"{read_brief(instruction).now + _MONTH:%Y-%m-%dT%H:%M}")
        yield call("finish")

    return play


def never(instruction: str) -> Play[None]:
    """Open the case and leave it, for the same reason each time."""
    with suppress(DataError):
        brief = read_brief(instruction)
        _, order = yield from find_request(brief)
        case = yield from open_case(order)
        yield call(
            "auth.finalize_provider_determination",
            case_id=case,
            final_action=_LEAVES,
            override_reason=f"coverage_inactive: ended {brief.today}; again on {brief.today}",
        )
    yield call("finish")


def appealing(instruction: str) -> Play[None]:
    """Submit whatever is ordered with all that counts, and appeal each denial to the end."""
    with suppress(DataError):
        brief = read_brief(instruction)
        chart, order = yield from find_request(brief)
        policy = yield from find_policy(brief, chart, order)
        if policy is not None:
            chart, documents = yield from read_documents(chart, policy)
            memos = Memos()
            yield from memos.known(policy)
            case = yield from open_case(order)
            everything = Judged(
                ProviderDeterminationAction.SUBMIT_PA,
                attached=tuple(each.id for each in documents),
            )
            yield from submit(case, policy, everything, chart, order, Memory())
            yield from memos.see_through(case, brief, chart, policy)
    yield call("finish")


class Stalls(Habit):
    """Begins a month late, and then does everything."""

    def play(self, instruction: str) -> Play[None]:
        """Wait, and then work."""
        with suppress(DataError):
            until = read_brief(instruction).now + _MONTH
            yield call("wait", until=f"{until:%Y-%m-%dT%H:%M}")
        yield from super().play(instruction)
