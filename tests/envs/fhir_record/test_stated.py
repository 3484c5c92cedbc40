"""What questions state is drawn, said in many ways, and obeyed by rule and grader alike."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from importlib import resources
from string import Formatter

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.envs.fhir_record.draft import PRESETS
from healthgym.envs.fhir_record.env import FhirRecordEnv
from healthgym.envs.fhir_record.generator import SyntheticCharts
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.stated import draw_stated, published
from healthgym.envs.fhir_record.wording import Style, phrase
from healthgym.testing.scripts import Rate
from tests.envs.fhir_record.small_charts import view_at

#: Types whose answer is never -1: a record number, an age, nothing, a count.
WITHOUT_NOTHING = {"v1-t1", "v1-t2", "v1-t3", "v1-t8", "v2-t8"}
EASY = PRESETS["easy"]
#: Small charts that are asked about in our words.
SMALL = replace(EASY, terse=False)


def forms(kind: str) -> dict[str, str | list[str]]:
    folder = resources.files("healthgym.envs.fhir_record").joinpath("data/wording")
    found: dict[str, str | list[str]] = {}
    for name in ("v1.json", "v2.json", "own_v1.json", "own_v2.json"):
        found |= json.loads(folder.joinpath(name).read_text(encoding="utf-8")).get(kind, {})
    return found


def fields(text: str) -> set[str]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_alternatives_are_the_published_ones(kind: str) -> None:
    usual = published(kind)
    assert dict(usual.codes).items() <= dict(KINDS[kind].codes).items()


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_ten_forms_and_a_fifth_of_them_is_held_out(kind: str) -> None:
    own = forms(kind)
    seen, held_out = own["full"], own["held_out"]
    assert len({*seen, *held_out}) == len(seen) + len(held_out) >= 10
    assert 5 * len(held_out) >= len(seen) + len(held_out)


@pytest.mark.parametrize("kind", KINDS)
def test_every_form_says_all_that_is_stated(kind: str) -> None:
    own, usual = forms(kind), published(kind)
    wanted = {"now"} if kind == "v1-t1" else {"now", "patient"}
    wanted |= {f"codes[{name}]" for name in KINDS[kind].codes}
    wanted |= {f"n[{name}]" for name in usual.numbers}
    wanted |= {f"details[{name}]" for name in usual.details}
    for text in (own["terse"], *own["full"], *own["held_out"]):
        assert wanted <= fields(text), text
        assert "finish" in text.lower()
        assert "-1" in text or kind in WITHOUT_NOTHING, text


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_stated_is_drawn_where_questions_are_ours(kind: str) -> None:
    stated = [draw_stated(kind, np.random.default_rng(seed)) for seed in range(40)]
    for part in ("codes", "numbers", "details"):
        usual = getattr(published(kind), part)
        for name in usual:
            assert len({getattr(one, part)[name] for one in stated}) > 1, name


def drawn(kind: str, branch: str, seed: int, split: Split = Split.TRAIN):
    charts = SyntheticCharts(EASY, drawn=frozenset({split}))
    facts, base = charts.draw(KINDS[kind], branch, split, np.random.default_rng(seed))
    return facts, KINDS[kind].decide(view_at(base, facts.now), facts)


@pytest.mark.parametrize("kind", KINDS)
def test_the_branch_is_the_decided_one_whatever_is_stated(kind: str) -> None:
    for branch in KINDS[kind].branches:
        for seed in range(12):
            facts, decision = drawn(kind, branch.name, seed)
            assert decision.branch == branch.name, (seed, facts)


def test_held_out_forms_are_for_testing_only() -> None:
    facts, _ = drawn("v1-t9", "low", 0)
    said = {
        split: {
            phrase("v1-t9", facts, Style.FULL, np.random.default_rng(seed), split)
            for seed in range(200)
        }
        for split in Split
    }
    assert said[Split.TRAIN] == said[Split.VALIDATION] < said[Split.TEST]
    assert (len(said[Split.TRAIN]), len(said[Split.TEST])) == (8, 10)


@pytest.mark.parametrize("benchmark", ["v1", "v2", "v3"])
def test_a_benchmark_is_practised_in_our_words_and_tested_in_its_own(benchmark: str) -> None:
    env = FhirRecordEnv(benchmark=benchmark, task_types=["v1-t9", "v2-t9"])
    for split in Split:
        found = [env.family.generator.generate(split, index) for index in range(8)]
        ours = [
            bool(set(one.reference.facts.numbers.values()) - {365, 3.5, 8, 10}) for one in found
        ]
        assert any(ours) is (split is not Split.TEST)
        published_words = [one.task.instruction.startswith("The time is") for one in found]
        assert all(published_words) is (split is Split.TEST)


def test_a_drill_states_in_few_words_what_it_draws() -> None:
    generator = FhirRecordEnv(difficulty="drill").family.generator
    varied = Counter()
    for index in range(120):
        instance = generator.generate(Split.TEST, index)
        facts, usual = instance.reference.facts, published(instance.task.kind)
        assert len(instance.task.instruction) < 600
        varied[instance.task.kind] += facts.numbers != usual.numbers
        for number in facts.numbers.values():
            assert f"{number:g}" in instance.task.instruction
    assert all(varied[kind] for kind in KINDS if published(kind).numbers)


def test_easy_questions_state_what_is_published() -> None:
    generator = FhirRecordEnv(difficulty="easy").family.generator
    for index in range(40):
        reference = generator.generate(Split.TRAIN, index).reference
        assert reference.facts.codes.items() <= dict(KINDS[reference.kind].codes).items()
        assert (
            reference.facts.numbers == {}
            or reference.facts.numbers == published(reference.kind).numbers
        )


#: A published value by heart, instead of the one in the question: (type, branch, argument).
BY_HEART = {
    "dose of magnesium": ("v1-t5", "severe", "dose", 4),
    "dose of naloxone": ("v2-t8", "uncovered", "dose", 4),
    "dose of levothyroxine": ("v2-t6", "protocol_a", "dose", 25),
    "order code": ("v2-t1", "stale", "code", "74177"),
    "local code": ("v2-t4", "overdue", "code", "NUR1373"),
    "interval": ("v2-t2", "none", "frequency", "q8h"),
}


@pytest.mark.parametrize("case", BY_HEART.values(), ids=BY_HEART.keys())
def test_who_knows_the_published_value_by_heart_fails_where_another_is_stated(case) -> None:
    kind, branch, argument, value = case
    env = FhirRecordEnv(task_types=[kind], difficulty=SMALL)
    outcomes: Counter[tuple[bool, bool]] = Counter()
    index = 0
    while outcomes.total() < 6:
        env.reset(options={"index": index})
        index += 1
        instance = env.episode._instance
        if instance.reference.decision.branch != branch:
            continue
        script = env.family.oracle(instance, np.random.default_rng(0))
        steps = [step for step in script if isinstance(step, ToolCall)]
        stated = {step.arguments.get(argument) for step in steps if "create" in step.name}
        for step in steps:
            known = (
                {argument: value} if "create" in step.name and argument in step.arguments else {}
            )
            *_, info = env.step(ToolCall(step.name, {**step.arguments, **known}))
        outcomes[value in stated, info["verdict"]["strict"]["success"]] += 1
    assert outcomes[True, False] == outcomes[False, True] == 0
    assert outcomes[False, False] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_constant_answers_a_type(kind: str) -> None:
    generator = FhirRecordEnv(task_types=[kind], difficulty=SMALL).family.generator
    drawn = [generator.generate(Split.TEST, index).reference.decision for index in range(60)]
    idle = [decision for decision in drawn if not decision.acts]
    for answer in {tuple(example_answer(decision.answer)) for decision in idle}:
        right = sum(
            len(decision.answer) == len(answer)
            and all(e.accepts(v) for e, v in zip(decision.answer, answer, strict=True))
            for decision in idle
        )
        assert not Rate(right, len(drawn)).exceeds(0.05), answer


def test_what_a_published_mix_leaves_to_a_constant_is_declared_with_its_reason() -> None:
    assert FhirRecordEnv().family.proofs.constants == {}
    floors = {
        benchmark: FhirRecordEnv(benchmark=benchmark).family.proofs.constants
        for benchmark in ("v1", "v2", "v3")
    }
    assert floors["v1"]["v1-t4"].most == 19 / 30
    assert "19" in floors["v1"]["v1-t4"].reason
    assert floors["v1"].keys() == {"v1-t1", "v1-t4", "v1-t5", "v1-t6"}
    assert floors["v2"].keys() == {"v2-t3", "v2-t4", "v2-t6", "v2-t7", "v2-t8"}
