"""How the verifier of predictions is put to the proof."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from healthgym.core.family import Script
from healthgym.core.proofs import Item, Operator, Proofs
from healthgym.core.tool import call
from healthgym.envs.ehr_event_modelling.task import EventInstance
from healthgym.envs.ehr_event_modelling.timeline import moment_of

#: Share of the positives that a spoilt ranking misses.
_MISSED = 0.9


def _query(query: str) -> Operator:
    """Return what hands in a query.

    Args:
        query: SQL in which ``{score}`` is a score that is higher for positives, ``{first}`` the
            patient of the first test row, and ``{wrong}`` a score that misses most positives.
    """

    def submit(instance: EventInstance, script: Script, rng: np.random.Generator) -> Script:
        study, labels = instance.reference.study, instance.reference.labels
        ids = study.timeline.patient_ids[study.test.patient]
        positive = ids[labels]
        found = positive[: len(positive) - int(np.ceil(_MISSED * len(positive)))]
        text = query.format(
            score=_score(positive, "0.9", "0.1"),
            inverted=_score(positive, "0.1", "0.9"),
            wrong=_score(found, "0.9", "0.1"),
            first=int(ids[0]),
        )
        return [call("draft_predictions_from_query", query=text), call("submit_predictions")]

    return submit


def _score(ids: np.ndarray, high: str, low: str) -> str:
    if not len(ids):
        return low
    listed = ", ".join(str(number) for number in ids.tolist())
    return f"CASE WHEN patient_id IN ({listed}) THEN {high} ELSE {low} END"


def _items(instance: EventInstance) -> Iterator[Item]:
    reference = instance.reference
    rows = reference.study.test
    ids = reference.study.timeline.patient_ids[rows.patient].tolist()
    for patient, time, label in zip(ids, rows.time.tolist(), reference.labels, strict=True):
        yield Item("positive", bool(label), said=f"{patient} {moment_of(time)}")


_FROM = "SELECT patient_id, prediction_time, {} AS probability FROM test_examples"

PROOFS = Proofs(
    corruptions={
        "inverted": _query(_FROM.format("{inverted}")),
        "most_positives_missed": _query(_FROM.format("{wrong}")),
        "a_row_left_out": _query(_FROM.format("{score}") + " WHERE patient_id <> {first}"),
        "a_row_twice": _query(
            f"{_FROM.format('{score}')} UNION ALL {_FROM.format('{score}')} "
            "WHERE patient_id = {first}"
        ),
        "a_row_without_a_score": _query(
            _FROM.format("CASE WHEN patient_id = {first} THEN NULL ELSE {score} END")
        ),
        "an_empty_cell_beside_them": _query(
            "SELECT patient_id, prediction_time, {score} AS probability, CASE WHEN patient_id = "
            "{first} THEN NULL ELSE 1 END AS weight FROM test_examples"
        ),
        "out_of_range": _query(_FROM.format("2 * ({score})")),
        "of_another_day": _query(
            "SELECT patient_id, prediction_time - INTERVAL 2 DAY AS prediction_time, "
            "{score} AS probability FROM test_examples"
        ),
        "of_other_patients": _query(
            "SELECT patient_id + 1 AS patient_id, prediction_time, {score} AS probability "
            "FROM test_examples"
        ),
    },
    equivalents={
        "by_a_query": _query(_FROM.format("{score}")),
        "another_scale": _query(_FROM.format("({score}) / 100.0")),
        "in_another_order": _query(
            f"SELECT * FROM ({_FROM.format('{score}')}) ORDER BY patient_id DESC"
        ),
        "ids_as_text": _query(
            "SELECT CAST(patient_id AS VARCHAR) AS patient_id, prediction_time, "
            "{score} AS probability FROM test_examples"
        ),
        "ids_as_floats": _query(
            "SELECT CAST(patient_id AS DOUBLE) AS patient_id, prediction_time, "
            "{score} AS probability FROM test_examples"
        ),
        "times_as_text": _query(
            "SELECT patient_id, strftime(prediction_time, '%Y-%m-%d %H:%M:%S') AS "
            "prediction_time, {score} AS probability FROM test_examples"
        ),
        "dates": _query(
            "SELECT patient_id, CAST(prediction_time AS DATE) AS prediction_time, "
            "{score} AS probability FROM test_examples"
        ),
        "dates_as_text": _query(
            "SELECT patient_id, strftime(prediction_time, '%Y-%m-%d') AS prediction_time, "
            "{score} AS probability FROM test_examples"
        ),
        "scores_as_text": _query(
            "SELECT patient_id, prediction_time, CAST({score} AS VARCHAR) AS probability "
            "FROM test_examples"
        ),
        "more_columns": _query(
            "SELECT patient_id, prediction_time, {score} AS probability, 1 AS model "
            "FROM test_examples"
        ),
    },
    items=_items,
)
