"""Calls between the ordering clinician and a physician of the payer."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.peer import P2PSessionRecord, PayerPeerToPeerRequest


class PeerToPeer(App):
    """Peer-to-peer calls.

    Attributes:
        requests: Requests, by id.
        sessions: Calls, by id.
    """

    name = "payer_p2p"
    requests = table[str, PayerPeerToPeerRequest]()
    sessions = table[str, P2PSessionRecord]()
