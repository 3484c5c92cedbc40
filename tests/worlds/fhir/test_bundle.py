import json

import pytest

from healthgym.worlds.fhir.bundle import render, searchset

BASE = "http://localhost:8080/fhir"


def test_a_complete_page_has_a_total_and_only_a_self_link(store):
    params = [("given", "Tina"), ("family", "Reid"), ("birthdate", "1961-02-03")]
    bundle = searchset(store.search("Patient", [*params, ("_format", "json")]), BASE)
    assert list(bundle) == ["resourceType", "id", "meta", "type", "total", "link", "entry"]
    assert bundle["meta"] == {"lastUpdated": "2023-11-13T10:15:00.000+00:00"}
    assert bundle["link"] == [
        {
            "relation": "self",
            "url": f"{BASE}/Patient?_format=json&birthdate=1961-02-03&family=Reid&given=Tina",
        }
    ]
    (entry,) = bundle["entry"]
    assert list(entry) == ["fullUrl", "resource", "search"]
    assert entry["fullUrl"] == f"{BASE}/Patient/S1000002"
    assert entry["search"] == {"mode": "match"}


def test_an_empty_page_has_no_entry(store):
    bundle = searchset(store.search("Patient", [("family", "Nobody")]), BASE)
    assert bundle["total"] == 0
    assert "entry" not in bundle


def test_a_first_page_of_many_has_a_next_link_and_no_total(store):
    asked = [("_count", "4"), ("_format", "json"), ("date", "ge2000-01-01T00:00:00+00:00")]
    first = store.search("Observation", asked)
    bundle = searchset(first, BASE)
    assert list(bundle) == ["resourceType", "id", "meta", "type", "link", "entry"]
    own, following = bundle["link"]
    assert own["url"].endswith("date=ge2000-01-01T00%3A00%3A00%2B00%3A00")
    assert following == {
        "relation": "next",
        "url": f"{BASE}?_getpages={bundle['id']}&_getpagesoffset=4&_count=4"
        "&_format=json&_pretty=true&_bundletype=searchset",
    }
    second = searchset(store.next_page(first.next), BASE, pretty=False)
    assert second["id"] == bundle["id"]
    assert [link["relation"] for link in second["link"]] == ["self", "previous"]
    assert "_getpagesoffset=4&_count=4" in second["link"][0]["url"]
    assert "_pretty=false" in second["link"][0]["url"]


def test_included_resources_are_marked(store):
    asked = [("code", "K"), ("_include", "Observation:patient")]
    bundle = searchset(store.search("Observation", asked), BASE)
    assert [entry["search"]["mode"] for entry in bundle["entry"]] == ["match", "include"]


def test_text_is_laid_out_as_hapi_lays_it_out():
    resource = {
        "resourceType": "Patient",
        "name": [{"family": "Ordóñez", "given": ["Tina", "M"]}, {"family": "B\n"}],
        "active": True,
        "empty": {},
        "none": [],
        "value": 5.10,
    }
    expected = """{
  "resourceType": "Patient",
  "name": [ {
    "family": "Ordóñez",
    "given": [ "Tina", "M" ]
  }, {
    "family": "B\\n"
  } ],
  "active": true,
  "empty": {},
  "none": [],
  "value": 5.1
}"""
    assert render(resource) == expected
    assert json.loads(render(resource, pretty=False)) == resource
    assert "\n" not in render(resource, pretty=False)


def test_text_of_a_page_is_the_page(store):
    bundle = searchset(store.search("Observation", []), BASE)
    assert json.loads(render(bundle)) == bundle


def test_pages_cost_what_the_reference_server_makes_them_cost(store):
    """About 1.25 kB a laboratory result, 0.36 to 0.40 kB for nothing."""
    one = render(searchset(store.search("Observation", [("code", "K")]), BASE))
    none = render(searchset(store.search("Observation", [("code", "ZZ")]), BASE))
    assert len(one) - len(none) == pytest.approx(1250, rel=0.15)
    assert 280 < len(none) < 420
