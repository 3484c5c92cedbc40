"""The library of policies, what is made of one, and what damaged files say."""

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from healthgym.errors import ConfigurationError, DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.charts.knowledge import measures
from healthgym.worlds.managed_care.policies.book import PolicyBook
from healthgym.worlds.managed_care.policies.checking import contradiction
from healthgym.worlds.managed_care.policies.criteria import StepTherapyCriterion
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.policies.drawing import drawn, former_version, near_duplicate
from healthgym.worlds.managed_care.policies.evaluation import evaluate
from healthgym.worlds.managed_care.policies.loading import by_category, library, load_policies
from healthgym.worlds.managed_care.policies.pages import questionnaire_text, render_page
from healthgym.worlds.managed_care.policies.planting import plant, plant_policy
from healthgym.worlds.managed_care.policies.policy import amend, catalog, to_case_policy
from healthgym.worlds.managed_care.policies.questionnaire import answers_from
from healthgym.worlds.managed_care.policies.repetition import repeated_share, sentences
from healthgym.worlds.managed_care.policies.request import Request
from healthgym.worlds.managed_care.policies.treatment_stories import doses
from healthgym.worlds.managed_care.policies.tree import criteria, depth
from healthgym.worlds.managed_care.vocabulary.authorization import (
    PayerRouteTarget,
    PlaceOfService,
    Posture,
    ProviderDeterminationAction,
)

TODAY = date(2026, 3, 13)
POLICIES = sorted(library())
HEART = Request(
    procedure_code="33249",
    diagnosis_codes=("I25.5",),
    site=PlaceOfService.INPATIENT_HOSPITAL,
    age=60,
    sex="male",
)


def test_every_category_has_policies_of_many_shapes():
    grouped = by_category(library().values())
    assert len(grouped) == 13
    assert min(map(len, grouped.values())) >= 2
    depths = {depth(policy.criteria) for policy in library().values()}
    counts = {len(criteria(policy.criteria)) for policy in library().values()}
    assert depths == {2, 3, 4, 5, 6}
    assert min(counts) == 2
    assert max(counts) >= 17
    kinds = {item.kind for policy in library().values() for item in criteria(policy.criteria)}
    assert len(kinds) == 11


def test_every_lane_is_in_the_library():
    targets = {policy.lanes.target for policy in library().values()}
    assert targets == set(PayerRouteTarget)


def test_every_policy_asks_for_documents_that_its_page_names():
    for policy in library().values():
        assert policy.required_documents, policy.id
        for kind in policy.required_documents:
            assert f"- `{kind.value}` " in render_page(policy)


def test_planted_scores_stay_on_their_scale():
    policy = library()["MP-BEH-006"]
    criterion = policy.criterion("C2")
    rng = np.random.default_rng(8)
    values = [plant(criterion, Posture.SATISFIED, HEART, TODAY, rng)[-1].value for _ in range(60)]
    assert set(values) <= set(range(20, 28))
    assert 27 in values


def test_every_medicine_has_a_dose():
    named = {
        name
        for policy in library().values()
        for item in criteria(policy.criteria)
        if isinstance(item, StepTherapyCriterion)
        for name in (*item.drugs, *item.excluded)
    }
    assert named <= set(doses())


