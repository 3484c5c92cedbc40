"""The served store against rude clients: other sites' pages, slow ones, large ones, many."""

import re
import socket
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from healthgym.cli import delegates, main
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir import FhirStore
from healthgym.worlds.fhir.connections import ConnectionLimits
from healthgym.worlds.fhir.server import FhirServer, serve

#: Deadlines that a test can wait for.
QUICK = ConnectionLimits(
    connections=8, head=4 << 10, body=1 << 16, idle=0.4, head_seconds=0.4, body_seconds=0.4,
    patience=0.1,
)  # fmt: skip


@pytest.fixture
def server(store: FhirStore) -> Iterator[FhirServer]:
    with serve(store) as running:
        yield running


@pytest.fixture
def quick(store: FhirStore) -> Iterator[FhirServer]:
    with serve(store, limits=QUICK) as running:
        yield running


def port_of(server: FhirServer) -> int:
    return int(server.url.rpartition(":")[2].partition("/")[0])


def told(server: FhirServer, data: bytes) -> bytes:
    """What the server answers to bytes, until it closes or 20 seconds have passed."""
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=20) as link:
        link.sendall(data)
        parts = []
        while part := link.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def status(server: FhirServer, head: str, body: bytes = b"") -> int:
    text = head.replace("\n", "\r\n") + "\r\nConnection: close\r\n\r\n"
    return int(told(server, text.encode() + body).split()[1])


# -- who asks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ("Host: 127.0.0.1:{port}", 200),
        ("Host: localhost:{port}", 200),
        ("Host: LOCALHOST", 200),
        ("Host: [::1]:{port}", 200),
        ("Host: rebound.example:{port}", 421),
        ("Host: 127.0.0.1.rebound.example", 421),
        ("Host: 127.0.0.1@rebound.example", 421),
        ("Host: 192.0.2.1:{port}", 421),
        ("Host: localhost:99999999", 421),
        ("Host: ", 421),
        ("X-None: 1", 400),
        ("Host: localhost\nHost: rebound.example", 400),
        ("Host: localhost:{port}\nOrigin: http://localhost:{port}", 200),
        ("Host: localhost:{port}\nOrigin: https://rebound.example", 403),
        ("Host: localhost:{port}\nOrigin: http://localhost:1", 403),
        ("Host: localhost:{port}\nOrigin: null", 403),
        ("Host: localhost:{port}\nSec-Fetch-Site: cross-site", 403),
        ("Host: localhost:{port}\nSec-Fetch-Site: Cross-Site", 403),
        ("Host: localhost:{port}\nSec-Fetch-Site: same-site", 403),
        ("Host: localhost:{port}\nSec-Fetch-Site: none", 200),
    ],
)
def test_only_own_names_and_own_pages_are_let_in(
    server: FhirServer, headers: str, expected: int
) -> None:
    head = headers.format(port=port_of(server))
    assert status(server, f"GET /fhir/Patient/S1000001 HTTP/1.1\n{head}") == expected
    if expected != 200:
        before = len(server.api.store.history("Patient", "S1000001"))
        body = b'{"resourceType": "Patient", "id": "S1000001"}'
        put = f"PUT /fhir/Patient/S1000001 HTTP/1.1\nContent-Length: {len(body)}\n{head}"
        assert status(server, put, body) == expected
        assert len(server.api.store.history("Patient", "S1000001")) == before


def test_further_names_are_those_that_were_given(store: FhirStore) -> None:
    with serve(store, names=["records"]) as server:
        assert status(server, "GET /fhir/Patient HTTP/1.1\nHost: records:80") == 200
        assert status(server, "GET /fhir/Patient HTTP/1.1\nHost: others") == 421
    with serve(store, "0.0.0.0", allow_remote=True) as remote:
        assert status(remote, "GET /fhir/Patient HTTP/1.1\nHost: 192.0.2.1") == 200
        assert status(remote, "GET /fhir/Patient HTTP/1.1\nHost: rebound.example") == 421


def test_with_a_token_nobody_is_served_without_it(store: FhirStore) -> None:
    with serve(store, token="s3cret") as server:
        for given, expected in (("", 401), ("s3cret", 401), ("Bearer s3cre", 401),
                                ("Basic s3cret", 401), ("Bearer s3cret", 200),
                                ("bearer  s3cret", 200)):  # fmt: skip
            answer = httpx.get(f"{server.url}/Patient", headers={"Authorization": given})
            assert answer.status_code == expected
            assert ("WWW-Authenticate" in answer.headers) is (expected == 401)
            assert "s3cret" not in answer.text
    with pytest.raises(ConfigurationError):
        serve(store, token="two words")


# -- slow, large and many -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET /fhir/Patient HTTP/1.1\r\nHost: loc",
        b"PUT /fhir/Patient/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    ],
)
def test_who_says_half_a_request_is_let_go(quick: FhirServer, said: bytes) -> None:
    begun = time.monotonic()
    told(quick, said)
    assert time.monotonic() - begun < 15


