import json
import pickle
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.core.episode import Episode
from healthgym.core.family import EpisodeConfig
from healthgym.core.seeding import Split
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.generator import BENCHMARK_NOW, FhirRecordGenerator, Level, Mix
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.paper.base import BENCHMARK_DEFECTS, HONEST_DEFECTS
from healthgym.envs.fhir_record.people import dated, read_folder
from healthgym.envs.fhir_record.sources import BundleSource, OfficialSource
from healthgym.envs.fhir_record.view import ChartView
from healthgym.envs.fhir_record.wording import Style
from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.rewards import resolve
from healthgym.worlds.fhir import DocumentBase
from healthgym.worlds.fhir.api import FhirApi
from healthgym.worlds.fhir.remote import RemoteStore
from healthgym.worlds.fhir.store import FhirStore

LOINC = "http://loinc.org"
STAMP = "2023-11-13T10:15:00+00:00"
CLOCK = f"It's {STAMP} now."


def view_at(base, now):
    return ChartView(FhirStore(base, clock=Clock(now)))


# -- a small folder, written for the tests ------------------------------------------------------


def small_patient(number, **more):
    return {
        "resourceType": "Patient",
        "id": f"p{number}",
        "name": [
            {"use": "maiden", "family": "Before", "given": ["Any"]},
            {"use": "official", "family": f"Family{number}", "given": [f"Given{number}", "Middle"]},
        ],
        "birthDate": f"19{40 + number}-02-2{number % 9}",
        **more,
    }


def small_lab(number, code, value, when, unit):
    return {
        "resourceType": "Observation",
        "id": f"o{number}-{code}-{when[:13]}".replace(":", "-"),
        "status": "final",
        "code": {"coding": [{"system": LOINC, "code": code}], "text": "x"},
        "subject": {"reference": f"Patient/p{number}"},
        "effectiveDateTime": when,
        "valueQuantity": {"value": value, "unit": unit},
    }


def small_resources():
    found = []
    for number in range(40):
        found.append(small_patient(number))
        found.append(small_lab(number, "2339-0", 90 + number, "2019-04-01T08:00:30Z", "mg/dL"))
        found.append(small_lab(number, "2339-0", 95 + number, "2019-04-01T20:00:00Z", "mg/dL"))
        found.append(
            small_lab(number, "2823-3", 3.0 + number / 20, "2019-06-01T08:00:00Z", "mmol/L")
        )
        found.append(small_lab(number, "4548-4", 6.5, "2018-06-01T08:00:00-05:00", "%"))
        found.append(
            small_lab(number, "19123-9", 1.0 + number / 30, "2019-06-01T08:00:00Z", "mg/dL")
        )
    dead = small_patient(90, deceasedDateTime="2020-01-01")
    odd = [
        {"resourceType": "Patient", "id": "nameless"},
        small_lab(90, "2339-0", 100, "2019-04-01T08:00:00Z", "mg/dL"),
        {**small_lab(91, "2339-0", 100, "2019-04-01T08:00:00Z", "mg/dL"), "subject": {}},
    ]
    return [*found, dead, *odd]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("charts")
    lines = [json.dumps(resource) for resource in small_resources()]
    (root / "charts.ndjson").write_text("\n".join(lines))
    return root


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
        level = Level("real", bundles, Style.FULL)
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


def play_oracle(generator, split, index, defects, **config):
    """Let the oracle play a task; return the verdicts by profile."""
    family = FhirRecordFamily(generator, defects=defects)
    instance = generator.generate(split, index)
    episode = Episode(family, instance, resolve("sparse", None), EpisodeConfig(**config))
    for action in family.oracle(instance, np.random.default_rng(0)):
        outcome = episode.step(action)
        assert not outcome.errors
    return {profile: verdict["success"] for profile, verdict in episode.verdicts().items()}


def test_the_oracle_solves_real_charts(bundles):
    names = tuple(bundles.possible(KINDS))
    mix = Mix(dict.fromkeys(names, 1.0))
    made = FhirRecordGenerator(KINDS, mix, [Level("real", bundles, Style.FULL)], name="bundles")
    kinds = set()
    for index in range(60):
        kinds.add(made.kind(Split.TRAIN, index))
        verdicts = play_oracle(made, Split.TRAIN, index, HONEST_DEFECTS)
        assert verdicts == {"paper": True, "strict": True}, made.generate(Split.TRAIN, index).task
    assert kinds == set(names)


# -- the published task files --------------------------------------------------------------------


def row_v1(number, question, context=CLOCK, mrn="S6000001", task=1, **more):
    return {
        "id": f"task{number}_{task}",
        "instruction": question,
        "context": context,
        "eval_MRN": mrn,
        **more,
    }


LOOKUP = 'Name of Ana, name Ana Maria Souza and DOB of 1970-01-02? Else "Patient not found"'
MG = f'{CLOCK} The code for magnesium is "MGX".'
ROWS = [
    row_v1(1, LOOKUP, ""),
    row_v1(1, LOOKUP, "", task=2, sol=["Patient not found"]),
    row_v1(2, "How old?", sol=[40]),
    row_v1(3, 'Pressure is "121/80 mmHg". Record it.'),
    row_v1(4, "Magnesium?", f'{CLOCK} The code for magnesium is "MG".'),
    row_v1(8, "Refer, saying \"Situation: a. Assessment: 'b'.\""),
    row_v1(10, "HbA1C?", f"{CLOCK} The LOINC code for ordering HbA1C lab is: 4548-4."),
]


