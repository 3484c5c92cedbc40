"""The published v2 graders: honest work passes, and each defect is a hole only while it is on."""

from __future__ import annotations

from copy import deepcopy
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.draft import Difficulty, Draft, chart_config
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.kinds.devices import DEVICE_KINDS
from healthgym.envs.fhir_record.kinds.heart import HEART_KINDS
from healthgym.envs.fhir_record.kinds.imaging import IMAGING_KINDS
from healthgym.envs.fhir_record.kinds.medications import MEDICATION_KINDS
from healthgym.envs.fhir_record.kinds.thyroid import THYROID_KINDS
from healthgym.envs.fhir_record.kinds.vaccines import VACCINE_KINDS
from healthgym.envs.fhir_record.paper.base import (
    ALL_DEFECTS,
    BENCHMARK_DEFECTS,
    HONEST_DEFECTS,
    Case,
    Defect,
    Post,
)
from healthgym.envs.fhir_record.paper.v2 import V2_GRADERS
from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.store import FhirStore

GROUPS = (
    IMAGING_KINDS,
    MEDICATION_KINDS,
    HEART_KINDS,
    DEVICE_KINDS,
    THYROID_KINDS,
    VACCINE_KINDS,
)
KINDS = {kind.name: kind for group in GROUPS for kind in group}
BRANCHES = [(name, branch) for name, kind in KINDS.items() for branch in kind.branches]
NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
WALL = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
MRN = "S1000001"
BASE = "http://localhost:8080/fhir/"
NONE = frozenset()


# -- an honest agent, writing what the decision asks for -------------------------------------------


def order_resource(spec, patient):
    """Return the resource an order specification describes, written out by hand."""
    concept = {"text": spec.text}
    if spec.codes:
        concept["coding"] = [{"code": spec.codes[0]}]
    resource = {
        "resourceType": spec.resource_type,
        "status": "active",
        "intent": "order",
        "subject": {"reference": f"Patient/{patient}"},
    }
    if spec.resource_type == "ServiceRequest":
        resource["code"] = concept
        if spec.note:
            resource["note"] = [{"text": spec.note}]
        if spec.occurrence:
            first, last = spec.occurrence
            resource["occurrenceDateTime"] = (first + (last - first) / 2).isoformat()
        return resource
    resource["medicationCodeableConcept"] = concept
    amount = {"value": spec.dose.value, "unit": spec.dose.units[0]}
    dosage = {"route": {"text": spec.routes[0]}, "doseAndRate": [{"doseQuantity": amount}]}
    resource["dosageInstruction"] = [dosage]
    return resource


def honest_posts(view, facts, decision):
    posts = [order_resource(spec, facts.patient) for spec in decision.orders]
    for row in view.search("MedicationRequest", patient=facts.patient):
        if row["id"] in decision.stops:
            copied = {key: value for key, value in row.items() if key not in ("id", "meta")}
            subject = {"reference": f"Patient/{facts.patient}"}
            posts.append({**copied, "status": "stopped", "subject": subject})
    return [Post(BASE + resource["resourceType"], resource) for resource in posts]


def honest_case(name, view, facts, defects):
    decision = KINDS[name].decide(view, facts)
    posts = honest_posts(view, facts, decision)
    return case_of(view, facts, decision, posts, example_answer(decision.answer), defects)


def case_of(view, facts, decision, posts, result, defects, *, post_word=False):
    return Case(
        chart=view,
        facts=facts,
        decision=decision,
        posts=tuple(posts),
        post_word=post_word or bool(posts),
        result=result,
        finished=True,
        base_url=BASE,
        defects=frozenset(defects),
        wall_clock=WALL,
    )


def passes(name, case):
    results = V2_GRADERS[name](case)
    assert results
    return all(result.passed for result in results)


def drawn(name, branch, seed, difficulty, *, traps):
    rng = np.random.default_rng([seed, *f"{name}{branch}".encode()])
    draft = Draft(rng, NOW, chart_config(difficulty), "train", traps_allowed=traps)
    facts = KINDS[name].plant(draft, branch)
    draft.finish_background(KINDS[name].omit)
    base = draft.builder.build(shuffle=rng)
    return ChartView(FhirStore(base, clock=Clock(NOW))), facts


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES])
@pytest.mark.parametrize("defects", [NONE, HONEST_DEFECTS], ids=["none", "honest"])
def test_honest_work_passes_on_charts_with_traps(name, branch, defects):
    for seed in range(5):
        for difficulty in (Difficulty.EASY, Difficulty.MEDIUM):
            view, facts = drawn(name, branch, seed, difficulty, traps=True)
            assert passes(name, honest_case(name, view, facts, defects))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if not b.trap])
