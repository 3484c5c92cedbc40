"""Search against the definition of search: filter every resource, one by one."""

from datetime import UTC, date, datetime

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from healthgym.core.clock import Clock
from healthgym.worlds.fhir import (
    ChartBuilder,
    ColumnBase,
    DocumentBase,
    FhirStore,
    ValidationLevel,
)
from healthgym.worlds.fhir.search.dates import microseconds
from healthgym.worlds.fhir.search.query import parse_query
from healthgym.worlds.fhir.search.values import extract

NOW = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
T0 = int(NOW.timestamp())
KINDS = ("Observation", "Condition", "Procedure", "MedicationRequest", "ServiceRequest", "Patient")
SNOMED, LOINC = "http://snomed.info/sct", "http://loinc.org"

rows = st.lists(
    st.tuples(
        st.sampled_from(["lab", "vital", "condition", "procedure", "drug", "service"]),
        st.sampled_from(["S1", "S2", "S3"]),
        st.sampled_from(["MG", "K", "BP"]),
        st.integers(-400, 20),
        st.integers(0, 3),
    ),
    max_size=40,
)
dates = st.builds(
    "{}{}".format,
    st.sampled_from(["", "eq", "ne", "gt", "lt", "ge", "le", "sa", "eb", "ap"]),
    st.sampled_from(["2022", "2023-11", "2023-11-13", "2023-11-13T04:15:00Z", "2023-06-01T00:00"]),
)
codes = st.lists(
    st.sampled_from(["MG", "K", "BP", "ZZ", f"{LOINC}|K", f"{LOINC}|", "|MG", f"{SNOMED}|K"]),
    min_size=1,
    max_size=2,
).map(",".join)
patients = st.sampled_from(["S1", "Patient/S2", "S1,S3", "S9", "Group/S1"])
texts = st.sampled_from(["m", "K", "name k", "b"])


def criteria_of(kind: str) -> st.SearchStrategy:
    common = [
        st.tuples(st.just("_lastUpdated"), dates),
        st.tuples(st.just("_id"), st.sampled_from(["5", "7,9", "S1", "05"])),
    ]
    if kind == "Patient":
        own = [
            st.tuples(st.just("family"), st.sampled_from(["reid", "ro", "zz"])),
            st.tuples(st.just("birthdate"), st.sampled_from(["ge1950", "1950-01-02"])),
        ]
        return st.lists(st.one_of(*common, *own), max_size=3)
    date_names = {
        "Observation": ["date"],
        "Condition": ["onset-date", "recorded-date"],
        "Procedure": ["date"],
        "MedicationRequest": ["authoredon", "date"],
        "ServiceRequest": ["authored", "occurrence"],
    }[kind]
    status = "clinical-status" if kind == "Condition" else "status"
    own = [
        st.tuples(st.sampled_from(["code", "code:not"]), codes),
        st.tuples(st.just("code:text"), texts),
        st.tuples(st.sampled_from(["patient", "subject", "subject:Patient"]), patients),
        st.tuples(st.sampled_from(date_names), dates),
        st.tuples(st.sampled_from([f"{name}:missing" for name in date_names]),
                  st.sampled_from(["true", "false"])),
        st.tuples(st.just(status), st.sampled_from(["active", "final", "stopped,active"])),
        st.tuples(st.just("category"), st.sampled_from(["laboratory", "vital-signs"])),
        st.tuples(st.just("identifier:missing"), st.sampled_from(["true", "false"])),
    ]  # fmt: skip
    return st.lists(st.one_of(*common, *own), max_size=4)


searches = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), criteria_of(kind)))


def build(entries: list) -> ColumnBase:
    builder = ChartBuilder()
    for number, mrn in enumerate(("S1", "S2", "S3")):
        builder.patient(
            mrn=mrn,
            family=("Reid", "Roe", "Reidel")[number],
            given="Tina",
            gender="female",
            birth_date=date(1940 + 10 * number, 1, 2),
        )
    for kind, mrn, code, hours, variant in entries:
        when = T0 + hours * 6 * 3600
        status = ("active", "stopped", "completed", "active")[variant]
        match kind:
            case "lab":
                builder.lab(mrn, code, when, variant + 0.5, "mg/dL")
            case "vital":
                builder.vital(mrn, code, when, f"{variant}")
            case "condition":
                builder.condition(mrn, code, f"name {code}", when)
            case "procedure":
                end = when + 86_400 * variant if variant else None
                builder.procedure(mrn, code, f"name {code}", when, performed_end=end)
            case "drug":
                builder.medication_request(mrn, code, when, status=status)
            case "service":
                system = SNOMED if variant % 2 else LOINC
                builder.service_request(
                    mrn,
                    system,
                    code,
                    f"name {code}",
                    when,
                    status=status,
                    occurrence=when if variant > 1 else None,
                )
    return builder.build(shuffle=np.random.default_rng(1))