@pytest.mark.parametrize("head", ["GET /fhir HTTP/1.1\r\n", "PUT /fhir/Patient/a HTTP/1.1\r\n"])
def test_who_drips_is_let_go_however_steadily(quick: FhirServer, head: str) -> None:
    start = head + ("Host: localhost\r\nContent-Length: 999\r\n\r\n" if "PUT" in head else "X: ")
    with socket.create_connection(("127.0.0.1", port_of(quick)), timeout=20) as link:
        link.sendall(start.encode())
        with suppress(ConnectionError):
            for _ in range(200):
                link.sendall(b"a")
                time.sleep(0.05)
            pytest.fail("The server took all of it.")


def test_slow_connections_keep_nobody_out(quick: FhirServer) -> None:
    held = [socket.create_connection(("127.0.0.1", port_of(quick)), timeout=20) for _ in range(60)]
    try:
        for link in held:
            link.sendall(b"GET /fhir/Pat")
        assert httpx.get(f"{quick.url}/Patient/S1000001", timeout=20).status_code == 200
    finally:
        for link in held:
            link.close()


def test_a_rush_is_served_to_the_last(store: FhirStore) -> None:
    with serve(store, limits=ConnectionLimits(connections=4)) as server:
        links = [socket.create_connection(("127.0.0.1", port_of(server)), 20) for _ in range(40)]
        for link in links:
            link.sendall(
                b"GET /fhir/Patient/S1000001 HTTP/1.1\r\nHost: localhost\r\n"
                b"Connection: close\r\n\r\n"
            )
        assert [link.recv(1 << 16)[9:12] for link in links] == [b"200"] * 40
        for link in links:
            link.close()


@pytest.mark.parametrize(
    ("request_text", "expected"),
    [
        ("GET /fhir/Patient HTTP/1.1\nHost: localhost\nX: " + "a" * 5000, 431),
        ("GET /fhir/Patient HTTP/1.1\nHost: localhost\n" + "X: a\n" * 90 + "Y: b", 200),
        ("PUT /fhir/Patient/a HTTP/1.1\nHost: localhost\nContent-Length: 70000", 413),
        ("PUT /fhir/Patient/a HTTP/1.1\nHost: localhost\nContent-Length: 1\nContent-Length: 2",
         400),
        ("BREW /fhir/Patient HTTP/1.1\nHost: localhost", 501),
        ("GET /fhir/Patient HTTP/9.9\nHost: localhost", 505),
        ("nonsense", 400),
    ],
)  # fmt: skip
def test_what_is_too_large_or_no_request_is_refused(
    quick: FhirServer, request_text: str, expected: int
) -> None:
    head = request_text.replace("\n", "\r\n") + "\r\nConnection: close\r\n\r\n"
    answer = told(quick, head.encode())
    assert int(answer.split()[1]) == expected
    assert (b"OperationOutcome" in answer) is (expected != 200)


def test_a_bug_of_ours_is_a_500_and_shows_nothing(
    server: FhirServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object) -> None:
        raise KeyError("inside")

    monkeypatch.setattr(server.api, "handle", fail)
    answer = httpx.get(f"{server.url}/Patient")
    assert (answer.status_code, "inside" in answer.text) == (500, False)
    assert "inside" in capfd.readouterr().err


def test_a_closed_server_holds_nobody(store: FhirStore) -> None:
    server = serve(store)
    with socket.create_connection(("127.0.0.1", port_of(server)), timeout=20) as link:
        httpx.get(f"{server.url}/Patient")
        server.close()
        assert link.recv(1) == b""


# -- the command ----------------------------------------------------------------------------------


def test_what_the_user_got_wrong_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def complaint(*arguments: str) -> str:
        assert main(["serve", "fhir", "--synthetic", "1", *arguments]) == 2
        return capsys.readouterr().err

    (tmp_path / "empty").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        text = complaint("--port", port)
    assert re.search(rf"healthgym: 127.0.0.1:{port} cannot be listened on: .*in use", text)
    assert "--port takes 0 to 65535" in complaint("--port", "99999")
    assert "--token-file" in complaint("--token-file", str(tmp_path / "empty"))


def test_who_opens_the_store_to_others_is_warned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped:
        def wait(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(delegates, "threading", SimpleNamespace(Event=Stopped))
    monkeypatch.setattr("healthgym.worlds.fhir.server.serve", lambda *a, **k: nullcontext(Served()))
    line = ["serve", "fhir", "--synthetic", "1", "--port", "0"]
    assert main(line) == 0
    assert "Warning" not in capsys.readouterr().err
    assert main([*line, "--host", "0.0.0.0", "--allow-remote"]) == 0
    assert "Warning: whoever can reach this address" in capsys.readouterr().err


class Served:
    """A server that is none."""

    url = "http://0.0.0.0:1/fhir"


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_that_is_not_ours_is_one_sentence(store: FhirStore, host: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot be listened on"):
        serve(store, host, allow_remote=True)
    for port in (-1, 1 << 16):
        with pytest.raises(ConfigurationError, match="cannot be listened on"):
            serve(store, port=port)
