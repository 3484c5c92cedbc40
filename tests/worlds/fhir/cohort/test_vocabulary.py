"""The vocabulary tables: complete, consistent, and tagged by what their words say."""

import json
import subprocess
import sys

import pytest

from healthgym.worlds.fhir.cohort import vocabulary

CLASSES = {
    "anticoagulant": (
        "heparin enoxaparin dalteparin fondaparinux apixaban rivaroxaban dabigatran warfarin"
    ),
    "opioid": "hydromorphone oxycodone fentanyl hydrocodone morphine",
    "qt_prolonging": (
        "ondansetron prochlorperazine haloperidol quetiapine olanzapine risperidone ziprasidone "
        "clozapine chlorpromazine"
    ),
    "naloxone": "naloxone narcan",
    "levothyroxine": "levothyroxine synthroid",
    "covid_vaccine": "covid-19 vac",
    "influenza_vaccine": "influenza",
}
TAGGED_WORDS = [
    (word, tag)
    for tag, words in CLASSES.items()
    for word in ([words] if tag == "covid_vaccine" else words.split())
]


@pytest.mark.parametrize(("word", "tag"), TAGGED_WORDS)
def test_texts_that_name_a_class_carry_its_tag(word: str, tag: str) -> None:
    words = vocabulary()
    texts = [(row.text, row.tags) for row in words.medications]
    texts += [(row.display, row.tags) for row in words.procedures + words.findings]
    named = [(text, tags) for text, tags in texts if word in text.lower()]
    assert named
    assert [text for text, tags in named if tag not in tags] == []


def test_codes_of_the_benchmark_exist() -> None:
    words = vocabulary()
    labs = {"MG", "K", "GLU", "A1C", "TSH", "FT4", "QTCINTERVAL", "HEARTRATE"}
    imaging = {"IMGCT0491", "IMGIL0001", "IMGXR0125", "ECH15"}
    others = {"NUR1373", "NUR1231", "90686", "COVIDVACCINE", "LABMGNLTD", "LABNA", "ADT100"}
    assert labs <= set(words.lab_by_code)
    assert imaging | others <= set(words.procedure_by_code)
    assert {vital.name for vital in words.vitals} == {
        "BP",
        "SpO2",
        "Temp",
        "Heart Rate",
        "Resp Rate",
        "FiO2",
    }
    assert "C64.2" in {form.code for disease in words.diseases for form in disease.forms}
    assert words.lab_by_code["K"].loinc == "2823-3"
    assert words.lab_by_code["A1C"].loinc == "4548-4"
    assert words.lab_by_code["A1C"].units == ("%", "% of total Hgb")


def test_tables_are_large_and_free_of_repeats() -> None:
    words = vocabulary()
    assert len(words.lab_by_code) == len(words.labs) >= 43
    assert len(words.procedure_by_code) == len(words.procedures) >= 70
    assert len({row.text for row in words.medications}) == len(words.medications) >= 150
    people = words.people
    assert len(set(people.family)) == len(people.family) >= 250
    for gender in ("female", "male"):
        given = people.given(gender)
        assert len(set(given)) == len(given) >= 250
    assert sum(share for _, share in people.race) == pytest.approx(1)
    assert sum(share for _, share in people.ethnicity) == pytest.approx(1)


def test_medication_texts_are_in_formulary_style() -> None:
    assert all(row.text == row.text.upper() for row in vocabulary().medications)


def test_signals_fit_their_physiological_limits() -> None:
    for signal in vocabulary().signals:
        assert signal.floor < signal.mean < signal.ceiling, signal.name
        assert signal.tau_days > 0, signal.name
    for lab in vocabulary().labs:
        low, high = lab.reference
        assert lab.signal.floor <= max(low, lab.signal.floor) < high <= lab.signal.ceiling, lab.code


def test_every_panel_and_order_is_known() -> None:
    words = vocabulary()
    for panel in words.panels:
        assert set(panel.codes) <= set(words.lab_by_code), panel.name
        assert panel.order in words.procedure_by_code, panel.name
        assert set(panel.boosts) <= set(words.disease_by_name), panel.name
    resulted = {code for panel in words.panels for code in panel.codes}
    assert resulted == set(words.lab_by_code)


def test_every_cause_and_indication_is_a_disease() -> None:
    words = vocabulary()
    named = {name for row in words.diseases for name in (*row.raised_by, *row.excludes)}
    named |= {name for row in words.medications for name in row.indications}
    named |= {name for row in words.findings for name in row.requires}
    assert named <= set(words.disease_by_name)


def test_medications_are_found_by_tag() -> None:
    words = vocabulary()
    flushes = words.medications_tagged("anticoagulant", "heparin_flush")
    others = words.medications_tagged("anticoagulant", without={"heparin_flush"})
    assert flushes
    assert all("FLUSH" in row.text for row in flushes)
    assert others
    assert not any("FLUSH" in row.text for row in others)


def test_no_table_is_read_at_import() -> None:
    script = (
        "import json; from healthgym.worlds.fhir.cohort import vocabulary;"
        "before = vocabulary.cache_info().currsize; vocabulary();"
        "print(json.dumps([before, vocabulary.cache_info().currsize]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert json.loads(done.stdout) == [0, 1]
