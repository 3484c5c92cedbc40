"""The published text protocol: GET, POST and FINISH in the agent's own text."""

import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import healthgym
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.paper.grading import BASE_URL
from healthgym.envs.fhir_record.raw_text import read_reply
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.testing.replay import replay
from tests.sized import first_ones

KIND_OPTIONS = {"kind": "v1-t3"}


def text_env(env_id="HealthAgent/MedAgentBenchV1-v1", **options):
    made = gym.make(env_id, split="validation", protocol="raw", disable_env_checker=True, **options)
    return made.unwrapped


def facts_of(env):
    return env.episode._instance.reference.facts


def decision_of(env):
    return env.episode._instance.reference.decision


def reading_for(env):
    facts = facts_of(env)
    coding = {
        "system": "http://hl7.org/fhir/observation-category",
        "code": "vital-signs",
        "display": "Vital Signs",
    }
    return {
        "resourceType": "Observation",
        "category": [{"coding": [coding]}],
        "code": {"text": facts.codes["blood_pressure"]},
        "effectiveDateTime": facts.now.isoformat(),
        "status": "final",
        "valueString": facts.details["reading"],
        "subject": {"reference": f"Patient/{facts.patient}"},
    }


def posted(resource):
    return f"POST {BASE_URL}{resource['resourceType']}\n{json.dumps(resource, indent=1)}"


@pytest.mark.parametrize(
    ("reply", "name", "arguments"),
    [
        ("GET http://x/Patient?family=A", "get", {"url": "http://x/Patient?family=A&_format=json"}),
        ("  GET http://x/Patient ", "get", {"url": "http://x/Patient&_format=json"}),
        ("```tool_code\nGET http://x\n```", "get", {"url": "http://x&_format=json"}),
        ("POST http://x\n{}", "post", {"url": "http://x", "body": "{}"}),
        (
            "```\nPOST http://x\n[1]\n```",
            "post",
            {"url": "http://x", "body": "[1]", "sent": "```\nPOST http://x\n[1]\n```"},
        ),
        ("FINISH([1.5])", "finish", {"value": [1.5], "text": "[1.5]"}),
        ('FINISH(["a", -1])', "finish", {"value": ["a", -1], "text": '["a", -1]'}),
        ("FINISH([1]) bye", "finish", {"value": None, "text": "[1]) by"}),
        ("FINISH([1]", "finish", {"value": None, "text": "[1"}),
        ("FINISH(1)", "finish", {"value": 1, "text": "1"}),
        ("FINISH([NaN])", "finish", {"value": None, "text": "[NaN]"}),
        ("FINISH([1e999])", "finish", {"value": None, "text": "[1e999]"}),
    ],
)
def test_replies_are_read_as_upstream_reads_them(reply, name, arguments):
    (call,) = read_reply(reply)
    assert (call.name, dict(call.arguments)) == (name, arguments)


@pytest.mark.parametrize(
    "reply", ["", "I would GET http://x", "finish([1])", "FINISH [1]", "PUT x"]
)
def test_other_replies_abandon_the_run(reply):
    assert read_reply(reply) == (ToolCall("abandon"),)


def test_the_prompt_holds_rules_functions_and_question():
    env = text_env()
    prompt, info = env.reset(seed=1)
    assert prompt == env.episode.instruction()
    assert prompt.endswith(env.episode.task.instruction)
    start = prompt.index("[{")
    functions, _ = json.JSONDecoder().raw_decode(prompt[start:])
    names = [f["name"].removeprefix(BASE_URL) for f in functions]
    assert len(names) == 9
    assert sorted(n.split()[0] for n in names) == ["GET"] * 6 + ["POST"] * 3
    assert all(BASE_URL in f["name"] for f in functions)
    assert info["tools"] == []


def test_a_search_shows_the_raw_bundle():
    env = text_env()
    env.reset(seed=2, options={"kind": "v1-t7"})
    facts = facts_of(env)
    url = f"GET {BASE_URL}Observation?patient={facts.patient}&code=GLU&_count=500&_sort=-date"
    text, reward, terminated, truncated, info = env.step(url)
    bundle, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    assert bundle["resourceType"] == "Bundle"
    times = [entry["resource"]["effectiveDateTime"] for entry in bundle.get("entry", [])]
    assert times == sorted(times, reverse=True)
    assert (reward, terminated, truncated, info["turns_left"]) == (0.0, False, False, 7)
    newest = decision_of(env).answer[0].value
    _, reward, terminated, _, info = env.step(f"FINISH([{newest}])")
    assert (reward, terminated) == (1.0, True)
    assert info["verdict"]["paper"]["success"]


