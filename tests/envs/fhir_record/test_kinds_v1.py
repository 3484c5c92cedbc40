from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from healthgym.core.clock import Clock
from healthgym.envs.fhir_record.draft import PRESETS, Draft
from healthgym.envs.fhir_record.kinds import KINDS
from healthgym.envs.fhir_record.kinds.base import example_answer
from healthgym.envs.fhir_record.kinds.lookups import NOT_FOUND, age_at, bears_name, birthday_branch
from healthgym.envs.fhir_record.kinds.readings import (
    A1C,
    GLUCOSE,
    MAGNESIUM,
    POTASSIUM,
    year_before,
)
from healthgym.envs.fhir_record.task import Facts
from healthgym.envs.fhir_record.view import ChartView
from healthgym.envs.fhir_record.wording import Style, phrase
from healthgym.worlds.fhir import ChartBuilder, DocumentBase
from healthgym.worlds.fhir.store import FhirStore

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
MRN = "S7000123"
V1 = [name for name in KINDS if name.startswith("v1-")]
CASES = [(name, branch.name) for name in V1 for branch in KINDS[name].branches]


def planted_v1(name, branch, seed, difficulty, now=None, **options):
    kind = KINDS[name]
    rng = np.random.default_rng([seed, len(branch), *name.encode()])
    now = now or datetime(2022, 1, 1, tzinfo=UTC) + timedelta(minutes=int(rng.integers(730 * 1440)))
    draft = Draft(rng, now, PRESETS[difficulty], "train", **options)
    facts = kind.plant(draft, branch)
    draft.finish_background(kind.omit)
    store = FhirStore(draft.builder.build(shuffle=rng), clock=Clock(now))
    return kind, draft, facts, ChartView(store)


def lab_view(rows, analyte, *, born=datetime(1960, 5, 4)):
    """A view of one patient whose rows are (time before NOW, value) or (.., value, unit)."""
    builder = ChartBuilder()
    builder.patient(mrn=MRN, family="Osei", given="Ama", gender="female", birth_date=born.date())
    for age, value, *unit in rows:
        builder.lab(MRN, analyte.code, NOW - age, value, unit[0] if unit else analyte.unit)
    return ChartView(FhirStore(builder.build(), clock=Clock(NOW)))


def lab_decision(name, rows):
    kind = KINDS[name]
    return kind.decide(lab_view(rows, kind.analyte), Facts(NOW, MRN, dict(kind.codes)))


def patient(key, family="Osei", given="Ama", born="1960-05-04", **more):
    return {
        "resourceType": "Patient",
        "id": key,
        "name": [{"family": family, "given": [given]}],
        "birthDate": born,
        **more,
    }


def people_view(*people):
    return ChartView(FhirStore(DocumentBase(people), clock=Clock(NOW)))


@pytest.mark.parametrize("difficulty", list(PRESETS))
@pytest.mark.parametrize(("name", "branch"), CASES)
def test_what_is_planted_is_what_is_decided(name, branch, difficulty):
    for seed in range({"drill": 4, "easy": 8, "medium": 3, "hard": 1}[difficulty]):
        kind, _, facts, view = planted_v1(name, branch, seed, difficulty)
        decision = kind.decide(view, facts)
        assert decision.branch == branch
        assert decision.acts is kind.branch(branch).acts
        given = example_answer(decision.answer)
        assert all(e.accepts(v) for e, v in zip(decision.answer, given, strict=True))


@pytest.mark.parametrize(("name", "branch"), CASES)
def test_without_traps_the_branch_is_the_same(name, branch):
    if KINDS[name].branch(branch).trap:
        pytest.skip("the branch itself is a trap")
    for seed in range(3):
        options = {"now": NOW, "traps_allowed": False}
        kind, _, facts, view = planted_v1(name, branch, seed, "hard", **options)
        assert kind.decide(view, facts).branch == branch
        code = next(iter(facts.codes.values()), "")
        ahead = [r for r in view.readings(facts.patient, code) if r.time > NOW]
        assert not ahead


