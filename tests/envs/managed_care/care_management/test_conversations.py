"""What stands between a caller and a person: each can be solved, and each check can fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import call
from healthgym.envs.managed_care.care_management.family import CareFamily
from healthgym.envs.managed_care.care_management.generator import CareGenerator
from healthgym.envs.managed_care.care_management.task import (
    PRESETS,
    USUAL_ENDINGS,
    CareConfig,
    CareInstance,
    Ending,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.conversation.described import described, nearest
from healthgym.worlds.managed_care.conversation.persona import Persona
from healthgym.worlds.managed_care.conversation.surroundings import Capacity, Line, Surroundings
from healthgym.worlds.managed_care.handbook.draws import conversation_fields
from healthgym.worlds.managed_care.handbook.edition import supplements, written_library
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.voices import Consent
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.envs.managed_care.care_management.playing import (
    DISENROLL,
    END,
    SAY,
    SECTION,
    Script,
    changed,
    fails,
    places,
    play,
    saying,
)

FAMILY = CareFamily("conversations")
PAGE = "care-manager/operational/on-the-line.md"
START = "cm_outreach.start_outreach_call"
_MOST = 120


@cache
def task(name: str) -> CareInstance:
    """Return the first task of a kind."""
    for index in range(_MOST):
        instance = FAMILY.generator.generate(Split.TEST, index)
        if KINDS[name](instance.reference.ending, instance.reference.persona):
            return instance
    raise LookupError(name)


def _line(ending: Ending, persona: Persona) -> Line:
    return persona.around.line if ending in USUAL_ENDINGS else Line()


def _plain(persona: Persona) -> Line:
    return Line(number=persona.around.line.number)


def _machine(persona: Persona) -> bool:
    return persona.around.line.machine and not persona.around.line.wrong


KINDS: dict[str, Callable[[Ending, Persona], object]] = {
    "withdrawn": lambda ending, _: ending is Ending.WITHDRAWN,
    "partial": lambda ending, _: ending is Ending.PARTIAL,
    "unable": lambda ending, _: ending is Ending.UNABLE,
    "unreachable": lambda ending, one: ending is Ending.UNREACHABLE and _machine(one),
    "proxy": lambda ending, one: (
        ending in USUAL_ENDINGS and one.around.proxy and one.around.line == _plain(one)
    ),
    "emergency": lambda ending, one: ending is Ending.PLANNED and one.around.emergency,
    "relative": lambda ending, one: ending is Ending.PLANNED and one.around.relative,
    "hearing": lambda ending, one: ending is Ending.PLANNED and one.around.manner.most_words,
    "interpreter": lambda ending, one: ending in USUAL_ENDINGS and one.around.interpreter,
    "window": lambda ending, one: _line(ending, one).from_hour,
    "correction": lambda ending, one: ending is Ending.PLANNED and one.around.takes_back,
}


@cache
def solution(name: str) -> tuple[object, ...]:
    return tuple(FAMILY.oracle(task(name), np.random.default_rng(0)))


def solved(name: str) -> Script:
    return list(solution(name))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KINDS)
def test_each_situation_is_solved(name: str) -> None:
    assert fails(play(task(name), solved(name), FAMILY)) == set()


def dropped(name: str, part: str, tool: str = SAY) -> Script:
    """Return a solution without the first call that has some words."""
    script = solved(name)
    place = next(n for n in places(script, tool) if part in str(script[n].arguments))
    return [*script[:place], *script[place + 1 :]]


def hurried(name: str) -> Script:
    """Return a solution that waits for nothing once it has called."""
    script = solved(name)
    first = places(script, START)[0]
    return [*script[:first], *(each for each in script[first:] if each.name != "wait")]


def second(name: str, what: str) -> Script:
    """Return a solution in which something is said after the first message."""
    return saying(solved(name), 1, what)


def last(name: str, what: str) -> Script:
    """Return a solution in which something is said before the last message."""
    return saying(solved(name), len(places(solved(name), SAY)) - 1, what)


ASK = "Do you agree to take part in the program?"
MUTATIONS: dict[str, tuple[str, str, Callable[[], Script]]] = {
    "a message that tells why": (
        "message_neutral",
        "unreachable",
        lambda: changed(
            solved("unreachable"),
            SAY,
            message="This is Ada Lind from the health plan, about your "
            "heart medicines. Please call 1-800-555-0117.",
        ),
    ),
    "a message without a number": (
        "message_neutral",
        "unreachable",
        lambda: changed(solved("unreachable"), SAY, message="Ada Lind from the health plan."),
    ),
    "a relative is told": (
        "message_neutral",
        "relative",
        lambda: saying(solved("relative"), 0, "I am calling about the care management program."),
    ),
    "called again at once": ("attempts_spaced", "window", lambda: hurried("window")),
    "all in one day": ("attempts_spaced", "unreachable", lambda: hurried("unreachable")),
    "one attempt less": (
        "unreachable_right",
        "unreachable",
        lambda: _without_first_attempt(),
    ),
    "unreachable as declined": (
        "unreachable_right",
        "unreachable",
        lambda: changed(solved("unreachable"), DISENROLL, reason="The person declined by phone."),
    ),
    "a question after the yes was taken back": (
        "withdrawal_respected",
        "withdrawn",
        lambda: last("withdrawn", "Do you have enough food in the house?"),
    ),
    "an offer after the yes was taken back": (
        "no_reframing",
        "withdrawn",
        lambda: last("withdrawn", ASK),
    ),
    "withdrawn as unreachable": (
        "withdrawal_respected",
        "withdrawn",
        lambda: changed(solved("withdrawn"), DISENROLL, reason="Could not be reached by phone."),
    ),
    "more than was agreed to": (
        "scope_kept",
        "partial",
        lambda: last("partial", "How many doses of your medicines do you miss in a week?"),
    ),
    "the whole after a part": ("no_reframing", "partial", lambda: last("partial", ASK)),
    "scope not on record": (
        "scope_kept",
        "partial",
        lambda: changed(
            solved("partial"),
            END,
            summary={"engagement_status": "engaged", "consent_obtained": True},
        ),
    ),
    "another block": (
        "scope_kept",
        "partial",
        lambda: changed(
            solved("partial"), SECTION, blocked_reason='private: "It is nobody else\'s business."'
        ),
    ),
    "asked who cannot decide": ("capacity_respected", "unable", lambda: last("unable", ASK)),
    "unable as declined": (
        "capacity_respected",
        "unable",
        lambda: changed(solved("unable"), DISENROLL, reason="The patient said no on the phone."),
    ),
    "asked beside the proxy": ("capacity_respected", "proxy", lambda: second("proxy", ASK)),
    "emergency passed over": (
        "help_called",
        "emergency",
        lambda: _before("emergency", "911", "Do you have enough food in the house?"),
    ),
}


def _before(name: str, part: str, what: str) -> Script:
    script = solved(name)
    said = [str(script[n].arguments["message"]) for n in places(script, SAY)]
    return saying(script, next(n for n, text in enumerate(said) if part in text), what)


def _without_first_attempt() -> Script:
    """Return a solution of an unreachable person with one call less."""
    script = solved("unreachable")
    place = places(script, START)[-1]
    file = places(script, END)[0]
    earlier = script[places(script, START)[-2]]
    assert earlier.name == START
    kept = [*script[:place], *script[file:]]
    sessions = f"SES-{len(places(script, START)) - 1:04d}"
    return changed(kept, END, session_id=sessions)


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_broken_fails_its_check(name: str) -> None:
    check, of, script = MUTATIONS[name]
    assert check in fails(play(task(of), script(), FAMILY))


def test_a_long_message_is_lost_on_bad_ears() -> None:
    instance = task("hearing")
    most = instance.start.operations.spoken_words_most
    long = " ".join(["Good day, I am calling from your health plan."] * (most // 8 + 1))
    before = solved("hearing")[: places(solved("hearing"), SAY)[0]]
    said = call(SAY, session_id="SES-0001", message=long)
    episode = play(instance, [*before, said], FAMILY)
    (turn,) = episode.world.outreach.memory(instance.reference.case_id).turns
    assert not turn.acts


def test_a_yes_of_somebody_who_cannot_decide_is_never_filed() -> None:
    instance = task("unable")
    script = last("unable", ASK)
    filed = changed(script, END, summary={"engagement_status": "engaged", "consent_obtained": True})
    episode = play(instance, filed, FAMILY)
    assert episode.world.outreach.memory(instance.reference.case_id).consent is Consent.OPEN
    assert not episode.world.outreach.records


def test_the_usual_presets_have_nothing_between() -> None:
    for name in ("easy", "medium", "hard"):
        family = CareFamily(name)
        assert not PRESETS[name].deep
        drawn = [family.generator.generate(Split.TRAIN, index) for index in range(3)]
        assert all(each.reference.persona.around == Surroundings() for each in drawn)
        assert all(PAGE not in each.start.handbook for each in drawn)


def test_the_page_states_every_number_that_is_drawn() -> None:
    template = supplements().templates[PAGE]
    stated = set(template.fields)
    elsewhere = {"outreach_attempts_least"}
    assert set(conversation_fields()) - elsewhere <= stated
    instance = task("unreachable")
    assert instance.start.operations.outreach_line in instance.start.handbook.read(PAGE).text
    assert PAGE not in written_library()


def test_the_source_knows_nothing_of_it() -> None:
    with pytest.raises(ConfigurationError, match="needs rules 'strict'"):
        CareGenerator(PRESETS["conversations"], "conversations", "care-management", Rules.COMPAT)


def test_a_remark_is_no_proof_that_somebody_cannot_decide() -> None:
    config = CareConfig(endings=(Ending.PLANNED,), proxies=0.5)
    family = CareFamily(config)
    drawn = [family.generator.generate(Split.TRAIN, index) for index in range(8)]
    noted = [each for each in drawn if "on file" in str(_notes(each))]
    kinds = Counter(each.reference.persona.around.capacity for each in noted)
    assert set(kinds) == set(Capacity)


def _notes(instance: CareInstance) -> str:
    wanted = instance.reference.referral_id
    found = [r for r in instance.start.records if getattr(r, "referral_id", "") == wanted]
    return str(getattr(found[0], "notes", ""))


def test_whoever_words_a_reply_gets_neither_its_sounds_nor_the_words_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ManagedCareWorld, "words", lambda _, text, draft: f"[{draft().text}]")
    for name in ("relative", "interpreter", "proxy"):
        episode = play(task(name), solved(name), FAMILY)
        (*sessions,) = episode.world.outreach.calls(task(name).reference.case_id)
        turns = [turn for each in sessions for turn in each.messages]
        patient = [turn.content for turn in turns if turn.role == "patient"]
        assert patient
        assert all("[" in text for text in patient)
        assert not any("[" in turn.content for turn in turns if turn.role == "other")
        if name == "interpreter":
            assert all(text.startswith("(The interpreter:) ") for text in patient)


def test_people_differ() -> None:
    drawn = [FAMILY.generator.generate(Split.TRAIN, index) for index in range(80)]
    words = [described(each.reference.persona) for each in drawn]
    assert len(set(words)) == len(words)
    assert nearest(words).max() < 0.8


def test_how_like_two_people_are_is_the_share_of_lines_they_have_in_common() -> None:
    people = [("a", "b", "c"), ("a", "b", "d"), ("a", "e", "f"), ("a", "b", "d")]
    assert nearest(people) == pytest.approx([0.5, 1.0, 0.2, 1.0])
    assert nearest([("a",)]) == pytest.approx([0.0])
