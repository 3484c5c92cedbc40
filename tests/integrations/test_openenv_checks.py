"""OpenEnv's validation of an exported package, and our checks where it has none yet."""

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from healthgym.cli import main
from healthgym.errors import ConfigurationError

pytest.importorskip("openenv.validation")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FHIR = "HealthAgent/FhirRecord-v1"
#: What the library itself checks, as of 0.10.
THEIRS = {
    "static.manifest", "runtime.startup", "runtime.reward_well_formed",
    "runtime.observation_schema", "runtime.state_contract", "runtime.network_policy",
}  # fmt: skip
#: What nobody can find out here, with a card that tells everything a card can.
UNCHECKED = {
    "static.reproducible_build", "static.image_hygiene", "runtime.rubric_introspectable",
    "hub.layer_isolation", "hub.cosign_signature", "hub.cross_host_determinism",
}  # fmt: skip


def rate(found: int, n: int, low: float, high: float) -> dict[str, float]:
    return {"found": found, "n": n, "estimate": found / n, "low": low, "high": high}


CARD: dict[str, Any] = {
    "env_id": FHIR,
    "baselines": [
        {"policy": "stepwise", "kind": "looks", "success": rate(40, 40, 0.91, 1.0)},
        {"policy": "prior", "kind": "blind", "success": rate(5, 40, 0.05, 0.26)},
        {"policy": "nop", "kind": "unknowing", "success": rate(0, 40, 0.0, 0.09)},
    ],
    "proofs": {"false_accept": rate(0, 290, 0.0, 0.01)},
    "attack": {"episodes": 960, "tests": 120, "paid": 0.01, "success": 0.0, "excess": 0},
    "training": {
        "after": rate(39, 200, 0.15, 0.26), "gain": 0.1, "gain_low": 0.05, "gain_high": 0.2,
        "informative": 0.5, "outcome": "rises",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from healthgym.integrations.openenv_checks.package import OpenEnvExport, export_openenv

    return export_openenv(OpenEnvExport(FHIR, tasks=2), tmp_path_factory.mktemp("exported"))


@pytest.fixture(scope="module")
def running(exported: Path) -> Iterator[Any]:
    from openenv.validation.runtime.contracts import LaunchSpec

    from healthgym.integrations.openenv_checks.subject import ProcessProvider

    try:
        provider = ProcessProvider()
    except ConfigurationError as reason:
        pytest.skip(str(reason))
    manifest = parsed(exported)
    spec = LaunchSpec(
        image_ref=provider.build(exported, manifest.execution), resources=manifest.resources,
        network=manifest.network, run_id="tests",
    )  # fmt: skip
    subject = provider.start(spec)
    yield subject
    subject.stop()


def parsed(folder: Path) -> Any:
    from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser

    return OpenEnvYamlParser().parse(folder)


def check(name: str, folder: Path, running: Any, card: Any = None) -> Any:
    from healthgym.integrations.openenv_checks import _answer, runtime, semantic, static
    from healthgym.integrations.openenv_checks.looking import Package
    from healthgym.integrations.openenv_checks.operator import operator_checks

    checks = [*static.CHECKS, *runtime.CHECKS, *semantic.CHECKS, *operator_checks(card)]
    (found,) = (each for each in checks if each.check_id == name)
    return _answer(found, Package(folder, parsed(folder), running))


@pytest.mark.usefixtures("running")
def test_the_whole_of_rfc_008(tmp_path: Path) -> None:
    from openenv.validation import load_policy

    cards, file = tmp_path / "cards.json", tmp_path / "report.json"
    cards.write_text(json.dumps({"schema": "healthgym.cards/1", "cards": [CARD]}))
    told = ["export", "openenv", FHIR, "--out", str(tmp_path / "out"), "--tasks", "2"]
    assert main([*told, "--validate", str(file), "--card", str(cards)]) == 0
    report = json.loads(file.read_text())
    results = {each["check_id"]: each for each in report["results"]}
    assert results.keys() == {entry.check_id for entry in load_policy("v2").entries}
    skipped = {name for name, each in results.items() if each["status"] == "skip"}
    others = {name: each for name, each in results.items() if each["status"] != "pass"}
    assert skipped == UNCHECKED, others
    assert others.keys() == skipped, others
    # A younger library that has graders of its own takes these over, and is noticed here.
    theirs = {name for name, each in results.items() if "by openenv" in each["evidence"][-1]}
    assert theirs == THEIRS
    assert report["verdict"] == "warn"


def test_a_package_is_written_the_same_again(exported: Path, tmp_path: Path) -> None:
    from openenv.validation.runner import source_digest

    from healthgym.integrations.openenv_checks.package import OpenEnvExport, export_openenv

    again = export_openenv(OpenEnvExport(FHIR, tasks=2), tmp_path)
    assert source_digest(again) == source_digest(exported)
    with pytest.raises(ConfigurationError, match="there already"):
        export_openenv(OpenEnvExport(FHIR, tasks=2), tmp_path)


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        file = folder / "openenv.yaml"
        told = json.loads(file.read_text())
        change(told["validation"])
        file.write_text(json.dumps(told))

    return spoil


def episodes(name: str, change: Callable[[Any], object]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        file = folder / name / "episodes.json"
        told = json.loads(file.read_text())
        change(told)
        file.write_text(json.dumps(told))

    return spoil


def appended(name: str, line: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        with (folder / name).open("a") as file:
            file.write(line)

    return spoil


def oracles_work_as_a_canary(folder: Path) -> None:
    solved = json.loads((folder / "oracle" / "episodes.json").read_text())[0]
    episodes("canaries", lambda told: told.append({"name": "exploit", **solved}))(folder)


SPOILED = {
    "static.layout": appended("data.tar", ""),
    "static.sbom": appended("requirements.txt", "left-out==1.0\n"),
    "static.oci_labels": lambda folder: (folder / "Dockerfile").write_text("FROM scratch\n"),
    "static.dependency_pinning": appended("requirements.txt", "loose>=1\n"),
    "static.task_distribution_pinning": manifest(
        lambda told: told["task_distribution"].update(dataset_version="another")
    ),
    "static.timeout_ceiling": manifest(
        lambda told: told["resources"].update(episode_timeout_s=7200)
    ),
    "runtime.tool_declaration_accuracy": manifest(
        lambda told: told["capabilities"]["declared_tools"].append("undo")
    ),
    "runtime.task_declaration_accuracy": manifest(
        lambda told: told["capabilities"]["declared_task_count"].update(test=3)
    ),
    "runtime.oracle_containment": appended("Dockerfile", "COPY oracle /oracle\n"),
    "semantic.oracle_max": episodes("oracle", lambda told: told[0]["actions"].pop()),
    "semantic.floor_gap": manifest(lambda told: told["reward"].update(floor_margin=1.5)),
    "semantic.canary_floor": oracles_work_as_a_canary,
    "semantic.resource_envelope": manifest(lambda told: told["resources"].update(memory_mb=1)),
}


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_package_fails(exported: Path, running: Any, tmp_path: Path, name: str) -> None:
    assert check(name, exported, running).status.value == "pass"
    folder = tmp_path / "spoiled"
    shutil.copytree(exported, folder)
    SPOILED[name](folder)
    assert check(name, folder, running).status.value == "fail"


class Faulty:
    """A server's answers, changed on their way."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any, int], None]) -> None:
        from healthgym.integrations.openenv_checks.wire import Session

        asked, plain = [0], Session.ask

        def ask(session: Any, operation: str, data: Any) -> Any:
            answer = plain(session, operation, data)
            asked[0] += 1
            change(answer, asked[0])
            return answer

        monkeypatch.setattr(Session, "ask", ask)


def worn(answer: Any, number: int) -> None:
    answer["observation"]["text"] += str(number)


def generous(answer: Any, number: int) -> None:
    answer["reward"] = 1.0


def tells(answer: Any, number: int) -> None:
    answer["observation"]["text"] += "root:x:0:0:root:/root:/bin/bash"


def endless(answer: Any, number: int) -> None:
    answer["done"] = False


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("runtime.seed_control", worn),
        ("runtime.episode_determinism", worn),
        ("runtime.episode_isolation", worn),
        ("runtime.reward_attribution", generous),
        ("runtime.oracle_containment", generous),
        ("runtime.host_containment", tells),
        ("runtime.resource_bounds", endless),
        ("semantic.canary_floor", lambda answer, number: answer.update(reward=float(number))),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__.strip("<>"),
)
def test_a_faulty_server_fails(
    exported: Path, running: Any, monkeypatch: pytest.MonkeyPatch, name: str, change: Any
) -> None:
    Faulty(monkeypatch, change)
    assert check(name, exported, running).status.value == "fail"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("statistical.reward_reachability", lambda card: card["baselines"][0].update(
            success=rate(0, 40, 0.0, 0.09))),
        ("statistical.difficulty_separation", lambda card: card["baselines"][0].update(
            success=rate(6, 40, 0.07, 0.3))),
        ("statistical.headroom", lambda card: card["training"].update(
            after=rate(200, 200, 0.98, 1.0))),
        ("statistical.variance_bound", lambda card: card["training"].update(informative=0.0)),
        ("statistical.training_signal", lambda card: card["training"].update(gain_low=-0.1)),
        ("statistical.adversarial_floor", lambda card: card["proofs"].update(
            false_accept=rate(1, 290, 0.0, 0.02))),
        ("statistical.gameability_gap", lambda card: card["attack"].update(paid=0.2)),
        ("statistical.gameability_gap", lambda card: card["attack"].update(excess=1)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_poor_card_fails(exported: Path, running: Any, name: str, change: Any) -> None:
    card = json.loads(json.dumps(CARD))
    assert check(name, exported, running, card).status.value == "pass"
    change(card)
    assert check(name, exported, running, card).status.value == "fail"
    assert check(name, exported, running).status.value == "skip"


def test_only_a_listening_socket_is_inherited(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as idle:
        assert main(["serve", "openenv", FHIR, "--fd", str(idle.fileno())]) == 2
        assert idle.fileno() > 0
    assert "no socket that listens" in capsys.readouterr().err


def test_a_network_is_noticed(running: Any) -> None:
    measured = running.measure_network()
    assert measured["namespace"]["interfaces"] == ["lo"]
    (probe,) = measured["probes"]
    assert probe["control"]["result"] == "reachable"
    assert probe["subject"]["result"] == "denied"


def test_a_card_of_another_environment_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cards = tmp_path / "cards.json"
    cards.write_text(json.dumps({"cards": [{"env_id": "HealthAgent/Other-v0"}]}))
    told = ["export", "openenv", FHIR, "--out", str(tmp_path / "out")]
    assert main([*told, "--card", str(cards)]) == 2
    assert "no card" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
