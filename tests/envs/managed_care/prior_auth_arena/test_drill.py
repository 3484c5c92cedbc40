"""The arena's drill: small, whole, judged as every other task, and nobody wins without work."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.spending import estimate_tokens
from healthgym.core.tool import ToolCall, call
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.drills import CASE, SECOND
from healthgym.envs.managed_care.prior_auth_arena.drill_dealing import PAIRS
from healthgym.envs.managed_care.prior_auth_arena.drill_erring import CARELESS, SIDES
from healthgym.envs.managed_care.prior_auth_arena.drill_roles import TOOLS, TURNS
from healthgym.envs.managed_care.prior_auth_arena.drill_sides import (
    Found,
    Making,
    Payer,
    Provider,
    case_of,
    play,
)
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.task import ArenaInstance, ArenaReference
from healthgym.envs.managed_care.prior_auth_arena.working import ArenaEpisode, Seat
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    MdReviewDecision,
)
from tests.envs.managed_care.prior_auth_arena.table import failed, joint

FAMILY = ArenaFamily("drill")
KINDS = sorted({f"{one.name}+{other.name}" for one, other in PAIRS})


@cache
def drawn(index: int, split: Split = Split.TEST) -> ArenaInstance:
    return FAMILY.generator.generate(split, index)


@cache
def first(kind: str) -> ArenaInstance:
    """The first test task of a kind, of which one half may be left open."""
    kinds = {name for name in KINDS if kind in (name, *name.split("+"))}
    return next(one for one in map(drawn, range(200)) if one.task.kind in kinds)


def half(instance: ArenaInstance, outcome: str) -> ArenaReference:
    """What is right about the case of a task that has an outcome."""
    names = instance.task.kind.split("+")
    wanted = {
        one.name: (one.status, one.sent) for pair in PAIRS for one in pair if one.name in names
    }[outcome]
    return next(
        part
        for part in instance.reference.parts
        if (part.provider.status, str(part.provider.action) == "submit_pa") == wanted
    )


def opened(instance: ArenaInstance) -> ArenaEpisode:
    return Episode(FAMILY, instance, SparseReward(), FAMILY.rules)


def played(
    instance: ArenaInstance, provider: str | Making = "oracle", payer: str | Making = "oracle"
) -> ArenaEpisode:
    chosen = {PROVIDER: provider, PAYER: payer}
    sides = {
        role: SIDES[role][who] if isinstance(who, str) else who for role, who in chosen.items()
    }
    return play(opened(instance), instance, sides)


@pytest.mark.parametrize("split", list(Split))
def test_two_who_know_the_answer_succeed_under_both_profiles(split: Split) -> None:
    for index in range(40):
        episode = played(drawn(index, split))
        for profile in Profile:
            assert joint(episode, profile), [failed(episode, one) for one in episode.roles]
        for role in episode.roles:
            assert sum(event.role == role for event in episode.events) <= TURNS


def test_every_pair_comes_and_none_too_often() -> None:
    found = Counter(drawn(index).task.kind for index in range(150))
    assert set(found) == set(KINDS)
    assert max(found.values()) < 150 / 3
    first_of = Counter(case_of(half(drawn(n), "withheld")) for n in range(150) if held(drawn(n)))
    assert min(first_of.values()) > sum(first_of.values()) / 3


def held(instance: ArenaInstance) -> bool:
    return "withheld" in instance.task.kind


def test_the_two_cases_are_of_two_people_under_one_policy() -> None:
    for index in range(40):
        one, other = drawn(index).reference.parts
        assert (case_of(one), case_of(other)) == (CASE, SECOND)
        assert one.provider.patient_id != other.provider.patient_id
        assert one.provider.policy is other.provider.policy
        assert (one.beside, other.beside) == ({SECOND}, {CASE})


def test_what_is_read_is_short_and_the_tools_few() -> None:
    for index in range(40):
        instance = drawn(index)
        episode = played(instance)
        text = episode.turns[0].observation  # the page
        read = text + "".join(paper.content for paper in papers(instance))
        assert estimate_tokens(len(read)) <= 400
        assert all(estimate_tokens(len(turn.observation)) <= 400 for turn in episode.turns)
    for role, names in TOOLS.items():
        offered = {tool["function"]["name"] for tool in FAMILY.roles[role].catalog.openai()}
        assert {name.replace(".", "__") for name in names} == offered
        assert len(offered) <= 5


def papers(instance: ArenaInstance) -> list[DocumentReference]:
    """All that is on file about both cases."""
    charts = (part.case.patient.chart for part in instance.reference.parts)
    return [page for chart in charts for page in chart.documents]


ALONE = [(name, "oracle") for name in CARELESS[PROVIDER]]
ALONE += [("oracle", name) for name in CARELESS[PAYER]]
PAIRED = [*product(CARELESS[PROVIDER], CARELESS[PAYER]), ("over_documents", "rubber_stamp")]


@pytest.mark.parametrize(("provider", "payer"), [*ALONE, *PAIRED])
def test_who_does_not_look_never_succeeds_alone_or_in_pairs(provider: str, payer: str) -> None:
    assert not any(joint(played(first(kind), provider, payer)) for kind in KINDS)


def test_they_are_named_and_can_be_seated() -> None:
    assert FAMILY.careless() == CARELESS
    assert all(set(names) < set(SIDES[role]) for role, names in CARELESS.items())


_ALL = set(KINDS)
_ASKED = {kind for kind in KINDS if "asked" in kind}
#: Which pairs a side can be right about that errs, beside one that knows the answer.
ERRING = {
    (PROVIDER, "never_withholds"): {kind for kind in KINDS if "withheld" not in kind},
    (PROVIDER, "silent"): _ALL - _ASKED,
    (PROVIDER, "wrong_item"): _ALL - _ASKED,
    (PROVIDER, "over_documents"): _ALL - _ASKED,
    (PAYER, "never_asks"): _ALL - _ASKED,
    (PAYER, "always_asks"): {kind for kind in KINDS if kind.startswith("withheld+asked")},
}


@pytest.mark.parametrize(("role", "name"), list(ERRING))
def test_a_side_that_errs_succeeds_only_where_it_happens_to_be_right(role: str, name: str) -> None:
    sides = {"provider": "oracle", "payer": "oracle", role: name}
    right = {kind for kind in KINDS if joint(played(first(kind), *sides.values()))}
    assert right == ERRING[role, name]


def test_a_half_reader_misses_what_the_other_criterion_says() -> None:
    won = [joint(played(drawn(index), payer="half_reader")) for index in range(60)]
    assert 0.2 <= sum(won) / 60 <= 0.6


@pytest.mark.parametrize(
    ("provider", "check"),
    [
        ("wrong_item", "joint.pends_answered"),
        ("silent", "joint.pends_answered"),
        ("over_documents", "provider.minimum_necessary"),
        ("submits_all", "provider.minimum_necessary"),
    ],
)
def test_an_answer_that_does_not_settle_it_is_found(provider: str, check: str) -> None:
    assert check in failed(played(first("asked-approved"), provider), PROVIDER)


def test_what_is_sent_wrongly_is_the_providers_and_denied_it_is_the_payers_due() -> None:
    task = first("withheld+denied")
    episode = played(task, "submits_all")
    assert "provider.decision_right" in failed(episode, PROVIDER)
    assert failed(episode, PAYER) == set()
    for part in task.reference.parts:
        assert episode.world.cases.get(case_of(part)).status is CaseStatus.DENIED


@pytest.mark.parametrize("kind", ["denied", "asked-denied"])
def test_the_provider_is_not_blamed_for_a_denial_it_could_not_foresee(kind: str) -> None:
    task = first(kind)
    episode = played(task)
    assert episode.world.cases.get(case_of(half(task, kind))).status is CaseStatus.DENIED
    assert failed(episode, PROVIDER) == set()


@pytest.mark.parametrize("payer", ["absent", "rubber_stamp", "deny_all", "never_asks"])
def test_what_the_payer_does_wrong_is_not_held_against_the_provider(payer: str) -> None:
    for kind in KINDS:
        episode = played(first(kind), payer=payer)
        assert episode.verdict(PROVIDER).success
        assert episode.verdict(PAYER).success == joint(episode)


@pytest.mark.parametrize("provider", sorted(SIDES[PROVIDER]))
def test_what_the_provider_does_wrong_is_not_held_against_the_payer(provider: str) -> None:
    for kind in KINDS:
        assert played(first(kind), provider).verdict(PAYER).success


class AsksAgain(Payer):
    """Asks as long as something is open."""

    def turn(self) -> None:
        """Forget that it has asked."""
        self.asked.clear()
        super().turn()


def test_an_answer_that_leaves_it_open_is_denied_where_nobody_can_call() -> None:
    task = first("asked-approved")
    episode = played(task, "wrong_item")
    assert failed(episode, PAYER) <= {"joint.pends_answered", "joint.care_decided"}
    part = half(task, "asked-approved")
    assert episode.world.cases.get(case_of(part)).status is CaseStatus.DENIED
    other = played(task, "wrong_item", AsksAgain)
    assert "payer.physician_decision_right" in failed(other, PAYER)


@pytest.mark.parametrize("provider", ["silent", "wrong_item", "never_withholds"])
def test_what_the_provider_does_wrong_is_its_own_whatever_the_payer_does(provider: str) -> None:
    for payer in ("oracle", "rubber_stamp", "absent"):
        lost = played(first("withheld+asked-approved"), provider, payer)
        asked = payer == "oracle" or provider == "never_withholds"
        assert lost.verdict(PROVIDER).success != asked


class Elsewhere(Payer):
    """Denies on the criterion that is met."""

    def conclude(self, part: ArenaReference, decision: MdReviewDecision, found: Found) -> None:
        if decision is not MdReviewDecision.DENY:
            super().conclude(part, decision, found)
            return
        against = [name for name, one in found.items() if str(one) == "met"]
        self.seat.do(
            "review.submit_md_case_decision",
            case_id=case_of(part),
            decision="deny",
            determination_rationale=against[0],
            denial_rationale=against[0],
            signed_off=True,
        )


def test_a_denial_names_the_criterion_that_it_rests_on() -> None:
    wrong = failed(played(first("denied"), payer=Elsewhere), PAYER)
    assert "payer.physician_decision_right" in wrong


class AsksForTheOther(Payer):
    """Asks about the criterion that the note shows."""

    def conclude(self, part: ArenaReference, decision: MdReviewDecision, found: Found) -> None:
        if decision is not MdReviewDecision.REQUEST_INFO:
            super().conclude(part, decision, found)
            return
        shown = next(name for name, one in found.items() if str(one) == "met")
        self.seat.do(
            "review.submit_md_case_decision",
            case_id=case_of(part),
            decision="request_info",
            info_requested=f"document on {shown}",
            info_deadline=f"{self.seat.world.clock.now:%Y-%m-%d}",
        )


def test_a_question_is_about_what_is_open() -> None:
    assert not joint(played(first("asked-approved"), payer=AsksForTheOther))


def test_turns_pass_with_the_cases() -> None:
    instance = first("withheld+asked-approved")
    episode = opened(instance)
    assert episode.to_act() == PROVIDER
    wrong = episode.step(call("finish"), PAYER)
    assert wrong.errors == ("It is not your turn; provider acts now.",)
    script = FAMILY.together(instance, np.random.default_rng(0))
    for each in script[PROVIDER][:4]:
        assert episode.to_act() == PROVIDER
        assert not episode.step(each, PROVIDER).errors
    assert episode.to_act() == PAYER
    sent, kept = half(instance, "asked-approved"), half(instance, "withheld")
    told = episode.news(PAYER)
    assert f"{case_of(sent)} is yours" in told
    assert case_of(kept) not in told
    note, *rest = sent.case.patient.chart.documents
    assert note.content in told
    assert all(paper.content not in told for paper in rest)


def test_a_physician_has_one_case_at_a_time() -> None:
    instance = first("approved+asked-approved")
    episode = opened(instance)
    script = FAMILY.together(instance, np.random.default_rng(0))
    for each in script[PROVIDER][:5]:
        episode.step(each, PROVIDER)
    for each in script[PAYER][:2]:
        told = episode.news(PAYER) + episode.step(each, PAYER).observation
        assert SECOND not in told
    told = episode.step(script[PAYER][2], PAYER).observation + episode.news(PAYER)
    assert f"{SECOND} is yours" in told


def test_what_is_done_about_one_case_is_no_stray_write_of_the_other() -> None:
    """And what goes wrong about one is found, whichever it is."""
    for kind in ("withheld+asked-approved", "approved+asked-denied"):
        spoilt = set()
        for index in range(60):
            instance = drawn(index)
            if instance.task.kind != kind:
                continue
            for part in instance.reference.parts:
                episode = played(instance, lambda seat, task, part=part: Leaves(seat, task, part))
                assert "provider.decision_right" in failed(episode, PROVIDER)
                spoilt.add(case_of(part))
        assert spoilt == {CASE, SECOND}


class Leaves(Provider):
    """Decides one of the two cases only."""

    def __init__(self, seat: Seat, instance: ArenaInstance, left: ArenaReference) -> None:
        super().__init__(seat, instance)
        self._left = left

    def decide(self, part: ArenaReference, *, sends: bool) -> None:
        if part is not self._left:
            super().decide(part, sends=sends)


def test_the_payer_reads_nothing_of_what_was_not_sent() -> None:
    instance = first("withheld+asked-approved")
    episode = played(instance, "silent")
    shown = "".join(f"{t.news}{t.observation}" for t in episode.turns if t.role == PAYER)
    note = half(instance, "asked-approved").case.patient.chart.documents[0]
    lines = {
        line
        for paper in papers(instance)
        if paper.id != note.id
        for line in paper.content.splitlines()[1:]
    }
    assert all(line not in shown for line in lines)


def test_nobody_is_told_the_answer() -> None:
    for index in range(40):
        instance = drawn(index)
        for role in FAMILY.roles:
            text = FAMILY.instruction(role, instance)
            assert not any(name in text.split() for name in instance.task.kind.split("+"))
        text = FAMILY.instruction(PROVIDER, instance)
        _, *told = text.replace(f"{SECOND}: ", f"{CASE}: ").split(f"{CASE}: ")
        for part, own in zip(instance.reference.parts, told, strict=True):
            note, *unread = part.case.patient.chart.documents
            assert note.id in own
            lines = {line for page in unread for line in page.content.splitlines()[1:]}
            assert not any(line in own for line in lines - {"- Nothing of note."})
        assert CASE not in FAMILY.instruction(PAYER, instance)


@pytest.mark.parametrize("role", [PROVIDER, PAYER])
def test_a_script_of_a_seat_does_not_win_against_one_that_knows(role: str) -> None:
    family = ArenaFamily("drill", role=role)
    for name in ("prior", "flood"):
        for instance in map(first, KINDS):
            script = family.baselines()[name](instance, np.random.default_rng(0))
            other = PAYER if role == PROVIDER else PROVIDER
            assert not joint(scripted(instance, role, list(script), other))


def scripted(instance: ArenaInstance, role: str, script: list[object], other: str) -> ArenaEpisode:
    """An episode of a script against a side that knows the answer."""

    class Scripted(Provider):
        def turn(self) -> None:
            made = script.pop(0) if script else call("finish")
            assert isinstance(made, ToolCall)
            self.seat.do(made.name, **made.arguments)

    sides: dict[str, Making] = {role: Scripted, other: SIDES[other]["oracle"]}
    return play(opened(instance), instance, sides)


def test_a_clone_goes_on_as_the_episode_does() -> None:
    instance = first("withheld+asked-denied")
    script = FAMILY.together(instance, np.random.default_rng(0))
    episode = opened(instance)
    for each in script[PROVIDER][:4]:
        episode.step(each, PROVIDER)
    twin = episode.clone()
    for one in (episode, twin):
        for each in script[PAYER][:3]:
            assert not one.step(each, PAYER).errors
    assert episode.world.digest() == twin.world.digest()
    assert episode.news(PROVIDER) == twin.news(PROVIDER)


@pytest.mark.parametrize("opponent", [None, *SIDES[PAYER]])
def test_the_other_seat_is_filled_by_name(opponent: str | None) -> None:
    env = PriorAuthArenaEnv(difficulty="drill", opponent=opponent)
    observation, _ = env.reset(options={"split": "test", "index": 0})
    assert CASE in observation
    assert env.episode.roles == (PROVIDER, PAYER)
    env.close()
