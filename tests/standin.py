"""A local stand-in for an OpenAI-compatible endpoint, on a real socket, faults included."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """What the stand-in answers to one request; a delay is cut short when the test ends.

    With ``cut``, the connection breaks off after so many bytes of the body; with ``drip``, so many
    seconds pass before each byte of it.
    """

    body: str | bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    cut: int | None = None
    drip: float = 0.0


def completion(
    text: str | None = None,
    calls: Sequence[tuple[Any, Any]] = (),
    *,
    usage: tuple[int, int] | None = (100, 10),
    ids: bool = True,
) -> Reply:
    """A chat completion; calls are (name, arguments as JSON text)."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {
                **({"id": f"c{n}"} if ids else {}),
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for n, (name, arguments) in enumerate(calls)
        ]
    body: dict[str, Any] = {"choices": [{"message": message, "finish_reason": "stop"}]}
    if usage:
        body["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return Reply(json.dumps(body))


#: A reply that depends on what was asked: on the body of the request.
Answering = Callable[[dict[str, Any]], Reply]


@dataclass
class StandIn:
    """The running stand-in.

    Attributes:
        base_url: Its address.
        replies: What it will answer, in order; the last one is repeated.
        requests: Bodies received.
        headers: Headers received.
    """

    base_url: str
    replies: list[Reply | Answering]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def stand_in(*replies: Reply | Answering) -> Iterator[StandIn]:
    """Run a stand-in on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                server.requests.append({"path": self.path, **json.loads(raw)})
                server.headers.append({k.lower(): v for k, v in self.headers.items()})
                chosen = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
            reply = chosen if isinstance(chosen, Reply) else chosen(json.loads(raw))
            if reply.delay and server.over.wait(reply.delay):
                return
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            if reply.drip:
                with suppress(OSError):
                    for place in range(len(body)):
                        if server.over.wait(reply.drip):
                            return
                        self.wfile.write(body[place : place + 1])
                        self.wfile.flush()
                return
            self.wfile.write(body[: reply.cut])
            if reply.cut is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Keep quiet."""

    lock = threading.Lock()
    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = StandIn(f"http://127.0.0.1:{http.server_address[1]}/v1", list(replies))
    thread = threading.Thread(target=http.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        http.shutdown()
        http.server_close()
        thread.join()
