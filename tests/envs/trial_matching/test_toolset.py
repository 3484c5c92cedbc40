"""The tools: pages, filters, and a shortlist that changes or says why not."""

import re

import gymnasium as gym
import pytest

import healthgym
from healthgym.errors import ConfigurationError


@pytest.fixture
def env():
    env = gym.make("HealthAgent/TrialMatching-v1", pool_size=60)
    env.reset(options={"index": 2})
    return env


def play(env, name, **arguments):
    text, *_, info = env.step(healthgym.call(name, **arguments))
    return text.split("\n", 1)[1], info.get("error", "")


def ids_in(text):
    return re.findall(r"^NCT\d{8}", text, re.MULTILINE)


def test_pages_list_every_trial_once(env):
    pages = [play(env, "list_trials", page=page)[0] for page in (1, 2, 3)]
    assert [len(ids_in(page)) for page in pages] == [25, 25, 10]
    assert tuple(ids_in("\n".join(pages))) == env.unwrapped.episode.world.corpus.ids
    assert "between 1 and 3" in play(env, "list_trials", page=4)[1]
    assert "between 1 and 3" in play(env, "list_trials", page=0)[1]


def test_search_finds_words_and_filters_by_sex_and_age(env):
    text, _ = play(env, "search_trials", query="history of malignancy")
    assert ids_in(text)
    corpus = env.unwrapped.episode.world.corpus
    text, _ = play(env, "search_trials", query="inclusion criteria", sex="Female", age=19)
    assert all(corpus.document(id_).admits("Female", 19) for id_ in ids_in(text))
    admitted = [id_ for id_ in corpus.ids if corpus.document(id_).admits("Female", 19)]
    assert f"{len(admitted)} trials" in text
    assert "No trial matches" in play(env, "search_trials", query="zzzz")[0]
    assert "No trial matches" in play(env, "search_trials", query="")[0]
    assert "argument 'sex'" in play(env, "search_trials", query="x", sex="F")[1]


def test_reading(env):
    id_ = env.unwrapped.episode.world.corpus.ids[0]
    criteria, _ = play(env, "read_trial", nct_id=id_.lower())
    assert "Minimum age" in criteria
    assert play(env, "read_trial", nct_id=id_, section="xml")[0].startswith("<clinical_study>")
    assert "Interventions" in play(env, "read_trial", nct_id=id_, section="overview")[0]
    ids = list(env.unwrapped.episode.world.corpus.ids[:8])
    text, _ = play(env, "read_eligibility", nct_ids=ids)
    assert ids_in(text) == ids
    assert "1 to 8" in play(env, "read_eligibility", nct_ids=[*ids, id_])[1]
    assert "1 to 8" in play(env, "read_eligibility", nct_ids=[])[1]
    assert "no trial" in play(env, "read_trial", nct_id="NCT99999999")[1]
    assert "eight digits" in play(env, "read_trial", nct_id="first")[1]


def test_shortlist(env):
    world = env.unwrapped.episode.world
    a, b, c, d = world.corpus.ids[:4]
    assert play(env, "show_shortlist")[0] == "The shortlist is empty."
    assert (
        play(env, "add_to_shortlist", nct_ids=[a, b.lower()])[0] == "The shortlist has 2 entries."
    )
    play(env, "add_to_shortlist", nct_ids=[c], position=1)
    assert world.draft == (c, a, b)
    play(env, "reorder_shortlist", nct_ids=[b, a])
    assert world.draft == (b, a, c)
    play(env, "remove_from_shortlist", nct_ids=[a])
    assert play(env, "show_shortlist")[0] == f"1. {b}\n2. {c}"
    play(env, "write_shortlist", text=f"{d}\nNOT {a}")
    assert world.draft == (d, f"NOT {a}")
    play(env, "write_shortlist", text=f"1. {c}\n2) {d}")
    assert play(env, "show_shortlist")[0] == f"1. {c}\n2. {d}"
    play(env, "write_shortlist", text=f"2. {c}\n1. {d}")
    assert play(env, "show_shortlist")[0] == f"1. 2. {c}\n2. 1. {d}"


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("add_to_shortlist", {"nct_ids": []}, "at least one"),
        ("add_to_shortlist", {"nct_ids": ["NCT99999999"]}, "no trial"),
        ("add_to_shortlist", {"nct_ids": [0, 0]}, "named twice"),
        ("add_to_shortlist", {"nct_ids": [1]}, "already"),
        ("add_to_shortlist", {"nct_ids": [0], "position": 3}, "position"),
        ("add_to_shortlist", {"nct_ids": [0], "position": -1}, "position"),
        ("remove_from_shortlist", {"nct_ids": [0]}, "Not on"),
        ("remove_from_shortlist", {"nct_ids": []}, "Not on"),
        ("reorder_shortlist", {"nct_ids": [0]}, "Not on"),
        ("reorder_shortlist", {"nct_ids": [1]}, "that order already"),
        ("write_shortlist", {"text": "x" * 70_000}, "argument|characters"),
        ("write_shortlist", {"text": "\n" * 1001}, "1000 lines"),
    ],
)
def test_refused_writes_change_nothing(env, name, arguments, reason):
    world = env.unwrapped.episode.world
    play(env, "add_to_shortlist", nct_ids=[world.corpus.ids[1]])
    before = world.digest()
    if "nct_ids" in arguments:
        ids = [world.corpus.ids[i] if isinstance(i, int) else i for i in arguments["nct_ids"]]
        arguments = {**arguments, "nct_ids": ids}
    assert re.search(reason, play(env, name, **arguments)[1])
    assert world.digest() == before


def test_writing_the_same_again_is_refused(env):
    play(env, "write_shortlist", text="NCT00000001")
    assert "already" in play(env, "write_shortlist", text="NCT00000001")[1]


def test_instruction_states_the_rules(env):
    observation, _ = env.reset(options={"index": 0})
    said = ("60 registered trials", "unknown", "History of", "not those of relatives")
    lasting = ("A value without a date was measured that day", "not call past or resolved is still")
    for phrase in (*said, *lasting):
        assert phrase in observation


@pytest.mark.parametrize("wrong", [{"max_turns": 0}, {"max_turns": True}, {"profile": "lenient"}])
def test_wrong_arguments(wrong):
    with pytest.raises(ConfigurationError):
        gym.make("HealthAgent/TrialMatching-v1", **wrong)
