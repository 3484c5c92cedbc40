"""What a workbench remembers: undone when a call fails, apart in clones, not touched by reading."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from healthgym.core.journal import InjectedFault
from healthgym.core.tool import ToolCall, ToolKind, call
from healthgym.envs.ehr_event_modelling.env import EhrEventModellingEnv
from healthgym.envs.ehr_event_modelling.features import demographics
from healthgym.envs.ehr_event_modelling.models import Model
from healthgym.envs.ehr_event_modelling.world import ModellingWorld

SCORES = "SELECT patient_id, prediction_time, {} AS probability FROM test_examples"
ONE = "SELECT patient_id, prediction_time, 1 AS one FROM all_rows"
#: What is done before: each tool that writes finds something to replace.
BEFORE = (
    call("save_table", name="mine", query="SELECT 1 AS n"),
    call("build_features", name="counts", max_codes=40),
    call("train_model", name="first", features=["counts"], trees=5),
    call("draft_predictions_from_query", query=SCORES.format(0.5)),
)
WRITES = {
    action.name: action
    for action in (
        call("save_table", name="mine", query="SELECT 2 AS n"),
        call("build_features", name="counts", max_codes=30),
        call("build_demographics", name="counts"),
        call("build_features_from_query", name="counts", query=ONE),
        call("train_model", name="first", features=["counts"], trees=6),
        call("draft_predictions", models=["first"]),
        call("draft_predictions_from_query", query=SCORES.format(0.4)),
    )
}


@pytest.fixture
def used(desk: Any) -> EhrEventModellingEnv:
    """A desk at which work has been done."""
    env: EhrEventModellingEnv = desk()
    for action in BEFORE:
        assert "error" not in env.step(action)[4]
    return env


@pytest.mark.parametrize("action", WRITES.values(), ids=WRITES)
def test_a_call_that_fails_after_a_write_leaves_nothing_behind(
    used: EhrEventModellingEnv, action: ToolCall
) -> None:
    episode = used.episode
    world = episode.world
    before, content, turns = world.digest(), world.content_digest(), episode.turns
    world.journal.fail_at(2)  # the first is the write, the second the clock
    with pytest.raises(InjectedFault):
        episode.step(action)
    assert (world.digest(), episode.turns) == (before, turns)
    world.journal.fail_at(None)
    assert not episode.step(action).errors
    assert world.content_digest() != content


def test_every_tool_that_writes_is_among_them(used: EhrEventModellingEnv) -> None:
    specs = used.episode.seat().catalog.specs
    assert {spec.method for spec in specs if spec.kind is ToolKind.WRITE} == set(WRITES)


def test_reading_leaves_the_contents_as_they_are(used: EhrEventModellingEnv) -> None:
    used.step(call("draft_predictions", models=["first"]))
    world = used.episode.world
    before = world.content_digest()
    validation = "SELECT patient_id, prediction_time, 0.5 AS probability FROM val_labels"
    for action in (
        call("read_file", path="README.md"),
        call("list_tables"),
        call("describe_table", table="train_labels"),
        call("profile_column", table="events", column="value", by="code"),
        call("sample_rows", table="events"),
        call("sql", query="SELECT count(*) FROM events"),
        call("evaluate_models", models=["first"]),
        call("evaluate_query", query=validation),
        call("list_work"),
        call("review_predictions"),
    ):
        assert "error" not in used.step(action)[4]
        assert world.content_digest() == before


def mutators(world: ModellingWorld) -> dict[str, Callable[[], None]]:
    """Return what can be done to a world beside what any workspace takes."""
    old, drafted = world.models["first"], world.predictions
    assert drafted is not None
    other = Model("other", old.features, old.columns, old.importance, old.test, old.test)
    return {
        "replace features": lambda: world.keep_features("counts", demographics(world.study)),
        "keep features": lambda: world.keep_features("person", demographics(world.study)),
        "replace a model": lambda: world.keep_model("first", other),
        "keep a model": lambda: world.keep_model("second", other),
        "draft": lambda: world.draft(replace(drafted, origin="somebody else")),
    }


def test_what_is_rolled_back_was_never_there(used: EhrEventModellingEnv) -> None:
    world = used.episode.world
    for name, mutate in mutators(world).items():
        before, content, twin = world.digest(), world.content_digest(), world.clone()
        savepoint = world.journal.begin()
        mutate()
        assert world.content_digest() != content, name
        assert twin.digest() == before
        world.journal.rollback(savepoint)
        assert world.digest() == before, name
