"""Records and words are those that the published simulator has, and a model can read them."""

import dataclasses
import importlib
import json
import pkgutil
import types
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum, StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from healthgym.core.docstrings import describe_record
from healthgym.core.parts import peel
from healthgym.core.schema import argument_model, type_schema, validate
from healthgym.errors import ToolError
from healthgym.worlds.managed_care import records, vocabulary
from healthgym.worlds.managed_care.records.assessment import (
    BehavioralHealthAssessment,
    BehavioralHealthSectionPayload,
    ClinicalSectionPayload,
    MedicationSectionPayload,
    SDoHSectionPayload,
)
from healthgym.worlds.managed_care.records.care import CMChartReviewInput, CMOutreachSummaryInput
from healthgym.worlds.managed_care.records.care_plan import CMCarePlanInput, CMProblem
from healthgym.worlds.managed_care.records.case import SubmissionLineUpdate
from healthgym.worlds.managed_care.records.intake import (
    IntakeAuthHeaderData,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProviderInfo,
    SaveDiagnosesPayload,
)
from healthgym.worlds.managed_care.records.review import (
    MdLineItemDecision,
    NurseCriterionEvaluation,
)

FACTS = json.loads((Path(__file__).parent / "vectors" / "records.json").read_text())
#: What tools take as arguments; the other input records are inside of these.
INPUTS = [
    BehavioralHealthSectionPayload,
    CMCarePlanInput,
    CMChartReviewInput,
    CMOutreachSummaryInput,
    ClinicalSectionPayload,
    IntakeAuthHeaderData,
    IntakeDiagnosis,
    IntakeLineItem,
    IntakeProviderInfo,
    MdLineItemDecision,
    MedicationSectionPayload,
    NurseCriterionEvaluation,
    SDoHSectionPayload,
    SaveDiagnosesPayload,
    SubmissionLineUpdate,
]
#: Records that the published simulator has not: what other front doors bring, the criteria of a
#: policy as the nurse reads them, and what the reviews of nurse and physician have in common.
OURS = {
    "AppealReceipt",
    "AppealReview",
    "Arrival",
    "CallNote",
    "Callback",
    "CallerWords",
    "CriteriaCatalog",
    "Envelope",
    "LineReview",
}
WORDS = {str: "str", int: "int", float: "float", bool: "bool", date: "date", datetime: "datetime"}


def defined(package: types.ModuleType) -> dict[str, type]:
    """Classes that the modules of a package define."""
    found: dict[str, type] = {}
    for entry in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(entry.name)
        own = {k: v for k, v in vars(module).items() if isinstance(v, type)}
        found |= {k: v for k, v in own.items() if v.__module__ == module.__name__}
    return found


RECORDS = defined(records)
ENUMS = defined(vocabulary)


def spelled(hint: Any) -> str:
    """A type hint in the words of the fixture."""
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return "any"
    if origin is Annotated:
        return spelled(args[0])
    if origin in (Union, types.UnionType):
        (some,) = [arg for arg in args if arg is not type(None)]
        return f"{spelled(some)}?"
    if origin is tuple:
        assert args[1:] == (Ellipsis,)
        return f"list[{spelled(args[0])}]"
    if origin is Mapping:
        return f"map[{spelled(args[1])}]"
    if origin is Literal:
        return f"{{{', '.join(args)}}}"
    name = WORDS.get(hint, hint.__name__)
    return str(FACTS["renamed"].get(name, name))


