"""Who talks with whom: pairs that solve every task, exploits that solve none, and the colleague."""

import pytest

pytest.importorskip("pettingzoo")

from healthgym.core.env import HealthEnv
from healthgym.core.players import Player
from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.core.verdict import Profile
from healthgym.envs.medication_reconciliation import solver
from healthgym.envs.medication_reconciliation.family import ReconciliationFamily
from healthgym.envs.medication_reconciliation.task import PRESETS, ReconciliationInstance
from healthgym.errors import ConfigurationError
from healthgym.integrations.pettingzoo import raw_env
from healthgym.policies.scripted import NopPolicy, RandomPolicy, ScriptPolicy
from healthgym.registration import make_health_env
from healthgym.testing import replay
from healthgym.testing.play import actions_of
from healthgym.worlds.reconciliation.world import PHARMACIST, PHYSICIAN, TITLES, other_role
from tests.sized import some

ENV_ID = "HealthAgent/MedicationReconciliation-v1"
ARENA_ID = "HealthArena/MedicationReconciliation-v1"
BLIND = tuple(ReconciliationFamily().baselines())


def make(role: str = PHYSICIAN, difficulty: str = "easy", **kwargs: object) -> HealthEnv:
    return make_health_env(ENV_ID, {"role": role, "difficulty": difficulty, **kwargs})


def solved(env: HealthEnv, name: str, tasks: int) -> float:
    policies = {"nop": NopPolicy(), "random": RandomPolicy()}
    policy = policies.get(name) or ScriptPolicy(name)
    count = 0
    for index in range(tasks):
        for action in actions_of(env, policy, Split.TEST, index):
            env.step(action)
        count += env.episode.verdict(env.role, Profile.STRICT).success
    return count / tasks


@pytest.mark.parametrize("difficulty", PRESETS)
@pytest.mark.parametrize("role", TITLES)
@pytest.mark.parametrize("name", ["oracle", "solver"])
def test_with_the_colleague_every_task_is_solved(name: str, role: str, difficulty: str) -> None:
    assert solved(make(role, difficulty), name, 40) == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", PRESETS)
@pytest.mark.parametrize("role", TITLES)
@pytest.mark.parametrize("name", ["oracle", "solver"])
def test_many_tasks_are_solved(name: str, role: str, difficulty: str) -> None:
    assert solved(make(role, difficulty), name, 1000) == 1.0


@pytest.mark.parametrize("role", TITLES)
@pytest.mark.parametrize("name", ["nop", "random", *BLIND])
def test_exploits_solve_nothing(name: str, role: str) -> None:
    """Easy tasks have the fewest lines, and so are the easiest to guess."""
    assert solved(make(role), name, some(60, 20)) <= 0.05


@pytest.mark.parametrize("leader", TITLES)
def test_two_agents_solve_tasks_by_talking(leader: str) -> None:
    """Both seats are played from outside, each from what the arena shows it."""
    arena = raw_env(ARENA_ID, difficulty="medium")
    for index in range(15):
        arena.reset(options={"index": index, "split": "test"})
        players = {
            f"{role}_0": Player.of_solver(
                solver.lead if role == leader else solver.answer, arena.episode.instruction(role)
            )
            for role in TITLES
        }
        while not any(arena.terminations.values()):
            agent = arena.agent_selection
            arena.step(players[agent].act(arena.observe(agent)["text"]))
            assert "error" not in arena.infos[agent]
        assert arena.rewards == {"physician_0": 1.0, "pharmacist_0": 1.0}
        assert all(arena.infos[agent]["success"] for agent in arena.agents)


def find_task(kind: str) -> tuple[int, str, ReconciliationInstance]:
    """The first easy task that has a line with a reason, its index, and the medicine."""
    generator = ReconciliationFamily("easy").generator
    for index in range(200):
        instance = generator.generate(Split.TEST, index)
        for name, answer in instance.reference.answers.items():
            if str(answer.reason) == kind:
                return index, name, instance
    raise AssertionError(f"no task has {kind}")


def test_the_colleague_tells_what_is_asked_by_name_and_no_more() -> None:
    index, name, instance = find_task("not_collected")
    pharmacy = {row.medicine for row in instance.start.record.pharmacy.rows()}
    env = make()
    env.reset(options={"index": index, "split": "test"})
    first = env.step(call("send_message", text="Good morning!"))[0]
    assert f"My medicines: {', '.join(sorted(pharmacy)) or 'none'}." in first
    assert "collected" not in first
    second = env.step(call("send_message", text=f"And {name.upper()}?"))[0]
    assert (f"- {name}: label" in second) is (name in pharmacy)
    assert (f"I have nothing on {name}." in second) is (name not in pharmacy)
    assert not [other for other in pharmacy - {name} if f"{other}:" in second]
    # Whoever names some and asks for all is told that there are others, and which.
    all_of_them = f"{name}, and all else you have, bought without a prescription too?"
    third = env.step(call("send_message", text=all_of_them))[0]
    assert ("My medicines: " in third) is bool(pharmacy - {name})


