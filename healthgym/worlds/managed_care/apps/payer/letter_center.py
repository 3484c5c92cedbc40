"""Letters, and notices to members."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.decision import Letter, PayerLetterRequest


class LetterCenter(App):
    """Letters.

    Attributes:
        letters: Letters, by id.
        requests: Letters that were asked for, by id.
    """

    name = "payer_letter_center"
    letters = table[str, Letter]()
    requests = table[str, PayerLetterRequest]()