def test_one_threshold_changes_everything_made_of_it():
    old = library()["MP-CAR-019"]
    new = amend(old, "C1", threshold=30.0)
    assert new.text("C1") == old.text("C1").replace("35 %", "30 %")
    assert new.text("C1") in render_page(new)
    assert old.text("C1") not in render_page(new)
    assert questionnaire_text(new) != questionnaire_text(old)
    assert documents_for(new.id, new.criteria) != documents_for(old.id, old.criteria)
    cards = [to_case_policy(policy, "CASE-1", "33249") for policy in (old, new)]
    assert cards[0].submission_requirements != cards[1].submission_requirements
    assert cards[0].form_definitions != cards[1].form_definitions
    items = [catalog(policy, "nurse_review")[0].evidence_items[0] for policy in (old, new)]
    assert [item.threshold_value for item in items] == [35, 30]
    rng = np.random.default_rng(2)
    changed = 0
    for _ in range(30):
        case = plant_policy(old, Posture.SATISFIED, HEART, TODAY, rng)
        before = evaluate(old, case.facts, case.request, TODAY)
        after = evaluate(new, case.facts, case.request, TODAY)
        assert before.action is ProviderDeterminationAction.SUBMIT_PA
        changed += after.action is ProviderDeterminationAction.DO_NOT_SUBMIT
        again = plant_policy(new, Posture.SATISFIED, HEART, TODAY, rng)
        ejection = float(
            answers_from(evaluate(new, again.facts, HEART, TODAY).criteria)["c1_value"]
        )
        assert ejection <= 30
    assert changed


def test_only_what_a_criterion_has_can_be_amended():
    policy = library()["MP-CAR-019"]
    with pytest.raises(ConfigurationError, match="no criterion 'C99'"):
        amend(policy, "C99", threshold=1.0)
    with pytest.raises(ConfigurationError, match="no parameter 'sessions'"):
        amend(policy, "C1", sessions=3)
    with pytest.raises(ConfigurationError, match="no parameter 'id'"):
        amend(policy, "C1", id="C2")


@pytest.mark.parametrize("name", POLICIES)
def test_drawn_versions_and_twins_are_sound_and_differ(name):
    policy = library()[name]
    rng = np.random.default_rng(5)
    assert contradiction(policy) == ""
    new = drawn(policy, rng)
    assert new.criteria != policy.criteria
    assert contradiction(new) == ""
    old = former_version(policy, rng)
    assert not old.in_force(policy.effective)
    assert policy.in_force(policy.effective)
    assert old.version != policy.version
    twin = near_duplicate(policy, "TX", rng, plan="Larkfield Exchange Silver", state="TX")
    assert (twin.id, twin.states) == (f"{name}-TX", ("TX",))
    assert name in twin.related
    assert contradiction(twin) == ""


@pytest.mark.parametrize("name", POLICIES)
def test_the_form_asks_for_every_item_and_facts_answer_it(name):
    policy = library()[name]
    form = policy.form
    items = [entry.item_id for row in catalog(policy, "md_review") for entry in row.evidence_items]
    assert [question.item_id for question in form.questions] == items
    assert len({question.key for question in form.questions}) == len(items)
    request = replace(
        HEART,
        procedure_code=policy.procedures[0].code,
        diagnosis_codes=policy.diagnosis_prefixes[:1],
        site=policy.sites[0],
        quantity=1,
    )
    case = plant_policy(policy, Posture.SATISFIED, request, TODAY, np.random.default_rng(1))
    found = evaluate(policy, case.facts, case.request, TODAY)
    answers = answers_from(found.criteria)
    assert set(answers) <= {question.key for question in form.questions}
    assert answers
    card = to_case_policy(policy, "CASE-1", policy.procedures[0].code, answers)
    assert card.required_questionnaire_answers == answers
    assert card.policy_citations == (f"{name} ({policy.version}), Criteria",)
    assert "expected" not in json.dumps(list(card.form_definitions))


def test_pages_do_not_stutter():
    pages = [render_page(policy) for policy in library().values()]
    assert sum(len(sentences(page)) for page in pages) > 700
    assert repeated_share(pages) < 0.10
    assert repeated_share(pages, masked=True) < 0.15
    assert repeated_share([pages[0], pages[0]]) == 1.0


# --- damaged files ----------------------------------------------------------------------------


