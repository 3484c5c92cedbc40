"""The types that folders of real charts are asked besides the published ones."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import healthgym
from healthgym.core.seeding import Split
from healthgym.core.tool import ToolCall
from healthgym.core.verdict import Profile
from healthgym.envs.fhir_record import practices
from healthgym.envs.fhir_record.draft import PRESETS
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.generator import SyntheticCharts
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS, KINDS
from healthgym.envs.fhir_record.sources import BundleSource
from healthgym.envs.fhir_record.task import Facts
from healthgym.errors import ConfigurationError
from healthgym.registration import make_health_env
from healthgym.worlds.fhir.documents import DocumentBase
from tests.envs.fhir_record.clinic_charts import UUID, charts, dose, order
from tests.envs.fhir_record.small_charts import small_lab, small_patient, view_at

OWN = ("own-t1", "own-t2")
NOW = datetime(2021, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> BundleSource:
    """A folder with orders and immunizations, and no laboratory."""
    root = tmp_path_factory.mktemp("clinic")
    (root / "charts.ndjson").write_text("\n".join(map(json.dumps, charts())))
    return BundleSource(root)


def decided(name: str, rows: list[dict], **details: str) -> tuple:
    base = DocumentBase([small_patient(1), *rows])
    codes = {"vaccine": "140,141", "order": "90686"}
    facts = Facts(NOW, "p1", codes, details)
    return FOLDER_KINDS[name].decide(view_at(base, NOW), facts)


class TestRules:
    def test_every_active_order_of_the_product_ends_and_no_other(self) -> None:
        rows = [
            order(1, "Warfarin 5 MG", "2020-04-05T08:00:40Z", "active", 4),
            order(1, "WARFARIN  5 mg", "2020-05-05T08:00:50Z", "active", 5),
            order(1, "Warfarin 5 MG", "2020-07-05T08:00:50Z", "stopped", 6),
            order(1, "Warfarin 2 MG", "2020-08-05T08:00:50Z", "active", 7),
            order(1, "Warfarin 5 MG", "2020-09-05T08:00:50Z", "entered-in-error", 8),
            order(1, "Warfarin 5 MG", "2022-09-05T08:00:50Z", "completed", 9),
        ]
        found = decided("own-t1", rows, drug="Warfarin 5 MG")
        assert found.branch == "active"
        assert found.stops == {UUID.format(1, 4), UUID.format(1, 5)}
        assert found.answer[0].value == "2020-07-05T08:00:50Z"

    def test_what_has_ended_or_never_was_needs_nothing(self) -> None:
        rows = [order(1, "Warfarin 5 MG", "2020-04-05T08:00:40Z", "on-hold", 4)]
        assert decided("own-t1", rows, drug="Warfarin 5 MG").branch == "ended"
        found = decided("own-t1", rows, drug="Warfarin 2 MG")
        assert (found.branch, found.answer[0].value, found.acts) == ("never", -1, False)

    def test_any_of_the_codes_counts_and_only_what_was_given(self) -> None:
        old = dose(1, "140", "2019-06-01T08:00:00Z", 1)
        refused = dose(1, "140", "2021-05-01T08:00:00Z", 2, "not-done")
        other = dose(1, "113", "2021-05-01T08:00:00Z", 3)
        assert decided("own-t2", [old, refused, other]).branch == "stale"
        recent = dose(1, "141", "2020-06-01T12:00:00Z", 4)
        found = decided("own-t2", [old, recent])
        assert (found.branch, found.answer[0].value) == ("fresh", "2020-06-01T12:00:00Z")
        found = decided("own-t2", [refused, other])
        assert (found.branch, [spec.codes for spec in found.orders]) == ("none", [("90686",)])

    @pytest.mark.parametrize("difficulty", ["easy", "medium"])
    @pytest.mark.parametrize("branch", ["active", "ended", "never"])
    def test_what_is_planted_is_decided(self, branch: str, difficulty: str) -> None:
        kind = FOLDER_KINDS["own-t1"]
        for seed in range(20):
            rng = np.random.default_rng(seed)
            facts, base = SyntheticCharts(PRESETS[difficulty]).draw(kind, branch, Split.TRAIN, rng)
            assert kind.decide(view_at(base, facts.now), facts).branch == branch


class TestFolders:
    def test_what_is_asked_is_what_the_chart_says(self, clinic: BundleSource) -> None:
        for name, branches in (("own-t1", "active ended never"), ("own-t2", "fresh stale")):
            kind = FOLDER_KINDS[name]
            assert {b.name for b in clinic.branches(kind, Split.TRAIN)} >= set(branches.split())
            for branch in branches.split():
                drawn = set()
                for seed in range(12):
                    rng = np.random.default_rng(seed)
                    facts, base = clinic.draw(kind, branch, Split.TRAIN, rng)
                    assert kind.decide(view_at(base, facts.now), facts).branch == branch
                    drawn.add((facts.patient, facts.now, facts.details.get("drug")))
                assert len(drawn) > 6

    def test_the_vaccine_is_stated_in_the_folders_codes(self, clinic: BundleSource) -> None:
        kind = FOLDER_KINDS["own-t2"]
        assert clinic.codes(kind) == {"vaccine": "140,141"}
        facts, _ = clinic.draw(kind, "stale", Split.TEST, np.random.default_rng(0))
        assert facts.codes == {"vaccine": "140,141", "order": "90686"}

    def test_a_folder_without_them_is_told_so(self, folder) -> None:
        source = BundleSource(folder)
        assert "needs immunizations (CVX 140" in source.lacking(FOLDER_KINDS["own-t2"])
        assert "fits no living patient" in source.lacking(FOLDER_KINDS["own-t1"])
        with pytest.raises(ConfigurationError, match="own-t2"):
            FhirRecordFamily(source=folder, task_types=["own-t2"])

    def test_folders_are_asked_them_by_name(self, clinic: BundleSource) -> None:
        usual = FhirRecordFamily(source=clinic.folder).generator.task_types(Split.TRAIN)
        assert set(usual) == {"v1-t1", "v1-t2", "v1-t3", "v1-t8"}
        named = FhirRecordFamily(source=clinic.folder, task_types=[*OWN, "v1-t3"])
        assert set(named.generator.task_types(Split.TRAIN)) == {*OWN, "v1-t3"}

    def test_made_charts_are_not(self) -> None:
        assert not set(OWN) & set(FhirRecordFamily().generator.task_types(Split.TRAIN))
        assert not set(OWN) & KINDS.keys()
        with pytest.raises(ConfigurationError, match="own-t1"):
            FhirRecordFamily(task_types=["own-t1"])

    @pytest.mark.parametrize("retold", [None, "styled", "pseudonymous"])
    @pytest.mark.parametrize("difficulty", ["easy", "medium"])
    def test_the_oracle_solves_them(self, clinic, retold, difficulty) -> None:
        settings = {"source": str(clinic.folder), "task_types": list(OWN), "retold": retold}
        env = make_health_env("HealthAgent/FhirRecord-v1", {**settings, "difficulty": difficulty})
        branches: Counter[tuple[str, str]] = Counter()
        for split in Split:
            for index in range(20):
                instance = env.family.generator.generate(split, index)
                for policy in (env.family.oracle, env.family.practices()["stepwise"]):
                    script = list(policy(instance, np.random.default_rng(0)))
                    assert _played(env, index, script, split), (split, index)
                branches[instance.reference.kind, instance.reference.decision.branch] += 1
        assert len(branches) >= 5

    def test_the_oracle_solves_them_in_replies(self, clinic) -> None:
        settings = {"source": str(clinic.folder), "task_types": list(OWN), "protocol": "raw"}
        env = make_health_env("HealthAgent/FhirRecord-v1", settings)
        for index in range(12):
            instance = env.family.generator.generate(Split.TRAIN, index)
            script = list(env.family.oracle(instance, np.random.default_rng(0)))
            assert _played(env, index, script), index

    def test_the_published_profile_judges_them_as_the_strict_one_does(self, clinic) -> None:
        settings = {"source": str(clinic.folder), "task_types": list(OWN), "difficulty": "easy"}
        family = make_health_env("HealthAgent/FhirRecord-v1", settings).family
        names = [check.name for check in family.verifier.checks(Profile.PAPER)]
        declared = set(names)
        assert len(declared) == len(names)
        assert {"answer", "orders_stopped", "no_stray_writes", "vaccine_written"} <= declared
        for profile in ("strict", "paper"):
            env = make_health_env("HealthAgent/FhirRecord-v1", {**settings, "profile": profile})
            for index in range(6):
                instance = env.family.generator.generate(Split.TRAIN, index)
                script = list(env.family.oracle(instance, np.random.default_rng(0)))
                assert _played(env, index, script)
                assert not _played(env, index, script[-1:]) or not instance.reference.decision.acts
                assert not _played(env, index, [*script[:-1], healthgym.call("finish", value=[])])


def _played(env, index: int, script: list[ToolCall], split: Split = Split.TRAIN) -> bool:
    env.reset(options={"split": str(split), "index": index})
    info: dict = {}
    for action in script:
        *_, info = env.step(action)
    return bool(info["success"])


def test_who_does_not_look_is_paid_nothing_on_average(clinic: BundleSource) -> None:
    settings = {"source": str(clinic.folder), "task_types": list(OWN), "difficulty": "easy"}
    env = make_health_env("HealthAgent/FhirRecord-v1", {**settings, "reward": "shaped"})
    for name, policy in env.family.baselines().items():
        paid: dict[str, list[float]] = {kind: [] for kind in OWN}
        for index in range(240):
            instance = env.family.generator.generate(Split.TRAIN, index)
            env.reset(options={"split": "train", "index": index})
            script = list(policy(instance, np.random.default_rng(0)))
            paid[instance.task.kind].append(sum(float(env.step(action)[1]) for action in script))
        for kind, returns in paid.items():
            assert np.mean(returns) <= 0.05, (name, kind)


def test_who_does_not_look_solves_few(clinic: BundleSource) -> None:
    settings = {"source": str(clinic.folder), "task_types": list(OWN), "difficulty": "easy"}
    env = make_health_env("HealthAgent/FhirRecord-v1", settings)
    for policy in env.family.baselines().values():
        won = 0
        for index in range(40):
            instance = env.family.generator.generate(Split.TRAIN, index)
            won += _played(env, index, list(policy(instance, np.random.default_rng(0))))
        assert won <= 8


@pytest.mark.parametrize("wrong", ["another", "none", "all"])
def test_the_wrong_orders_stopped_are_a_failure(clinic: BundleSource, wrong: str) -> None:
    settings = {"source": str(clinic.folder), "task_types": ["own-t1"], "difficulty": "easy"}
    env = make_health_env("HealthAgent/FhirRecord-v1", settings)
    tried = 0
    for index in range(30):
        instance = env.family.generator.generate(Split.TRAIN, index)
        facts, decision = instance.reference.facts, instance.reference.decision
        view = view_at(instance.start.base, facts.now)
        active = {o.id for o in view.medication_orders(facts.patient)}
        if decision.branch != "active" or active == decision.stops:
            continue
        stops = {"another": active - decision.stops, "none": set(), "all": active}[wrong]
        answer = healthgym.call("finish", value=[decision.answer[0].value])
        script = [healthgym.call("stop_medication_request", id=one) for one in sorted(stops)]
        assert not _played(env, index, [*script, answer])
        tried += 1
    assert tried >= 3


def test_immunizations_are_listed_where_there_are_any(clinic: BundleSource) -> None:
    env = make_health_env("HealthAgent/FhirRecord-v1", {"source": str(clinic.folder)})
    env.reset(options={"index": 0})
    call = healthgym.call
    told = env.step(call("search_immunizations", patient="p3", code="140,141", limit=1))[0]
    assert "2019-10-01T09:30:15Z 141 Influenza, seasonal" in told
    token = re.search(r"next_page (\S+)\)", told)
    assert token is not None
    assert "2018-10-01T09:30:15Z 140" in env.step(call("next_page", token=token[1]))[0]
    assert "113" in env.step(call("search_immunizations", since="2020-01-01"))[0]
    assert "No matches" in env.step(call("search_immunizations", until="2001"))[0]
    plain = make_health_env("HealthAgent/FhirRecord-v1", {})
    names = {spec.name for spec in plain.family.roles["agent"].toolsets[0].specs()}
    assert "search_immunizations" not in names
    assert "search_procedures" in names


def test_one_dose_is_looked_at_by_who_works_in_steps(clinic: BundleSource) -> None:
    family = FhirRecordFamily(source=clinic.folder, task_types=["own-t2"], difficulty="easy")
    seen = set()
    for index in range(20):
        instance = family.generator.generate(Split.TRAIN, index)
        looks = [
            step
            for step in practices.stepwise(instance, np.random.default_rng(0))
            if isinstance(step, ToolCall) and step.name == "search_immunizations"
        ]
        limit = (instance.start.now - timedelta(days=365)).isoformat()
        assert looks[0].arguments["since"] == limit
        assert all(look.arguments["limit"] == 1 for look in looks)
        branch = instance.reference.decision.branch
        assert len(looks) == (1 if branch == "fresh" else 2)
        seen.add(branch)
    assert seen >= {"fresh", "stale"}


def test_orders_are_found_by_name_by_who_works_in_steps(clinic: BundleSource) -> None:
    family = FhirRecordFamily(source=clinic.folder, task_types=["own-t1"], difficulty="easy")
    stopped = 0
    for index in range(20):
        instance = family.generator.generate(Split.TRAIN, index)
        first, *stops, last, _ = practices.stepwise(instance, np.random.default_rng(0))
        assert isinstance(first, ToolCall)
        assert isinstance(last, ToolCall)
        drug = instance.reference.facts.details["drug"]
        assert (first.arguments["text"], first.arguments["status"]) == (drug, "active")
        assert (last.arguments["text"], last.arguments["limit"]) == (drug, 1)
        assert len(stops) == len(instance.reference.decision.stops)
        stopped += len(stops)
    assert stopped > 5


def test_a_name_with_a_comma_in_it_is_one_name(tmp_path) -> None:
    rows = [
        order(1, f"Albumin, {who} 25 %", "2020-04-05T08:00:40Z", "active", n)
        for n, who in enumerate(("Human", "Bovine"))
    ]
    (tmp_path / "a.ndjson").write_text("\n".join(map(json.dumps, [small_patient(1), *rows])))
    split = next(split for split in Split if BundleSource(tmp_path).people(split))
    env = make_health_env("HealthAgent/FhirRecord-v1", {"source": str(tmp_path)})
    env.reset(options={"split": str(split), "index": 0})
    call = healthgym.call("search_medication_requests", patient="p1", text="albumin, human")
    told = env.step(call)[0]
    assert "Human" in told
    assert "Bovine" not in told


@pytest.mark.parametrize("name", OWN)
def test_no_resource_is_to_be_found_again_in_what_is_told(clinic: BundleSource, name: str) -> None:
    """Ids of orders, doses and encounters, too, are somebody's."""
    settings = {"source": str(clinic.folder), "task_types": [name], "retold": "pseudonymous"}
    env = make_health_env("HealthAgent/FhirRecord-v1", settings)
    rows = [one for one in charts() if one["resourceType"] != "Patient"]
    ids = {one["id"] for one in rows}
    ids |= {one["encounter"]["reference"].rpartition(":")[2] for one in rows if "intent" in one}
    for index in range(6):
        base = env.family.generator.generate(Split.TRAIN, index).start.base
        told = json.dumps(
            [
                base.resource(kind, row)
                for kind in base.resource_types()
                for row in range(base.size(kind))
            ]
        )
        assert not [one for one in ids if one in told]


