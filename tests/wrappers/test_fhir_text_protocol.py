import json

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

import healthgym  # noqa: F401 -- registers the environments
from healthgym.envs.fhir_record.paper.grading import BASE_URL
from healthgym.errors import ConfigurationError, EpisodeStateError
from healthgym.wrappers.fhir_text_protocol import FhirTextProtocol, RunStatus, parse_reply

KIND_OPTIONS = {"kind": "v1-t3"}


def text_env(env_id="HealthAgent/MedAgentBenchV1-v0", **options):
    env = gym.make(env_id, split="validation", disable_env_checker=True)
    return FhirTextProtocol(env, **options)


def facts_of(env):
    return env.unwrapped.episode._instance.reference.facts


def decision_of(env):
    return env.unwrapped.episode._instance.reference.decision


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
        "code": {"text": "BP"},
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
        ("POST http://x\n{}", "post", {"url": "http://x", "body": "{}", "fenced": False}),
        (
            "```\nPOST http://x\n[1]\n```",
            "post",
            {"url": "http://x", "body": "[1]", "fenced": True},
        ),
        ("FINISH([1.5])", "finish", {"value": [1.5], "text": "[1.5]"}),
        ('FINISH(["a", -1])', "finish", {"value": ["a", -1], "text": '["a", -1]'}),
        ("FINISH([1]) bye", "finish", {"value": None, "text": "[1]) by"}),
        ("FINISH([1]", "finish", {"value": None, "text": "[1"}),
        ("FINISH(1)", "finish", {"value": 1, "text": "1"}),
    ],
)
def test_replies_are_read_as_upstream_reads_them(reply, name, arguments):
    call = parse_reply(reply)
    assert (call.name, dict(call.arguments)) == (name, arguments)


@pytest.mark.parametrize(
    "reply", ["", "I would GET http://x", "finish([1])", "FINISH [1]", "PUT x"]
)
def test_other_replies_are_none_of_the_forms(reply):
    assert parse_reply(reply) is None


def test_the_prompt_holds_rules_functions_and_question():
    env = text_env()
    prompt, info = env.reset(seed=1)
    assert env.unwrapped.episode.instruction() in prompt
    start = prompt.index("[{")
    functions, _ = json.JSONDecoder().raw_decode(prompt[start:])
    names = [f["name"].removeprefix(BASE_URL) for f in functions]
    assert len(names) == 9
    assert sorted(n.split()[0] for n in names) == ["GET"] * 6 + ["POST"] * 3
    assert all(BASE_URL in f["name"] for f in functions)
    assert info["tools"] == []
    assert info["status"] == "running"


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
    newest = bundle["entry"][0]["resource"]["valueQuantity"]["value"] if times else -1
    _, reward, terminated, _, info = env.step(f"FINISH([{newest}])")
    assert (reward, terminated, info["status"]) == (1.0, True, "completed")
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
    assert len(env.unwrapped.episode.world.store.written) == 1
    _, reward, _, _, info = env.step("FINISH([])")
    assert reward == 1.0
    assert [info["verdict"][p]["success"] for p in ("paper", "strict")] == [True, True]


def test_without_storage_only_the_published_grader_finds_the_order():
    env = text_env(store_writes=False)
    env.reset(seed=4, options=KIND_OPTIONS)
    text, *_ = env.step(posted(reading_for(env)))
    assert text.startswith("POST request accepted")
    assert env.unwrapped.episode.world.store.written == ()
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


def test_prose_ends_the_episode_as_failed():
    env = text_env()
    env.reset(seed=1)
    _, reward, terminated, truncated, info = env.step("Let me GET the chart first.")
    assert (reward, terminated, truncated, info["success"]) == (0.0, True, False, False)
    assert info["status"] == RunStatus.INVALID_ACTION
    assert not any(verdict["success"] for verdict in info["verdict"].values())
    with pytest.raises(EpisodeStateError, match="reset"):
        env.step("FINISH([])")
    env.reset(seed=1)
    assert env.step("FINISH([])")[2]


def test_the_round_limit_counts_every_reply():
    env = text_env(max_rounds=3)
    env.reset(seed=1)
    for _ in range(2):
        *_, truncated, info = env.step(f"GET {BASE_URL}Patient?family=Q")
        assert not truncated
    *_, truncated, info = env.step(f"GET {BASE_URL}Patient?family=Q")
    assert truncated
    assert (info["status"], info["success"]) == ("task limit reached", False)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
def test_it_is_an_environment_of_text():
    check_env(text_env("HealthAgent/FhirRecord-v0"), skip_render_check=True)


def test_only_a_record_system_can_be_wrapped():
    with pytest.raises(ConfigurationError, match="FHIR"):
        FhirTextProtocol(gym.make("CartPole-v1", disable_env_checker=True))
    with pytest.raises(ConfigurationError, match="max_rounds"):
        text_env(max_rounds=0)
