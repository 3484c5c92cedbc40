"""Published questionnaires as policies."""

import json
from datetime import date

import numpy as np
import pytest

from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.policies import sources
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.planting import plant_policy
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.sources import load_questionnaires
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

TODAY = date(2026, 3, 13)
_QUESTIONS = [
    {"linkId": "1", "type": "group", "item": [{"linkId": "1.1", "text": "Is it | so ?"}]},
    {"linkId": "2", "text": "Is it\nnot?"},
    {"linkId": "3", "text": "Sum", "code": [{"system": "http://loinc.org", "code": "44261-6"}]},
]
_ENTRY = {
    "file": "f/Form.json",
    "id": "CD-1",
    "title": "T",
    "category": "other",
    "procedures": {"A1": "x"},
    "diagnoses": ["E66"],
    "sites": ["home"],
    "yes": ["1.1"],
    "no": ["2"],
    "values": [{"link": "3", "operator": "gte", "threshold": 5, "unit": "{score}", "months": 1}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_entries", lambda: (_ENTRY,))
    (tmp_path / "f").mkdir()
    _write(tmp_path, {"resourceType": "Questionnaire", "item": _QUESTIONS})
    return tmp_path


def _write(folder, document):
    (folder / "f" / "Form.json").write_text(json.dumps(document), "utf-8")


def check(policy):
    request = Request(
        procedure_code=policy.procedures[0].code,
        diagnosis_codes=policy.diagnosis_prefixes[:1],
        site=policy.sites[0],
        age=50,
        sex="male",
    )
    rng = np.random.default_rng(4)
    for stance in (Posture.SATISFIED, Posture.INSUFFICIENT, Posture.CONTRADICTS):
        case = plant_policy(policy, stance, request, TODAY, rng)
        assert evaluate(policy, case.facts, case.request, TODAY).posture is stance


def test_questions_become_criteria(folder):
    policy = load_questionnaires(folder)["CD-1"]
    yes, no, value = criteria(policy.criteria)
    assert (yes.display, yes.accepted) == ("“Is it / so ?”", ("yes",))
    assert (no.display, no.accepted) == ("“Is it not?”", ("no",))
    assert (value.code, value.threshold) == ("44261-6", 5.0)
    check(policy)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"resourceType": "Patient"}, "a FHIR Questionnaire is expected"),
        ({"resourceType": "Questionnaire", "item": {}}, "item is to be a list"),
        ({"resourceType": "Questionnaire", "item": [{}]}, "an item has no linkId"),
        (
            {"resourceType": "Questionnaire", "item": _QUESTIONS[1:]},
            r"f/Form.json: the question 1\.1 is missing",
        ),
    ],
    ids=["resource", "items", "link", "question"],
)
def test_what_is_no_such_questionnaire_is_named(folder, document, said):
    _write(folder, document)
    with pytest.raises(DamagedDataError, match=said):
        load_questionnaires(folder)


def test_answers_to_a_form_repeat_its_questions(folder):
    answered = [{**_QUESTIONS[0], "answer": [{"valueBoolean": True}]}, *_QUESTIONS[1:]]
    _write(folder, {"resourceType": "QuestionnaireResponse", "item": answered})
    check(load_questionnaires(folder)["CD-1"])


_SUMMARY = {
    "file": "f/Note.md",
    "id": "CD-2",
    "title": "T",
    "category": "cardiology",
    "procedures": {"A1": "x"},
    "diagnoses": ["I50"],
    "sites": ["home"],
    "stated": [
        {
            "phrase": "pressure",
            "number": r"under (\d+)",
            "display": "pressure",
            "operator": "lt",
            "code": "8480-6",
            "unit": "mm[Hg]",
            "months": 3,
        },
        {"phrase": "years", "number": r"(\d+) years"},
    ],
}


@pytest.fixture
def note(folder, monkeypatch):
    monkeypatch.setattr(sources, "_entries", lambda: (_SUMMARY,))
    path = folder / "f" / "Note.md"
    path.write_text("# Note\n\nThe pressure is under 140.\nNobody below 21 years.\n", "utf-8")
    return path


def test_numbers_of_a_summary_become_criteria(folder, note):
    policy = load_questionnaires(folder)["CD-2"]
    pressure, age = criteria(policy.criteria)
    assert (pressure.threshold, age.minimum) == (140.0, 21)
    check(policy)
    note.write_text(note.read_text("utf-8").replace("140", "130"), "utf-8")
    changed, _ = criteria(load_questionnaires(folder)["CD-2"].criteria)
    assert changed.threshold == 130.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "The pressure is low.\n20 years",
            r"f/Note\.md, line 1: no number stands where 'pressure'",
        ),
        ("20 years", r"f/Note\.md: no line says 'pressure'"),
    ],
    ids=["number", "phrase"],
)
def test_what_a_summary_does_not_say_is_named(folder, note, text, said):
    note.write_text(text, "utf-8")
    with pytest.raises(DamagedDataError, match=said):
        load_questionnaires(folder)
    note.unlink()
    with pytest.raises(MissingDataError, match=r"f/Note\.md is not in the data folder"):
        load_questionnaires(folder)


def test_a_summary_that_contradicts_itself_loads_nothing(folder, note):
    note.write_text("The pressure is under 140.\nNobody below 400 years.\n", "utf-8")
    with pytest.raises(DamagedDataError, match=r"f/Note\.md"):
        load_questionnaires(folder)


def test_what_is_not_there_is_named(folder):
    with pytest.raises(MissingDataError, match="no data folder"):
        load_questionnaires(folder / "nowhere")
    (folder / "f" / "Form.json").write_text("{\n,", "utf-8")
    with pytest.raises(DamagedDataError, match=r"f/Form.json, line 2: not JSON"):
        load_questionnaires(folder)
    (folder / "f" / "Form.json").unlink()
    with pytest.raises(MissingDataError, match=r"f/Form.json is not in the data folder"):
        load_questionnaires(folder)


def test_the_published_questionnaires_load(data_dir):
    if not (data_dir / "coverage-determinations").is_dir():
        pytest.skip("needs coverage-determinations and questionnaires in HEALTHGYM_DATA")
    loaded = load_questionnaires(data_dir)
    assert len(loaded) == 16
    for policy in loaded.values():
        check(policy)