@pytest.mark.parametrize("benchmark", ["v2", "v3"])
def test_honest_work_passes_as_published_where_nothing_misleads_the_grader(name, branch, benchmark):
    for seed in range(8):
        view, facts = drawn(name, branch, seed, Difficulty.MEDIUM, traps=False)
        assert passes(name, honest_case(name, view, facts, BENCHMARK_DEFECTS[benchmark]))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if b.trap])
def test_branches_marked_as_traps_fail_as_published(name, branch):
    view, facts = drawn(name, branch, 0, Difficulty.MEDIUM, traps=False)
    assert not passes(name, honest_case(name, view, facts, BENCHMARK_DEFECTS["v2"]))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if b.acts])
@pytest.mark.parametrize("defects", [NONE, ALL_DEFECTS - {Defect.WALL_CLOCK}], ids=["off", "on"])
def test_doing_nothing_fails_where_something_is_to_be_done(name, branch, defects):
    view, facts = drawn(name, branch, 1, Difficulty.MEDIUM, traps=False)
    decision = KINDS[name].decide(view, facts)
    answer = example_answer(decision.answer)
    assert not passes(name, case_of(view, facts, decision, [], answer, defects))


@pytest.mark.parametrize(("name", "branch"), [(n, b.name) for n, b in BRANCHES if not b.acts])
def test_an_order_fails_where_nothing_is_to_be_done(name, branch):
    view, facts = drawn(name, branch, 1, Difficulty.MEDIUM, traps=False)
    decision = KINDS[name].decide(view, facts)
    payload = {"resourceType": "ServiceRequest", "status": "active", "intent": "order"}
    post = Post(f"{BASE}ServiceRequest", {**payload, "subject": {"reference": f"Patient/{MRN}"}})
    answer = example_answer(decision.answer)
    assert not passes(name, case_of(view, facts, decision, [post], answer, NONE))


# -- charts and writes made by hand, for one defect each -------------------------------------------


class Bench:
    """A chart, the honest writes on it, and room to change either."""

    def __init__(self, name, fill=None, **details):
        builder = ChartBuilder()
        builder.patient(
            mrn=MRN, family="Abel", given="Ida", gender="female", birth_date=date(1960, 1, 1)
        )
        if fill is not None:
            fill(builder)
        self.name = name
        if name == "v2-t1":
            details.setdefault("indication", "Renal mass follow-up")
        self.facts = Facts(NOW, MRN, KINDS[name].codes, details)
        self.view = ChartView(FhirStore(builder.build(), clock=Clock(NOW)))
        self.decision = KINDS[name].decide(self.view, self.facts)
        self.posts = honest_posts(self.view, self.facts, self.decision)
        self.result = example_answer(self.decision.answer)

    def payload(self, place=0):
        """Return a copy of a write that replaces it, to be changed."""
        post = self.posts[place]
        changed = deepcopy(post.payload)
        self.posts[place] = Post(post.url, changed)
        return changed

    def passes(self, *defects, post_word=False):
        case = case_of(
            self.view,
            self.facts,
            self.decision,
            self.posts,
            self.result,
            defects,
            post_word=post_word,
        )
        return passes(self.name, case)


def orders(*texts, **more):
    def fill(builder):
        for days, text in enumerate(texts, 1):
            builder.medication_request(MRN, text, NOW - days * DAY, **more)

    return fill


HEPARIN = "HEPARIN (PORCINE) 5,000 UNIT/ML INJ SOLN"
REGIMEN = {"timing": "Q8H", "route": "Subcutaneous", "dose": 5000, "dose_unit": "Units"}


def labs(code, *pairs, unit=""):
    def fill(builder):
        for age, value in pairs:
            builder.lab(MRN, code, NOW - age, value, unit)

    return fill


def both(*fills):
    def fill(builder):
        for one in fills:
            one(builder)

    return fill