def test_a_search_that_fails_is_shown_and_costs_a_round():
    env = text_env()
    env.reset(seed=2)
    text, _, terminated, _, info = env.step(f"GET {BASE_URL}Nonsense?x=1")
    assert "404" in text
    assert not terminated
    assert info["turns_left"] == 7
    text, *_ = env.step("POST somewhere\n{broken")
    assert text == "Invalid POST request"


def test_a_write_is_acknowledged_stored_and_graded():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(posted(reading_for(env)))
    assert text.startswith("POST request accepted")
    assert len(env.episode.world.store.written) == 1
    _, reward, _, _, info = env.step("FINISH([])")
    assert reward == 1.0
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [True, True]


def test_without_storage_only_the_published_grader_finds_the_order():
    env = text_env(store_writes=False)
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(posted(reading_for(env)))
    assert text.startswith("POST request accepted")
    assert env.episode.world.store.written == ()
    *_, info = env.step("FINISH([])")
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [True, False]


def test_without_storage_any_json_to_any_address_is_accepted():
    env = text_env(store_writes=False)
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step("POST nowhere\n[1]")
    assert text.startswith("POST request accepted")
    *_, info = env.step("FINISH([])")
    assert not info["verdict"]["paper"]["success"]


def test_with_storage_a_refused_write_is_shown_and_not_counted():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(posted({**reading_for(env), "subject": {"reference": "Patient/S1"}}))
    assert "POST request failed" in text
    env.step(posted(reading_for(env)))
    *_, info = env.step("FINISH([])")
    assert info["verdict"]["paper"]["success"]


def test_a_fenced_write_is_accepted_and_lost_as_upstream():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(f"```\n{posted(reading_for(env))}\n```")
    assert text.startswith("POST request accepted")
    *_, info = env.step("FINISH([])")
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [False, True]


@pytest.mark.parametrize("before", [" ", "\n", "\t", "\n\n"], ids=["space", "line", "tab", "lines"])
def test_a_write_after_space_is_accepted_and_misread_as_upstream(before):
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(before + posted(reading_for(env)))
    assert text.startswith("POST request accepted")
    *_, info = env.step("FINISH([])")
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [False, True]


def test_not_a_number_ends_the_run_as_upstream():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    env.step(posted(reading_for(env)))
    _, _, terminated, _, info = env.step("FINISH([NaN])")
    assert terminated
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [True, False]


def test_the_word_post_in_the_answer_fails_a_written_order_as_upstream():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    env.step(posted(reading_for(env)))
    *_, info = env.step('FINISH(["POST done"])')
    assert not info["verdict"]["paper"]["success"]


def test_an_unparsable_answer_ends_the_run_and_counts_where_no_answer_is_read():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    env.step(posted(reading_for(env)))
    _, reward, terminated, _, info = env.step("FINISH(done")
    assert terminated
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [True, False]
    assert reward < 1.0


@pytest.mark.parametrize("wrong", ["POST x\n{broken", "GET http://localhost:8080/fhir/POST"])
def test_the_word_post_spoils_a_query_as_upstream(wrong):
    env = text_env()
    env.reset(seed=2, options={"kind": "v1-t2"})
    env.step(wrong)
    *_, info = env.step(f"FINISH([{decision_of(env).answer[0].value}])")
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [False, True]


PROSE = "Let me GET the chart first."


@pytest.mark.parametrize("reward_name", ["sparse", "shaped"])
def test_prose_ends_the_episode_as_failed(reward_name):
    env = text_env(reward=reward_name)
    env.reset(seed=1)
    text, reward, terminated, truncated, info = env.step(PROSE)
    assert text == "The reply is neither GET, nor POST, nor FINISH."
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert "error" not in info
    for verdict in info["verdict"].values():
        assert not verdict["success"]
        assert {"submitted"} <= {c["name"] for c in verdict["checks"] if not c["passed"]}
    assert env.episode.done()
    assert not env.episode.submitted()
    with pytest.raises(EpisodeStateError, match="reset"):
        env.step("FINISH([])")
    env.reset(seed=1)
    assert env.step("FINISH([])")[2]


def test_a_run_whose_orders_are_right_fails_where_it_is_abandoned():
    env = text_env()
    env.reset(seed=4, options=KIND_OPTIONS)
    env.step(posted(reading_for(env)))
    *_, info = env.step("I am done.")
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [False, False]
    assert info["verdict"]["paper"]["progress"] == 0


def test_the_charge_for_handing_in_nothing_is_due_where_a_run_is_abandoned():
    env = text_env(costs={"unsubmitted": 0.5})
    env.reset(seed=1)
    assert env.step(PROSE)[1] == -0.5


def test_the_round_limit_counts_every_reply():
    env = text_env(max_turns=3)
    env.reset(seed=1)
    for left in (2, 1):
        text, *_, truncated, info = env.step(f"GET {BASE_URL}Patient?family=Q")
        assert not truncated
        assert info["turns_left"] == left
        assert text.endswith("to the question.")
    *_, truncated, info = env.step(f"GET {BASE_URL}Patient?family=Q")
    assert truncated
    assert not info["success"]


