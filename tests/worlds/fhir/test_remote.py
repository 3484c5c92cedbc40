import json

import httpx
import pytest

from healthgym.errors import ConfigurationError, EndpointError
from healthgym.worlds.fhir import FhirError, RecordStore
from healthgym.worlds.fhir.api import FhirApi
from healthgym.worlds.fhir.remote import RemoteStore
from healthgym.worlds.fhir.server import serve

BASE = "http://fhir.example/fhir"
OUTCOME = {
    "resourceType": "OperationOutcome",
    "issue": [{"severity": "error", "code": "invalid", "diagnostics": "no such parameter"}],
}
EMPTY = {"resourceType": "Bundle", "type": "searchset", "total": 0}


class Script(httpx.MockTransport):
    """Answers with one item after the other; exceptions are raised, the last one repeats."""

    def __init__(self, *answers):
        self.requests = []
        self.waits = []
        self._answers = list(answers)
        super().__init__(self._next)

    def _next(self, request):
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def store(self, **kwargs):
        return RemoteStore(BASE, transport=self, sleep=self.waits.append, **kwargs)


def good(body=None):
    return httpx.Response(200, json=EMPTY if body is None else body)


@pytest.fixture
def remote(store):
    with serve(store) as server, RemoteStore(server.url, timeout=60) as running:
        yield running


def test_the_remote_store_equals_the_embedded_one(remote, store, order):
    local: RecordStore = store
    asked = [("patient", "S1000001"), ("date", "ge2023-11-13T00:00:00+00:00"), ("_count", "2")]
    mine, theirs = (each.search("Observation", asked) for each in (local, remote))
    assert theirs.resources == mine.resources
    assert theirs.total == mine.total
    assert theirs.time == mine.time
    assert theirs.parameters == mine.parameters
    assert remote.next_page(theirs.next).resources == local.next_page(mine.next).resources
    assert remote.read("Patient", "S1000001") == local.read("Patient", "S1000001")
    asked = [("code", "K"), ("_include", "Observation:subject")]
    assert (
        remote.search("Observation", asked).included == local.search("Observation", asked).included
    )
    before = remote.digest()
    stored = remote.create(order)
    assert stored == local.read("ServiceRequest", stored["id"])
    assert remote.digest() != before
    changed = remote.update({**stored, "status": "revoked"})
    assert changed["meta"]["versionId"] == "2"
    assert local.read("ServiceRequest", stored["id"]) == changed


def test_what_the_agent_got_wrong_is_told_to_the_agent(remote):
    with pytest.raises(FhirError, match="Unknown search parameter 'foo'") as caught:
        remote.search("Observation", [("foo", "1")])
    assert caught.value.status == 400
    with pytest.raises(FhirError) as caught:
        remote.read("Observation", "999999")
    assert (caught.value.status, caught.value.code) == (404, "not-found")
    with pytest.raises(FhirError) as caught:
        remote.create({"resourceType": "Observation"})
    assert caught.value.status == 422


def test_an_interface_over_a_remote_store_serves_its_bundles(remote, store):
    mine = FhirApi(store, BASE).handle("GET", f"{BASE}/Observation?code=K")
    assert FhirApi(remote, BASE).handle("GET", f"{BASE}/Observation?code=K").text != ""
    found = json.loads(FhirApi(remote, BASE).handle("GET", f"{BASE}/Observation?code=K").text)
    assert found == json.loads(mine.text)


def test_reads_are_tried_again_after_growing_waits():
    script = Script(
        httpx.Response(500), httpx.ConnectTimeout("slow"), httpx.ConnectError("x"), good()
    )
    assert script.store().search("Patient", []).total == 0
    assert script.waits == [0.25, 0.5, 1.0]


def test_reads_give_up_with_an_endpoint_error():
    for answer in (httpx.Response(503), httpx.ReadTimeout("slow"), httpx.ConnectError("refused")):
        script = Script(answer)
        with pytest.raises(EndpointError, match="Tried 3 times"):
            script.store(retries=2).read("Patient", "1")
        assert len(script.requests) == 3


