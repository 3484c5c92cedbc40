"""The published v2 graders: honest work passes, and what is wrong fails, whatever the defects."""

from __future__ import annotations

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.draft import PRESETS, Draft
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.paper.base import (
    ALL_DEFECTS,
    BENCHMARK_DEFECTS,
    HONEST_DEFECTS,
    Defect,
    Post,
)
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.store import FhirStore
from tests.envs.fhir_record.kinds_v2 import DAY, KINDS, MRN, NOW
from tests.envs.fhir_record.paper_v2 import (
    BASE,
    NONE,
    Bench,
    case_of,
    duplicates,
    honest_case,
    labs,
    orders,
    passes,
    prolonged,
    protocol_b,
)
from tests.sized import some

BRANCHES = [(name, branch) for name, kind in KINDS.items() for branch in kind.branches]


def drawn(name, branch, seed, difficulty, *, traps):
    rng = np.random.default_rng([seed, *f"{name}{branch}".encode()])
    draft = Draft(rng, NOW, PRESETS[difficulty], "train", traps_allowed=traps)
    facts = KINDS[name].plant(draft, branch)
    draft.finish_background(KINDS[name].omit)
    base = draft.builder.build(shuffle=rng)
    return ChartView(FhirStore(base, clock=Clock(NOW))), facts


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES])
@pytest.mark.parametrize("defects", [NONE, HONEST_DEFECTS], ids=["none", "honest"])
def test_honest_work_passes_on_charts_with_traps(name, branch, defects):
    for seed in range(some(5, 2)):
        for difficulty in ("easy", "medium"):
            view, facts = drawn(name, branch, seed, difficulty, traps=True)
            assert passes(name, honest_case(name, view, facts, defects))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if not b.trap])
@pytest.mark.parametrize("benchmark", ["v2", "v3"])
def test_honest_work_passes_as_published_where_nothing_misleads_the_grader(name, branch, benchmark):
    for seed in range(some(8, 3)):
        view, facts = drawn(name, branch, seed, "medium", traps=False)
        assert passes(name, honest_case(name, view, facts, BENCHMARK_DEFECTS[benchmark]))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if b.trap])
def test_branches_marked_as_traps_fail_as_published(name, branch):
    view, facts = drawn(name, branch, 0, "medium", traps=False)
    assert not passes(name, honest_case(name, view, facts, BENCHMARK_DEFECTS["v2"]))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if b.acts])
@pytest.mark.parametrize("defects", [NONE, ALL_DEFECTS - {Defect.WALL_CLOCK}], ids=["off", "on"])
def test_doing_nothing_fails_where_something_is_to_be_done(name, branch, defects):
    view, facts = drawn(name, branch, 1, "medium", traps=False)
    decision = KINDS[name].decide(view, facts)
    answer = example_answer(decision.answer)
    assert not passes(name, case_of(view, facts, decision, [], answer, defects))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if not b.acts])
def test_an_order_fails_where_nothing_is_to_be_done(name, branch):
    view, facts = drawn(name, branch, 1, "medium", traps=False)
    decision = KINDS[name].decide(view, facts)
    payload = {"resourceType": "ServiceRequest", "status": "active", "intent": "order"}
    post = Post(f"{BASE}ServiceRequest", {**payload, "subject": {"reference": f"Patient/{MRN}"}})
    answer = example_answer(decision.answer)
    assert not passes(name, case_of(view, facts, decision, [post], answer, NONE))


def test_the_finish_value_of_t3_is_read_even_so():
    bench = Bench("v2-t3")
    bench.result = []
    assert not bench.passes(*ALL_DEFECTS)


def test_the_windows_of_t3_are_closed_all_the_same():
    bench = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80), (-DAY, 120)))
    assert bench.passes(*ALL_DEFECTS)


def test_means_within_a_tenth_pass_and_text_does_not():
    bench = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80), (DAY / 3, 81)))
    for given, accepted in (([80, 80.5], True), ([80, 80.59], True), ([80, 80.61], False)):
        bench.result = given
        assert bench.passes() is accepted
    for given in (["80", 80.5], [80.5], [[80, 80.5]], [True, 80.5], [80, 80.5, 80]):
        bench.result = given
        assert not bench.passes()


def test_stops_are_known_by_their_id_too():
    bench = duplicates()
    for place, order in enumerate(sorted(bench.decision.stops)):
        bench.payload(place)["id"] = order
    assert bench.passes()
    bench.payload(1)["id"] = bench.posts[0].payload["id"]
    assert not bench.passes()


@pytest.mark.parametrize(
    ("name", "fill"),
    [
        ("v2-t1", None),
        ("v2-t8", orders("OXYCODONE 5 MG PO TABS")),
        ("v2-t9", None),
        ("v2-t10", None),
    ],
    ids=["t1", "t8", "t9", "t10"],
)
def test_graders_of_one_order_count_the_writes(name, fill):
    bench = Bench(name, fill)
    assert bench.passes(*ALL_DEFECTS)
    bench.posts *= 2
    assert not bench.passes(*ALL_DEFECTS)
    assert not bench.passes()


def test_a_drug_in_protocol_b_fails():
    bench = protocol_b()
    drug = Bench("v2-t6", labs("TSH", (DAY, 12.0), (60 * DAY, 12.0))).posts[0]
    bench.posts.append(drug)
    assert not bench.passes(*ALL_DEFECTS)


def test_30_days_between_high_values_make_protocol_a():
    for gap, branch in ((30 * DAY, "protocol_a"), (29 * DAY, "high_once")):
        bench = Bench("v2-t6", labs("TSH", (DAY, 12.0), (DAY + gap, 12.0)))
        assert bench.decision.branch == branch
        assert bench.passes(*ALL_DEFECTS)


def test_an_observation_among_the_writes_fails_the_qtc_task():
    bench = prolonged("ONDANSETRON 4 MG PO TBDP")
    bench.posts.append(Post(f"{BASE}Observation", {"resourceType": "Observation"}))
    assert not bench.passes(*ALL_DEFECTS)


@pytest.mark.parametrize("field", ["reasonCode", "reasonReference", "note"])
def test_the_indication_may_stand_in_three_places(field):
    bench = Bench("v2-t1")
    order = bench.payload()
    del order["note"]
    assert not bench.passes(*ALL_DEFECTS)
    key = "display" if field == "reasonReference" else "text"
    order[field] = [{key: "For RENAL MASS follow-up."}]
    assert bench.passes(*ALL_DEFECTS)


@pytest.mark.parametrize(
    "payload",
    [
        [],
        "text",
        7,
        {},
        {"resourceType": "ServiceRequest", "status": 1, "intent": [], "subject": [], "code": []},
        {"resourceType": ["ServiceRequest"], "code": {"coding": [3]}, "note": [[], 4]},
        {"resourceType": "MedicationRequest", "status": "stopped", "dosageInstruction": {}},
    ],
    ids=["list", "text", "number", "empty", "fields-of-wrong-type", "type-a-list", "dosage-a-dict"],
)
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("defects", [NONE, ALL_DEFECTS], ids=["off", "on"])
def test_graders_are_total(name, payload, defects):
    bench = Bench(name, orders("OXYCODONE 5 MG PO TABS", "APIXABAN 5 MG PO TABS"))
    bench.posts = [Post(BASE, payload), Post(f"{BASE}ServiceRequest", payload)]
    for result in (None, [], [None, {}], ["x"] * 3):
        bench.result = result
        assert bench.passes(*defects) is False
