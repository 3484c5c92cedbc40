"""The inbox, and the directory of people."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.case import Message


class InboxAndDirectory(App):
    """Inbox and directory.

    Attributes:
        messages: Messages, by id.
    """

    name = "inbox"
    messages = table[str, Message]()
