"""An expectation is read whole, or not at all."""

from __future__ import annotations

import pytest

from healthgym.envs.managed_care.checks.care_expectation import Willingness
from healthgym.envs.managed_care.checks.expectation import Contract, LetterArtifact, Stage
from healthgym.worlds.managed_care.vocabulary.authorization import MdReviewDecision
from tests.envs.managed_care.checks.judged import expectation_of, recorded
from tests.envs.managed_care.checks.reading import read_expectation


def test_every_recorded_expectation_is_read() -> None:
    for row in recorded().values():
        assert expectation_of(row).contract in set(Contract)


def test_truths_and_artifacts_land_in_their_fields() -> None:
    found = expectation_of(recorded()["v-um-09"])
    assert found.physician_decision is MdReviewDecision.DENY
    assert found.physician_signs is True
    assert found.stages == (Stage.PHYSICIAN, Stage.OUTCOME)
    assert found.letters == (
        LetterArtifact(
            letter_type="denial",
            denial_rationale_referenced=True,
            appeal_information_present=True,
        ),
    )


def test_gates_are_read_from_their_own_contract() -> None:
    found = expectation_of(recorded()["v-gate-24"])
    assert found.contract is Contract.CM3
    assert found.care is not None
    assert found.care.willingness is Willingness.INITIALLY_REFUSES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"expected_colour": "red"}, "no expected_colour"),
        ({"expected_target_status": "lost"}, "target_status is wrong"),
        ({"included_stages": ["lunch"]}, "stages.0 is wrong"),
        ({"expected_service_request": {"codes": []}}, "service_request.codes is wrong"),
        ({"verifier_contract": "contract_v9"}, "contract is wrong"),
    ],
    ids=["key", "status", "stage", "nested", "contract"],
)
def test_what_is_unknown_is_refused_by_name(change: dict[str, object], message: str) -> None:
    row = {**recorded()["v-pa-01"]["expectation"], **change}
    with pytest.raises(ValueError, match=message):
        read_expectation(row)


def test_a_care_expectation_with_an_unknown_key_is_refused() -> None:
    row = {**recorded()["v-cm-01"]["expectation"], "expected_mood": "good"}
    with pytest.raises(ValueError, match="no expected_mood"):
        read_expectation(row)
