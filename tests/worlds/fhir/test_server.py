"""The embedded server with a FHIR client that nobody here wrote."""

import asyncio
import http.client
import socket

import pytest

from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.server import serve

fhirpy = pytest.importorskip("fhirpy")


@pytest.fixture
def server(store):
    with serve(store) as running:
        yield running


@pytest.fixture
def client(server):
    return fhirpy.SyncFHIRClient(server.url)


def test_a_client_searches_sorts_and_counts(client):
    search = client.resources("Observation").search(patient="S1000001", code="MG")
    assert search.search(_summary="count").fetch_raw()["total"] == 3
    newest = search.sort("-date").limit(1).first()
    assert newest["valueQuantity"]["value"] == 2.5
    assert newest.get_by_path("code.coding.0.code") == "MG"


def test_a_client_pages_through_everything(client, store):
    found = client.resources("Observation").limit(2).fetch_all()
    expected = store.search("Observation", [("_count", "1000")]).resources
    assert [resource["id"] for resource in found] == [r["id"] for r in expected]
    assert len(found) > 4


def test_a_client_reads_creates_and_updates(client, order, store):
    patient = client.reference("Patient", "S1000001").to_resource()
    assert patient["birthDate"] == "1950-11-13"
    made = client.resource("ServiceRequest", **order)
    made.save()
    assert made["id"] == store.written[0].id
    made["status"] = "revoked"
    made.save()
    assert store.read("ServiceRequest", made["id"])["status"] == "revoked"
    active = client.resources("ServiceRequest").search(patient="S1000001", status="revoked")
    assert [r["id"] for r in active.fetch()] == [made["id"]]


def test_a_client_is_told_what_is_wrong(client):
    with pytest.raises(fhirpy.base.exceptions.ResourceNotFound):
        client.reference("Patient", "S9").to_resource()
    with pytest.raises(fhirpy.base.exceptions.OperationOutcome, match="Unknown search parameter"):
        client.resources("Patient").search(legal_sex="F").fetch()


def test_an_asynchronous_client_works_too(server):
    async def names():
        client = fhirpy.AsyncFHIRClient(server.url)
        patients = await client.resources("Patient").sort("family").fetch_all()
        return [patient["name"][0]["family"] for patient in patients]

    assert asyncio.run(names()) == ["Ordóñez", "Reid"]


def test_only_loopback_addresses_are_served(store):
    for host in ("0.0.0.0", "192.0.2.1", "example.org", ""):
        with pytest.raises(ConfigurationError, match="allow_remote"):
            serve(store, host)


def test_the_port_is_free_after_closing(store):
    server = serve(store)
    port = int(server.url.rpartition(":")[2].partition("/")[0])
    server.close()
    server.close()
    with pytest.raises(OSError, match=r"."):
        socket.create_connection(("127.0.0.1", port), timeout=60)


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("POST", {"Content-Length": "999999999999999999"}, 413),
        ("POST", {"Content-Length": "-5"}, 400),
        ("POST", {"Transfer-Encoding": "chunked"}, 411),
        ("DELETE", {}, 405),
    ],
)
def test_rude_requests_are_answered(server, method, headers, status):
    host, _, port = server.url.removeprefix("http://").partition("/")[0].partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=60)
    connection.putrequest(method, "/fhir/Patient")
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    assert response.status == status
    assert b"OperationOutcome" in response.read()
    connection.close()