def default_of(field: "dataclasses.Field[Any]") -> Any:
    """The default of a field as JSON has it."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if field.default is dataclasses.MISSING:
        return None
    if isinstance(field.default, tuple):
        return list(field.default)
    return field.default.value if isinstance(field.default, Enum) else field.default


def rows(cls: type) -> dict[str, list[Any]]:
    """The fields of a record in the form of the fixture."""
    hints = get_type_hints(cls, include_extras=True)
    words = {"minimum": "ge", "maximum": "le", "minItems": "min_length"}
    found: dict[str, list[Any]] = {}
    for field in dataclasses.fields(cls):
        missing = dataclasses.MISSING
        required = field.default is missing and field.default_factory is missing
        found[field.name] = [spelled(hints[field.name]), required, default_of(field)]
        bounds = {words[k]: v for k, v in peel(hints[field.name]).bounds.items()}
        found[field.name] += [bounds] if bounds else []
    return found


def expected(name: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for field, (kind, required, default, *bounds) in FACTS["records"][name].items():
        kind = FACTS["typed_here"].get(f"{name}.{field}", kind)
        found[field] = [kind, required, "" if default == "generated" else default, *bounds]
    return found


def test_every_published_record_is_here_or_left_out_for_a_reason() -> None:
    left_out = [name for names in FACTS["records_left_out"].values() for name in names]
    assert RECORDS.keys() > OURS
    published = RECORDS.keys() - OURS
    assert published == FACTS["records"].keys()
    assert len(set(left_out)) + len(published) == 117
    assert not set(left_out) & RECORDS.keys()


@pytest.mark.parametrize("name", sorted(FACTS["records"]))
def test_a_record_has_the_published_fields(name: str) -> None:
    published = expected(name)
    if name == "ConversationMessage":  # the source's calls always reach the patient
        published["role"][0] = "{care_manager, patient, other}"
    assert rows(RECORDS[name]) == published


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_record_cannot_be_changed(name: str) -> None:
    cls: Any = RECORDS[name]
    assert cls.__dataclass_params__.frozen
    assert "__slots__" in vars(cls)
    assert all(field.kw_only for field in dataclasses.fields(cls))


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_a_record_says_what_each_field_is(name: str) -> None:
    sentence, said = describe_record(RECORDS[name])
    assert sentence.endswith(".")
    assert list(said) == [field.name for field in dataclasses.fields(RECORDS[name])]
    assert all(len(text) > 3 and text.endswith(".") for text in said.values())
    assert "TODO" not in f"{sentence} {said}"


#: Values of ours beside the published ones.
FURTHER = {"TerminationReason": ("no_answer",)}


@pytest.mark.parametrize("name", sorted(ENUMS))
def test_an_enumeration_has_the_published_values(name: str) -> None:
    values = (FACTS["enumerations"] | FACTS["string_sets"])[name]
    cls: Any = ENUMS[name]
    assert issubclass(cls, StrEnum)
    assert [member.value for member in cls] == [*values, *FURTHER.get(name, ())]
    assert "TODO" not in (cls.__doc__ or "TODO")


def test_every_published_enumeration_is_here() -> None:
    assert len(FACTS["enumerations"]) == 67
    assert ENUMS.keys() == FACTS["enumerations"].keys() | FACTS["string_sets"].keys()


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a schema, whole and part."""
    if "properties" in schema:
        yield schema
        for part in schema["properties"].values():
            yield from objects(part)
    if "items" in schema:
        yield from objects(schema["items"])


@pytest.mark.parametrize("cls", INPUTS, ids=lambda cls: cls.__name__)
def test_an_argument_has_a_schema_whose_every_field_is_described(cls: type) -> None:
    schema = type_schema(cls)
    assert list(schema["properties"]) == [field.name for field in dataclasses.fields(cls)]
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert all(field["description"] for field in part["properties"].values())


def take(self: object, plan: CMCarePlanInput, mood: BehavioralHealthAssessment) -> None:
    """Take both.

    Args:
        plan: Plan.
        mood: Mood.
    """


PLAN = {
    "problems": [{"description": "diabetes", "category": "clinical"}],
    "escalation_conditions": ["fall"],
    "follow_up_cadence_kind": "weekly",
}


def given(plan: Mapping[str, Any], mood: Mapping[str, Any]) -> dict[str, Any]:
    return validate(argument_model(take), "take", "take(...)", {"plan": plan, "mood": mood})


def test_lists_of_an_argument_become_tuples_of_records() -> None:
    taken = given(PLAN, {"phq9_score": 27, "gad7_score": 21})
    (problem,) = taken["plan"].problems
    assert isinstance(problem, CMProblem)
    assert taken["plan"].escalation_conditions == ("fall",)
    assert hash(taken["plan"])
    assert (taken["mood"].phq9_score, taken["mood"].gad7_score) == (27, 21)


@pytest.mark.parametrize(
    ("plan", "mood", "said"),
    [
        ({}, {"phq9_score": 28}, "'mood.phq9_score': must be at most 27"),
        ({}, {"gad7_score": 22}, "'mood.gad7_score': must be at most 21"),
        ({}, {"gad7_score": -1}, "'mood.gad7_score': must be at least 0"),
        ({"problems": []}, {}, "'plan.problems': must have 1 or more items"),
        ({"escalation_conditions": []}, {}, "'plan.escalation_conditions': must have 1 or more"),
        ({"problems": [{"category": "clinical"}]}, {}, "'plan.problems.0.description' is missing"),
        ({"escalation_conditions": "fall"}, {}, "'plan.escalation_conditions': "),
    ],
    ids=["phq9", "gad7", "negative", "problems", "escalation", "item", "text"],
)
def test_what_is_out_of_bounds_is_refused(
    plan: Mapping[str, Any], mood: Mapping[str, Any], said: str
) -> None:
    with pytest.raises(ToolError) as caught:
        given({**PLAN, **plan}, mood)
    assert said in str(caught.value)
