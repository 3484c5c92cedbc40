"""The chart of a case is written when somebody opens it: the same one, whenever that is."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.envs.managed_care.cases.drawing import DrawnCase
from healthgym.envs.managed_care.cases.patients import CasePatient, plan_patient, write_patient
from healthgym.envs.managed_care.prior_authorization.generator import AuthorizationGenerator
from healthgym.envs.managed_care.prior_authorization.task import PRESETS
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.charts import rendering
from healthgym.worlds.managed_care.charts.chart import UnwrittenChart
from healthgym.worlds.managed_care.rules import Rules

CASES = range(12)


def drawn(index: int) -> DrawnCase:
    generator = AuthorizationGenerator(PRESETS["hard"], "hard", "unopened", Rules.STRICT)
    return generator.drawn(Split.TRAIN, index)[0]


def texts(patient: CasePatient) -> dict[str, str]:
    return {page.id: page.content for page in patient.chart.documents}


def test_a_chart_that_nobody_has_opened_is_not_written() -> None:
    charts = [drawn(index).patient.chart for index in CASES]
    late = [each for each in charts if isinstance(each, UnwrittenChart)]
    assert {each.begun for each in late} == {True, False}
    for each in late:
        assert each.documents
        assert each.begun


@pytest.mark.parametrize("index", CASES)
def test_it_does_not_matter_what_of_it_is_read_first(index: int) -> None:
    one, other = drawn(index).patient, drawn(index).patient
    first = texts(one)
    void, erring = other.void, other.erring
    backward = {page.id: page.content for page in reversed(other.chart.documents)}
    assert (backward, void, erring) == (first, one.void, one.erring)
    assert void <= first.keys()
    assert not erring or erring in void
    assert other == one == pickle.loads(pickle.dumps(drawn(index).patient))


@pytest.mark.parametrize("index", CASES)
def test_it_is_the_one_that_would_have_been_written_at_once(
    index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = drawn(index)
    monkeypatch.setattr(rendering, "_most_choices", lambda *_: rendering.Ahead.MOST)
    at_once = drawn(index)
    assert at_once.patient.chart.orders == late.patient.chart.orders
    assert at_once.patient == late.patient
    assert texts(at_once.patient) == texts(late.patient)


def test_facts_that_contradict_the_calendar_are_refused_before_it_is_opened() -> None:
    case = drawn(0)
    background, rng = case.subject.background, np.random.default_rng(0)
    planned = plan_patient(background, case.drawn, rng, case.today)
    born = replace(planned.patient, dob=case.today + timedelta(days=1))
    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_patient(replace(planned, patient=born), rng, case.today, {})
