"""Conditions of requests: what was read must be what is replaced, over HTTP too."""

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from healthgym.worlds.fhir import FhirStore
from healthgym.worlds.fhir.api import FhirApi, Response
from healthgym.worlds.fhir.server import serve

BASE = "http://h/fhir"


@pytest.fixture
def api(store: FhirStore) -> FhirApi:
    return FhirApi(store, BASE)


def put(api: FhirApi, resource: dict[str, object], **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = f"{BASE}/{resource['resourceType']}/{resource['id']}"
    return api.handle("PUT", url, json.dumps(resource), named)


@pytest.fixture
def patient(api: FhirApi) -> dict[str, object]:
    found: dict[str, object] = json.loads(api.handle("GET", f"{BASE}/Patient/S1000001").text)
    return found


def test_200_guarded_increments_from_ten_clients_end_at_200(store: FhirStore) -> None:
    with serve(store) as server:
        url = f"{server.url}/Patient/S1000001"
        with httpx.Client() as first:
            start = first.get(url).json()
            first.put(url, json=start | {"multipleBirthInteger": 0}).raise_for_status()

        def add(count: int) -> int:
            refused = 0
            with httpx.Client(timeout=60) as client:
                while count:
                    read = client.get(url)
                    more = read.json() | {
                        "multipleBirthInteger": read.json()["multipleBirthInteger"] + 1
                    }
                    answer = client.put(url, json=more, headers={"If-Match": read.headers["ETag"]})
                    assert answer.status_code in (200, 412)
                    count -= answer.status_code == 200
                    refused += answer.status_code == 412
            return refused

        with ThreadPoolExecutor(10) as pool:
            refused = sum(pool.map(add, [20] * 10))
        with httpx.Client() as last:
            assert last.get(url).json()["multipleBirthInteger"] == 200
            history = last.get(f"{url}/_history", params={"_count": "500"}).json()
    assert history["total"] == 202  # the chart's own, the first write, and 200 more
    assert len(store.written) == 201
    assert refused >= 0


@pytest.mark.parametrize(
    ("stated", "status"),
    [
        ('W/"1"', 200),
        ('"1"', 200),
        ('W/"7", W/"1"', 200),
        ("*", 200),
        ('W/"2"', 412),
        ('W/"7", W/"8"', 412),
        ("1", 400),
        ("garbage \x00", 400),
        (",", 400),
        (" ", 400),
    ],
)
def test_if_match(
    api: FhirApi, store: FhirStore, patient: dict[str, object], stated: str, status: int
) -> None:
    answer = put(api, patient | {"active": True}, If_Match=stated)
    assert answer.status == status
    assert len(store.written) == (status == 200)


def test_a_guard_on_what_is_not_there_fails(api: FhirApi, store: FhirStore) -> None:
    new: dict[str, object] = {"resourceType": "Patient", "id": "new-one"}
    assert put(api, new, If_Match='W/"1"').status == 412
    assert put(api, new, If_Match="*").status == 412
    assert store.written == ()
    assert put(api, new, If_None_Match="*").status == 201
    assert put(api, new, If_None_Match="*").status == 412
    assert put(api, new, If_None_Match='W/"1"').status == 412
    assert put(api, new, If_None_Match='W/"2"').status == 200
    assert put(api, new, If_Match="").status == put(api, new, If_None_Match=" ").status == 400


def test_what_a_reader_holds_is_not_sent_again(api: FhirApi, patient: dict[str, object]) -> None:
    url = f"{BASE}/Patient/S1000001"
    tag = api.handle("GET", url).headers["ETag"]
    known = api.handle("GET", url, "", {"if-none-match": tag})
    assert (known.status, known.text, known.headers["ETag"]) == (304, "", tag)
    put(api, patient | {"active": True})
    assert api.handle("GET", url, "", {"If-None-Match": tag}).status == 200


def test_create_unless_it_exists(api: FhirApi, store: FhirStore, order: dict[str, object]) -> None:
    one = order | {"identifier": [{"system": "urn:mine", "value": "42"}]}
    body = json.dumps(one)

    def create(search: str) -> Response:
        return api.handle("POST", f"{BASE}/ServiceRequest", body, {"If-None-Exist": search})

    assert create("identifier=urn:mine|42").status == 201
    again = create("identifier=urn:mine|42")
    assert again.status == 200
    assert f"/{store.written[0].id}/_history/1" in again.headers["Location"]
    assert json.loads(again.text)["id"] == store.written[0].id
    assert len(store.written) == 1
    api.handle("POST", f"{BASE}/ServiceRequest", body)
    assert create("identifier=urn:mine|42").status == 412
    for wrong in ("nonsense=1", "", " ", "?"):
        assert create(wrong).status == 400
    assert len(store.written) == 2


def test_the_history_of_a_resource_has_every_version(
    api: FhirApi, patient: dict[str, object]
) -> None:
    for family in ("One", "Two"):
        assert put(api, patient | {"name": [{"family": family}]}).status == 200
    url = f"{BASE}/Patient/S1000001/_history"
    bundle = json.loads(api.handle("GET", url).text)
    assert (bundle["type"], bundle["total"]) == ("history", 3)
    versions = [entry["resource"]["meta"]["versionId"] for entry in bundle["entry"][:2]]
    assert versions == ["3", "2"]
    names = [entry["resource"]["name"][0]["family"] for entry in bundle["entry"]]
    assert names == ["Two", "One", "Ordóñez"]
    assert bundle["entry"][0]["request"] == {"method": "PUT", "url": "Patient/S1000001"}
    assert bundle["entry"][0]["response"]["etag"] == 'W/"3"'
    assert json.loads(api.handle("GET", f"{url}/2").text)["name"] == [{"family": "One"}]
    assert api.handle("GET", f"{url}/1").headers["ETag"] == 'W/"1"'
    assert api.handle("GET", f"{url}/9").status == 404
    assert api.handle("GET", f"{BASE}/Patient/S9/_history").status == 404
    page = json.loads(api.handle("GET", f"{url}?_count=2").text)
    following = next(link["url"] for link in page["link"] if link["relation"] == "next")
    rest = json.loads(api.handle("GET", following).text)
    assert [entry["resource"]["name"][0]["family"] for entry in rest["entry"]] == ["Ordóñez"]
    assert api.handle("GET", f"{url}?_count=x").status == 400
