"""Schema and validation agree: what one describes the other takes, and nothing broken."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from datetime import UTC
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthgym.core.action import parse
from healthgym.core.schema import validate
from healthgym.core.tool import ToolCall, ToolSpec
from healthgym.errors import ToolError
from healthgym.policies.scripted import RandomPolicy
from healthgym.testing import check_hostile_actions, hostile_actions
from healthgym.testing.hostile import odd_calls
from tests.core.desk import CATALOG, DESK_ID, SPECS, make_desk


def values(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Everything that a schema of ours allows."""
    if "const" in schema:
        found = st.just(schema["const"])
    elif "enum" in schema:
        found = st.sampled_from(schema["enum"])
    elif "oneOf" in schema:
        found = st.one_of([values(option) for option in schema["oneOf"]])
    elif "properties" in schema:
        found = objects(schema)
    else:
        found = plain(schema)
    return found | st.none() if schema.get("nullable") else found


def objects(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    parts = {name: values(part) for name, part in schema["properties"].items()}
    required = {name: parts.pop(name) for name in schema.get("required", ())}
    return st.fixed_dictionaries(required, optional=parts)


def plain(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum"), schema.get("maximum")
    over, under = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    match schema.get("format") or schema.get("type"):
        case "date":
            return st.dates().map(str)
        case "date-time":
            days = st.datetimes(timezones=st.just(UTC))
            return days.map(lambda moment: moment.isoformat())
        case "integer":
            step = schema.get("multipleOf", 1)
            return st.integers(low, high).map(lambda n: n // step * step)
        case "number":
            return st.floats(
                over if low is None else low,
                under if high is None else high,
                exclude_min=over is not None,
                exclude_max=under is not None,
                allow_nan=False,
                allow_infinity=False,
            )
        case "string" if "pattern" in schema:
            return st.from_regex(schema["pattern"], fullmatch=True)
        case "string":
            return st.text(min_size=schema.get("minLength", 0), max_size=schema.get("maxLength"))
        case "array":
            least, most = schema.get("minItems", 0), schema.get("maxItems", 2)
            return st.lists(values(schema["items"]), min_size=least, max_size=most)
        case "object":
            return st.dictionaries(st.text(), values(schema["additionalProperties"]), max_size=2)
        case "boolean":
            return st.booleans()
        case None:
            return st.none() | st.booleans() | st.text()
    raise AssertionError(schema)


def problem(spec: ToolSpec, arguments: Mapping[str, Any]) -> str:
    """Why arguments are refused, as JSON text brings them; empty if they are not."""
    try:
        validate(spec.model, spec.identifier, spec.usage, json.loads(json.dumps(dict(arguments))))
    except ToolError as error:
        return str(error)
    return ""


def parsed(texts: Iterable[str]) -> Iterator[ToolCall]:
    for text in texts:
        try:
            yield from parse(text)
        except ToolError:
            continue


def own_rules(said: str) -> bool:
    """Whether a refusal is about what records check beyond their schemas."""
    return "two pages have one number" in said or "a packet holds two documents" in said


@pytest.mark.parametrize("name", sorted(SPECS))
@given(data=st.data())
def test_what_a_schema_allows_is_accepted(name: str, data: st.DataObject) -> None:
    arguments = data.draw(objects(SPECS[name].parameters))
    said = problem(SPECS[name], arguments)
    assert not said or own_rules(said), said


BREAKS: Mapping[str, Callable[[dict[str, Any]], Any]] = {
    "extra": lambda part: part.update({"no such field": 1}),
    "missing": lambda part: part.pop("kind", part.pop("title", part.pop("number", None))),
    "object": lambda part: part.update({next(iter(part)): {"no": "such"}}),
}


def records_in(value: Any) -> list[dict[str, Any]]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [record for item in inside for record in records_in(item)]
    known = isinstance(value, dict) and value.keys() & {"kind", "title", "number"}
    return [value, *found] if known else found


@pytest.mark.parametrize("name", ["desk.send", "desk.log"])
@given(data=st.data())
def test_a_record_broken_anywhere_is_refused(name: str, data: st.DataObject) -> None:
    arguments = deepcopy(data.draw(objects(SPECS[name].parameters)))
    record = data.draw(st.sampled_from(records_in(arguments)))
    BREAKS[data.draw(st.sampled_from(sorted(BREAKS)))](record)
    said = problem(SPECS[name], arguments)
    assert "argument '" in said
    assert said.count("; ") < 5


def test_the_random_policy_fills_in_every_shape() -> None:
    env, policy = make_desk(), RandomPolicy(1, submit_rate=0.0)
    observation, info = env.reset(seed=0)
    policy.begin(env, observation, info)
    calls = [policy.act("Read 2026-03-13, a, 17 and 0.5.") for _ in range(400)]
    said = [problem(CATALOG.resolve(each.name)[0], each.arguments) for each in calls]
    refused = list(filter(None, said))
    assert all(map(own_rules, refused)), refused
    assert len(refused) < 200


def test_odd_calls_fit_and_hostile_ones_do_not() -> None:
    specs = list(SPECS.values())
    calls = odd_calls(np.random.default_rng(0), specs, 400)
    said = [problem(CATALOG.resolve(each.name)[0], each.arguments) for each in calls]
    refused = list(filter(None, said))
    assert all(own_rules(each) or "must match the pattern" in each for each in refused), refused
    assert len(refused) < 200
    hostile = hostile_actions(np.random.default_rng(0), specs, 4000)
    wrong = [each for each in hostile if isinstance(each, str) and '"desk__send"' in each]
    whole = [each for each in wrong if each.startswith("{") and each.endswith("}}")]
    tried = [problem(SPECS["desk.send"], each.arguments) for each in parsed(whole)]
    assert all(tried)
    assert len(tried) > 20


def test_the_engine_withstands_attacks_on_records() -> None:
    assert check_hostile_actions(DESK_ID, 600, seed=2) > 1
