"""The telephone of the extended surface: what is meant can be said, and proves nothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from healthgym.envs.managed_care.tools.cm_outreach import OutreachTools
from healthgym.envs.managed_care.tools.cm_outreach_extended import OutreachExtendedTools
from healthgym.worlds.managed_care.conversation.acts import Act, Meant
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.voices import CallContext, Memory, Reply, Topic
from tests.worlds.managed_care.apps.care_management.walk import SESSION, at_stage

ASKS = Meant(act=Act.ASK_TOPIC, topic=Topic.FOOD)


@dataclass(frozen=True)
class _Keen:
    """Somebody who keeps what they were told to have been meant."""

    kept: list[tuple[Meant, ...]] = field(default_factory=list)

    def reply(
        self,
        message: str,
        heard: Memory,
        acts: tuple[Meant, ...] = (),
        call: CallContext | None = None,
    ) -> Reply:
        self.kept.append(acts)
        return Reply(text="I see.", memory=replace(heard))


def test_the_extended_telephone_differs_by_one_optional_argument() -> None:
    plain = {spec.name: spec.parameters for spec in OutreachTools.specs()}
    more = {spec.name: spec.parameters for spec in OutreachExtendedTools.specs()}
    assert plain.keys() == more.keys()
    changed = [name for name in plain if plain[name] != more[name]]
    assert changed == ["cm_outreach.send_message"]
    parameters = more["cm_outreach.send_message"]
    assert list(parameters["properties"]) == ["session_id", "message", "acts"]
    assert parameters["required"] == ["session_id", "message"]


def test_what_is_meant_reaches_the_person_and_may_be_left_out() -> None:
    voice = _Keen()
    world = at_stage("greeted", Rules.STRICT, voice)
    before = len(voice.kept)
    tools = OutreachExtendedTools(world)
    tools.send_message(SESSION, "And food?", (ASKS,))
    tools.send_message(SESSION, "And food?")
    assert voice.kept[before:] == [(ASKS,), ()]