@pytest.fixture
def write_rows(tmp_path):
    def write(rows, name="tasks.json"):
        path = tmp_path / name
        path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
        return path

    return write


class TestOfficial:
    def test_questions_are_verbatim_and_ordered(self, write_rows):
        source = OfficialSource(write_rows(ROWS))
        assert (source.benchmark, source.size(Split.TEST)) == ("v1", len(ROWS))
        for index, row in enumerate(ROWS):
            task = source.generate(Split.TEST, index).task
            assert row["instruction"] in task.instruction
            assert row["context"] in task.instruction
            assert task.instruction.endswith(row["instruction"])
            assert task.metadata["row"] == row["id"]
            assert task.kind == source.kind(Split.TEST, index)
            assert task.now == BENCHMARK_NOW

    def test_it_is_held_out(self, write_rows):
        source = OfficialSource(write_rows(ROWS))
        for split in (Split.TRAIN, Split.VALIDATION):
            with pytest.raises(ConfigurationError, match="held out"):
                source.generate(split, 0)
            with pytest.raises(ConfigurationError, match="held out"):
                source.size(split)
        with pytest.raises(ConfigurationError, match="7 tasks"):
            source.generate(Split.TEST, 7)

    def test_what_the_row_states_becomes_the_facts(self, write_rows):
        source = OfficialSource(write_rows([*ROWS, row_v1(5, "Magnesium?", MG)]))
        facts = [source.generate(Split.TEST, i).reference.facts for i in range(8)]
        assert facts[0].patient == ""
        assert facts[0].details == {
            "given": "Ana Maria",
            "family": "Souza",
            "birth_date": "1970-01-02",
        }
        assert facts[3].details == {"reading": "121/80 mmHg"}
        assert facts[5].details == {"note": "Situation: a. Assessment: 'b'."}
        assert facts[7].codes["magnesium"] == "MGX"
        assert facts[6].codes == {"a1c": "A1C", "a1c_loinc": "4548-4"}

    def test_made_up_charts_hold_the_patient_and_nothing_in_the_future(self, write_rows):
        source = OfficialSource(write_rows(ROWS))
        found, missed = (source.generate(Split.TEST, i).reference.decision for i in (0, 1))
        assert [e.value for e in found.answer] == ["S6000001"]
        assert [e.value for e in missed.answer] == ["Patient not found"]
        for index in range(2, len(ROWS)):
            instance = source.generate(Split.TEST, index)
            view = view_at(instance.start.base, BENCHMARK_NOW)
            assert view.patient("S6000001")["id"] == "S6000001"
            assert not KINDS[instance.task.kind].branch(instance.reference.decision.branch).trap

    def test_the_same_row_makes_the_same_chart(self, write_rows):
        path = write_rows(ROWS)
        one, other = (OfficialSource(path).generate(Split.TEST, 4) for _ in range(2))
        assert one.reference == other.reference
        rows = [view_at(i.start.base, BENCHMARK_NOW).search("Observation") for i in (one, other)]
        assert rows[0] == rows[1]

    def test_branches_vary_over_rows(self, write_rows):
        rows = [row_v1(10, "HbA1C?", task=task) for task in range(1, 31)]
        source = OfficialSource(write_rows(rows))
        acting = [source.generate(Split.TEST, i).reference.decision.acts for i in range(30)]
        assert 6 <= sum(acting) <= 24

    def test_version_2_is_told_by_its_questions(self, write_rows):
        rows = [
            row_v1(1, "Instruction: Find a CT; indication 'Renal mass'.", "No clock."),
            row_v1(3, "Instruction: Heart rate?", "It's 2023-11-07T22:47:00+00:00 now"),
            row_v1(3, "Instruction: Heart rate?", "It's 2023-11-07T99:00 now", task=2),
        ]
        source = OfficialSource(write_rows(rows))
        tasks = [source.generate(Split.TEST, i) for i in range(3)]
        assert source.benchmark == "v2"
        assert [t.task.kind for t in tasks] == ["v2-t1", "v2-t3", "v2-t3"]
        assert tasks[0].reference.facts.details == {"indication": "Renal mass"}
        assert [t.task.metadata["clock_stated"] for t in tasks] == [False, True, False]
        assert tasks[1].task.now == datetime(2023, 11, 7, 22, 47, tzinfo=UTC)
        assert tasks[2].task.now == BENCHMARK_NOW

    @pytest.mark.parametrize(
        ("rows", "message"),
        [
            ("[", "not JSON"),
            ({"v1": []}, "list of tasks"),
            ([], "list of tasks"),
            ([3], "row 1"),
            ([{**ROWS[0], "eval_MRN": None}], "eval_MRN"),
            ([{**ROWS[0], "id": "task11_1"}], "task11_1"),
            ([{**ROWS[0], "id": "first"}], "first"),
            ([row_v1(3, "Record it.")], "task3_1"),
            ([{**ROWS[2], "sol": 40}], "sol"),
        ],
        ids=[
            "not-json",
            "dict",
            "empty",
            "row-a-number",
            "no-mrn",
            "unknown-task",
            "id-without-task",
            "task-of-v1",
            "sol-a-number",
        ],
    )
    def test_damaged_files_are_named(self, write_rows, rows, message):
        with pytest.raises(DamagedDataError, match=message) as caught:
            OfficialSource(write_rows(rows))
        assert "tasks.json" in str(caught.value)

    def test_a_missing_file_says_where_to_get_it(self, tmp_path):
        with pytest.raises(MissingDataError, match="new_patient_tasks"):
            OfficialSource(tmp_path / "none.json")
        with pytest.raises(ConfigurationError, match="v1, v2"):
            OfficialSource(tmp_path / "none.json", benchmark="v3")

    def test_given_charts_decide(self, write_rows, folder):
        labs = [
            small_lab(1, "MG", 1.2, "2023-11-13T09:00:00+00:00", "mg/dL"),
            small_lab(1, "MG", 2.2, "2023-11-12T09:00:00+00:00", "mg/dL"),
        ]
        base = DocumentBase([small_patient(1), *labs])
        row = row_v1(4, "Magnesium?", mrn="p1")
        source = OfficialSource(write_rows([row]), charts=base)
        assert source.generate(Split.TEST, 0).reference.decision.answer[0].value == 1.2
        assert OfficialSource(write_rows([row]), charts=folder).generate(Split.TEST, 0)
        missing = OfficialSource(write_rows([{**row, "eval_MRN": "S1"}]), charts=base)
        with pytest.raises(DamagedDataError, match=r"task4_1.*S1"):
            missing.generate(Split.TEST, 0)

    def test_an_address_is_a_server_and_not_a_folder(self, write_rows):
        with pytest.raises(ConfigurationError, match="http or https address"):
            OfficialSource(write_rows(ROWS), charts="http://")

    def test_a_server_is_copied_and_never_written_to(self, write_rows):
        count = 230
        start = datetime(2023, 11, 12, 10, 15, tzinfo=UTC)
        labs = [
            small_lab(1, "GLU", 100 + n, (start + timedelta(minutes=n)).isoformat(), "mg/dL")
            | {"id": f"g{n}"}
            for n in range(count)
        ]
        people = [small_patient(n) for n in range(1, 30)]
        store = FhirStore(DocumentBase([*people, *labs]), clock=Clock(BENCHMARK_NOW))
        api = FhirApi(store, "http://server/fhir")
        asked = []

        def answer(request):
            asked.append((request.method, request.url.path))
            target = request.url.raw_path.decode().replace("_count=5000", "_count=50")
            response = api.handle(request.method, target)
            return httpx.Response(response.status, headers=response.headers, text=response.text)

        with RemoteStore("http://server/fhir", transport=httpx.MockTransport(answer)) as remote:
            rows = [row_v1(6, "Glucose?", mrn="p1"), row_v1(2, "Age?", mrn="p1")]
            source = OfficialSource(write_rows(rows), charts=remote)
            instance = source.generate(Split.TEST, 0)
            mean = 100 + (count - 1) / 2
            assert instance.reference.decision.answer[0].value == pytest.approx(mean)
            before = len(asked)
            source.generate(Split.TEST, 1)
            assert len(asked) == before
        assert {method for method, _ in asked} == {"GET"}
        held = FhirStore(instance.start.base, clock=Clock(BENCHMARK_NOW))
        assert held.search("Patient", [("_summary", "count")]).total == 29
        assert held.search("Observation", [("_summary", "count")]).total == count


