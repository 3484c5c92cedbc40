"""Tasks under policies that are made of published questionnaires."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from healthgym.core.env import HealthEnv
from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.shelf import read_shelf
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.errors import ConfigurationError, DamagedDataError, HealthGymError, MissingDataError
from healthgym.policies.scripted import ScriptPolicy
from healthgym.testing.play import ORACLE, actions_of
from healthgym.worlds.managed_care.policies import sources

#: Tasks that the oracle plays on the published folder, by difficulty.
TASKS = {"easy": 14, "medium": 24, "hard": 14}
#: A folder of our own: two forms, and what is made of them.
FORMS: dict[str, list[dict[str, Any]]] = {
    "f/Swing.json": [
        {"linkId": "1", "text": "Does the knee give way on stairs?"},
        {"linkId": "2", "text": "Is there an open wound at the stump?"},
        {"linkId": "3", "text": "Is the patient able to walk outdoors?"},
    ],
    "f/Mood.json": [
        {"linkId": "1", "text": "Has a safety plan been written?"},
        {
            "linkId": "2",
            "text": "PHQ-9 total",
            "code": [{"system": "http://loinc.org", "code": "44261-6"}],
        },
    ],
}
ENTRIES: tuple[dict[str, Any], ...] = (
    {
        "file": "f/Swing.json",
        "id": "CD-T-1",
        "title": "Knee units",
        "category": "dme",
        "procedures": {"L5828": "Knee unit, fluid swing and stance control"},
        "diagnoses": ["Z89.5"],
        "sites": ["home", "office"],
        "yes": ["1", "3"],
        "no": ["2"],
    },
    {
        "file": "f/Mood.json",
        "id": "CD-T-2",
        "title": "Day treatment",
        "category": "behavioral_health",
        "procedures": {"H0035": "Partial hospitalization, under 24 hours"},
        "diagnoses": ["F32", "F33"],
        "sites": ["outpatient_hospital"],
        "yes": ["1"],
        "values": [
            {"link": "2", "operator": "gte", "threshold": 15, "unit": "{score}", "months": 1}
        ],
    },
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sources, "_entries", lambda: ENTRIES)
    (tmp_path / "f").mkdir()
    for name, items in FORMS.items():
        form = {"resourceType": "Questionnaire", "item": items}
        (tmp_path / name).write_text(json.dumps(form, indent=1), "utf-8")
    return tmp_path


@pytest.fixture
def published(data_dir: Path) -> Path:
    if not (data_dir / "coverage-determinations").is_dir():
        pytest.skip("needs coverage-determinations and questionnaires in HEALTHGYM_DATA")
    return data_dir


def solved(env: HealthEnv, index: int) -> str:
    """Play the oracle; return the policy under which it solved the task."""
    for action in actions_of(env, ScriptPolicy(ORACLE), Split.TRAIN, index):
        info = env.step(action)[-1]
        assert "error" not in info, (index, action, info)
    for profile in Profile:
        verdict = env.episode.verdict(env.role, profile)
        assert verdict.success, [c.check.name for c in verdict.checks if not c.passed]
    policy: str = env.family.generator.generate(Split.TRAIN, index).reference.policy.id
    return policy


def test_the_oracle_solves_tasks_under_policies_of_a_folder(folder: Path) -> None:
    env = PriorAuthorizationEnv(source=str(folder))
    counted = Counter(solved(env, index) for index in range(12))
    assert counted.keys() == {"CD-T-1", "CD-T-2"}


@pytest.mark.parametrize("difficulty", TASKS)
def test_the_oracle_solves_tasks_under_published_criteria(published: Path, difficulty: str) -> None:
    env = PriorAuthorizationEnv(difficulty=difficulty, source=str(published))
    counted = Counter(solved(env, index) for index in range(TASKS[difficulty]))
    assert set(counted) <= {policy.id for policy in read_shelf(published).policies}
    assert len(counted) >= 5


def test_the_handbook_has_the_policies_of_the_folder_and_no_others(folder: Path) -> None:
    generator = AuthorizationFamily("easy", source=folder).generator
    start = generator.generate(Split.TRAIN, 0).start
    pages = start.handbook.paths("medical-library/medical-policies/")
    own = {"CD-T-1", "CD-T-2"}
    assert {Path(page).stem[:6] for page in pages if "CD-" in page} == own
    assert not [page for page in pages if "/MP-" in page]
    assert start.policies is not None
    assert {policy.id[:6] for policy in start.policies.policies} == own


MOOD = "f/Mood.json"


def writes(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / MOOD).write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (writes('{\n "a": 1,\n "b" 2\n}'), DamagedDataError, r"f/Mood\.json, line 3"),
        (writes("{}"), DamagedDataError, r"f/Mood\.json: a FHIR Questionnaire"),
        (lambda folder: (folder / MOOD).unlink(), MissingDataError, r"f/Mood\.json is not"),
    ],
    ids=["json", "form", "gone"],
)
def test_a_damaged_folder_is_named_and_nothing_of_it_is_used(
    folder: Path, spoil: Callable[[Path], object], error: type[HealthGymError], said: str
) -> None:
    spoil(folder)
    with pytest.raises(error, match=said):
        PriorAuthorizationEnv(source=str(folder))
    writes(json.dumps({"resourceType": "Questionnaire", "item": FORMS[MOOD]}))(folder)
    assert len(read_shelf(folder).policies) == 2


@pytest.mark.parametrize("other", [{"canonical": True}, {"handbook": "full"}], ids=str)
def test_what_only_the_library_can_serve_is_refused(folder: Path, other: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="only the synthetic source has that"):
        PriorAuthorizationEnv(source=str(folder), **other)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="There is no data folder"):
        PriorAuthorizationEnv(source=str(tmp_path / "nowhere"))