@pytest.mark.parametrize(
    "answer",
    [httpx.Response(500), httpx.ReadTimeout("slow"), httpx.ConnectError("refused")],
    ids=["status-500", "read-timeout", "refused"],
)
@pytest.mark.parametrize("verb", ["create", "update"])
def test_writes_are_sent_once(answer, verb, order):
    script = Script(answer)
    remote = script.store()
    before = remote.digest()
    with pytest.raises(EndpointError):
        getattr(remote, verb)({**order, "id": "x1"})
    assert len(script.requests) == 1
    assert remote.digest() == before


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<html>login</html>"),
        httpx.Response(200, json=[1, 2]),
        httpx.Response(200, json={"ok": True}),
        httpx.Response(200, json={"resourceType": "Patient"}),
        httpx.Response(200, json={**EMPTY, "entry": [{"fullUrl": "x"}]}),
        httpx.Response(200, json={**EMPTY, "entry": {"a": 1}}),
        httpx.Response(302, headers={"Location": "http://elsewhere.example/"}),
        httpx.Response(401, json=OUTCOME),
        httpx.Response(403, html="no"),
        httpx.Response(404, html="nginx"),
    ],
    ids=[
        "html",
        "list",
        "no-type",
        "patient",
        "entry-without-resource",
        "entry-a-dict",
        "redirect",
        "unauthorized",
        "forbidden-html",
        "not-found-html",
    ],
)
def test_answers_that_are_no_fhir_are_the_endpoints_fault_and_not_retried(answer):
    script = Script(answer)
    with pytest.raises(EndpointError):
        script.store().search("Patient", [])
    assert len(script.requests) == 1


def test_a_refusal_with_an_outcome_is_a_fhir_error():
    with pytest.raises(FhirError, match="no such parameter") as caught:
        Script(httpx.Response(400, json=OUTCOME)).store().search("Patient", [("x", "1")])
    assert (caught.value.status, caught.value.code) == (400, "invalid")


def test_too_many_requests_are_waited_out():
    script = Script(httpx.Response(429), good())
    assert script.store().search("Patient", []).total == 0
    assert script.waits == [0.25]


@pytest.mark.parametrize(
    "link",
    [
        "http://evil.example/fhir?_getpages=1",
        "https://fhir.example/fhir?_getpages=1",
        "http://fhir.example:8080/fhir?_getpages=1",
        "http://user@fhir.example/fhir?_getpages=1",
        "http://fhir.example/admin",
        "file:///etc/passwd",
        "http://[",
    ],
)
def test_page_links_lead_nowhere_else(link):
    script = Script(good({**EMPTY, "link": [{"relation": "next", "url": link}]}))
    with pytest.raises(EndpointError, match="another origin"):
        script.store().search("Patient", [])
    with pytest.raises(FhirError):
        script.store().next_page(link)
    assert len(script.requests) == 1


def test_ids_and_types_cannot_leave_their_place(order):
    script = Script(good())
    remote = script.store()
    for kind, key in (("Patient", "../../admin"), ("Patient", ""), ("../admin", "1")):
        with pytest.raises(FhirError):
            remote.read(kind, key)
    with pytest.raises(FhirError):
        remote.search("Patient?x", [])
    with pytest.raises(FhirError):
        remote.update({**order, "id": "a/b"})
    with pytest.raises(FhirError):
        remote.create({**order, "note": float("nan")})
    assert script.requests == []


def test_a_server_that_returns_no_body_is_asked_for_the_resource(order):
    location = f"{BASE}/ServiceRequest/77/_history/1"
    stored = {**order, "id": "77"}
    script = Script(httpx.Response(201, headers={"Location": location}), good(stored))
    assert script.store().create(order) == stored
    assert script.requests[1].url == f"{BASE}/ServiceRequest/77"


def test_nobody_listening_is_an_endpoint_error(store):
    server = serve(store)
    server.close()
    remote = RemoteStore(server.url, retries=0)
    with pytest.raises(EndpointError, match="Is the FHIR server running"):
        remote.read("Patient", "1")
    remote.close()


@pytest.mark.parametrize("url", ["", "ftp://x/fhir", "localhost:8080", "http://", "http://a:b"])
def test_the_address_must_be_one(url):
    with pytest.raises(ConfigurationError):
        RemoteStore(url)