def procedures(code, *ages):
    def fill(builder):
        for age in ages:
            builder.procedure(MRN, code, code, NOW - age)

    return fill


def removal_due():
    return Bench("v2-t4", procedures("NUR1373", 3 * DAY))


def protocol_b():
    tests = both(labs("TSH", (DAY, 6.0)), labs("FT4", (DAY, 1.1)))
    return Bench("v2-t6", tests)


def prolonged(*texts):
    return Bench("v2-t7", both(labs("QTCINTERVAL", (DAY, 520)), orders(*texts)))


def pays(bench, defect, *others):
    """Return whether a dishonest or unlucky course passes with a defect and fails without it."""
    return bench.passes(defect, *others) and not bench.passes(*others)


def costs(bench, defect, *others):
    """Return whether honest work fails with a defect and passes without it."""
    return bench.passes(*others) and not bench.passes(defect, *others)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "v2-t3"])
def test_finish_ignored(name):
    bench = Bench(name)
    bench.result = []
    assert pays(bench, Defect.FINISH_IGNORED)
    bench.result = None
    assert pays(bench, Defect.FINISH_IGNORED)


def test_the_finish_value_of_t3_is_read_even_so():
    bench = Bench("v2-t3")
    bench.result = []
    assert not bench.passes(*ALL_DEFECTS)


@pytest.mark.parametrize(
    "bench",
    [
        lambda: Bench("v2-t1", procedures("IMGCT0491", 9 * DAY)),
        lambda: Bench("v2-t3"),
        lambda: Bench("v2-t5"),
        lambda: Bench("v2-t6"),
        lambda: Bench("v2-t7"),
    ],
    ids=["t1", "t3", "t5", "t6", "t7"],
)
def test_post_word(bench):
    assert bench().passes(post_word=True)
    assert not bench().passes(Defect.POST_WORD, post_word=True)


@pytest.mark.parametrize("name", ["v2-t4", "v2-t8"])
def test_the_word_is_not_looked_for_by_every_grader(name):
    assert Bench(name).passes(Defect.POST_WORD, post_word=True) == bool(
        not Bench(name).decision.acts
    )


def test_last_post_fails():
    bench = removal_due()
    bench.posts = [Post(post.url, post.payload, last=True) for post in bench.posts]
    assert costs(bench, Defect.LAST_POST_FAILS)


def test_unparsed_post_dropped():
    bench = Bench("v2-t4")
    bench.posts = [Post(f"{BASE}ServiceRequest", None)]
    assert pays(bench, Defect.UNPARSED_POST_DROPPED)


def test_fenced_post_lost():
    bench = removal_due()
    bench.posts = [Post(post.url, post.payload, fenced=True) for post in bench.posts]
    assert costs(bench, Defect.FENCED_POST_LOST)


def test_wall_clock():
    bench = Bench("v2-t1", procedures("IMGCT0491", 9 * DAY))
    assert costs(bench, Defect.WALL_CLOCK)


@pytest.mark.parametrize(
    ("name", "fill"),
    [
        ("v2-t1", procedures("IMGCT0491", -DAY)),
        ("v2-t4", procedures("NUR1373", 3 * DAY, -DAY)),
        ("v2-t6", both(labs("TSH", (DAY, 6.0), (-DAY, 1.0)), labs("FT4", (DAY, 1.1)))),
        ("v2-t7", labs("QTCINTERVAL", (DAY, 520), (-DAY, 430))),
        ("v2-t9", procedures("90686", -DAY)),
        ("v2-t10", procedures("COVIDVACCINE", -DAY)),
    ],
    ids=["t1", "t4", "t6", "t7", "t9", "t10"],
)
def test_open_window(name, fill):
    assert costs(Bench(name, fill), Defect.OPEN_WINDOW)


def test_the_windows_of_t3_are_closed_all_the_same():
    bench = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80), (-DAY, 120)))
    assert bench.passes(*ALL_DEFECTS)


def test_broken_clock():
    broken = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80)), clock="2023-11-13:00:00+00:00")
    assert costs(broken, Defect.BROKEN_CLOCK)
    well = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80)), clock="2023-11-13T10:15:00+00:00")
    assert well.passes(Defect.BROKEN_CLOCK)


