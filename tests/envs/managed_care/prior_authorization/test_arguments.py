"""What an environment can be asked for: tools, a way to call them, parts of the handbook."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import numpy as np
import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.errors import ConfigurationError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing.play import ORACLE, actions_of

POLICIES = "medical-library/medical-policies"


def made(**chosen: str) -> HealthEnv:
    return PriorAuthorizationEnv(**chosen)


def played(env: HealthEnv, index: int) -> Iterator[tuple[object, str]]:
    """Play the oracle, and yield each action with what it is answered."""
    for action in actions_of(env, ScriptPolicy(ORACLE), Split.TEST, index):
        observation, _, _, _, info = env.step(action)
        assert "error" not in info, info
        yield action, observation


def solved(env: HealthEnv) -> bool:
    verdicts = env.episode.verdicts(env.role)
    return all(verdict["success"] for verdict in verdicts.values())


def first(kind: str, env: HealthEnv) -> int:
    """Return the first test task whose kind begins so."""
    tasks = env.family.generator
    return next(n for n in range(60) if tasks.generate(Split.TEST, n).task.kind.startswith(kind))


# -- what is withheld ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ablate", "gone", "there"),
    [
        ("none", [], ["provider-pa", "payer-um", "care-manager", "medical-library", "platform"]),
        ("domain", ["provider-pa", "payer-um", "care-manager"], ["medical-library", "platform"]),
        ("medical", ["medical-library"], ["provider-pa", "payer-um", "platform"]),
        ("both", ["provider-pa", "payer-um", "care-manager", "medical-library"], ["platform"]),
    ],
)
def test_a_part_that_is_withheld_is_one_page_that_says_so(
    ablate: str, gone: list[str], there: list[str]
) -> None:
    env = made(ablate=ablate)
    env.reset(options={"split": "test", "index": 1})
    library = env.episode.world.handbook
    assert {folder: len(list(library.paths(f"{folder}/"))) for folder in gone} == dict.fromkeys(
        gone, 1
    )
    assert all(len(list(library.paths(f"{folder}/"))) > 3 for folder in there)
    for folder in gone:
        (stub,) = library.paths(f"{folder}/")
        assert "not available" in library.read(stub).text


def test_search_sees_no_page_that_is_withheld_whoever_changed_it() -> None:
    whole, without = (made(ablate=which) for which in ("none", "medical"))
    index = first("submit_pa", whole)
    found = {}
    for env in (whole, without):
        env.reset(options={"split": "test", "index": index})
        policy = whole.family.generator.generate(Split.TEST, index).reference.policy
        ask = call("handbook.search", query=policy.title)
        read = call("handbook.read", path=f"{POLICIES}/{policy.id}.md")
        found[env] = [env.step(ask)[0], env.step(read)[0]]
    assert f"{POLICIES}/{policy.id}.md" in found[whole][0]
    assert POLICIES not in found[without][0]
    assert "Error" not in found[whole][1]
    assert "Error: The handbook has no page" in found[without][1]


@pytest.mark.parametrize("ablate", ["domain", "medical", "both"])
def test_tasks_and_verdicts_are_the_same_without_the_handbook(ablate: str) -> None:
    whole, without = made(), made(ablate=ablate)
    for index in range(4):
        one, other = (env.family.generator.generate(Split.TEST, index) for env in (whole, without))
        assert one.task == other.task
        assert one.reference == other.reference
        assert list(played(without, index))
        assert solved(without)


# -- command lines ---------------------------------------------------------------------------------


def test_command_lines_are_another_way_to_make_the_same_calls() -> None:
    native, cli = made(surface="native"), made(surface="cli")
    for index in range(4):
        typed, lines = list(played(native, index)), list(played(cli, index))
        assert [shown for _, shown in typed] == [shown for _, shown in lines]
        assert all(isinstance(action, ToolCall) for action, _ in typed)
        assert all(str(action).startswith("chi ") for action, _ in lines)
        assert solved(cli)
        ends = {env.episode.world.content_digest() for env in (native, cli)}
        assert len(ends) == 1


def test_an_agent_asks_for_tools_that_are_not_listed() -> None:
    env = made(surface="cli")
    observation, info = env.reset(options={"split": "test", "index": 0})
    assert info["tools"] == []
    assert "chi --help" in observation
    top = env.step("chi --help")[0]
    assert "chi auth <tool>: finalize_provider_determination, submit_authorization" in top
    page = env.step("chi cases create_from_order --help")[0]
    assert "--diagnosis_codes list[string]" in page
    assert "Error: chi chart has no tool 'burn'" in env.step("chi chart burn")[0]
    shown, _, terminated, _, info = env.step("I am done.\n```bash\nchi finish\n```")
    assert (terminated, "error" in info) == (True, False), shown


def test_nothing_is_said_of_commands_where_tools_are_listed() -> None:
    observation, info = made().reset(options={"split": "test", "index": 0})
    assert "--help" not in observation
    assert "help" not in {each["function"]["name"] for each in info["tools"]}


def test_an_environment_of_command_lines_can_be_pickled() -> None:
    env = made(surface="cli")
    again = pickle.loads(pickle.dumps(env))
    again.reset(options={"split": "test", "index": 0})
    assert "chi finish" in again.step("chi help")[0]


# -- tools -----------------------------------------------------------------------------------------

ADDED = {"coverage", "payer_policy_library", "payer_portal", "payer_api_gateway"}


def names(**chosen: str) -> set[str]:
    family = AuthorizationFamily(**chosen)  # type: ignore[arg-type]
    return {spec.name for spec in family.roles["agent"].catalog.specs}


def test_the_extended_surface_adds_what_a_provider_can_use() -> None:
    published, extended = names(), names(tools="extended")
    assert {name.partition(".")[0] for name in extended - published} == ADDED
    assert published < extended
    held_back = names(tools="extended", ablate="medical")
    assert {name.partition(".")[0] for name in extended - held_back} == {"payer_policy_library"}


def test_the_benefit_check_knows_what_needs_no_authorization() -> None:
    env = made(tools="extended")
    required = {}
    for kind in ("do_not_submit-service_not_pa_required", "submit_pa-approved"):
        index = first(kind, env)
        wanted = env.family.generator.generate(Split.TEST, index).reference
        env.reset(options={"split": "test", "index": index})
        shown = env.step(
            call(
                "coverage.check_pa_requirement",
                patient_id=wanted.patient_id,
                procedure_code=wanted.procedure_code,
            )
        )[0]
        assert f"policy_id: {wanted.policy.id}" in shown
        required[kind] = "authorization_required: yes" in shown
    assert list(required.values()) == [False, True]
    assert (
        "has no policy on 'X'"
        in env.step(
            call("coverage.check_pa_requirement", patient_id=wanted.patient_id, procedure_code="X")
        )[0]
    )


def test_the_benefit_check_knows_whose_coverage_has_ended() -> None:
    env = made(tools="extended")
    for kind, eligible in (
        ("do_not_submit-coverage_inactive", "no"),
        ("submit_pa-approved", "yes"),
    ):
        index = first(kind, env)
        wanted = env.family.generator.generate(Split.TEST, index).reference
        env.reset(options={"split": "test", "index": index})
        check = call("coverage.check_eligibility", patient_id=wanted.patient_id)
        assert f"eligible: {eligible}" in env.step(check)[0]
    wrong = call("coverage.check_eligibility", patient_id=wanted.patient_id, service_date="soon")
    assert "service_date is 'soon', which is no day" in env.step(wrong)[0]


@pytest.mark.parametrize(
    "arguments",
    [{"ablate": "all"}, {"surface": "shell"}, {"tools": "more"}, {"rules": "lax"}],
    ids=lambda arguments: next(iter(arguments)),
)
def test_what_is_no_choice_is_refused(arguments: dict[str, str]) -> None:
    (name,) = arguments
    with pytest.raises(ConfigurationError, match=f"{name} '.*' is not one of"):
        AuthorizationFamily(**arguments)  # type: ignore[arg-type]


def test_baselines_write_their_calls_as_the_surface_takes_them() -> None:
    family = AuthorizationFamily(surface="cli")
    instance = family.generator.generate(Split.TEST, 0)
    for name, play in family.baselines().items():
        script = list(play(instance, np.random.default_rng(0)))
        assert script, name
        assert all(str(action).startswith("chi ") for action in script), name