def test_products_are_told_in_the_folders_form(clinic: BundleSource) -> None:
    settings = {"source": str(clinic.folder), "task_types": ["own-t1"], "retold": "styled"}
    env = make_health_env("HealthAgent/FhirRecord-v1", settings)
    names = [
        env.family.generator.generate(Split.TRAIN, index).reference.facts.details["drug"]
        for index in range(40)
    ]
    made = [name for name in names if re.fullmatch(r"[^\W\d]+ \d+ MG", name)]
    known = {one["medicationCodeableConcept"]["text"] for one in charts() if "intent" in one}
    assert 10 < len(made) < 38
    assert not known & set(made)


def test_a_folder_of_laboratory_values_alone_is_not_asked_of_orders(tmp_path) -> None:
    rows = [small_patient(n) for n in range(9)]
    rows += [small_lab(n, "2339-0", 90, "2019-01-01T00:00:00Z", "mg/dL") for n in range(9)]
    (tmp_path / "a.ndjson").write_text("\n".join(map(json.dumps, rows)))
    source = BundleSource(tmp_path)
    assert source.branches(FOLDER_KINDS["own-t1"]) == []
    assert not set(OWN) & source.possible(FOLDER_KINDS).keys()


def test_what_a_folder_can_be_asked_is_said(clinic: BundleSource, tmp_path) -> None:
    told = FhirRecordFamily(source=clinic.folder).of_data()
    asked, lacking = told.split("Not asked:")
    assert "30 Patient" in asked
    assert "own-t2: influenza immunization (train, validation, test)" in asked
    assert "needs glucose as one of 2339-0" in lacking
    assert "v2-t1 (CT abdomen follow-up) is asked of synthetic charts only" in lacking
    assert "own-t1 (" not in lacking
    assert FhirRecordFamily().of_data() == ""
    named = FhirRecordFamily(source=clinic.folder, task_types=["own-t2"]).of_data()
    assert "own-t2" in named
    assert "v1-t" not in named
    orders = [order(1, "Warfarin 5 MG", "2020-04-05T08:00:40Z", "active", 4)]
    (tmp_path / "a.ndjson").write_text("\n".join(map(json.dumps, orders)))
    with pytest.raises(ConfigurationError, match=r"holds 1 MedicationRequest.*living patients"):
        FhirRecordFamily(source=tmp_path)
