"""Small families for the engine's own tests.

A ledger (one role), a market (two roles), and a desk (three cases, an agenda, and tools that fail).
"""

from tests.core.toys.desk import LETTERS, Desk, DeskVerifier, DeskWorld, at
from tests.core.toys.ledger import (
    LEDGER_ID,
    NAMES,
    START,
    ArchiveTools,
    Ledger,
    LedgerGenerator,
    LedgerInstance,
    LedgerReference,
    LedgerTools,
    LedgerVerifier,
    LedgerWorld,
    make_ledger,
)
from tests.core.toys.market import BuyerTools, Market, MarketWorld, SellerTools

__all__ = [
    "LEDGER_ID",
    "LETTERS",
    "NAMES",
    "START",
    "ArchiveTools",
    "BuyerTools",
    "Desk",
    "DeskVerifier",
    "DeskWorld",
    "Ledger",
    "LedgerGenerator",
    "LedgerInstance",
    "LedgerReference",
    "LedgerTools",
    "LedgerVerifier",
    "LedgerWorld",
    "Market",
    "MarketWorld",
    "SellerTools",
    "at",
    "make_ledger",
]
