"""Tasks: what is stated of them holds, in every split and at every difficulty."""

from collections import Counter

import pytest

from healthgym.core.canonical import canonical
from healthgym.core.seeding import Split
from healthgym.envs.medication_reconciliation.family import ReconciliationFamily
from healthgym.envs.medication_reconciliation.rules import by_chart, by_pharmacy, decide, mistaken
from healthgym.envs.medication_reconciliation.task import (
    PRESETS,
    ReconciliationConfig,
    ReconciliationInstance,
)
from healthgym.envs.medication_reconciliation.wording import SECTIONS, section
from healthgym.errors import ConfigurationError
from healthgym.worlds.reconciliation.world import PHARMACIST, PHYSICIAN


def tasks(
    difficulty: str, count: int = 100, split: Split = Split.TRAIN
) -> list[ReconciliationInstance]:
    generator = ReconciliationFamily(difficulty).generator
    return [generator.generate(split, index) for index in range(count)]


@pytest.mark.parametrize("difficulty", PRESETS)
@pytest.mark.parametrize("split", Split)
def test_a_task_is_as_its_preset_says(difficulty: str, split: Split) -> None:
    config = PRESETS[difficulty]
    for instance in tasks(difficulty, 60, split):
        record, answers = instance.start.record, instance.reference.answers
        assert answers == decide(record)
        assert config.medicines[0] <= len(answers) <= config.medicines[1]
        assert len({answer.disposition for answer in answers.values()}) > 1
        assert mistaken(by_chart(record), answers)
        assert mistaken(by_pharmacy(record), answers)
        hours = (instance.start.discharge - instance.start.begins).total_seconds() / 3600
        assert hours == config.hours
        reasons = {str(answer.reason) for answer in answers.values()}
        if difficulty == "easy":
            assert not reasons & {"duplicate", "renal"}
            assert record.chart.egfr >= 30


@pytest.mark.parametrize("difficulty", PRESETS)
def test_neither_half_suffices(difficulty: str) -> None:
    """The shares stated in the documentation, with room for what another sample may show."""
    wrong: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for instance in tasks(difficulty, 300):
        record, answers = instance.start.record, instance.reference.answers
        chart = set(mistaken(by_chart(record), answers))
        pharmacy = set(mistaken(by_pharmacy(record), answers))
        wrong.update(chart=len(chart), pharmacy=len(pharmacy), both=len(chart & pharmacy))
        ends.update(str(answer.disposition) for answer in answers.values())
    lines = sum(ends.values())
    assert wrong["chart"] / lines > 0.65
    assert wrong["pharmacy"] / lines > 0.55
    assert wrong["both"] / lines > 0.4
    assert len(ends) == 4
    assert max(ends.values()) / lines < 0.4
    assert min(ends.values()) / lines > 0.14


def test_every_rule_decides_lines() -> None:
    reasons = Counter(
        str(answer.reason)
        for instance in tasks("medium", 200)
        for answer in instance.reference.answers.values()
    )
    assert len(reasons) == 7
    assert min(reasons.values()) > 30


def test_a_half_tells_nothing_of_the_other() -> None:
    """The same half is shown, whatever the other one says."""
    one, other = tasks("medium", 2)
    for role in (PHYSICIAN, PHARMACIST):
        half = "chart" if role == PHYSICIAN else "pharmacy"
        shown = [section(one.start.record, role, name) for name in SECTIONS[role]]
        record = other.start.record
        mixed = type(record)(
            **{"chart": record.chart, "pharmacy": record.pharmacy, "today": record.today}
            | {half: getattr(one.start.record, half)}
        )
        assert [section(mixed, role, name) for name in SECTIONS[role]] == shown
    for instance in (one, other):
        for name in instance.reference.answers:
            assert f"{name}:" not in instance.task.instruction


def test_tasks_are_apart() -> None:
    seen = {
        str(canonical(instance.start.record))
        for split in Split
        for instance in tasks("easy", 100, split)
    }
    assert len(seen) == 300


def test_difficulties_are_mixed_by_weights() -> None:
    generator = ReconciliationFamily({"easy": 1, "hard": 1}).generator
    kinds = Counter(
        generator.generate(Split.TEST, i).task.metadata["difficulty"] for i in range(60)
    )
    assert set(kinds) == {"easy", "hard"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"medicines": (3, 5)}, "from 4 to 10"),
        ({"medicines": (6, 11)}, "from 4 to 10"),
        ({"medicines": (7, 6)}, "from 4 to 10"),
        ({"weak_kidneys": 1.5}, "probability"),
        ({"hours": 0.5}, "between 1 and 24"),
    ],
    ids=["few", "many", "reversed", "chance", "hours"],
)
def test_a_configuration_is_checked(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ReconciliationConfig(**values)  # type: ignore[arg-type]


def test_the_longest_list_can_be_drawn() -> None:
    for weak in (0.0, 1.0):
        config = ReconciliationConfig((10, 10), weak_kidneys=weak)
        generator = ReconciliationFamily(config).generator
        assert all(
            len(generator.generate(Split.TRAIN, i).reference.answers) == 10 for i in range(20)
        )