@pytest.mark.parametrize("value", [None, "-1"])
def test_null_finish(value):
    bench = Bench("v2-t3", labs("HEARTRATE", (DAY / 3, 80)))
    bench.result = [value, 80]
    assert pays(bench, Defect.NULL_FINISH)
    bench.result = [-1, str(value)]
    assert not bench.passes(Defect.NULL_FINISH)


def test_means_within_a_tenth_pass_and_text_does_not():
    bench = Bench("v2-t3", labs("HEARTRATE", (DAY / 24, 80), (DAY / 3, 81)))
    for given, accepted in (([80, 80.5], True), ([80, 80.59], True), ([80, 80.61], False)):
        bench.result = given
        assert bench.passes() is accepted
    for given in (["80", 80.5], [80.5], [[80, 80.5]], [True, 80.5], [80, 80.5, 80]):
        bench.result = given
        assert not bench.passes()


def duplicates():
    return Bench("v2-t2", orders(HEPARIN, HEPARIN, HEPARIN, **REGIMEN))


def test_one_stop_enough_for_duplicates():
    bench = duplicates()
    assert bench.passes()
    del bench.posts[0]
    assert pays(bench, Defect.ONE_STOP_ENOUGH)


def test_one_stop_enough_for_drugs_that_prolong_the_qtc():
    bench = prolonged("ONDANSETRON 4 MG PO TBDP", "OLANZAPINE 5 MG PO TABS")
    assert bench.passes()
    del bench.posts[-1]
    assert pays(bench, Defect.ONE_STOP_ENOUGH)


def test_stop_unchecked_among_duplicates():
    bench = Bench("v2-t2", orders(HEPARIN, HEPARIN, **REGIMEN))
    bench.payload()["medicationCodeableConcept"]["text"] = "ASPIRIN 81 MG PO TBEC"
    assert pays(bench, Defect.STOP_UNCHECKED)


def test_stop_unchecked_among_drugs_that_prolong_the_qtc():
    bench = prolonged("ONDANSETRON 4 MG PO TBDP")
    bench.payload(1)["medicationCodeableConcept"]["text"] = "QUETIAPINE 25 MG PO TABS"
    assert pays(bench, Defect.STOP_UNCHECKED)


def test_stops_are_known_by_their_id_too():
    bench = duplicates()
    for place, order in enumerate(sorted(bench.decision.stops)):
        bench.payload(place)["id"] = order
    assert bench.passes()
    bench.payload(1)["id"] = bench.posts[0].payload["id"]
    assert not bench.passes()


def test_lone_other_stays():
    bench = Bench("v2-t2", orders("APIXABAN 5 MG PO TABS", dose=5, dose_unit="mg", route="Oral"))
    assert bench.passes(Defect.LONE_OTHER_STAYS, Defect.EXTRA_POSTS)
    assert bench.passes()
    del bench.posts[1]
    assert pays(bench, Defect.LONE_OTHER_STAYS)


def test_order_text_5000():
    bench = Bench("v2-t2")
    order = bench.payload()
    order["medicationCodeableConcept"]["text"] = "heparin 5,000 units"
    order["dosageInstruction"] = [{"route": "SC"}]
    assert costs(bench, Defect.ORDER_TEXT_5000, Defect.DOSE_UNCHECKED)


def test_flush_counts():
    def fill(builder):
        builder.medication_request(MRN, HEPARIN, NOW - DAY, **REGIMEN)
        builder.medication_request(MRN, "HEPARIN LOCK FLUSH (PORCINE) 10 UNIT/ML", NOW - DAY)

    assert costs(Bench("v2-t2", fill), Defect.FLUSH_COUNTS)


@pytest.mark.parametrize(
    "more", [{**REGIMEN, "timing": "Q12H"}, {"route": "Intravenous"}], ids=["timing", "route"]
)
def test_strength_substring(more):
    text = HEPARIN if "timing" in more else "HEPARIN (PORCINE) 25,000 UNIT/250 ML IN D5W IV SOLP"
    bench = Bench("v2-t2", orders(text, **more))
    assert bench.decision.branch == "lone_other"
    assert costs(bench, Defect.STRENGTH_SUBSTRING, Defect.LONE_OTHER_STAYS, Defect.EXTRA_POSTS)


