"""Seats that are filled by a frozen checkpoint, such as a past self."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from healthgym.core.borders import JsonDict
from healthgym.core.players import Player
from healthgym.errors import ConfigurationError, MissingDependencyError
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.models import open_checkpoint
from healthgym.integrations.trl.policy import ModelPolicy
from healthgym.integrations.trl.rollout import Sampling
from healthgym.policies.seats import PolicyPlayer


@dataclass(frozen=True)
class CheckpointSeat:
    """A language model of a folder, in a seat. It is loaded when somebody first plays against it.

    Attributes:
        checkpoint: The folder, as transformers saves one, or a name on Hugging Face.
        temperature: 0 takes the likeliest token, so that it always plays the same.
        max_new_tokens: Longest reply.
        max_length: Longest episode in tokens after the first message; beyond it the model says
            nothing any more.
        system: A system message; none if empty.
    """

    checkpoint: str
    temperature: float = 0.0
    max_new_tokens: int = 96
    max_length: int = 2048
    system: str = ""

    @cached_property
    def _loaded(self) -> tuple[AnyModel, AnyTokenizer]:
        try:
            model, tokenizer = open_checkpoint(self.checkpoint)
        except ImportError:
            raise MissingDependencyError(
                'A checkpoint in a seat needs transformers: pip install "healthgym[trl]".'
            ) from None
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"There is no model in {self.checkpoint!r} to fill a seat: {error}"[:500]
            ) from error
        model.eval()
        return model, tokenizer

    def sit(self, role: str, instruction: str, tools: Sequence[JsonDict]) -> Player:
        """Return a player of one episode.

        Raises:
            ConfigurationError: If there is no model in the folder.
            MissingDependencyError: If transformers is not installed.
        """
        model, tokenizer = self._loaded
        sampling = Sampling(
            temperature=self.temperature,
            max_new_tokens=self.max_new_tokens,
            max_length=self.max_length,
        )
        policy = ModelPolicy(model, tokenizer, sampling, system=self.system)
        return PolicyPlayer(policy, instruction, tools)