@pytest.mark.parametrize("name", V1)
def test_every_style_prints_the_time_the_patient_and_how_to_finish(name):
    branch = KINDS[name].branches[0].name
    kind, _, facts, _ = planted_v1(name, branch, 1, "medium", NOW)
    for style in Style:
        texts = {phrase(name, facts, style, np.random.default_rng(i)) for i in range(12)}
        for text in texts:
            assert facts.now.isoformat() in text
            assert facts.patient in text
            assert "{" not in text
            if style in (Style.FULL, Style.TERSE):
                assert "finish" in text.lower()
        assert len(texts) > 1 or style is not Style.FULL
    for code in kind.codes.values():
        assert code in phrase(name, facts, Style.BENCHMARK, np.random.default_rng(0))


def test_audited_words_differ_where_the_audit_changed_them():
    for name in V1:
        _, _, facts, _ = planted_v1(name, KINDS[name].branches[0].name, 1, "easy", NOW)
        rng = np.random.default_rng(0)
        same = phrase(name, facts, Style.AUDITED, rng) == phrase(name, facts, Style.BENCHMARK, rng)
        assert same is (name not in ("v1-t5", "v1-t7", "v1-t9"))


class TestLookup:
    kind = KINDS["v1-t1"]

    def ask(self, view, family="Osei", given="Ama", born="1960-05-04"):
        details = {"family": family, "given": given, "birth_date": born}
        decision = self.kind.decide(view, Facts(NOW, details=details))
        return decision.branch, decision.answer[0].value

    def test_the_birth_date_tells_namesakes_apart(self):
        view = people_view(patient("1"), patient("2", born="1960-05-05"))
        assert self.ask(view, born="1960-05-05") == ("found_among_namesakes", "2")
        assert self.ask(view, born="1961-05-05") == ("not_found_birth_date", NOT_FOUND)

    def test_the_beginning_of_a_name_is_not_the_name(self):
        view = people_view(patient("1", given="Amara"), patient("2", family="Oseis"))
        assert self.ask(view) == ("not_found_name", NOT_FOUND)

    def test_case_does_not_matter(self):
        assert self.ask(people_view(patient("1")), family="OSEI", given="ama")[0] == "found"

    def test_the_record_number_is_the_identifier_of_that_type(self):
        numbers = [
            {"type": {"coding": [{"code": "SS"}]}, "value": "999-11-2222"},
            {"type": {"coding": [{"code": "MR"}]}, "value": "M-17"},
        ]
        assert self.ask(people_view(patient("1", identifier=numbers)))[1] == "M-17"

    def test_a_patient_without_a_name_is_nobody(self):
        nameless = {"resourceType": "Patient", "id": "9", "birthDate": "1960-05-04"}
        assert self.ask(people_view(nameless, patient("1")))[1] == "1"
        assert not bears_name(nameless, "Osei", "Ama")

    def test_a_namesake_is_really_there(self):
        for seed in range(10):
            _, _, facts, view = planted_v1("v1-t1", "found_among_namesakes", seed, "easy")
            family, given = facts.details["family"], facts.details["given"]
            same = [p for p in view.search("Patient") if bears_name(p, family, given)]
            assert len(same) == 2
            assert len({p["birthDate"] for p in same}) == 2

    def test_a_missed_birth_date_is_often_somebody_elses(self):
        hits = 0
        for seed in range(40):
            _, _, facts, view = planted_v1("v1-t1", "not_found_birth_date", seed, "medium")
            born = {p["birthDate"] for p in view.search("Patient")}
            hits += facts.details["birth_date"] in born
        assert 5 <= hits <= 35

    def test_guessing_that_nobody_fits_pays_less_than_a_third_of_the_time(self):
        constant = [b.share for b in self.kind.branches if b.name.startswith("not_found")]
        assert sum(constant) / sum(b.share for b in self.kind.branches) < 1 / 3
        assert self.kind.prior(Facts(NOW)) == ([], [NOT_FOUND])