def test_the_oracle_solves_the_published_tasks_over_made_up_charts(write_rows):
    rows = [row_v1(n, ROWS[0]["instruction"], CLOCK, task=t) for n in (1,) for t in (1, 2)]
    rows += [row_v1(n, "?", task=t) for n in (2, 4, 5, 6, 7, 9, 10) for t in range(1, 7)]
    rows += [ROWS[3], ROWS[5]]
    source = OfficialSource(write_rows(rows), difficulty="easy")
    still = {"step_time": timedelta(0), "show_clock": False}
    for index in range(len(rows)):
        verdicts = play_oracle(source, Split.TEST, index, BENCHMARK_DEFECTS["v1"], **still)
        assert verdicts == {"paper": True, "strict": True}, rows[index]


def test_the_sample_of_the_published_rows(data_dir, write_rows):
    path = data_dir / "medagentbench-sample" / "examples.json"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    for version, rows in json.loads(path.read_text()).items():
        source = OfficialSource(write_rows(rows))
        assert source.benchmark == version
        for index, row in enumerate(rows):
            instance = source.generate(Split.TEST, index)
            assert instance.task.kind == f"{version}-t{row['id'][4:].partition('_')[0]}"
            assert row["instruction"] in instance.task.instruction
            codes = KINDS[instance.task.kind].codes
            assert instance.reference.facts.codes == codes
