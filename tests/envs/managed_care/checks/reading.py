"""Reading an expectation from JSON in the source's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.managed_care.checks.expectation import Expectation
from healthgym.worlds.managed_care.vocabulary.care import CMProgram

#: What the source writes down and no check reads.
_UNREAD = (
    "scenario_id",
    "contract_id",
    "task_kind",
    "task_actor",
    "rubric_prompts",
    "documents_catalog",
    "expected_payer_mode",
    "expected_role_compliance",
    "expected_reviewer_independence",
)
#: Fields of ours, by the name that the source has for them; the others have one name.
_NAMES = {
    "contract": "verifier_contract",
    "stages": "included_stages",
    "target_status": "expected_target_status",
    "letter_types": "expected_letter_types",
    "payer_route": "expected_payer_route",
    "appeal_outcome": "expected_appeal_outcome",
    "forbidden_case_ids": "forbidden_mutation_case_ids",
    "service_request": "expected_service_request",
    "pre_submission": "expected_provider_pre_submission",
    "submission": "expected_provider_submission",
    "provider_action": "expected_provider_action",
    "arena": "expected_e2e",
}
_SAME = ("target_patient_id", "target_order_id", "target_case_id")
_APART = (
    "stage_ground_truth",
    "expected_payer_artifacts",
    "expected_clinical_criteria",
    "expected_p2p_workflow",
)
_GATES = {
    "target_status": "expected_final_status",
    "audit_actions": "required_audit_actions",
    "program": "program_type",
    "risk_level": "expected_preliminary_risk_level",
    "willingness": "consent_willingness",
}

_T = TypeVar("_T")


def read_expectation(row: JsonObject) -> Expectation:
    """Return the expectation that JSON states.

    Args:
        row: An expectation, or a care-management contract with gates, with the source's keys.

    Raises:
        ValueError: If a key or a value is unknown.
    """
    if "expected_final_status" in row:
        return _gates(row)
    if str(row.get("verifier_contract", "")).startswith("cm_"):
        return _care(row)
    _refuse_unknown(row, (*_SAME, *_NAMES.values(), *_APART))
    found: JsonDict = {ours: row[theirs] for ours, theirs in _NAMES.items() if _said(row, theirs)}
    found |= {name: row[name] for name in _SAME if _said(row, name)}
    for truth in row.get("stage_ground_truth") or ():
        found |= _truth(truth["stage"], truth["model_name"], truth["expected_fields"])
    for artifact in row.get("expected_payer_artifacts") or ():
        _put_artifact(found, artifact["artifact_type"], artifact["expected_fields"])
    if _said(row, "expected_clinical_criteria"):
        found["criteria"] = row["expected_clinical_criteria"]["criteria"]
    if _said(row, "expected_p2p_workflow"):
        found["peer"] = _workflow(row["expected_p2p_workflow"])
    return _typed(Expectation, found)


def _gates(row: JsonObject) -> Expectation:
    known = (*_GATES.values(), "verifier_contract", "target_case_id", "forbidden_mutations")
    _refuse_unknown(row, known)
    care = {ours: row[theirs] for ours, theirs in _GATES.items() if _said(row, theirs)}
    if care.get("program") not in tuple(CMProgram):
        # The source has minima for programs that it does not name elsewhere: one problem.
        care.pop("program", None)
    return _typed(
        Expectation,
        {
            "contract": row["verifier_contract"],
            "target_case_id": row["target_case_id"],
            "forbidden_case_ids": row.get("forbidden_mutations", []),
            "care": care,
        },
    )


def _care(row: JsonObject) -> Expectation:
    known = (
        "verifier_contract",
        "target_case_id",
        "included_stages",
        "expected_target_status",
        "expected_audit_actions",
        "forbidden_mutation_case_ids",
        "stage_ground_truth",
    )
    _refuse_unknown(row, known)
    care: JsonDict = {"audit_actions": row.get("expected_audit_actions", [])}
    if _said(row, "expected_target_status"):
        care["target_status"] = row["expected_target_status"]
    for truth in row.get("stage_ground_truth") or ():
        fields, structure = truth.get("expected_fields", {}), dict(truth.get("structure", {}))
        if truth["stage"] == "cm_assessment":
            care["required_sections"] = structure.get("required_sections", [])
            care |= {"assessment_status": fields["status"]} if "status" in fields else {}
        elif truth["stage"] == "cm_care_plan":
            care["plan"] = structure
            care |= {"plan_status": fields["status"]} if "status" in fields else {}
    return _typed(
        Expectation,
        {
            "contract": row["verifier_contract"],
            "target_case_id": row.get("target_case_id", ""),
            "stages": row.get("included_stages"),
            "forbidden_case_ids": row.get("forbidden_mutation_case_ids", []),
            "care": care,
        },
    )


def _truth(stage: str, model: str, fields: JsonObject) -> JsonDict:
    """Return what the truth of a stage says, in our fields."""
    if stage == "intake":
        codes = fields.get("required_diagnosis_codes")
        listed = [one["code"] for one in fields.get("diagnoses", ())]
        provider = fields.get("requesting_provider")
        return {
            "intake": {
                "diagnosis_codes": codes or listed,
                "checks_provider": provider is not None,
                "provider_npi": (provider or {}).get("npi"),
                "request_complete": fields.get("decision_request_complete"),
                "member_eligible": fields.get("decision_member_eligible"),
                "service_covered": fields.get("decision_service_covered"),
            }
        }
    if stage == "triage":
        names = ("disposition", "urgency_level", "gold_card_eligible")
        return {"triage": {name: fields[name] for name in names if name in fields}}
    if model == "NurseCaseRecommendation":
        return {"nurse_recommendation": fields.get("recommendation")}
    if model == "MdCaseDecision":
        return {
            "physician_decision": fields.get("decision"),
            "physician_signs": fields.get("signed_off"),
        }
    return {}


def _put_artifact(found: JsonDict, kind: str, fields: JsonObject) -> None:
    if kind == "determination":
        found["determination"] = dict(fields)
    elif kind == "p2p_resolution":
        found["call"] = dict(fields)
    else:
        letter = {"letter_type": kind.removesuffix("_letter")} | dict(fields)
        found["letters"] = [*found.get("letters", []), letter]


def _workflow(row: JsonObject) -> JsonDict:
    plan = row.get("coordination_contract") or {}
    ending = row.get("determination_contract") or {}
    return {
        "benchmark_side": row.get("benchmark_side", "payer"),
        "fixed_result": row.get("fixed_result"),
        "required_file_sequence": plan.get("required_file_sequence", []),
        "expected_decision": ending.get("expected_decision"),
        "expected_case_status": ending.get("expected_case_status"),
    }


def _said(row: JsonObject, name: str) -> bool:
    return row.get(name) is not None


def _refuse_unknown(row: Mapping[str, object], known: tuple[str, ...]) -> None:
    unknown = [name for name in row if name not in known and name not in _UNREAD]
    if unknown:
        raise ValueError(f"An expectation has no {', '.join(sorted(unknown))}.")


def _typed(kind: type[_T], row: JsonDict) -> _T:
    try:
        return TypeAdapter(kind).validate_python(row)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"The expectation's {where} is wrong: {first['msg']}.") from error