class TestAge:
    kind = KINDS["v1-t2"]

    @pytest.mark.parametrize(
        ("born", "now", "years"),
        [
            ("1960-11-13", "2023-11-13", 63),
            ("1960-11-14", "2023-11-13", 62),
            ("1960-11-12", "2023-11-13", 63),
            ("1960-12-31", "2024-01-01", 63),
            ("1960-02-29", "2023-02-28", 62),
            ("1960-02-29", "2023-03-01", 63),
            ("1960-02-29", "2024-02-29", 64),
            ("2023-11-13", "2023-11-13", 0),
        ],
    )
    def test_completed_years(self, born, now, years):
        now = datetime.fromisoformat(now).replace(hour=23, tzinfo=UTC)
        decision = self.kind.decide(people_view(patient("1", born=born)), Facts(now, "1"))
        assert decision.answer[0].value == years
        assert decision.answer[0].accepts(float(years))
        assert decision.answer[0].accepts(f"{years} years")
        assert not decision.answer[0].accepts(f"{years} months")

    @pytest.mark.parametrize("born", ["1960", "1960-05", "", None])
    def test_without_a_full_birth_date_there_is_no_age(self, born):
        decision = self.kind.decide(people_view(patient("1", born=born)), Facts(NOW, "1"))
        assert (decision.branch, decision.answer[0].value) == ("unknown", -1)
        assert self.kind.decide(people_view(), Facts(NOW, "1")).branch == "unknown"

    @pytest.mark.parametrize("day", ["2023-01-01", "2023-12-31", "2024-02-29", "2023-03-01"])
    @pytest.mark.parametrize("branch", [b.name for b in KINDS["v1-t2"].branches])
    def test_every_branch_can_be_planted_on_every_day(self, day, branch):
        now = datetime.fromisoformat(day).replace(hour=6, tzinfo=UTC)
        for seed in range(25):
            kind, draft, facts, view = planted_v1("v1-t2", branch, seed, "easy", now)
            assert kind.decide(view, facts).branch == branch
            assert age_at(draft.patient.birth_date, now) >= 17

    def test_leap_day_children_occur(self):
        born = [
            planted_v1("v1-t2", "birthday_passed", seed, "easy", datetime(2023, 5, 1, tzinfo=UTC))[
                1
            ]
            for seed in range(120)
        ]
        days = {(d.patient.birth_date.month, d.patient.birth_date.day) for d in born}
        assert (2, 29) in days

    def test_a_leap_day_birthday_passes_on_the_first_of_march(self):
        born = datetime(1960, 2, 29).date()
        assert birthday_branch(born, datetime(2023, 2, 28, tzinfo=UTC)) == "birthday_ahead"
        assert birthday_branch(born, datetime(2023, 3, 1, tzinfo=UTC)) == "birthday_passed"


def test_a_reading_is_dictated_and_required_word_for_word():
    kind, _, facts, view = planted_v1("v1-t3", "record", 3, "easy")
    (order,) = kind.decide(view, facts).orders
    systolic, diastolic = facts.details["reading"].removesuffix(" mmHg").split("/")
    assert int(systolic) > int(diastolic) >= 38
    assert (order.value, order.codes) == (facts.details["reading"], ("BP",))
    assert kind.decide(view, facts).answer == ()


def test_referrals_vary_and_carry_all_four_parts():
    notes = {planted_v1("v1-t8", "refer", seed, "easy")[2].details["note"] for seed in range(30)}
    assert len(notes) > 25
    for note in notes:
        for part in ("Situation:", "Background:", "Assessment:", "Recommendation:"):
            assert note.count(part) == 1
        assert '"' not in note
    kind, _, facts, view = planted_v1("v1-t8", "refer", 0, "easy")
    (order,) = kind.decide(view, facts).orders
    assert (order.priority, order.codes, order.note) == (
        "stat",
        ("306181000000106",),
        facts.details["note"],
    )


