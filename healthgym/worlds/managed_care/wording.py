"""Where the words of simulated people are found: what is to be said, and who may say it otherwise.

What is said, disclosed and agreed is decided before anybody is asked for words.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from healthgym.core.world import World


class Voice(StrEnum):
    """Whose words are asked for."""

    PATIENT = "patient"
    PEER = "peer"  #: the other physician on a peer-to-peer call


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Something that is about to be said.

    Attributes:
        voice: Who says it.
        text: All of it, in words of ours.
        message: What it answers.
        manner: How whoever says it speaks, in a few words.
        acts: What they took the message for, such as ``ask_topic``.
        before: What was said earlier in the talk: who, and in which words.
    """

    voice: Voice
    text: str
    message: str
    manner: str = ""
    acts: tuple[str, ...] = ()
    before: tuple[tuple[str, str], ...] = ()


class Wording(Protocol):
    """Something that says a draft in other words, such as a model behind an endpoint."""

    def worded(self, draft: Draft, world: World) -> str:
        """Return what is heard.

        Args:
            draft: What is to be said.
            world: Where what comes from outside is kept.

        Raises:
            InfrastructureError: If no words can be had.
        """