def test_an_episode_takes_as_many_replies_as_the_published_runs():
    env = text_env()
    env.reset(seed=1)
    assert env.episode.turns_left() == 8
    before = env.episode.world.clock.now
    env.step(f"GET {BASE_URL}Patient?family=Q")
    assert env.episode.world.clock.now == before


@pytest.mark.parametrize(
    "action",
    [
        healthgym.call("get", url=f"{BASE_URL}Patient?family=Q"),
        {"arguments": {"value": [1], "text": "[1]"}, "name": "finish"},
        healthgym.call("finish", value=[float("nan")]),
        healthgym.call("no_such_tool"),
        healthgym.call("abandon"),
        ["FINISH([1])"],
        {"family": "Q"},
        None,
        7,
        "FINISH([NaN])",
        'FINISH(["\\ud800"])',
        "GET \ud800",
        "GET " + "x" * 100_000,
        "[" * 5000,
    ],
    ids=lambda action: repr(action)[:24].encode("ascii", "replace").decode(),
)
def test_what_is_recorded_replays_to_the_same(action):
    env = text_env()
    env.reset(options={"index": 3})
    env.step(action)
    while not env.episode.done():
        env.step(f"GET {BASE_URL}Patient?family=Q")
    record = env.trajectory()
    again = text_env()
    again.reset(options={"index": 3})
    for turn in record.turns:
        again.step(turn.action)
    assert again.trajectory().turns == record.turns
    assert again.episode.verdicts() == env.episode.verdicts()


def test_a_record_replays_by_its_own_arguments():
    env = text_env(store_writes=False, profile="paper")
    env.reset(seed=4, options=KIND_OPTIONS)
    for action in env.family.oracle(env.episode._instance, np.random.default_rng(0)):
        env.step(action)
    assert replay(env.trajectory()).success


@pytest.mark.parametrize("options", [{}, {"benchmark": "v2"}], ids=["ours", "v2"])
def test_the_oracle_solves_every_type_in_replies(options):
    env = text_env("HealthAgent/FhirRecord-v1", difficulty="easy", **options)
    kinds = set()
    for index in range(60):
        instance = env.family.generator.generate(Split.TRAIN, index)
        kinds.add(instance.reference.kind)
        env.reset(options={"index": index, "split": "train"})
        for reply in env.family.oracle(instance, np.random.default_rng(0)):
            *_, info = env.step(reply)
            assert "error" not in info, reply
        assert [v["success"] for v in info["verdict"].values()] == [True, True], instance.task
    assert len(kinds) >= (15 if not options else 8)


@pytest.mark.parametrize("name", ["prior", "flood", "finish_empty", "finish_minus_one"])
def test_the_scripts_that_do_not_look_speak_it_too(name):
    env = text_env()
    for index in range(10):
        env.reset(options={"index": index})
        script = env.family.baselines()[name](env.episode._instance, np.random.default_rng(0))
        assert all(reply.startswith(("GET ", "POST ", "FINISH(")) for reply in script)
        assert script[-1].startswith("FINISH(")


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_it_is_an_environment_of_text():
    check_env(text_env("HealthAgent/FhirRecord-v1"), skip_render_check=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "smoke"}, "tools, raw"),
        ({"protocol": "tools", "store_writes": False}, "raw protocol"),
        ({"max_turns": 0}, "max_turns"),
    ],
    ids=["protocol", "store-writes", "max-turns"],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ConfigurationError, match=message):
        gym.make("HealthAgent/FhirRecord-v1", **{"protocol": "raw", **options})


@pytest.mark.parametrize("junk", first_ones([["active"], {"a": 1}, [["stat"]], 7], 2))
@pytest.mark.parametrize("benchmark", ["V1", "V2"])
def test_an_odd_element_costs_the_order_and_not_the_verdict(benchmark, junk):
    env = text_env(f"HealthAgent/MedAgentBench{benchmark}-v1")
    seen = set()
    for index in range(40):
        instance = env.family.generator.generate(Split.VALIDATION, index)
        replies = env.family.oracle(instance, np.random.default_rng(0))
        place = next((n for n, one in enumerate(replies) if one.startswith("POST")), None)
        if place is None or instance.task.kind in seen:
            continue
        seen.add(instance.task.kind)
        head, body = replies[place].split("\n", 1)
        order = json.loads(body)
        for element in {*order, "status", "priority", "intent"} - {"resourceType"}:
            env.reset(options={"index": index})
            odd = f"{head}\n{json.dumps({**order, element: junk})}"
            for reply in [*replies[:place], odd, *replies[place + 1 :]]:
                *_, info = env.step(reply)
            assert "strict" in info["verdict"], element
    assert len(seen) > 2