@pytest.mark.parametrize(
    ("bench", "part", "value"),
    [
        (lambda: Bench("v2-t2"), "unit", "mg"),
        (lambda: Bench("v2-t8", orders("OXYCODONE 5 MG PO TABS")), "value", 40),
        (
            lambda: Bench("v2-t6", labs("TSH", (DAY, 12.0), (60 * DAY, 12.0))),
            "value",
            125,
        ),
    ],
    ids=["t2-unit", "t8-value", "t6-value"],
)
def test_dose_unchecked(bench, part, value):
    wrong = bench()
    assert wrong.passes()
    wrong.payload()["dosageInstruction"][0]["doseAndRate"][0]["doseQuantity"][part] = value
    assert pays(wrong, Defect.DOSE_UNCHECKED)
    by_mouth = bench()
    by_mouth.payload()["dosageInstruction"][0]["route"] = "rectal"
    assert pays(by_mouth, Defect.DOSE_UNCHECKED)


def test_exact_objects():
    bench = removal_due()
    bench.payload()["subject"]["display"] = "Ida Abel"
    assert costs(bench, Defect.EXACT_OBJECTS)


@pytest.mark.parametrize(
    "bench",
    [
        duplicates,
        removal_due,
        lambda: Bench("v2-t5", lambda b: b.condition(MRN, "C64.2", "kidney", NOW - DAY)),
        protocol_b,
        lambda: prolonged("ONDANSETRON 4 MG PO TBDP"),
    ],
    ids=["duplicates", "removal", "kidney", "protocol-b", "prolonged"],
)
def test_extra_posts(bench):
    padded = bench()
    subject = {"reference": f"Patient/{MRN}"}
    extra = {"resourceType": "ServiceRequest", "status": "active", "intent": "order"}
    extra |= {"subject": subject, "code": {"text": "chest radiograph"}}
    padded.posts.append(Post(f"{BASE}ServiceRequest", extra))
    assert pays(padded, Defect.EXTRA_POSTS)


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


def test_two_tsh_pass():
    bench = protocol_b()
    bench.posts[1] = bench.posts[0]
    assert pays(bench, Defect.TWO_TSH_PASS)


def test_two_repeats_by_loinc_are_lost_on_the_published_grader():
    bench = protocol_b()
    for place, code in enumerate(("3016-3", "3024-7")):
        bench.payload(place)["code"] = {"coding": [{"code": code}]}
    assert costs(bench, Defect.TWO_TSH_PASS)


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


@pytest.mark.parametrize(
    "bench", [protocol_b, lambda: prolonged("ONDANSETRON 4 MG PO TBDP")], ids=["t6", "t7"]
)
def test_future_unchecked(bench):
    early = bench()
    early.payload()["occurrenceDateTime"] = NOW.isoformat()
    assert pays(early, Defect.FUTURE_UNCHECKED)
    undated = bench()
    del undated.payload()["occurrenceDateTime"]
    assert pays(undated, Defect.FUTURE_UNCHECKED)


def test_qtc_by_upload():
    # Without shuffling, the row added last is the one uploaded last.
    bench = Bench("v2-t7", labs("QTCINTERVAL", (DAY, 520), (9 * DAY, 430)))
    assert costs(bench, Defect.QTC_BY_UPLOAD)


def test_stop_without_drug():
    bench = prolonged("PANTOPRAZOLE 40 MG PO TBEC")
    assert bench.decision.branch == "prolonged_no_drug"
    assert costs(bench, Defect.STOP_WITHOUT_DRUG)


def test_an_observation_among_the_writes_fails_the_qtc_task():
    bench = prolonged("ONDANSETRON 4 MG PO TBDP")
    bench.posts.append(Post(f"{BASE}Observation", {"resourceType": "Observation"}))
    assert not bench.passes(*ALL_DEFECTS)


def test_flu_substring():
    bench = Bench("v2-t9")
    bench.payload()["code"] = {"text": "increase oral fluids"}
    assert pays(bench, Defect.FLU_SUBSTRING)
    bench.payload()["code"] = {"text": "flu shot"}
    assert bench.passes()


def test_covid_word():
    bench = Bench("v2-t10")
    bench.payload()["code"] = {"coding": [{"code": "91320"}]}
    assert costs(bench, Defect.COVID_WORD)


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