@pytest.mark.parametrize(
    ("question", "general"),
    [
        ("What do you have - allergies, labels, last collection dates, letters?", True),
        ("Which medicines are on your side?", True),
        ("Please share dispensing labels and OTC purchases.", True),
        ("What does your record show? I also need collection dates.", True),
        ("Is that right?", False),
        ("What label do you have for it?", False),
        ("Any allergies?", False),
        ("Please check my orders.", False),
        ("What would you do?", False),
    ],
)
def test_a_general_question_beside_names_keeps_no_medicine_back(
    question: str, general: bool
) -> None:
    """It is told which there are, until all were told; what asks for nothing is told no more."""
    index, name, instance = find_task("not_collected")
    pharmacy = {row.medicine for row in instance.start.record.pharmacy.rows()}
    assert pharmacy - {name}
    env = make()
    env.reset(options={"index": index, "split": "test"})
    beside = env.step(call("send_message", text=f"I have {name}. {question}"))[0]
    assert ("My medicines: " in beside) is general
    env.step(call("send_message", text=", ".join(sorted(pharmacy)) + "?"))
    told = env.step(call("send_message", text=f"I have {name}. {question}"))[0]
    assert "My medicines: " not in told


def test_the_colleague_speaks_up_and_does_not_sign_against_its_half() -> None:
    index, name, instance = find_task("allergy")
    (order,) = (row for row in instance.start.record.chart.ordered if row.medicine == name)
    env = make()
    env.reset(options={"index": index, "split": "test"})
    env.step(
        call(
            "propose_line",
            medicine=name,
            disposition="continue",
            reason="current",
            daily_dose=order.dose,
        )
    )
    observation = env.step(call("send_message", text="Is this right?"))[0]
    assert f"The community pharmacist disagrees: {name} (The patient is allergic to" in observation
    _, reward, terminated, _, info = env.step(call("sign"))
    assert (reward, terminated) == (0.0, True)
    assert "1 signed" in str(info["verdict"])
    assert set(env.episode.world.signed) == {PHYSICIAN}


def test_a_colleague_who_is_left_alone_ends() -> None:
    env = make(max_turns=1)
    env.reset(options={"index": 0, "split": "test"})
    _, _, terminated, truncated, info = env.step(call("send_message", text="Hello?"))
    assert (terminated, truncated) == (False, True)
    assert env.episode.done()
    assert not info["success"]
    assert len(env.episode.turns) < 12


def test_the_colleague_outlasts_an_agent_that_talks_to_the_end() -> None:
    env = make(PHARMACIST)
    env.reset(options={"index": 0, "split": "test"})
    truncated = False
    while not truncated:
        observation, _, _, truncated, _ = env.step(call("send_message", text="And?"))
    assert env.episode.world.left or env.episode.turns_left() == 0
    assert env.episode.turns_left(PHYSICIAN) > 0
    assert "Error" not in observation


@pytest.mark.parametrize("role", TITLES)
def test_a_role_has_its_own_half_and_first_word(role: str) -> None:
    env = make(role)
    observation, info = env.reset(seed=0)
    assert observation.startswith(f"You are the {TITLES[role]}")
    assert (f"Message from the {TITLES[PHYSICIAN]}" in observation) is (role == PHARMACIST)
    names = {tool["function"]["name"] for tool in info["tools"]}
    assert ("read_letters" in names) is (role == PHARMACIST)
    assert ("read_results" in names) is (role == PHYSICIAN)
    assert env.episode.counterparts == (other_role(role),)


def test_there_is_no_third_role() -> None:
    with pytest.raises(ConfigurationError, match="role 'nurse' is not one of physician, pharmac"):
        make("nurse")


@pytest.mark.parametrize("role", TITLES)
def test_an_episode_with_the_colleague_replays(role: str) -> None:
    env = make(role)
    for action in actions_of(env, ScriptPolicy("solver"), Split.TEST, 3):
        env.step(action)
    assert replay(env.trajectory()).success


def test_a_medicine_is_looked_up() -> None:
    env = make()
    env.reset(seed=0)
    shown = env.step(call("look_up_medicine", medicine="Naproxen"))[0]
    for part in ("class NSAID", "allergy to NSAIDs", "to be avoided below an eGFR of 30"):
        assert part in shown
    assert "not in the formulary" in env.step(call("look_up_medicine", medicine="aspirine"))[0]
