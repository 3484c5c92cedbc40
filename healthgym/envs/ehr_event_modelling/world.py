"""The workbench of a modeller: a workspace, feature sets, models and a draft of predictions."""

from __future__ import annotations

from healthgym.core.clock import Clock
from healthgym.core.state import state, table
from healthgym.envs.ehr_event_modelling.features import FeatureSet
from healthgym.envs.ehr_event_modelling.models import Model
from healthgym.envs.ehr_event_modelling.task import Predictions, StudyStart
from healthgym.errors import ToolError
from healthgym.worlds.workspace import WorkspaceWorld

#: Feature sets and models that may be kept at a time, and cells of all feature sets together.
MOST_KEPT = 24
MOST_CELLS = 60_000_000


class ModellingWorld(WorkspaceWorld):
    """A workspace with the work done in it. All that is kept is immutable, so clones share it.

    Args:
        start: Study and workspace.
    """

    features = table[str, FeatureSet]()
    models = table[str, Model]()
    predictions = state[Predictions | None](None)

    def __init__(self, start: StudyStart) -> None:
        super().__init__(start.workspace, Clock(start.now))
        self.study = start.study

    def keep_features(self, name: str, made: FeatureSet) -> None:
        """Keep a feature set, in place of an earlier one of that name.

        Raises:
            ToolError: If that is what the name holds, or there is no room.
        """
        old = self.features.get(name)
        if old is not None and old.content_hash() == made.content_hash():
            raise ToolError(f"{name} holds exactly that already.")
        others = [item for key, item in self.features.items() if key != name]
        cells = sum(item.train.size + item.validation.size + item.test.size for item in others)
        cells += made.train.size + made.validation.size + made.test.size
        if len(others) >= MOST_KEPT or cells > MOST_CELLS:
            raise ToolError(
                f"At most {MOST_KEPT} feature sets and {MOST_CELLS} numbers are kept; use a name "
                "again to replace one."
            )
        self.features[name] = made

    def keep_model(self, name: str, model: Model) -> None:
        """Keep a model, in place of an earlier one of that name.

        Raises:
            ToolError: If that is what the name holds, or there are too many.
        """
        old = self.models.get(name)
        if old is not None and old.content_hash() == model.content_hash():
            raise ToolError(f"{name} is exactly that model already.")
        if old is None and len(self.models) >= MOST_KEPT:
            raise ToolError(f"At most {MOST_KEPT} models are kept; use a name again.")
        self.models[name] = model

    def draft(self, predictions: Predictions) -> None:
        """Make these the predictions that will be handed in.

        Raises:
            ToolError: If they are so already.
        """
        old = self.predictions
        if old is not None and old.content_hash() == predictions.content_hash():
            raise ToolError("The draft holds exactly these predictions already.")
        self.predictions = predictions
