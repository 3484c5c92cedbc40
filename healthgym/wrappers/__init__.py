"""Gymnasium wrappers: record, limit, add pictures, act by number, follow a curriculum."""

from healthgym.wrappers.budget import TokenBudget
from healthgym.wrappers.curriculum import Curriculum, Stage
from healthgym.wrappers.images import ImageObservation
from healthgym.wrappers.menu import ActionMenu
from healthgym.wrappers.recording import RecordTrajectories

__all__ = [
    "ActionMenu",
    "Curriculum",
    "ImageObservation",
    "RecordTrajectories",
    "Stage",
    "TokenBudget",
]
