"""Charts from a folder of bundles: the chart decides, and the agent sees none of its future."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime

import numpy as np
import pytest

from healthgym.core.levels import Level
from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.generator import Asking, FhirRecordGenerator, Mix
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.paper.base import HONEST_DEFECTS
from healthgym.envs.fhir_record.people import dated, read_folder
from healthgym.envs.fhir_record.sources import BundleSource
from healthgym.envs.fhir_record.wording import Style
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from tests.envs.fhir_record.small_charts import play_oracle, small_lab, small_patient, view_at


@pytest.fixture(scope="module")
def bundles(folder):
    return BundleSource(folder)


BUNDLE_CASES = [
    ("v1-t1", "found"),
    ("v1-t1", "not_found_birth_date"),
    ("v1-t1", "not_found_name"),
    ("v1-t2", "birthday_today"),
    ("v1-t2", "birthday_ahead"),
    ("v1-t3", "record"),
    ("v1-t4", "present"),
    ("v1-t4", "absent"),
    ("v1-t5", "normal"),
    ("v1-t5", "mild"),
    ("v1-t5", "moderate"),
    ("v1-t5", "absent"),
    ("v1-t6", "present"),
    ("v1-t6", "absent"),
    ("v1-t7", "present"),
    ("v1-t8", "refer"),
    ("v1-t9", "low"),
    ("v1-t9", "normal"),
    ("v1-t9", "absent"),
    ("v1-t10", "fresh"),
    ("v1-t10", "stale"),
]


class TestBundles:
    def test_splits_share_no_patient_and_leave_the_dead_out(self, bundles):
        ids = [{p.id for p in bundles.people(split)} for split in Split]
        assert all(ids)
        assert not ids[0] & ids[1] | ids[0] & ids[2] | ids[1] & ids[2]
        assert "p90" not in set.union(*ids)
        assert "nameless" in set.union(*ids)

    @pytest.mark.parametrize(("name", "branch"), BUNDLE_CASES)
    def test_the_chart_decides_and_agrees_with_the_branch(self, bundles, name, branch):
        kind = KINDS[name]
        assert branch in [b.name for b in bundles.branches(kind, Split.TRAIN)]
        allowed = {p.id for p in bundles.people(Split.TRAIN)}
        drawn = set()
        for seed in range(8):
            facts, base = bundles.draw(kind, branch, Split.TRAIN, np.random.default_rng(seed))
            assert kind.decide(view_at(base, facts.now), facts).branch == branch
            assert facts.patient in allowed | {""}
            drawn.add((facts.patient, facts.now, tuple(facts.details.items())))
        assert len(drawn) > 4

    def test_codes_are_those_of_the_chart(self, bundles):
        facts, _ = bundles.draw(KINDS["v1-t9"], "low", Split.TRAIN, np.random.default_rng(0))
        assert facts.codes["potassium"] == "2823-3"
        assert facts.codes["potassium_ndc"] == KINDS["v1-t9"].codes["potassium_ndc"]

    def test_the_future_is_hidden_and_the_past_is_not(self, bundles):
        kind = KINDS["v1-t7"]
        hidden = 0
        for seed in range(20):
            facts, base = bundles.draw(kind, "present", Split.TRAIN, np.random.default_rng(seed))
            rows = view_at(base, facts.now).search("Observation", patient=facts.patient)
            whole = view_at(bundles.base, facts.now).search("Observation", patient=facts.patient)
            assert rows == [r for r in whole if dated(r) <= facts.now]
            hidden += len(rows) < len(whole)
            if len(rows) < len(whole):
                gone = next(r for r in whole if r not in rows)
                assert base.find("Observation", gone["id"]) is None
        assert hidden > 3

    def test_questions_are_asked_around_real_rows(self, bundles):
        for seed in range(20):
            facts, _ = bundles.draw(
                KINDS["v1-t10"], "stale", Split.TRAIN, np.random.default_rng(seed)
            )
            assert datetime(2019, 6, 1, tzinfo=UTC) < facts.now < datetime(2021, 2, 1, tzinfo=UTC)

    def test_the_same_stream_draws_the_same_question(self, bundles, folder):
        again = pickle.loads(pickle.dumps(bundles))
        assert len(pickle.dumps(bundles)) < 1000
        for name in ("v1-t1", "v1-t6", "v1-t8"):
            kind = KINDS[name]
            branch = bundles.branches(kind)[0].name
            facts = [
                source.draw(kind, branch, Split.TEST, np.random.default_rng(5))[0]
                for source in (bundles, again, BundleSource(folder))
            ]
            assert facts[0] == facts[1] == facts[2]

    def test_the_folder_is_read_once(self, bundles, folder):
        assert BundleSource(folder).base is bundles.base
        assert read_folder(folder) is read_folder(str(folder))

    def test_what_the_folder_lacks_is_said(self, bundles):
        with pytest.raises(ConfigurationError, match=r"heart_rate as one of 8867-4.*has none"):
            bundles.require(KINDS["v2-t3"])
        with pytest.raises(ConfigurationError, match="synthetic charts only"):
            bundles.require(KINDS["v2-t2"])
        with pytest.raises(ConfigurationError, match="v2-t6"):
            bundles.draw(KINDS["v2-t6"], "normal", Split.TRAIN, np.random.default_rng(0))
        assert bundles.branches(KINDS["v2-t6"]) == []
        assert bundles.lacking(KINDS["v1-t6"]) == ""
        assert set(bundles.possible(KINDS)) == {f"v1-t{n}" for n in range(1, 11)}

    def test_charts_nobody_was_measured_in_ask_for_no_measurement(self, tmp_path):
        resources = [small_patient(n) for n in range(12)]
        resources += [small_lab(n, "8302-2", 170, "2019-01-01T00:00:00Z", "cm") for n in range(12)]
        resources += [small_lab(99, "2339-0", 90, "2019-01-01T00:00:00Z", "mg/dL")]
        (tmp_path / "a.ndjson").write_text("\n".join(map(json.dumps, resources)))
        source = BundleSource(tmp_path)
        assert source.branches(KINDS["v1-t7"]) == []
        assert "fits no living patient" in source.lacking(KINDS["v1-t7"])
        assert source.branches(KINDS["v1-t2"])

    def test_two_charts_of_one_person_are_not_looked_up(self, tmp_path):
        twins = [small_patient(1), {**small_patient(1), "id": "p1b"}]
        labs = [small_lab(1, "8302-2", 170, "2019-01-01T00:00:00Z", "cm")]
        labs += [{**labs[0], "id": "b", "subject": {"reference": "Patient/p1b"}}]
        (tmp_path / "a.ndjson").write_text("\n".join(map(json.dumps, [*twins, *labs])))
        source = BundleSource(tmp_path)
        names = {b.name for b in source.branches(KINDS["v1-t1"])}
        assert not names & {"found", "found_among_namesakes"}

    def test_missing_and_damaged_folders(self, tmp_path):
        with pytest.raises(MissingDataError):
            BundleSource(tmp_path / "none")
        (tmp_path / "a.json").write_text("{")
        with pytest.raises(DamagedDataError, match=r"a\.json"):
            BundleSource(tmp_path)

    def test_a_generator_over_it_makes_whole_tasks(self, bundles):
        mix = Mix(dict.fromkeys(("v1-t1", "v1-t6", "v1-t9"), 1.0))
        level = Level("real", Asking(bundles, Style.FULL))
        made = FhirRecordGenerator(KINDS, mix, [level], name="bundles")
        tasks = [made.generate(Split.VALIDATION, index) for index in range(30)]
        assert len({instance.task.instruction for instance in tasks}) > 20
        acting = [instance.reference.decision.acts for instance in tasks]
        assert any(acting)
        assert not all(acting)


def test_synthea(data_dir):
    root = data_dir / "synthea-fhir-r4"
    if not root.is_dir():
        pytest.skip(f"{root} is not there")
    source = BundleSource(root)
    possible = source.possible(KINDS)
    assert set(possible) >= {f"v1-t{n}" for n in (1, 2, 3, 6, 7, 8, 9, 10)}
    for name in possible:
        for branch in source.branches(KINDS[name], Split.TRAIN):
            rng = np.random.default_rng(1)
            facts, base = source.draw(KINDS[name], branch.name, Split.TRAIN, rng)
            assert KINDS[name].decide(view_at(base, facts.now), facts).branch == branch.name
            assert facts.now.second == 0
    with pytest.raises(ConfigurationError, match="magnesium"):
        source.require(KINDS["v1-t4"])


def test_the_oracle_solves_real_charts(bundles):
    names = tuple(bundles.possible(KINDS))
    mix = Mix(dict.fromkeys(names, 1.0))
    made = FhirRecordGenerator(
        KINDS, mix, [Level("real", Asking(bundles, Style.FULL))], name="bundles"
    )
    kinds = set()
    for index in range(60):
        kinds.add(made.kind(Split.TRAIN, index))
        verdicts = play_oracle(made, Split.TRAIN, index, HONEST_DEFECTS)
        assert verdicts == {"paper": True, "strict": True}, made.generate(Split.TRAIN, index).task
    assert kinds == set(names)
