"""Every example runs, for one step or a few."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import healthgym
from healthgym.core.seeding import Split
from healthgym.registration import make_health_env
from tests.standin import completion, stand_in

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("index", range(12))
def test_play_an_episode(index: int) -> None:
    assert load("play_an_episode").main(index) == 1.0


def test_look_ahead() -> None:
    assert {load("look_ahead").main(index) for index in range(6)} == {1.0}


def test_a_reward_of_your_own() -> None:
    assert 0.9 < load("a_reward_of_your_own").main(5) < 1.0


def test_any_fhir_client() -> None:
    assert load("any_fhir_client").main(8000) > 0


def test_your_own_records(data_dir: Path) -> None:
    folder = data_dir / "synthea-fhir-r4"
    if not folder.is_dir():
        pytest.skip("needs Synthea bundles in HEALTHGYM_DATA/synthea-fhir-r4")
    kinds = load("your_own_records").main(str(folder), 12)
    assert len(kinds) >= 4


def test_your_own_records_without_any(tmp_path: Path) -> None:
    example = load("your_own_records")
    assert example.main(example.synthetic(str(tmp_path)), 8).total() == 8


#: Two patients, one of whom died; a result without a number; what stopped, and what goes on.
MIMIC = {
    "patients": "subject_id,gender,anchor_age,anchor_year,dod\n"
    "7,F,50,2150,\n8,M,70,2150,2151-01-01\n",
    "admissions": "hadm_id,subject_id,admittime\n70,7,2150-03-01 10:00:00\n",
    "d_labitems": "itemid,label\n50960,Magnesium\n51277,RDW\n",
    "labevents": "labevent_id,subject_id,itemid,charttime,valuenum,valueuom\n"
    "1,7,50960,2150-03-01 12:00:00,1.4,mg/dL\n2,7,51277,2150-03-01 12:00:00,15,%\n"
    "3,7,50960,2150-03-01 13:00:00,,mg/dL\n4,8,50960,2150-03-01 12:00:00,2.0,mg/dL\n",
    "prescriptions": "subject_id,starttime,stoptime,drug,prod_strength\n"
    "7,2150-03-01 12:00:00,2150-03-02 12:00:00,Aspirin,81mg Tab\n7,2150-03-02 12:00:00,,Heparin,\n",
    "diagnoses_icd": "subject_id,hadm_id,icd_code,icd_version\n7,70,E119,10\n7,71,4019,9\n",
}


def test_mimic_as_fhir(tmp_path: Path) -> None:
    hosp = tmp_path / "mimic" / "hosp"
    hosp.mkdir(parents=True)
    for name, rows in MIMIC.items():
        (hosp / f"{name}.csv").write_text(rows)
    main = load("mimic_as_fhir").main
    counts = main(str(tmp_path / "mimic"), str(tmp_path / "fhir"))
    assert counts == {"Patient": 2, "Observation": 3, "MedicationRequest": 2, "Condition": 1}
    env = make_health_env("HealthAgent/FhirRecord-v1", {"source": str(tmp_path / "fhir")})
    told = env.family.of_data()
    assert "Living patients: 1 " in told
    assert "v1-t5: magnesium check and intravenous replacement" in told
    assert "own-t1: reconciliation of a drug no longer taken" in told
    assert "v1-t2 (patient age) fits no living patient" in told
    with pytest.raises(SystemExit, match="name a folder of MIMIC-IV"):
        main(str(tmp_path), str(tmp_path / "none"))


@pytest.mark.slow
def test_the_oracle_solves_what_mimic_is_asked(data_dir: Path, tmp_path: Path) -> None:
    demo = data_dir / "mimic-iv-demo-2.2"
    if not demo.is_dir():
        pytest.skip("needs MIMIC-IV's demo in HEALTHGYM_DATA/mimic-iv-demo-2.2")
    load("mimic_as_fhir").main(str(demo), str(tmp_path))
    named = ["v1-t3", "v1-t4", "v1-t5", "v1-t6", "v1-t7", "v1-t8", "v1-t9", "v1-t10", "v2-t6"]
    settings = {"source": str(tmp_path), "task_types": [*named, "own-t1"]}
    types = make_health_env("HealthAgent/FhirRecord-v1", settings).family.generator.task_types(
        Split.TEST
    )
    assert len(types) == 10
    scored = healthgym.evaluate(
        "HealthAgent/FhirRecord-v1", "oracle", episodes=60, split="test", env_kwargs=settings
    )
    assert all(result.success for result in scored.results)


def test_score_a_model_against_a_stand_in() -> None:
    with stand_in(completion(calls=[("finish", '{"value": [-1]}')])) as server:
        result = load("score_a_model").main(server.base_url, "stand-in", 3)
    assert len(result.results) == 3
    assert all(episode.submitted for episode in result.results)


def test_score_a_vision_model_against_a_stand_in(tmp_path: Path) -> None:
    looks = completion(calls=[("view_slice", "{}")])
    out = tmp_path / "ct.jsonl"
    with stand_in(looks, completion(calls=[("submit", "{}")])) as server:
        main = load("score_a_vision_model").main
        result = main(server.base_url, "stand-in", 1, out=str(out))
        *_, answer, shown = server.requests[1]["messages"]
    assert result.results[0].submitted
    assert answer["role"] == "tool"
    assert shown["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    assert len(list((tmp_path / "ct.pictures").iterdir())) == 1


def test_pixels_decide() -> None:
    pytest.importorskip("torch")
    assert 0.0 <= load("pixels_decide").main(rounds=1, tasks=2, held_out=1) <= 1.0


@pytest.mark.parametrize(
    ("env_id", "shown"), [("PA", "What is right"), ("UM", "findings"), ("CM", "Call 1 to")]
)
def test_case_timeline(env_id: str, shown: str, tmp_path: Path) -> None:
    out = tmp_path / "case.html"
    page = load("case_timeline").main(2, "easy", str(out), env_id=env_id)
    assert out.read_text(encoding="utf-8") == page
    assert shown in page


def test_every_example_is_run() -> None:
    here = Path(__file__)
    # Self-play runs beside the tests of what it is made of.
    tests = (here, here.parent / "integrations" / "test_selfplay.py")
    tested = "".join(path.read_text(encoding="utf-8") for path in tests)
    for path in EXAMPLES.glob("*.py"):
        assert f'load("{path.stem}")' in tested or path.stem.startswith("train_"), path.name
