"""Cards: what was measured of an environment, on one page.

:func:`measure` plays the scripted policies and times them, :func:`train` sees whether reward moves
a small model, and :func:`markdown` words a card. ``healthgym card ID`` is the command.
"""

from healthgym.testing.cards.measuring import Effort, measure
from healthgym.testing.cards.schema import Card, Training
from healthgym.testing.cards.training import train
from healthgym.testing.cards.wording import markdown

__all__ = ["Card", "Effort", "Training", "markdown", "measure", "train"]
