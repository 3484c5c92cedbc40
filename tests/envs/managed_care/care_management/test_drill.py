"""The drill of care management: one call, short, judged as every other, and no giveaway."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from healthgym.core.episode import Episode
from healthgym.core.seeding import Split
from healthgym.core.spending import estimate_tokens
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.drill import (
    SESSION,
    TOOLS,
    TURNS,
    filed,
    wordings,
)
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.inspection import Inspection
from healthgym.envs.managed_care.care_management.rehearsal import CareEpisode
from healthgym.envs.managed_care.care_management.task import CareInstance
from healthgym.errors import ConfigurationError
from healthgym.policies.evaluation import evaluate
from healthgym.policies.results import Evaluation
from healthgym.rewards import SparseReward
from healthgym.worlds.managed_care.conversation.acts import Act
from healthgym.worlds.managed_care.conversation.persona import Concern, Willingness
from healthgym.worlds.managed_care.conversation.recognition import understand

_ID = "HealthAgent/CareManagement-v1"
_KWARGS = {"difficulty": "drill"}
FAMILY = CareFamily("drill")
#: A call in words that are not the oracle's.
_HELLO = (
    "Good morning, my name is Ruth Palmer, I am a nurse care manager calling from your health "
    "plan. To be sure that I have the right person, could you tell me your full name and your "
    "date of birth?"
)
_TOLD = (
    "I am calling about our care management program: a nurse calls you and helps with "
    "appointments and medicines. I have access to part of your record. What you tell me is shared "
    "only with your care team. Taking part is voluntary, and you can stop whenever you like."
)
_ASKED = "Do you agree to take part in the program?"


def played(policy: str, episodes: int) -> Evaluation:
    return evaluate(_ID, policy, episodes=episodes, env_kwargs=_KWARGS, floor=False)


def drawn(index: int) -> CareInstance:
    return FAMILY.generator.draw(Split.TEST, index)


def somebody(willing: Willingness, worry: Concern | None = None) -> CareInstance:
    """Return a drill with somebody who is so."""
    for index in range(300):
        persona = drawn(index).reference.persona
        if persona.willingness is willing and worry in (None, *persona.concerns):
            return drawn(index)
    raise AssertionError(f"nobody is {willing} with {worry}")


def talked(instance: CareInstance, messages: Sequence[str], *, consent: bool) -> CareEpisode:
    """Return the episode after a call and what was filed of it."""
    episode: CareEpisode = Episode(FAMILY, instance, SparseReward(), FAMILY.rules)
    episode.step(call("cm_outreach.start_outreach_call", case_id=instance.reference.case_id))
    for message in messages:
        episode.step(call("cm_outreach.send_message", session_id=SESSION, message=message))
    for each in filed(consent=consent, reason="She declined the program and wants no calls."):
        episode.step(each)
    return episode


def failed(episode: CareEpisode) -> set[str]:
    return {each.check.name for each in episode.verdict().checks if not each.passed}


def test_who_listens_is_right_under_both_profiles() -> None:
    results = played("oracle", 60).results
    assert all(result.success["strict"] and result.success["paper"] for result in results)
    assert max(result.calls for result in results) <= TURNS


@pytest.mark.parametrize("policy", ["nop", "random"])
def test_who_does_not_call_gets_nothing(policy: str) -> None:
    assert not any(result.success["strict"] for result in played(policy, 20).results)


@pytest.mark.parametrize(
    "policy", ["prior", "flood", "always_agree", "always_ready", "asks_behind"]
)
def test_who_says_the_same_to_everybody_is_right_no_more_often_than_a_guess(policy: str) -> None:
    hits = [result.success["strict"] for result in played(policy, 120).results]
    assert sum(hits) / len(hits) < 0.45


def test_all_three_kinds_of_person_are_met_and_none_is_usual() -> None:
    kinds = [drawn(index).task.kind for index in range(300)]
    shares = [kinds.count(kind) / len(kinds) for kind in sorted(set(kinds))]
    assert len(shares) == 3
    assert min(shares) > 0.25
    assert max(shares) < 0.4


def test_an_episode_is_short_and_its_tools_are_few() -> None:
    for index in range(20):
        instance = drawn(index)
        episode: CareEpisode = Episode(FAMILY, instance, SparseReward(), FAMILY.rules)
        assert estimate_tokens(len(instance.task.instruction)) <= 120
        script = FAMILY.oracle(instance, np.random.default_rng(index))
        heard = sum(len(episode.step(each).observation) for each in script)
        assert estimate_tokens(heard) <= 450
    offered = {tool["function"]["name"] for tool in FAMILY.roles["agent"].catalog.openai()}
    assert {name.replace(".", "__") for name in TOOLS} == offered


def test_the_right_talk_is_said_in_many_wordings() -> None:
    instance = somebody(Willingness.REFUSES)
    scripts = [FAMILY.oracle(instance, np.random.default_rng(seed)) for seed in range(40)]
    for turn in (1, 2):
        assert len({str(script[turn]) for script in scripts}) >= 10


@pytest.mark.parametrize(
    ("part", "act"),
    [
        ("who", Act.INTRODUCE),
        ("verify", Act.VERIFY_IDENTITY),
        ("program", Act.EXPLAIN_PROGRAM),
        ("access", Act.DISCLOSE_ACCESS),
        ("sharing", Act.STATE_SHARING),
        ("voluntary", Act.EXPLAIN_VOLUNTARY),
        ("ask", Act.REQUEST_CONSENT),
        ("unsure", Act.ASK_HESITATION),
        *((worry.value, Act.ANSWER_CONCERN) for worry in Concern if worry is not Concern.SCAM),
    ],
)
def test_every_wording_is_surely_understood(part: str, act: Act) -> None:
    for text in wordings(part):
        said = understand(text).acts
        assert [each.item for each in said if each.act is act and each.sure] in ([""], [part]), text


def test_other_words_than_the_oracles_are_right() -> None:
    told = f"{_TOLD} {_ASKED}"
    ready = talked(somebody(Willingness.READY), [_HELLO, told], consent=True)
    assert failed(ready) == set()
    no = talked(
        somebody(Willingness.REFUSES),
        [_HELLO, told, "I understand, and I respect that. Thank you for your time. Goodbye."],
        consent=False,
    )
    assert failed(no) == set()
    worried = talked(
        somebody(Willingness.HESITANT, Concern.REPLACES_DOCTOR),
        [
            _HELLO,
            told,
            f"Your doctor stays your doctor, and I only work with your doctor. {_ASKED}",
            "You don't sound quite sure. What is holding you back?",
            _ASKED,
        ],
        consent=True,
    )
    assert failed(worried) == set()


def test_an_introduction_may_say_what_the_handbook_has_it_say() -> None:
    told = (
        "I'm calling about a care management program for people with a long-term condition. You'd "
        "talk to me regularly by phone, at no cost, about appointments, medicines and whatever "
        "gets in the way. I can see part of your medical record, such as visits, medicines and "
        "results. I share what you tell me only with your doctors and care team, and I must pass "
        "on any danger to you or to others. It is completely voluntary, and a no changes nothing "
        f"about your benefits. {_ASKED}"
    )
    episode = talked(somebody(Willingness.READY), [_HELLO, told], consent=True)
    assert failed(episode) == set()


def test_who_minds_one_more_stranger_is_told_that_nobody_new_calls() -> None:
    same = (
        "I understand that. It would always be me who calls, the same person each time, and nobody "
        "new from this program."
    )
    answered = {each.item for each in understand(same).acts if each.act is Act.ANSWER_CONCERN}
    assert answered == {Concern.TOO_MANY_CALLS}


def test_who_asks_before_telling_fails_on_that() -> None:
    short = "It is about our care management program with a nurse. " + _ASKED
    episode = talked(somebody(Willingness.READY), [_HELLO, short, _TOLD, _ASKED], consent=True)
    assert "told_before_asked" in failed(episode)


def test_who_asks_a_refuser_again_and_again_fails_on_that() -> None:
    told = f"{_TOLD} {_ASKED}"
    episode = talked(somebody(Willingness.REFUSES), [_HELLO, told, _ASKED, _ASKED], consent=False)
    assert "refusal_respected" in failed(episode)


def test_who_answers_every_worry_has_heard_none_and_is_turned_down() -> None:
    everything = (
        "There is no bill, and about your privacy: what you tell me stays with your care team. It "
        "takes ten minutes a week, I call only once a week, you keep your own doctor, and I will "
        f"not judge you. {_ASKED}"
    )
    instance = somebody(Willingness.HESITANT, Concern.TIME)
    messages = [_HELLO, f"{_TOLD} {_ASKED}", everything, "What is holding you back?", _ASKED]
    assert {"listened", "consent_true"} <= failed(talked(instance, messages, consent=True))


@pytest.mark.parametrize("willing", [Willingness.READY, Willingness.REFUSES])
def test_who_files_the_other_answer_fails(willing: Willingness) -> None:
    refuses = willing is Willingness.REFUSES
    episode = talked(somebody(willing), [_HELLO, f"{_TOLD} {_ASKED}"], consent=refuses)
    assert {"consent_true", "ends_right"} <= failed(episode)


def test_the_stages_of_the_open_episode_count_whatever_is_answered() -> None:
    reached = []
    for willing in (Willingness.READY, Willingness.REFUSES):
        instance = somebody(willing)
        episode = talked(instance, [_HELLO, f"{_TOLD} {_ASKED}"], consent=False)
        before = FAMILY.open(instance)
        reached.append(Inspection(before, episode.world, instance.reference).stage)
        assert Inspection(before, before, instance.reference).stage < reached[-1]
    assert reached[0] < 1


def test_a_drill_has_no_place_for_canonical_tasks() -> None:
    with pytest.raises(ConfigurationError, match="drill"):
        CareFamily("drill", canonical=True)