def brute_force(resources: list[dict], kind: str, params: list) -> list[str]:
    criteria = parse_query(kind, params).criteria
    now = microseconds(NOW)
    return [
        resource["id"]
        for resource in resources
        if resource["resourceType"] == kind
        and all(c.matches(extract(c.parameter, resource), now) for c in criteria)
    ]


def resources_of(base: ColumnBase) -> list[dict]:
    return [
        base.resource(kind, row) for kind in base.resource_types() for row in range(base.size(kind))
    ]


@settings(max_examples=300)
@given(rows, searches)
def test_search_finds_what_filtering_finds_in_columns_and_in_documents(entries, search):
    kind, params = search
    base = build(entries)
    resources = resources_of(base)
    expected = brute_force(resources, kind, params)
    for each in (base, DocumentBase(resources)):
        store = FhirStore(each, clock=Clock(NOW))
        result = store.search(kind, [*params, ("_count", "1000")])
        assert [r["id"] for r in result.resources] == expected
        assert result.total == len(expected)


@given(rows, searches, st.data())
def test_search_sees_writes_as_if_they_had_been_there(entries, search, data):
    kind, params = search
    base = build(entries)
    store = FhirStore(base, clock=Clock(NOW), validation=ValidationLevel.OFF)
    resources = resources_of(base)
    for _ in range(2):
        chosen = data.draw(st.sampled_from(resources))
        changed = {**chosen, "status": data.draw(st.sampled_from(["active", "stopped"]))}
        if data.draw(st.booleans()) and chosen["resourceType"] != "Patient":
            resources.append(store.create(changed))
        else:
            stored = store.update(changed)
            position = next(i for i, r in enumerate(resources) if r["id"] == chosen["id"])
            resources[position] = stored
    result = store.search(kind, [*params, ("_count", "1000")])
    expected = brute_force(resources, kind, params)
    assert [r["id"] for r in result.resources] == expected
    newest = store.search(kind, [*params, ("_count", "1000"), ("_sort", "-_lastUpdated")])
    updated = {r["id"]: r["meta"]["lastUpdated"] for r in resources}
    ordered = sorted(expected, key=updated.__getitem__, reverse=True)
    assert [r["id"] for r in newest.resources] == ordered


@given(rows, searches, st.integers(1, 7), st.sampled_from([None, "-_lastUpdated", "code", "-_id"]))
def test_pages_put_together_are_the_whole_result(entries, search, size, order):
    kind, params = search
    if order == "code" and kind == "Patient":
        order = "family"
    if order:
        params = [*params, ("_sort", order)]
    store = FhirStore(build(entries), clock=Clock(NOW))
    whole = store.search(kind, [*params, ("_count", "1000")]).resources
    page = store.search(kind, [*params, ("_count", str(size))])
    found = list(page.resources)
    while page.next is not None:
        assert len(page.resources) == size
        page = store.next_page(page.next)
        found.extend(page.resources)
    assert found == list(whole)


@given(rows, st.sampled_from(["date", "-date", "_lastUpdated", "-_lastUpdated"]))
def test_sorting_is_stable_in_id_order(entries, order):
    store = FhirStore(build(entries), clock=Clock(NOW))
    found = store.search("Observation", [("_sort", order), ("_count", "1000")]).resources
    key = "lastUpdated" if "lastUpdated" in order else None
    keyed = [
        (r["meta"]["lastUpdated"] if key else r["effectiveDateTime"], int(r["id"])) for r in found
    ]
    if order.startswith("-"):
        by_id = sorted(keyed, key=lambda pair: pair[1])
        assert keyed == sorted(by_id, key=lambda pair: pair[0], reverse=True)
    else:
        assert keyed == sorted(keyed)
