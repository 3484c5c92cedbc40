"""What somebody outside an episode said in it: asked for once, kept, and played from a record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Saying:
    """An answer from outside, word for word.

    Attributes:
        speaker: For whom it was asked, such as a person of the world, or a question of a judge.
        text: The answer as it came, before anybody looked whether it may be used.
    """

    speaker: str
    text: str