def _file(tmp_path, change):
    rows = json.loads(json.dumps(_ROWS))
    change(rows)
    (tmp_path / "surgical.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return tmp_path


_LEAF = {
    "kind": "measurement",
    "id": "C1",
    "display": "body mass index",
    "code": "39156-5",
    "operator": "gte",
    "threshold": 40,
    "unit": "kg/m2",
    "months": 6,
}
_ROWS = [
    {
        "id": "MP-T-1",
        "title": "T",
        "effective": "2026-01-01",
        "category": "surgical",
        "procedures": [{"code": "1", "display": "x"}],
        "diagnosis_prefixes": ["E66"],
        "sites": ["home"],
        "criteria": {"kind": "all", "id": "G1", "parts": [_LEAF]},
        "texts": {"scope": "s"},
    }
]


def test_a_sound_file_loads(tmp_path):
    loaded = load_policies(_file(tmp_path, lambda rows: None))
    assert list(loaded) == ["MP-T-1"]


def _leaf(rows):
    return rows[0]["criteria"]["parts"][0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r[0].pop("title"), r"surgical.json, line 3, \[0\].title: Field required"),
        (lambda r: r[0].update(colour=1), r"\[0\].colour: "),
        (lambda r: _leaf(r).pop("months"), r"criteria.all.parts.0.measurement.months: Field"),
        (lambda r: _leaf(r).update(threshold="much"), r"measurement.threshold: "),
        (lambda r: _leaf(r).update(kind="hope"), r"\[0\].criteria.all.parts.0: "),
        (lambda r: _leaf(r).update(unit="furlong"), "C1: the unit 'furlong'"),
        (lambda r: _leaf(r).update(months=0), "C1: months is 0"),
        (lambda r: _leaf(r).update(roll_up="any_not_met"), "C1: the roll-up any_not_met"),
        (lambda r: r[0]["criteria"]["parts"].append(_LEAF), "the id C1 is used twice"),
        (
            lambda r: r[0]["criteria"]["parts"].append({**_LEAF, "id": "C2", "code": "1-8"}),
            "C2: 'body mass index' means something else in C1",
        ),
        (lambda r: r[0]["criteria"].update(kind="at_least", n=2), "G1: n is 2 of 1 parts"),
        (lambda r: r[0]["criteria"].update(parts=[]), "G1: a group needs parts"),
        (lambda r: r[0].update(terminated="2025-01-01"), "terminated: 2025-01-01 is before"),
        (lambda r: r[0].update(sites=[]), "sites: at least one"),
        (lambda r: r[0].update(related=["MP-X"]), "related names MP-X"),
        (lambda r: r.append(r[0]), "the policy id MP-T-1 is used twice"),
    ],
    ids=[
        "missing", "unknown", "leaf-missing", "type", "kind", "unit", "window", "roll-up",
        "twice", "term", "n", "empty-group", "dates", "no-site", "related", "two-policies",
    ],
)  # fmt: skip
def test_a_damaged_file_names_the_place_and_loads_nothing(tmp_path, change, said):
    with pytest.raises(DamagedDataError, match=said):
        load_policies(_file(tmp_path, change))


def test_what_is_no_json_names_the_line(tmp_path):
    (tmp_path / "a.json").write_text("[\n{,", "utf-8")
    with pytest.raises(DamagedDataError, match=r"a.json, line 2, column 2: not JSON"):
        load_policies(tmp_path)
    with pytest.raises(MissingDataError, match="no policy folder"):
        load_policies(tmp_path / "nowhere")
    (tmp_path / "a.json").unlink()
    with pytest.raises(MissingDataError, match="has no JSON file"):
        load_policies(tmp_path)


def test_a_fasting_value_is_asked_for_only_where_every_name_of_it_says_so() -> None:
    for policy in library().values():
        for criterion in criteria(policy.criteria):
            code, display = getattr(criterion, "code", ""), getattr(criterion, "display", "")
            names = measures()[code].names if code in measures() else ()
            assert "fasting" not in display or all("fasting" in name for name in names)


def test_a_book_is_the_same_whichever_cards_were_asked_for() -> None:
    one, other = PolicyBook(library().values()), PolicyBook(library().values())
    before = one.content_hash()
    policy = one.policies[0]
    one.card(policy, "PA-1", policy.procedures[0].code)
    assert one.content_hash() == before == other.content_hash()
    assert PolicyBook(one.policies[1:]).content_hash() != before
