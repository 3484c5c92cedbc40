"""The tumour-area environment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.core.task import TaskGenerator
from healthgym.envs.tumor_area.family import TumorAreaFamily
from healthgym.envs.tumor_area.generator import TumorAreaGenerator
from healthgym.envs.tumor_area.task import SlideConfig, slide_config
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve


class TumorAreaSelectionEnv(HealthEnv):
    """Find the metastases on a gigapixel slide of a lymph node, and select their tiles.

    ## Description

    The agent reads a whole slide image as a pathologist does: the whole section at low power to
    see where lymphoid tissue is replaced by something else, and high power to see what it is. A
    careful reader knows that germinal centres, sheets of histiocytes, scars and folds stand out at
    low power, too, and calls tumour only where nuclei are large, uneven and arranged in nests. It
    is hard because a slide has 10^10 pixels and a reader few looks, because foci may be several,
    and because the edge of a metastasis decides many tiles. The task is HealthAgentBench's
    tumour-area selection, which takes ten slides of CAMELYON16; here slides are drawn, at every
    magnification alike, and every number a tool gives is measured on the pixels.

    ## Observation Space

    ``UnicodeText``: first the task, then the result of each call, which begins with the simulated
    time. Pictures that come with a result are in ``info["images"]``; the text says what they show.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `slide_info` | read | Size, um/px, levels, grid, looks left |
    | `view_overview` | read | Picture of the slide with the grid |
    | `view_region` | read | Picture of a region at a level; takes a look |
    | `contact_sheet` | read | Picture of up to 12 tiles; takes a look |
    | `survey_tiles` | read | Tissue and stain of all tiles at low power |
    | `tile_statistics` | read | Stain and nuclei of up to 12 tiles at high power; takes a look |
    | `select_tiles` | write | Adds tiles to the selection |
    | `unselect_tiles` | write | Takes tiles out |
    | `select_rectangle` | write | Adds a rectangle of tiles |
    | `unselect_rectangle` | write | Takes a rectangle out |
    | `write_selection` | write | Replaces the selection by the published JSON form |
    | `show_selection` | read | The selection over the overview, and as text |
    | `submit` | submit | Hands the selection in and ends the episode |

    ## Starting State

    The seed draws the slide's size, pieces of lymph node with capsule, sinuses, follicles, medulla
    and fat, the stain, artefacts (folds, knife lines, ink, bubbles, blur), metastases of 20 to 165
    tiles in one focus or several, with the roughness, elongation and number of foci that outlines
    of CAMELYON16 have, and, from afar like them, sheets of histiocytes and scars. Each is drawn
    apart: size of the slide, place and amount of tumour do not tell of each other. ``medium`` has
    21 to 24 tiles a side and 24 looks; ``hard`` has tumour cells closer to large lymphoid ones,
    more mimics and artefacts, and 20 looks; ``easy`` has 4 to 7 tiles a side, 2 to 5 tumour tiles
    of blatant cells that leave no tile in doubt, no mimic, and 8 looks.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the verdict's progress, which is the F1 score of the tiles, 1 for success. It is
    paid at the end and is 0 until then: paid for each change of the selection, it would say which
    tiles are tumour. Doing nothing scores 0.

    Checks: *submitted*, the selection is handed in (doing nothing fails); *tile_f1*, the F1 score
    of the selected tiles is at least 0.90 (doing nothing fails). The ``strict`` profile adds
    *plain_selection*: a selection written as text has one row with tiles that are pairs of integers
    inside the grid, none twice (doing nothing passes, and adds nothing). ``paper`` reads such a
    text as the published evaluator does.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; an episode without a submission has failed.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind``, ``tools`` (OpenAI function form). ``step``:
    ``task_id``, ``turns_left``, ``time``, ``images`` if a picture was shown, ``error`` if a call
    was refused; at the end ``success`` and ``verdict`` with both profiles, whose metrics are
    precision, recall, F1, tumor_coverage and the number of selected tiles.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `difficulty` (str or SlideConfig, "medium"): ``"easy"``, ``"medium"`` or ``"hard"``.
    - `canonical` (bool, False): Whether the test split is ten slides with the published numbers
        of tumour tiles and extents.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder of slides in CAMELYON16's layout.
    - `looks` (int, None): Looks at high power; as the difficulty says.
    - `max_turns` (int, 80): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not submitting.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/TumorAreaSelection-v0`` (unlimited tasks) and
    ``HealthAgent/TumorAreaSelectionCanonical-v0`` (``canonical=True``: the test split has ten
    slides like the published ones).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/TumorAreaSelection-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("survey_tiles"))
    >>> observation.splitlines()[1].split(";")[1]
    ' x:tissue %/haematoxylin/eosin at downsample 128'
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v0: first version.
    """

    def __init__(
        self,
        *,
        split: str = "train",
        reward: str | RewardFunction = "sparse",
        profile: str = "strict",
        difficulty: str | SlideConfig = "medium",
        canonical: bool = False,
        source: str | Path = "synthetic",
        looks: int | None = None,
        max_turns: int = 80,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        config = EpisodeConfig(
            max_turns=arguments.turns(max_turns),
            step_time=timedelta(minutes=1),
            profile=arguments.profile(profile),
        )
        super().__init__(
            TumorAreaFamily(_generator(difficulty, canonical, source, looks)),
            resolve(reward, costs),
            split=split,
            config=config,
            render_mode=render_mode,
        )


def _generator(
    difficulty: str | SlideConfig, canonical: bool, source: str | Path, looks: int | None
) -> TaskGenerator:
    config = slide_config(difficulty).watched(looks)
    name = TumorAreaFamily.name
    kind = difficulty if isinstance(difficulty, str) else "slide"
    if str(source) != "synthetic":
        from healthgym.envs.tumor_area.sources import FolderGenerator

        if canonical:
            raise ConfigurationError("canonical belongs to the synthetic source.")
        return FolderGenerator(source, config.looks)
    if canonical:
        return TumorAreaGenerator(config, f"{name}-canonical", True, kind)
    return TumorAreaGenerator(config, name, kind_name=kind)
