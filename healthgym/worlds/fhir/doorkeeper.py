"""Who may talk to a served store: what the headers of a request must say.

A page that is open in a browser on this machine can send requests to its ports. It cannot help
sending its own origin with them, and if it had its own name resolve to this machine, then the name
as the host. So both are looked at, whether or not there is a token.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from healthgym.worlds.fhir.errors import FhirError


@dataclass(frozen=True)
class Doorkeeper:
    """Says which requests are let in.

    Attributes:
        names: Names of the server, in small letters, without a port.
        remote: Whether the server can be reached from other machines, which may know it by any
            of its addresses.
        token: What a request must bring as ``Authorization: Bearer``; anything will do if empty.
    """

    names: frozenset[str]
    remote: bool = False
    token: str = ""

    def refusal(self, headers: Sequence[tuple[str, str]]) -> FhirError | None:
        """Return why a request is not let in; None if it is.

        Args:
            headers: Names and values, repeated names included.
        """
        held: dict[str, list[str]] = {}
        for name, value in headers:
            held.setdefault(name.lower(), []).append(value.strip())
        hosts = held.get("host", [])
        if len(hosts) != 1:
            return FhirError(400, "security", "A request has one Host header.")
        if not self._is_own(f"//{hosts[0]}"):
            return FhirError(
                421, "security", f"This server is not known as {hosts[0][:100]!r}; use its address."
            )
        for origin in held.get("origin", []):
            # The same name at another port is another program.
            if not self._is_own(origin) or urlsplit(origin).netloc != hosts[0]:
                return FhirError(
                    403, "security", f"Pages of {origin[:100]!r} may not use this server."
                )
        # Another port of this machine is the same site, and another program.
        if any(
            site.lower() not in ("same-origin", "none") for site in held.get("sec-fetch-site", [])
        ):
            return FhirError(403, "security", "Pages of other sites may not use this server.")
        return self._without_token(held.get("authorization", []))

    def _without_token(self, given: Sequence[str]) -> FhirError | None:
        if not self.token:
            return None
        scheme, _, token = (given[0] if len(given) == 1 else "").partition(" ")
        sent, expected = token.strip().encode("utf-8", "replace"), self.token.encode()
        if scheme.lower() == "bearer" and hmac.compare_digest(sent, expected):
            return None
        return FhirError(401, "login", "Send the server's token as 'Authorization: Bearer TOKEN'.")

    def _is_own(self, address: str) -> bool:
        """Return whether an address names this server."""
        try:
            parts = urlsplit(address)
            host, _ = (parts.hostname or "").rstrip("."), parts.port
        except ValueError:
            return False
        if "@" in parts.netloc or parts.path or parts.query or parts.fragment:
            return False
        return host in self.names or is_loopback(host) or (self.remote and _is_address(host))


def is_loopback(host: str) -> bool:
    """Return whether a name or address is one that only this machine can reach."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
