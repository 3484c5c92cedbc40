"""Cards: what they say of an environment whose policies are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from healthgym.cli import main
from healthgym.cli.catalogue import pages
from healthgym.core.seeding import Split
from healthgym.errors import ConfigurationError
from healthgym.registration import Row, make_health_env
from healthgym.testing.cards import Card, Effort, markdown, measure
from healthgym.testing.cards.measuring import kinds, spread
from healthgym.testing.cards.schema import Attacked, Kind, Outcome, Rate, Training

RECORDS = "HealthAgent/FhirRecord-v1"


@pytest.fixture(scope="module")
def card() -> Card:
    return measure(RECORDS, Effort(tasks=6))


def test_a_card_has_every_policy_with_its_interval(card: Card) -> None:
    found = {one.policy: one for one in card.baselines}
    assert found.keys() == kinds(make_health_env(RECORDS)).keys()
    assert found["oracle"].success == Rate.of(6, 6)
    assert found["nop"].success.estimate == 0
    assert found["flood"].kind is Kind.BLIND
    assert found["house"].kind is Kind.LOOKS
    assert card.tasks == 6
    assert card.machine.cpu or card.machine.cores


def test_groups_of_a_policy_without_skill_have_no_variance(card: Card) -> None:
    random, slipping = card.groups
    assert random.same_success.estimate == 1
    assert slipping.success.estimate > random.success.estimate
    assert slipping.success.n == slipping.size * slipping.same_success.n


def test_speed_and_size_are_of_what_was_played(card: Card) -> None:
    assert card.speed.resets == 6
    assert card.speed.steps_per_s > 0
    assert card.size.longest_observation_bytes >= card.size.observation_bytes
    # An episode holds the tools, the instruction, and what was answered.
    assert card.size.episode_tokens > card.size.tools_tokens + card.size.instruction_tokens


def test_who_reads_is_measured_by_difficulty() -> None:
    found = measure("HealthAgent/PriorAuthorization-v1", Effort(tasks=2, seconds=1))
    assert found.reader == "solver"
    assert [level.difficulty for level in found.levels] == ["easy", "medium", "hard"]


def test_tasks_of_a_published_set_are_spread_over_its_kinds() -> None:
    published = make_health_env("HealthAgent/MedAgentBenchV1-v1")
    indices = spread(published, Split.TEST, 10)
    kinds_of = {published.open_episode("test", index).task.kind for index in indices}
    assert len(kinds_of) == 10
    assert spread(make_health_env(RECORDS), Split.TEST, 4) == [0, 1, 2, 3]


def test_published_proofs_are_summed(tmp_path: Path, card: Card) -> None:
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    counts = {"corruptions": {"a": [0, 10], "b": [1, 20]}, "equivalents": {"c": [0, 0]}}
    (folder / "proofs.json").write_text(json.dumps({"figures": {RECORDS: counts}}))
    proofs = measure(RECORDS, Effort(tasks=2), checkout=tmp_path).proofs
    assert proofs is not None
    assert proofs.false_accept == Rate.of(1, 30)
    assert proofs.false_reject is None
    assert card.proofs is None


def test_a_published_attack_is_told(tmp_path: Path, card: Card) -> None:
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    held = {"test": {"gap": 0.1, "paid": 0.04, "paper": 0.1, "strict": 0.02}}
    told = {
        "episodes": 960,
        "tests": 120,
        "excess": [{}, {}],
        "strict_shaped": held,
        "paper_shaped": held,
    }
    (folder / "gap_by_attack.json").write_text(json.dumps({"figures": {"fhir_record": told}}))
    found = measure(RECORDS, Effort(tasks=2), checkout=tmp_path)
    assert found.attack == Attacked(episodes=480, tests=60, paid=0.04, success=0.02, excess=2)
    assert "solves 2.0%; it found 2 ways to succeed unread" in markdown(found)
    assert card.attack is None


def test_a_card_survives_json_and_is_worded(card: Card) -> None:
    assert Card.model_validate_json(card.model_dump_json()) == card
    text = markdown(card)
    assert text.startswith(f"## Card of `{RECORDS}`")
    assert "| `oracle` | oracle | 100.0% [61.0–100.0] | 1.00 |" in text
    with pytest.raises(ValueError, match="extra"):
        Card.model_validate({**json.loads(card.model_dump_json()), "colour": "red"})


def test_a_card_tells_what_reward_did(card: Card) -> None:
    trained = Training(
        model="tiny", seed=0, env_kwargs={"difficulty": "drill"}, demonstrations=100,
        imitation_steps=10, reward_steps=100, rollouts_a_step=32, before=Rate.of(0, 50),
        after=Rate.of(0, 50), gain=0.0, gain_low=0.0, gain_high=0.0, informative=0.01,
        outcome=Outcome.NO_GRADIENT, repair="Show more.", minutes=9.6, machine=card.machine,
    )  # fmt: skip
    text = markdown(card.model_copy(update={"training": trained}))
    assert "No gradient for the small model (with `difficulty='drill'`)" in text
    assert "10 minutes of" in text
    assert "99% of the groups had no variance" in text
    assert text.endswith("Show more.")


def test_what_would_repair_a_missing_gradient_follows_from_where_the_model_stood() -> None:
    pytest.importorskip("trl")
    from healthgym.integrations.trl.config import TrainConfig
    from healthgym.testing.cards.training import _repair

    config = TrainConfig(RECORDS, {"difficulty": "drill"})
    assert "--demos 57600" in _repair(Rate.of(0, 100), config)
    assert "--adaptive" in _repair(Rate.of(100, 100), config)
    assert "interval" in _repair(Rate.of(50, 100), config)


def test_the_command_writes_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "card.json"
    assert main(["card", RECORDS, "--quick", "--json", str(out)]) == 0
    assert Card.model_validate_json(out.read_text(encoding="utf-8")).tasks <= 4
    assert main(["card", RECORDS, "--quick"]) == 0
    assert "## Card of" in capsys.readouterr().out
    for wrong in (["card"], ["card", RECORDS, "--all"], ["card", RECORDS, "--tasks", "0"]):
        assert main(wrong) == 2


def test_a_page_shows_a_published_card(tmp_path: Path, card: Card) -> None:
    table = (Row(RECORDS, "healthgym.envs.fhir_record.env:FhirRecordEnv", {}, "records"),)
    figures = {RECORDS: json.loads(card.model_dump_json())}
    (tmp_path / "cards.json").write_text(json.dumps({"figures": figures}))
    ((_, _, text),) = pages(table, tmp_path)
    assert f"## Card of `{RECORDS}`" in text


def test_an_id_that_is_not_registered_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        measure("HealthAgent/Nothing-v1", Effort(tasks=2))
