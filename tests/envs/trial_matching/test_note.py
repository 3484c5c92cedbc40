"""The note tells every fact, in every style, and no moment is told so that a window could turn."""

import calendar
import re
from datetime import date, timedelta

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.trial_matching.chart import Finding, Patient
from healthgym.envs.trial_matching.criteria import WINDOWS
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.generator import TrialMatchingGenerator
from healthgym.envs.trial_matching.note import _Varied, write_note
from healthgym.envs.trial_matching.patients import BANDS
from healthgym.envs.trial_matching.task import PRESETS
from healthgym.envs.trial_matching.vocabulary import vocabulary
from tests.sized import some

TERMS = vocabulary()


def dice(seed):
    return Dice(np.random.default_rng(seed))


def told(names, note):
    return any(name.lower() in note.lower() for name in names)


def values_of(reading):
    """Every way a reading may be written."""
    measure = TERMS.measures[reading.measure]
    shown = [(reading.value, measure.decimals)]
    if measure.alternative:
        shown.append((measure.alternative.convert(reading.value), measure.alternative.decimals))
    texts = [f"{v:,.{d}f}" if v >= 10_000 else f"{v:.{d}f}" for v, d in shown]
    if measure.key == "nyha":
        texts.append(("", "I", "II", "III", "IV")[int(reading.value)])
    return texts


@pytest.mark.parametrize("difficulty", list(PRESETS))
def test_every_fact_is_told(difficulty):
    generator = TrialMatchingGenerator(PRESETS[difficulty])
    dense = difficulty == "hard"
    for index in range(some(25, 8)):
        patient = generator.patient(Split.TRAIN, index)
        note = generator.generate(Split.TRAIN, index).start.note
        assert patient.today.isoformat() in note
        assert (
            f"{patient.age}-year-old" in note
            or f"{patient.age} y/o" in note
            or (dense and patient.birth_date.isoformat() in note)
        )
        for finding in patient.findings:
            assert told(TERMS.findings[finding.concept], note), (index, finding)
        condition = TERMS.conditions[patient.primary]
        values = {a.key: a.values for a in condition.attributes}
        for name, value in patient.findings[0].attributes:
            assert told(values[name][value], note), (index, name)
        for use in patient.drugs:
            assert told([use.regimen or "none", use.drug], note), (index, use)
        for allergy in patient.allergies:
            assert told(TERMS.drug_classes[allergy], note), (index, allergy)
        for reading in patient.readings:
            name = reading.measure
            if dense and name == "prior_lines":
                continue  # to be counted
            if dense and name == "bmi":
                assert f"{patient.body[0]} cm" in note
                assert f"{patient.body[1]} kg" in note
            elif name == "pack_years" and difficulty != "easy" and patient.smoking[1]:
                assert f"{patient.smoking[0]:g} p" in note
            else:
                found = any(
                    re.search(rf"{re.escape(n)}(:| of)? {re.escape(v)}(?!\d|\.\d)", note)
                    for n in TERMS.measures[name].names
                    for v in values_of(reading)
                )
                assert found, (index, reading, note)


def test_what_is_to_be_worked_out_can_be():
    for index in range(40):
        patient = TrialMatchingGenerator(PRESETS["hard"]).patient(Split.TEST, index)
        values = {r.measure: r.value for r in patient.readings}
        height, weight = patient.body
        assert values["bmi"] == pytest.approx(weight / (height / 100) ** 2, abs=0.051)
        if "pack_years" in values:
            assert values["pack_years"] == patient.smoking[0] * patient.smoking[1]
        if "prior_lines" in values:
            assert values["prior_lines"] == len({u.regimen for u in patient.drugs if u.regimen})


MONTHS = {name: number for number, name in enumerate(calendar.month_name) if name}


def span(text, today):
    """The days ago that a reader may take a wording for, earliest and latest."""
    if match := re.fullmatch(r"on (\d{4}-\d\d-\d\d)", text):
        days = (today - date.fromisoformat(match[1])).days
        return days, days
    if match := re.fullmatch(r"(?:about )?(\d+) (day|week|month)s? ago", text):
        count = int(match[1])
        unit, slack = {"day": (1, 0), "week": (7, 3.5), "month": (30.44, 15.3)}[match[2]]
        return count * unit - slack, count * unit + slack
    if match := re.fullmatch(r"in (\w+) (\d{4})", text):
        year, month = int(match[2]), MONTHS[match[1]]
        first = date(year, month, 1)
        last = date(year, month, calendar.monthrange(year, month)[1])
        return (today - last).days, (today - first).days
    year = int(re.fullmatch(r"in (\d{4})", text)[1])
    return (today - date(year, 12, 31)).days, (today - date(year, 1, 1)).days


@pytest.fixture(scope="module")
def patient() -> Patient:
    return TrialMatchingGenerator(PRESETS["hard"]).patient(Split.TRAIN, 0)


def test_no_wording_of_a_moment_is_on_the_wrong_side_of_a_window(patient):
    writer = _Varied(patient, dice(1), PRESETS["hard"].style)
    forms = set()
    for low, high in BANDS.values():
        for days in sorted({low, high, *range(low, high, 7)}):
            for _ in range(8):
                text = writer._when(days)
                nearest, farthest = span(text, patient.today)
                assert nearest <= days <= farthest or text.startswith("about"), (days, text)
                forms.add(re.sub(r"\d+|[A-Z]\w+", "#", text))
                for window in WINDOWS:
                    sides = {days <= window, nearest <= window, farthest <= window}
                    assert len(sides) == 1, (days, text, window)
    assert len(forms) >= 5


def test_bands_keep_clear_of_windows():
    for low, high in BANDS.values():
        for window in WINDOWS:
            assert high < 0.87 * window or low > 1.13 * window, (low, high, window)


def test_asides_do_not_tell_facts(patient):
    note = write_note(patient, dice(3), PRESETS["hard"].style)
    have = {term for f in patient.findings for term in TERMS.wider[f.concept]}
    assert not have & set(patient.denied)
    assert told(TERMS.findings[patient.denied[0]], note)
    considered = re.search(r"(\S+(?: \S+)*) was (?:discussed|considered)", note)[1].split(". ")[-1]
    assert considered.lower() not in {use.drug for use in patient.drugs}


def test_young_patients_have_young_histories():
    generator = TrialMatchingGenerator(PRESETS["medium"])
    for index in range(80):
        patient = generator.patient(Split.TRAIN, index)
        lived = timedelta(days=365 * patient.age)
        oldest: Finding = max(patient.findings, key=lambda f: f.days)
        assert timedelta(days=oldest.days) < lived, (index, patient.age, oldest)
