"""Two desks, one request: turns, what crosses, and what each side is judged by."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from numpy.random import default_rng

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.prior_auth_arena.crossing import Crossing
from healthgym.envs.managed_care.prior_auth_arena.oracle import ProviderOracle
from healthgym.envs.managed_care.prior_auth_arena.truth import Received
from healthgym.envs.managed_care.prior_authorization import oracle
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import CaseStatus
from tests.envs.managed_care.prior_auth_arena.table import (
    FAMILY,
    failed,
    first,
    instance,
    joint,
    played,
    seated,
)

SENT = ("approved", "pended", "partial", "gold_card", "notification", "delegated", "vendor")
HELD = ("absent", "document", "coverage_inactive", "service_not_pa_required")


@pytest.mark.parametrize("ending", SENT + HELD)
def test_two_who_know_the_answer_bring_each_ending_about(ending: str) -> None:
    episode = played(first(ending))
    for profile in Profile:
        assert [failed(episode, role, profile) for role in episode.roles] == [set(), set()]
        assert joint(episode, profile)
        for role in episode.roles:
            assert episode.verdict(role, profile).metrics["joint_success"] == 1.0


@pytest.mark.slow
def test_two_who_know_the_answer_succeed_on_every_task_of_a_stretch() -> None:
    lost = [n for n in range(60) if not joint(played(instance(n, Split.VALIDATION)))]
    assert lost == []


@pytest.mark.parametrize(
    "ending", ["approved", "pended", "partial", "insufficient", "said", "unsettled"]
)
def test_two_who_read_what_an_agent_reads_do_too(ending: str) -> None:

    task = first(ending)
    reader = FAMILY.player("reader", task, default_rng(0), PAYER)
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules, {PAYER: reader})
    provider = FAMILY.player("reader", task, default_rng(0), PROVIDER)
    shown = ""
    while not episode.done(PROVIDER):
        shown = episode.step(provider.act(shown), PROVIDER).observation
    assert joint(episode)


def test_the_payer_is_not_asked_before_something_comes() -> None:
    table = seated(first("pended"))
    episode, provider = table.episode, table.workers[PROVIDER]
    assert isinstance(provider, ProviderOracle)
    assert episode.to_act() == PROVIDER
    refused = episode.step(call("payer_intake_hub.list_intake_queue"), PAYER)
    assert refused.errors == ("It is not your turn; provider acts now.",)
    provider.begin()
    assert episode.to_act() == PROVIDER
    provider.seat.hand_over(episode.world.clock.now + timedelta(days=9))
    assert episode.to_act() == PAYER
    assert f"case {CASE} lies at intake" in episode.news(PAYER)
    assert CASE not in episode.instruction(PAYER)


def test_the_rules_are_bound_to_the_case_once_it_is_sent() -> None:
    table = seated(first("approved"))
    provider = table.workers[PROVIDER]
    assert isinstance(provider, ProviderOracle)
    world = table.episode.world
    assert not world.received
    provider.begin()
    assert list(world.received) == [CASE]
    listed = {item.criterion_id for item in world.nursing.catalog(CASE)}
    assert listed == set(first("approved").reference.provider.postures)


def test_a_question_that_is_not_answered_costs_the_provider_and_not_the_payer() -> None:
    episode = played(first("pended"), provider="silent")
    assert episode.world.cases.get(CASE).status is CaseStatus.CLOSED
    assert {"provider.in_time", "provider.ends_right"} <= failed(episode, PROVIDER)
    assert "joint.pends_answered" in failed(episode, PROVIDER)
    own = {name for name in failed(episode, PAYER) if name.startswith("payer.")}
    assert own == set()


@pytest.mark.parametrize(
    ("payer", "ending"), [("rubber_stamp", "pended"), ("denies_all", "approved")]
)
def test_a_payer_that_does_not_read_fails_and_so_does_the_outcome_if_it_is_wrong(
    payer: str, ending: str
) -> None:
    episode = played(first(ending), payer=payer)
    assert not episode.verdict(PAYER).success
    assert not joint(episode)


def test_nothing_that_is_sent_wrongly_succeeds() -> None:
    for ending in ("approved", "absent", "insufficient_supporting_evidence", "pended"):
        for payer in ("oracle", "rubber_stamp", "absent"):
            assert not joint(played(first(ending), "submits_all", payer))
    assert not joint(played(first("approved"), "absent", "absent"))


# -- the checks of what passes between the sides --------------------------------------------------


def crossing(ending: str) -> Crossing:
    episode = played(first(ending))
    world = episode.world
    (case_id,) = world.received
    case = first(ending).reference.case
    return Crossing(Received(world.received[case_id], world.clone(), case, case_id))


def test_a_packet_of_which_something_is_lost_is_not_whole() -> None:
    crossed = crossing("approved")
    assert crossed.whole
    world = crossed.received.now
    (packet,) = (one for one in world.authorizations.packets.values() if one.case_id == CASE)
    world.authorizations.packets[packet.id] = replace(packet, attached_document_ids=())
    assert not crossed.whole


def test_times_out_of_order_are_found() -> None:
    crossed = crossing("approved")
    assert crossed.ordered
    world = crossed.received.now
    (made,) = world.determinations.of(CASE)
    earlier = made.created_at - timedelta(days=9)
    world.determinations.determinations[made.id] = replace(made, created_at=earlier)
    assert not crossed.ordered


def test_a_word_after_its_limit_is_found() -> None:
    crossed = crossing("approved")
    world = crossed.received.now
    (made,) = world.determinations.of(CASE)
    (letter,) = world.letters.of(CASE)
    late = made.created_at + timedelta(days=90)
    world.determinations.determinations[made.id] = replace(made, created_at=late)
    world.letters.letters[letter.id] = replace(letter, created_at=late, delivered_at=late)
    assert not crossed.ordered


def test_what_was_received_is_taken_back_with_the_call_that_failed() -> None:
    table = seated(first("approved"))
    provider, world = table.workers[PROVIDER], table.episode.world
    assert isinstance(provider, ProviderOracle)
    savepoint = world.journal.begin()
    world.keep(CASE)
    assert list(world.received) == [CASE]
    world.journal.rollback(savepoint)
    assert not world.received
    provider.begin()
    kept = world.received[CASE]
    assert world.clone().digest() == world.digest()
    world.keep(CASE)
    assert world.received[CASE] is kept


# -- nothing else crosses -------------------------------------------------------------------------


class Drafting(ProviderOracle):
    """Writes a page that it does not send, before the packet is made."""

    draft = ""

    def begin(self) -> None:
        opening = oracle.opening(self.wanted, self.start)
        place = [each.name for each in opening].index("docs.create_submission_bundle")
        page = {"kind": "other", "title": "Draft", "content": self.draft}
        for each in opening[:place]:
            self.seat.do(each.name, **each.arguments)
        assert self.seat.do("docs.upload_evidence", case_id=CASE, **page)
        for each in opening[place:]:
            self.seat.do(each.name, **each.arguments)


def heard(ending: str, role: str, draft: str) -> list[str]:
    """What a side reads where the provider keeps a page to itself."""

    class Keeping(Drafting):
        pass

    Keeping.draft = draft
    episode = played(first(ending), Keeping)
    return [f"{turn.news}\n{turn.observation}" for turn in episode.turns if turn.role == role]


@pytest.mark.parametrize("ending", ["approved", "pended"])
def test_what_the_provider_keeps_the_payer_does_not_read(ending: str) -> None:
    one = heard(ending, PAYER, "The patient asked not to be told.")
    other = heard(ending, PAYER, "A colleague doubts the diagnosis.")
    assert one == other
    assert heard(ending, PROVIDER, "A") != heard(ending, PROVIDER, "B")


def test_a_letter_that_is_not_sent_is_not_seen() -> None:
    world = played(first("approved")).world.clone()
    (letter,) = world.letters.of(CASE)
    assert world.authorizations.check_status(CASE, letter.delivery_channel)["letters"] == (letter,)
    world.letters.letters[letter.id] = replace(letter, delivered_at=None)
    assert world.authorizations.check_status(CASE, letter.delivery_channel)["letters"] == ()
