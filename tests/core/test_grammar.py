"""A role that speaks a language of its own, may give up in it, and is told of no tools."""

from dataclasses import replace

import pytest

from healthgym.core.action import calls_of, text_of, typed_call_in
from healthgym.core.episode import Episode
from healthgym.core.family import AGENT, Role
from healthgym.core.seeding import Split
from healthgym.core.tool import Scope, ToolCall, ToolKind, Toolset, call, tool
from healthgym.core.verdict import Profile
from healthgym.rewards import Costs, resolve
from tests.core.toys import Ledger, LedgerTools, LedgerWorld


class Quitting(Toolset[LedgerWorld]):
    listed = False

    @tool(ToolKind.SUBMIT, closes=Scope.FORFEIT)
    def quit(self) -> str:
        """Give up."""
        return "Then not."


def read(text):
    """Read "? account" as a look and "= number" as the answer; all else gives up."""
    sign, _, rest = text.partition(" ")
    known = {
        "?": ToolCall("ledger.read_balance", {"account": rest}),
        "=": ToolCall("ledger.submit", {"answer": rest}),
    }
    return (known.get(sign) or typed_call_in(text) or ToolCall("quit"),)


def episode(reward="shaped", costs=None, plain=True):
    family = Ledger()
    family.roles = {AGENT: Role([LedgerTools, Quitting], grammar=read)}
    config = replace(family.rules, plain=plain, max_turns=4, show_clock=False)
    instance = family.generator.generate(Split.TRAIN, 0)
    return Episode(family, instance, resolve(reward, costs), config)


def test_a_role_that_gives_up_is_done_and_has_handed_nothing_in():
    played = episode()
    outcome = played.step("hm")
    assert (outcome.observation, outcome.terminated, outcome.truncated) == (
        "Then not.",
        True,
        False,
    )
    assert (played.done(), played.submitted(), played.stopped()) == (True, False, False)
    assert not any(played.verdict(profile=profile).success for profile in Profile)
    assert not next(r for r in played.verdict().checks if r.check.name == "submitted").passed


@pytest.mark.parametrize("reward", ["sparse", "shaped"])
def test_giving_up_is_charged_as_not_handing_in(reward):
    assert episode(reward, Costs(unsubmitted=0.25)).step("hm").reward == -0.25


def test_agents_are_not_told_of_what_is_not_listed():
    catalog = episode().seat().catalog
    assert "quit" in {spec.name for spec in catalog.specs}
    assert "quit" not in {tool["function"]["name"] for tool in catalog.openai()}


def test_plain_observations_are_what_the_tools_say():
    played = episode()
    assert played.step("? nobody").observation.startswith("There is no account 'nobody'")
    account = next(iter(played.world.base))
    shown = [played.step(f"? {account}").observation for _ in range(2)]
    assert shown[0] == shown[1]
    framed = episode(plain=False)
    assert framed.step("? nobody").observation.startswith("Error: There is no account")
    framed.step(f"? {account}")
    assert framed.step(f"? {account}").observation == f"{shown[0]}\n(1 call left)"


@pytest.mark.parametrize(
    "action",
    [
        call("ledger.submit", answer=3),
        {"arguments": {"answer": 3}, "name": "ledger.submit"},
        call("ledger.submit", answer=float("nan")),
        call("ledger.submit", answer="\ud800"),
        [call("ledger.submit", answer=3)],
        {"name": 3},
        None,
        object(),
    ],
    ids=["call", "mapping", "nan", "surrogate", "list", "no-name", "none", "object"],
)
def test_the_text_of_an_action_is_read_as_the_action_was(action):
    text = text_of(action)
    assert calls_of(action, text, read) == calls_of(text, text, read)
