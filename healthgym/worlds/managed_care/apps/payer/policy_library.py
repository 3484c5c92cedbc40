"""The payer's policies, as its staff look them up."""

from __future__ import annotations

from healthgym.worlds.managed_care.apps.app import App


class PolicyLibrary(App):
    """The policy library."""

    name = "payer_policy_library"
