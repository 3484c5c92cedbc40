"""Opponents that err in one way: what the other side's oracle gets, and that nothing stops them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.players import Filling, Player
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.managed_care.cases.situations import Gap
from healthgym.envs.managed_care.prior_auth_arena.env import PriorAuthArenaEnv
from healthgym.envs.managed_care.prior_auth_arena.generator import ArenaGenerator
from healthgym.envs.managed_care.prior_auth_arena.opponents import payers
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import (
    CARELESS,
    OPPONENTS,
    STRENGTHS,
)
from healthgym.envs.managed_care.prior_auth_arena.task import PRESETS, ArenaInstance
from healthgym.envs.managed_care.prior_authorization.oracle import CASE
from healthgym.errors import ConfigurationError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.service_levels import deemed_rule
from healthgym.worlds.managed_care.shared import Moment, SharedOffices
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    MessageKind,
    ProviderDeterminationAction,
)
from tests.envs.managed_care.prior_auth_arena.table import (
    FAMILY,
    failed,
    first,
    instance,
    joint,
    played,
)

#: A service whose name says what it is done without.
_WITHOUT = re.compile(r"without (and with )?contrast")


@pytest.mark.parametrize("payer", sorted(OPPONENTS[PAYER]))
@pytest.mark.parametrize("ending", ["approved", "pended", "partial"])
def test_whoever_knows_the_answer_does_its_part_against_every_payer(
    payer: str, ending: str
) -> None:
    episode = played(first(ending), payer=payer)
    assert failed(episode, PROVIDER) == set()
    assert joint(episode) == (failed(episode, PAYER) == set())


@pytest.mark.parametrize("provider", sorted(OPPONENTS[PROVIDER]))
@pytest.mark.parametrize("ending", ["approved", "pended", "insufficient"])
def test_whoever_knows_the_answer_does_its_part_against_every_provider(
    provider: str, ending: str
) -> None:
    episode = played(first(ending), provider=provider)
    assert failed(episode, PAYER) == set()
    assert joint(episode) == (failed(episode, PROVIDER) == set())


def test_what_is_denied_wrongly_is_appealed_and_taken_outside() -> None:
    episode = played(first("approved"), payer="misreads")
    world = episode.world
    assert [one.level for one in world.appeals.of(CASE)] == ["internal", "external"]
    assert world.cases.get(CASE).status is CaseStatus.EXTERNAL_APPEALED
    assert {"payer.findings_right", "payer.appeal.appeal_decision_right"} <= failed(episode, PAYER)
    assert "joint.care_decided" in failed(episode, PAYER)


def test_what_is_appealed_without_reason_is_heard_and_upheld() -> None:
    episode = played(first("insufficient"), "appeals_all")
    made = episode.world.appeals.of(CASE)
    assert [str(one.outcome) for one in made][:1] == ["appeal_upheld"]
    assert failed(episode, PAYER) == set()
    assert "provider.decision_right" in failed(episode, PROVIDER)


#: Whoever appeals within the hour on a Friday may find nobody in who writes letters.
_FRIDAY = 4


@pytest.mark.parametrize(
    ("kind", "days", "moment", "subject"),
    [
        (Gap.INSUFFICIENT, {_FRIDAY}, Moment.UPHELD, "The outcome of your appeal"),
        (Gap.ABSENT, range(7), Moment.CONTESTED, "Your care was not approved"),
    ],
)
def test_what_is_appealed_before_the_member_was_told_is_told_afterwards(
    kind: Gap, days: Container[int], moment: Moment, subject: str
) -> None:
    """The provider appeals within the hour, when nobody is in who writes letters."""
    config = replace(
        PRESETS["medium"],
        actions=(ProviderDeterminationAction.GATHER_MORE_EVIDENCE,),
        gaps=(kind,),
    )
    generator = ArenaGenerator(config, "medium", FAMILY.name, 0.0)
    tasks = (generator.generate(Split.TEST, index) for index in range(60))
    episodes = (played(task, "appeals_all") for task in tasks if task.start.now.weekday() in days)
    untold = (each for each in episodes if subject not in notices(each.world.kept(moment)[CASE]))
    episode = next(untold)
    assert subject in notices(episode.world)
    assert failed(episode, PAYER) == set()


def notices(world: SharedOffices) -> list[str]:
    """What the member was told."""
    mail = world.inbox.messages.values()
    own = [m for m in mail if m.case_id == CASE and m.kind == MessageKind.MEMBER_NOTIFICATION]
    return [message.subject for message in own]


@pytest.mark.parametrize("provider", ["oracle", "honest"])
def test_times_that_nobody_can_take_are_protested_against_and_the_denial_is_appealed(
    provider: str,
) -> None:
    episode = played(first("said"), provider, "past_times")
    world = episode.world
    (request,) = world.peer.of(CASE)
    protests = [note for note in request.notes if "please offer others" in note]
    assert len(protests) == len(set(protests)) == world.limits.rounds
    assert world.cases.get(CASE).status is CaseStatus.EXTERNAL_APPEALED
    assert failed(episode, PROVIDER) == set()
    assert episode.verdict(PROVIDER).success
    assert not episode.verdict(PAYER).success
    refused = [turn.errors for turn in episode.turns if turn.role == PAYER and turn.errors]
    assert len(refused) == world.limits.rounds
    assert all("is not after" in errors[0] for errors in refused)


def called() -> Iterator[ArenaInstance]:
    """Test tasks in which a call is due."""
    tasks = (instance(index) for index in range(400))
    return (task for task in tasks if task.task.kind.endswith(("-said", "-insisted")))


def called_under_a_law() -> ArenaInstance:
    """The first of them in which a case that is not decided in time is decided by law."""
    return next(task for task in called() if ruled(task))


def ruled(task: ArenaInstance) -> bool:
    """Whether the law decides the case of a task that the payer leaves undecided."""
    truth = task.reference.provider
    state = task.start.charts[truth.patient_id].patient.address_state
    return deemed_rule(state, truth.policy.authorization_type) is not None


def test_no_call_is_held_on_a_case_that_is_decided_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(payers, "_CALL", 0)
    episode = played(called_under_a_law(), payer="slow")
    told = [one.text for one in episode.world.notices if one.role == PROVIDER]
    assert any("is not held" in text for text in told)
    assert not episode.world.parley.of(CASE)
    assert failed(episode, PROVIDER) == set()
    assert {"payer.in_time", "joint.call_held"} <= failed(episode, PAYER)


@pytest.mark.parametrize("ending", ["said", "insisted", "specialty"])
def test_a_slow_payer_is_in_time_where_a_call_is_due_and_where_another_case_comes_in(
    ending: str,
) -> None:
    assert joint(played(first(ending), payer="slow"))


def test_a_slow_payer_is_in_time_where_a_call_is_due_and_the_law_decides_what_is_late() -> None:
    assert joint(played(called_under_a_law(), payer="slow"))


def test_a_provider_that_reads_its_memo_out_has_said_what_stands_in_it() -> None:
    # The name of the service has a word in it that denies, and denies nothing that was found.
    memos = ((task, task.reference.memo) for task in called())
    task, memo = next((task, memo) for task, memo in memos if memo and _WITHOUT.search(memo.text))
    named = _WITHOUT.search(memo.text)
    assert named
    episode = played(task, "honest")
    (line,) = episode.world.parley.of(CASE)
    assert named[0] in line.turns[0].message
    assert joint(episode)


def test_a_slow_payer_decides_in_the_last_hours_and_is_right() -> None:
    hurried, slow = (played(first("approved"), payer=name) for name in ("honest", "slow"))
    times = [next(iter(each.world.determinations.of(CASE))).created_at for each in (hurried, slow)]
    assert (times[1] - times[0]).total_seconds() > 24 * 3600
    assert joint(hurried)
    assert joint(slow)


@pytest.mark.parametrize(
    ("side", "name", "ending", "check"),
    [
        (PAYER, "asks_again", "approved", "payer.letters_right"),
        (PAYER, "misreads", "approved", "payer.findings_right"),
        (PAYER, "rubber_stamp", "approved", "payer.values_observed"),
        (PAYER, "wrong_desk", "approved", "payer.triage_right"),
        (PAYER, "past_times", "said", "joint.call_held"),
        (PAYER, "past_times", "said", "payer.physician_decision_right"),
        (PAYER, "stalls", "approved", "payer.in_time"),
        (PAYER, "denies_all", "approved", "payer.determination_right"),
        (PAYER, "absent", "approved", "payer.ends_right"),
        (PROVIDER, "omits_one", "approved", "provider.packet_shows"),
        (PROVIDER, "wrong_site", "approved", "provider.case_right"),
        (PROVIDER, "over_documents", "approved", "provider.minimum_necessary"),
        (PROVIDER, "answers_wrong", "pended", "joint.pends_answered"),
        (PROVIDER, "argues_beyond", "approved", "provider.nothing_invented"),
        (PROVIDER, "silent", "pended", "provider.ends_right"),
        (PROVIDER, "appeals_all", "absent", "provider.nothing_sent"),
        (PROVIDER, "never_submits", "approved", "provider.decision_right"),
        (PROVIDER, "never_submits", "coverage_inactive", "provider.grounds_named"),
        (PROVIDER, "stalls", "approved", "provider.sent_in_time"),
        (PROVIDER, "stalls", "absent", "provider.sent_in_time"),
        (PROVIDER, "floods", "approved", "provider.minimum_necessary"),
        (PROVIDER, "no_evidence", "approved", "provider.packet_shows"),
        (PROVIDER, "submits_all", "absent", "provider.nothing_sent"),
    ],
)
def test_each_errs_in_its_way(side: str, name: str, ending: str, check: str) -> None:
    provider, payer = ("oracle", name) if side == PAYER else (name, "oracle")
    assert check in failed(played(first(ending), provider, payer), side)


def test_each_has_a_declared_strength() -> None:
    assert {side: set(known) for side, known in STRENGTHS.items()} == {
        side: set(known) for side, known in OPPONENTS.items()
    }


#: How many test tasks a strength is measured on.
MEASURED = 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "name"), [(side, name) for side, known in STRENGTHS.items() for name in known]
)
def test_each_is_as_strong_as_declared(side: str, name: str) -> None:
    tasks = map(instance, range(MEASURED))
    seats = {PROVIDER: "oracle", PAYER: "oracle", side: name}
    won = [joint(played(task, seats[PROVIDER], seats[PAYER])) for task in tasks]
    assert abs(sum(won) / MEASURED - STRENGTHS[side][name]) <= 0.005 + 1e-9


def test_who_trusts_the_practice_is_right_only_where_nothing_is_to_be_read() -> None:
    for ending, right in (("absent", True), ("pended", False), ("approved", False)):
        episode = played(first(ending), payer="trusts")
        assert joint(episode) == right
        assert failed(episode, PROVIDER) == set()


def test_who_leaves_answers_nothing() -> None:
    episode = played(first("pended"), "leaves")
    assert failed(episode, PAYER) == set()
    assert "provider.ends_right" in failed(episode, PROVIDER)
    assert joint(played(first("approved"), "leaves"))


@pytest.mark.parametrize("provider", sorted(CARELESS[PROVIDER]))
def test_no_careless_provider_succeeds_beside_a_payer_that_knows_the_answer(provider: str) -> None:
    assert STRENGTHS[PROVIDER][provider] == 0.0
    for index in range(6):
        episode = played(instance(index), provider)
        assert not joint(episode)
        assert failed(episode, PAYER) == set()


@pytest.mark.parametrize("payer", sorted(CARELESS[PAYER]))
def test_no_careless_payer_succeeds_beside_a_provider_that_knows_the_answer(payer: str) -> None:
    assert STRENGTHS[PAYER][payer] == 0.0
    for index in range(8):
        episode = played(instance(index), payer=payer)
        assert not joint(episode)
        assert failed(episode, PROVIDER) == set()


# -- whatever the agent does ----------------------------------------------------------------------

_NONSENSE = (
    "",
    "no call at all",
    "\x00\ud800" * 50,
    {"name": "auth.submit_authorization", "arguments": {"case_id": 7}},
    call("auth.submit_authorization", case_id=CASE, channel="portal"),
    call("wait", until="2026-13-45T99:99"),
    call("payer_appeals.list"),
)


def wild(seed: int) -> Iterator[object]:
    """Actions of somebody who presses every key, right ones and wrong ones."""
    rng = np.random.default_rng(seed)
    right = [turn.action for turn in played(first("pended")).turns if turn.role == PROVIDER]
    while True:
        pool = _NONSENSE if rng.random() < 0.4 else right
        yield pool[int(rng.integers(len(pool)))]


@pytest.mark.parametrize("payer", sorted(OPPONENTS[PAYER]))
def test_no_payer_is_thrown_by_what_a_provider_does(payer: str) -> None:
    for seed in range(2):
        task = first("pended")
        player = FAMILY.player(payer, task, np.random.default_rng(seed), PAYER)
        episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules, {PAYER: player})
        for action in wild(seed):
            if episode.done(PROVIDER):
                break
            episode.step(action, PROVIDER)
        assert episode.done(PROVIDER)


@pytest.mark.parametrize("provider", sorted(OPPONENTS[PROVIDER]))
def test_no_provider_is_thrown_by_what_a_payer_does(provider: str) -> None:
    task = first("pended")
    right = [turn.action for turn in played(task).turns if turn.role == PAYER]
    rng = np.random.default_rng(3)
    player = FAMILY.player(provider, task, rng, PROVIDER)
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules, {PROVIDER: player})
    while not episode.done(PAYER):
        pool = _NONSENSE if rng.random() < 0.4 else right
        episode.step(pool[int(rng.integers(len(pool)))], PAYER)
    assert episode.done(PAYER)


# -- by name, and by weight -----------------------------------------------------------------------


def test_an_opponent_is_drawn_for_each_task_by_weight() -> None:
    weights: Filling = {"honest": 1.0, "never_submits": 1.0}
    env = PriorAuthArenaEnv(opponent=weights, role=PAYER)

    def left(number: int) -> bool:
        """Whether the provider of a task left the request without a look at its chart."""
        episode = env.open_episode(Split.TEST, number)
        return not any("docs.get_document" in turn.action for turn in episode.turns)

    drawn = [left(number) for number in range(24)]
    assert drawn == [left(number) for number in range(24)]
    assert 4 <= sum(drawn) <= 20
    with pytest.raises(ConfigurationError, match="Weights of players"):
        PriorAuthArenaEnv(opponent={"honest": 0.0}).reset(seed=0)
    with pytest.raises(ConfigurationError, match="no policy named 'nobody'"):
        PriorAuthArenaEnv(opponent={"nobody": 1.0}).reset(seed=0)


@pytest.mark.parametrize(
    ("role", "opponent"),
    [
        (PAYER, "appeals_all"),
        (PAYER, {"honest": 1.0, "silent": 1.0}),
        (PROVIDER, "misreads"),
    ],
    ids=str,
)
def test_the_oracle_of_a_seat_does_its_part_beside_whoever_fills_the_other(
    role: str, opponent: Filling
) -> None:
    env = PriorAuthArenaEnv(role=role, opponent=opponent, split="test")
    for ending in ("approved", "pended"):
        policy = ScriptPolicy("oracle")
        shown, info = env.reset(options={"task_id": first(ending).task.task_id})
        policy.begin(env, shown, info)
        over = False
        while not over:
            shown, _, terminated, truncated, _ = env.step(policy.act(shown))
            over = terminated or truncated
        assert failed(env.episode, role) == set()


def test_a_player_goes_on_where_its_twin_stood() -> None:
    task = first("approved")
    player = FAMILY.player("slow", task, np.random.default_rng(0), PAYER)
    assert isinstance(player, Player)
    episode = Episode(FAMILY, task, SparseReward(), FAMILY.rules, {PAYER: player})
    script = [turn.action for turn in played(task).turns if turn.role == PROVIDER]
    for action in script[:-2]:
        episode.step(action, PROVIDER)
    twin = episode.clone()
    for each in (episode, twin):
        for action in script[-2:]:
            if not each.done(PROVIDER):
                each.step(action, PROVIDER)
    assert episode.world.digest() == twin.world.digest()
