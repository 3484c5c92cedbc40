"""Each check passes on a sound environment, and fails on one that breaks its promise."""

import inspect

import pytest

from healthgym import testing
from healthgym.errors import ConfigurationError, ConformanceError
from healthgym.testing import face
from tests.testing.broken import FAULTS, id_of

SOUND = f"tests.testing.broken:{id_of('none')}"
CHECKS = [
    name
    for name in testing.__all__
    if name.startswith("check_")
    and name not in ("check_docstring", "check_schemas", "check_careless")
]


#: What a check is given beside the id, where it would take long.
SIZES: dict[str, dict[str, int]] = {"check_artefacts": {"labels": 200}}


@pytest.mark.parametrize("name", CHECKS)
def test_a_sound_environment_passes(name: str) -> None:
    measured = getattr(testing, name)(SOUND, **SIZES.get(name, {}))
    if name == "check_baselines":
        assert measured.keys() == {"nop", "random", "prior"}
        assert measured["nop"] == 0.0
    elif name != "check_gym_api":
        assert measured


@pytest.mark.failed_calls
@pytest.mark.parametrize(
    ("check", "fault", "reason"),
    [
        ("determinism", "unsteady", r"reset\(seed=0\) differs"),
        ("splits", "unsteady", "is not the same twice"),
        ("splits", "one-for-all", "toy-ledger/validation/0 equals toy-ledger/train/0"),
        ("processes", "hashing", "PYTHONHASHSEED=0 shows something else"),
        ("clone", "sharing", "was changed by its original"),
        ("clone", "jotting", r"JottingWorld\.jotted, which is not declared as state, was changed"),
        ("non_interference", "unjoined", "a Counters is no attribute of the world"),
        ("tool_kinds", "counting-reads", "reads, and changed the world"),
        ("tool_kinds", "idle-writes", "writes, and changed nothing without an error"),
        ("tool_kinds", "half-writes", "was refused and left a trace"),
        ("hostile_actions", "half-writes", "was refused and changed the world"),
        ("hostile_actions", "crashing", "name|balance"),
        ("total", "crashing", r"call \d+ of seed 0 .* failed: KeyError"),
        ("total", "endless", r"call \d+ of seed 0 .* raised EndlessError"),
        ("total", "half-writes", "was refused and changed something"),
        ("distortions", "naive", r"train/\d+, call \d .*: ValueError: invalid literal for int"),
        ("distortions", "fickle", "has another verdict the second time"),
        ("hostile_actions", "telling", "is answered otherwise under another Reference"),
        ("non_interference", "telling", "the answer to ToolCall.* depends on the Reference"),
        ("non_interference", "holding", "the world holds a Reference"),
        ("faults", "leaving-writes", "write 1 of .* failed: the digest is"),
        ("faults", "swallowing-writes", "write 2 of .* failed, which was swallowed and left a"),
        ("faults", "remembering", r"after failures .* gave .*note [2-9]"),
        ("oracle", "wrong-oracle", "paper fails reported"),
        ("oracle", "clumsy-oracle", "refused: No tool call found"),
        ("oracle", "late-oracle", "out of turns"),
        ("baselines", "known", "flood solves 100%, over 5%"),
        ("constants", "one-answer", r"oracle solves \d+ of \d+ of report, over 5%"),
        ("corruptions", "credulous", r"accepts another_answer 20 of 20: task 0 \(passed\), 1"),
        ("equivalents", "pedantic", r"refuses noted 20 of 20: task 0 \(reported\), 1"),
        ("artefacts", "thanking", "low_rest is told by what is told, one f.* AUROC 1.00"),
        (
            "artefacts",
            "arranging",
            "low_rest is told by what is shown, one feature with AUROC 1.00",
        ),
        ("oracle", "unknown-oracle", "refused: No tool call found"),
        ("docstring", "none", "lacks Description, Observation Space"),
    ],
)
def test_a_broken_promise_is_found(
    check: str, fault: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("healthgym.testing.total._SECONDS", 1.0)
    env_id = f"tests.testing.broken:{id_of(fault)}"
    name = f"check_{check}"
    raw = (check, fault) == ("hostile_actions", "crashing")
    with pytest.raises(KeyError if raw else ConformanceError, match=reason):
        getattr(testing, name)(env_id, **SIZES.get(name, {}))


def test_gymnasiums_own_checker_is_asked() -> None:
    with pytest.raises((AssertionError, UserWarning), match="observation"):
        testing.check_gym_api(id_of("narrow"))


def test_a_schema_that_transformers_reads_otherwise_is_found() -> None:
    pytest.importorskip("transformers")
    assert testing.check_schemas(SOUND) == 6
    with pytest.raises(ConformanceError, match=r"parameters of ledger\.anything"):
        testing.check_schemas(id_of("forgiving"))


def document(
    monkeypatch: pytest.MonkeyPatch,
    headings: list[str],
    example: str,
    history: str = "* v0: first version.",
) -> None:
    """Give the sound environment a docstring."""
    texts = {"Example": example, "Version History": history}
    text = "A ledger.\n\n" + "".join(
        f"## {heading}\n\n{texts.get(heading, 'Text.')}\n\n" for heading in headings
    )
    from healthgym.core.env import HealthEnv

    monkeypatch.setattr(HealthEnv, "__doc__", text)
    assert inspect.getdoc(HealthEnv) == text.strip()


def test_docstrings(monkeypatch: pytest.MonkeyPatch) -> None:
    headings = list(face.HEADINGS)
    document(monkeypatch, headings, ">>> 1 + 1\n2\n>>> 2 + 2\n4")
    assert testing.check_docstring(SOUND) == 2
    document(monkeypatch, headings, ">>> 1 + 1\n3")
    with pytest.raises(ConformanceError, match="Expected"):
        testing.check_docstring(SOUND)
    document(monkeypatch, headings, "None.")
    with pytest.raises(ConformanceError, match="no example"):
        testing.check_docstring(SOUND)
    document(monkeypatch, headings[::-1], ">>> 1")
    with pytest.raises(ConformanceError, match="in the order Version History"):
        testing.check_docstring(SOUND)
    document(monkeypatch, headings, ">>> 1 + 1\n2", history="* v1: another.\n* v0: first version.")
    with pytest.raises(ConformanceError, match=r"begins with no line '\* v0"):
        testing.check_docstring(SOUND)


def test_fewer_clones_can_be_played_on() -> None:
    """The first and the last of each episode at least; all of them if nothing is said."""
    one, two, every = (testing.check_clone(SOUND, 1, most) for most in (1, 2, None))
    assert two == 2 * one
    assert every > two


def test_other_environments_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="not a healthgym environment"):
        testing.check_clone("CartPole-v1")


def test_every_fault_is_tested() -> None:
    source = inspect.getsource(inspect.getmodule(test_every_fault_is_tested))  # type: ignore[arg-type]
    assert [fault for fault in FAULTS if f'"{fault}"' not in source and fault != "none"] == []
