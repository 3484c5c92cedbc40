"""Charts told anew: whoever they were of is not to be found in them, and questions stay askable."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.paper.base import HONEST_DEFECTS
from healthgym.envs.fhir_record.people import FOLDS, read_folder
from healthgym.envs.fhir_record.retelling import Form, Retelling
from healthgym.envs.fhir_record.retold import PseudonymousCharts, Retold, StyledCharts
from healthgym.envs.fhir_record.sources import BundleSource
from healthgym.errors import ConfigurationError
from tests.envs.fhir_record.small_charts import play_oracle, small_lab, small_patient, view_at

UUID = "{:08x}-aaaa-4bbb-8ccc-dddddddd{:04x}"


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> BundleSource:
    """A folder whose patients have UUIDs, record numbers apart from these, and long decimals."""
    resources = []
    for number in range(30):
        key = UUID.format(number * 7919 + 5, number)
        record = {
            "type": {"coding": [{"code": "MR"}]},
            "system": "urn:mr",
            "value": UUID.format(number * 104729 + 11, number + 100),
        }
        state = {"system": "urn:ssn", "value": f"999-11-{number:04}"}
        patient = small_patient(number, id=key, identifier=[state, record])
        patient |= {"telecom": [{"value": f"555-{number:04}"}], "gender": "female"}
        resources.append(patient)
        for code, value in (("2339-0", 91.123456789), ("6298-4", 3.0123456789)):
            for day in (3, 9):
                lab = small_lab(number, code, value + number / 10, f"2019-04-0{day}T08:00:30Z", "x")
                resources.append({**lab, "subject": {"reference": f"Patient/{key}"}})
    root = tmp_path_factory.mktemp("hospital")
    (root / "charts.ndjson").write_text("\n".join(json.dumps(one) for one in resources))
    return BundleSource(root)


def whole(base) -> list[dict]:
    return [
        base.resource(kind, row) for kind in base.resource_types() for row in range(base.size(kind))
    ]


def drawn(charts, name, split=Split.TRAIN, seeds=6):
    kind = KINDS[name]
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        for branch in charts.branches(kind, split):
            yield charts.draw(kind, branch.name, split, rng)


class TestPseudonymous:
    @pytest.mark.parametrize("name", ["v1-t1", "v1-t2", "v1-t7", "v1-t9"])
    def test_nothing_of_anybody_is_left(self, hospital, name):
        known = set()
        for resource in whole(hospital.base):
            known |= {resource["id"]} if resource["resourceType"] == "Patient" else set()
            known |= {each["value"] for each in resource.get("identifier", ())}
            known |= {each["value"] for each in resource.get("telecom", ())}
            known |= (
                {repr(resource["valueQuantity"]["value"])} if "valueQuantity" in resource else set()
            )
            for each in resource.get("name", ()):
                known |= {each["family"], each["given"][0]}
        seen = 0
        for facts, base in drawn(PseudonymousCharts(hospital), name):
            text = json.dumps(whole(base)) + str(facts.details) + facts.patient
            found = [each for each in known if re.search(rf"\b{re.escape(str(each))}\b", text)]
            assert not found
            seen += 1
        assert seen >= 6

    def test_who_is_told_of_is_of_the_split_and_of_the_form(self, hospital):
        for split in Split:
            people = hospital.people(split)
            for _, base in drawn(PseudonymousCharts(hospital), "v1-t7", split, seeds=2):
                patients = [r for r in whole(base) if r["resourceType"] == "Patient"]
                assert len(patients) == len(people)
                for one in patients:
                    number = one["identifier"][0]["value"]
                    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", one["id"])
                    assert number != one["id"]
                    assert len(number) == 36

    def test_the_same_person_is_the_same_wherever_it_occurs(self, hospital):
        for facts, base in drawn(PseudonymousCharts(hospital), "v1-t7"):
            view = view_at(base, facts.now)
            assert view.patient(facts.patient) is not None
            rows = [r for r in whole(base) if r["resourceType"] == "Observation"]
            assert rows
            assert {r["subject"]["reference"] for r in rows} == {f"Patient/{facts.patient}"}
            # What lay ahead when the question was asked is told to nobody.
            assert all(r["effectiveDateTime"] < facts.now.isoformat() for r in rows)

    def test_dates_are_moved_together(self, hospital):
        kind = KINDS["v1-t7"]
        told, base = PseudonymousCharts(hospital).draw(
            kind, "present", Split.TRAIN, np.random.default_rng(3)
        )
        facts, chart = hospital.draw(kind, "present", Split.TRAIN, np.random.default_rng(3))
        old = [r.time for r in view_at(chart, facts.now).readings(facts.patient, "2339-0")]
        new = [r.time for r in view_at(base, told.now).readings(told.patient, "2339-0")]
        shift = told.now - facts.now
        assert [moment + shift for moment in old] == new
        assert shift.days
        assert not shift.seconds

    def test_a_folder_of_short_ids_has_enough_of_them(self, hospital):
        form = Form(("7", "12"), apart=False)
        retelling = Retelling(np.random.default_rng(0), form)
        ids = [retelling.id(str(number)) for number in range(300)]
        ids += [retelling.row(str(number)) for number in range(300)]
        assert len(set(ids)) == 600
        assert max(map(len, ids)) < 8


class TestStyled:
    def test_charts_are_in_the_folders_form(self, hospital):
        codes = set()
        for facts, base in drawn(StyledCharts(hospital), "v1-t7", seeds=20):
            assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", facts.patient)
            codes.add(facts.codes["glucose"])
            for reading in view_at(base, facts.now).readings(facts.patient, facts.codes["glucose"]):
                assert len(repr(reading.value).partition(".")[2]) >= 6
        assert "2339-0" in codes
        assert len(codes) > 4

    def test_only_what_the_folder_can_be_asked_is_asked(self, hospital):
        styled = StyledCharts(hospital)
        for name, kind in KINDS.items():
            assert bool(styled.branches(kind, Split.TRAIN)) == bool(hospital.branches(kind)), name


class TestFamily:
    @pytest.mark.parametrize("retold", [*Retold])
    def test_the_oracle_solves_what_is_told(self, hospital, retold):
        family = FhirRecordFamily(source=hospital.folder, difficulty="easy", retold=retold)
        for split in Split:
            for index in range(12):
                verdicts = play_oracle(family.generator, split, index, HONEST_DEFECTS)
                assert all(verdicts.values()), (split, index)

    def test_a_question_is_a_function_of_its_index(self, hospital):
        for retold in Retold:
            made = [
                FhirRecordFamily(source=hospital.folder, difficulty="easy", retold=retold)
                for _ in range(2)
            ]
            first, again = (each.generator.generate(Split.TRAIN, 4) for each in made)
            assert first.task == again.task
            assert whole(first.start.base) == whole(again.start.base)

    def test_each_patient_is_held_out_by_one_fold(self, hospital):
        folder = hospital.folder
        held = [
            {p.id for p in BundleSource(folder, fold).people(Split.TEST)} for fold in range(FOLDS)
        ]
        everybody = {person.id for person in read_folder(folder).people}
        assert set().union(*held) == everybody
        assert sum(map(len, held)) == len(everybody)

    def test_what_does_not_go_together_is_said(self, hospital):
        with pytest.raises(ConfigurationError, match="folder of charts"):
            FhirRecordFamily(retold="styled")
        with pytest.raises(ConfigurationError, match="folder of charts"):
            FhirRecordFamily(fold=2)
        with pytest.raises(ConfigurationError, match="fold is 0 to 4"):
            FhirRecordFamily(source=hospital.folder, fold=5)
        with pytest.raises(ConfigurationError, match="retold"):
            FhirRecordFamily(source=hospital.folder, retold="loudly")
