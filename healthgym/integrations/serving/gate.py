"""The gate before a served face: ASGI middleware that looks at who calls and how often."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass

from healthgym.core.borders import Json
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.doorkeeper import Doorkeeper

Message = MutableMapping[str, Json]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: Callers whose requests are counted at a time; whoever was silent longest is forgotten first.
_MOST_CALLERS = 10_000
#: Codes of WebSocket (RFC 6455, 7.4.1): against the rules.
_POLICY = 1008


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server carries.

    Attributes:
        sessions: Most sessions at a time.
        message: Largest request or message, in bytes.
        rate: Requests of one address, or messages of one session, per second in the long run.
            HTTP requests beyond it are refused (429), messages of a session wait.
        burst: How many may come at once.
        idle: Seconds after which a session that was not used is closed.

    Raises:
        ConfigurationError: If one of them is not positive.
    """

    sessions: int = 2048
    message: int = 1 << 20
    rate: float = 200.0
    burst: int = 400
    idle: float = 1800.0

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not getattr(self, name) > 0:
                raise ConfigurationError(f"{name} is positive, not {getattr(self, name)}.")


class Bucket:
    """A bucket of tokens that fills up by itself (token bucket, RFC 2698's meter of one colour).

    Args:
        rate: Tokens per second.
        burst: What it holds.
    """

    __slots__ = ("_at", "_burst", "_rate", "_tokens")

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate, float(burst)
        self._tokens, self._at = float(burst), time.monotonic()

    def take(self) -> float:
        """Take a token, and return the seconds to wait for it; 0 if there was one."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate) - 1
        self._at = now
        return max(0.0, -self._tokens / self._rate)

    def give_back(self) -> None:
        """Put a token back that was not used."""
        self._tokens += 1


class Gate:
    """Lets requests through to an application, or answers them itself.

    Args:
        app: The application.
        doorkeeper: Whose requests are let in, by Host, Origin and token.
        limits: Size and rate.
    """

    def __init__(self, app: App, doorkeeper: Doorkeeper, limits: Limits) -> None:
        self._app = app
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._callers: OrderedDict[str, Bucket] = OrderedDict()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request, connection or lifespan."""
        kind = scope["type"]
        if kind not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in
                   scope["headers"]]  # fmt: skip
        refusal = self._doorkeeper.refusal(headers)
        if refusal is not None:
            await _refuse(scope, send, refusal.status, str(refusal))
        elif kind == "websocket":
            await self._app(scope, self._paced(receive), send)
        else:
            await self._request(scope, dict(headers), receive, send)

    async def _request(
        self, scope: Message, headers: dict[str, str], receive: Receive, send: Send
    ) -> None:
        caller = self._caller(scope)
        if caller.take():
            caller.give_back()
            await _refuse(scope, send, 429, "Too many requests; try again in a second.")
            return
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers:
            await _refuse(scope, send, 411, "Send a Content-Length.")
        elif not length.isdecimal() or int(length) > self._limits.message:
            await _refuse(scope, send, 413, f"At most {self._limits.message} bytes are accepted.")
        else:
            await self._app(scope, receive, send)

    def _caller(self, scope: Message) -> Bucket:
        address = (scope.get("client") or ("",))[0]
        bucket = self._callers.get(address)
        if bucket is None:
            bucket = self._callers[address] = Bucket(self._limits.rate, self._limits.burst)
            if len(self._callers) > _MOST_CALLERS:
                self._callers.popitem(last=False)
        self._callers.move_to_end(address)
        return bucket

    def _paced(self, receive: Receive) -> Receive:
        bucket = Bucket(self._limits.rate, self._limits.burst)

        async def paced() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and (wait := bucket.take()):
                await asyncio.sleep(wait)
            return message

        return paced


async def _refuse(scope: Message, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        # Before the handshake is accepted, this is answered with 403.
        await send({"type": "websocket.close", "code": _POLICY, "reason": why[:100]})
        return
    body = json.dumps({"error": why}).encode("ascii")
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