class TestLabs:
    def test_the_window_is_closed_on_both_sides(self):
        day = timedelta(hours=24)
        assert lab_decision("v1-t4", [(day, 1.7)]).answer[0].value == 1.7
        assert lab_decision("v1-t4", [(timedelta(0), 1.7)]).answer[0].value == 1.7
        assert lab_decision("v1-t4", [(day + timedelta(minutes=1), 1.7)]).branch == "absent"
        assert lab_decision("v1-t4", [(-timedelta(minutes=1), 1.7)]).branch == "absent"

    def test_the_newest_wins_wherever_it_stands(self):
        rows = [(timedelta(hours=3), 1.1), (timedelta(hours=1), 2.2), (timedelta(hours=9), 3.3)]
        assert lab_decision("v1-t4", rows).answer[0].value == 2.2
        assert lab_decision("v1-t7", [(a, round(100 * v)) for a, v in rows]).answer[0].value == 220

    @pytest.mark.parametrize(
        ("value", "branch", "grams"),
        [
            (2.0, "normal", None),
            (1.9, "mild", 1),
            (1.5, "mild", 1),
            (1.49, "moderate", 2),
            (1.0, "moderate", 2),
            (0.99, "severe", 4),
        ],
    )
    def test_magnesium_tiers(self, value, branch, grams):
        decision = lab_decision("v1-t5", [(timedelta(hours=1), value)])
        assert decision.branch == branch
        doses = [(o.dose.value, o.hours) for o in decision.orders]
        assert doses == ([] if grams is None else [(grams, grams)])
        assert decision.answer[0].value == value

    def test_other_units_are_converted(self):
        decision = lab_decision("v1-t5", [(timedelta(hours=1), 0.6, "mmol/L")])
        assert (decision.branch, decision.answer[0].value) == ("moderate", 1.46)

    def test_the_mean_takes_every_row_of_the_window_and_no_other(self):
        rows = [(timedelta(hours=h), v) for h, v in ((0, 100), (24, 131), (25, 900), (-1, 900))]
        decision = lab_decision("v1-t6", rows)
        assert decision.answer[0].value == 115.5
        assert decision.answer[0].accepts(115.6)
        assert not decision.answer[0].accepts(115.7)

    @pytest.mark.parametrize(("value", "dose"), [(3.4, 10), (3.1, 40), (2.5, 100)])
    def test_potassium_dose(self, value, dose):
        decision = lab_decision("v1-t9", [(timedelta(hours=5), value)])
        medication, level = decision.orders
        assert medication.dose.value == dose
        assert medication.dose.unit == "mEq"
        morning = datetime(2023, 11, 14, 8, tzinfo=UTC)
        assert level.occurrence == (morning, morning + timedelta(minutes=59))

    def test_potassium_at_goal_or_missing_orders_nothing(self):
        assert lab_decision("v1-t9", [(timedelta(hours=5), 3.5)]).branch == "normal"
        assert not lab_decision("v1-t9", [(timedelta(hours=5), 3.5)]).acts
        absent = lab_decision("v1-t9", [])
        assert (absent.branch, absent.acts, absent.answer[0].value) == ("absent", False, -1)

    def test_a1c_is_overdue_after_the_same_minute_a_year_ago(self):
        year = NOW - year_before(NOW)
        assert lab_decision("v1-t10", [(year, 6.1)]).branch == "fresh"
        stale = lab_decision("v1-t10", [(year + timedelta(minutes=1), 6.1)])
        assert (stale.branch, stale.acts) == ("stale", True)
        assert stale.answer[1].accepts("2022-11-13T10:14:00Z")
        assert not stale.answer[1].accepts("2022-11-13T10:15:00Z")
        absent = lab_decision("v1-t10", [])
        assert (absent.acts, absent.answer[0].value) == (True, -1)

    def test_a_year_before_a_leap_day_is_the_last_of_february(self):
        assert year_before(datetime(2024, 2, 29, 8, tzinfo=UTC)) == datetime(
            2023, 2, 28, 8, tzinfo=UTC
        )

    @pytest.mark.parametrize("analyte", [MAGNESIUM, GLUCOSE, POTASSIUM, A1C])
    def test_rows_of_other_patients_do_not_count(self, analyte):
        name = {"MG": "v1-t4", "GLU": "v1-t7", "K": "v1-t9", "A1C": "v1-t10"}[analyte.code]
        kind = KINDS[name]
        view = lab_view([(timedelta(hours=1), 2.0)], analyte)
        other = replace(Facts(NOW, MRN, dict(kind.codes)), patient="S7000999")
        assert kind.decide(view, other).branch == "absent"
