"""Keeps an adaptive mixture's state in the trainer's own checkpoints."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback
from transformers.trainer_callback import ExportableState

from healthgym.core.borders import JsonDict
from healthgym.errors import ConfigurationError
from healthgym.integrations.trl.mixture import Mixture


class _MixtureKeeper(TrainerCallback, ExportableState):  # type: ignore[misc,unused-ignore]
    """A callback that writes a mixture's state into ``trainer_state.json``, and reads it back.

    It is written with the step that it belongs to, in one file, so that no crash parts the two.

    Args:
        mixture: The mixture.
    """

    def __init__(self, mixture: Mixture) -> None:
        self._mixture = mixture

    def state(self) -> JsonDict:
        """Return what the trainer writes."""
        return {"args": {}, "attributes": {"mixture": self._mixture.state()}}

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Go on from a checkpoint, if the trainer does.

        Raises:
            ConfigurationError: If several processes train: each would note its own groups only, or
                the checkpoint is of another mixture.
        """
        if self._mixture.adaptive is not None and args.world_size > 1:
            raise ConfigurationError("An adaptive mixture trains in a single process.")
        if state.global_step == 0:
            return
        kept = state.stateful_callbacks.get(type(self).__name__)
        if kept is None:
            raise ConfigurationError("The checkpoint was written without an adaptive mixture.")
        self._mixture.restore(kept["attributes"]["mixture"])


def keeper(mixture: Mixture) -> TrainerCallback:
    """Return a trainer's callback that keeps a mixture's state in its checkpoints.

    Args:
        mixture: The mixture, which goes on from the checkpoint's state when training does.
    """
    return _MixtureKeeper(mixture)
