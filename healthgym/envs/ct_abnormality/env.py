"""The CT abnormality environment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

from healthgym.core.arguments import profile as checked_profile
from healthgym.core.arguments import turns
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.core.task import TaskGenerator
from healthgym.envs.ct_abnormality.family import CtFamily
from healthgym.envs.ct_abnormality.generator import CtGenerator
from healthgym.envs.ct_abnormality.task import CtConfig, ct_config
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve
from healthgym.worlds.imaging.raster import require

_BLIND = ("flood", "prior", "all_yes", "all_no", "guess", "random")


class CtAbnormalityEnv(HealthEnv):
    """Read a chest CT and call each of a list of findings: there, or not.

    ## Description

    The agent is a radiologist with a workstation. It is given one chest CT of 200 to 700 slices in
    Hounsfield units and 4 to 12 of the 18 findings that CT-RATE labels. A careful reader scrolls
    through the lungs and the mediastinum in their windows, looks at reformats, measures where a
    size or a density decides, knows what imitates each finding, and calls every one. It is hard
    because findings are small and many, some differ from their mimics by a few millimetres or
    Hounsfield units, and one wrong call fails the scan. The task is HealthAgentBench's CT
    abnormality classification. There, twelve of seventeen findings can only be listed when they
    are there, so that six of ten scans can be called without opening them; here a coin decides for
    each finding that is listed.

    ## Observation Space

    ``UnicodeText``: first the task with its findings, then the result of each call. Pictures are
    in ``info["images"]``: uint8, (height, width), the patient's right at the left.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts. Positions are in mm: x to the patient's right, y
    to the front, z to the head.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `volume_info` | read | Size, spacing, extent; where the lungs are |
    | `view_slice` | read | A slice in any of three planes, windowed, zoomed |
    | `view_slab` | read | Mean, MIP or MinIP of a slab |
    | `contact_sheet` | read | Up to 24 slices side by side |
    | `region_hu` | read | Densities in a sphere or a box |
    | `find_components` | read | Connected pieces above or below a density in a box |
    | `distance` | read | Distance of two points, densities between them |
    | `measure` | read | One of 19 automatic measurements |
    | `show_criteria` | read | What counts as a finding |
    | `record_call` | write | Writes a call down |
    | `revise_call` | write | Changes a call |
    | `write_predictions` | write | Replaces all calls by a text, as in the source benchmark |
    | `show_calls` | read | The calls, and how many are open |
    | `submit` | submit | Hands the calls in and ends the episode |

    Pictures and measurements are computed from voxels, read when they are needed, and from nothing
    else: ``healthgym.worlds.volumes.nifti.write_nifti`` writes a scan to disk, and an environment
    on that file says the same.

    ## Starting State

    The seed draws, from separate streams, the list of findings, a fair coin for each, the patient
    (size, build, sex, level of the diaphragm), the scan (field of view, slices, spacing, contrast
    medium, kernel, noise) and the lesions with their places. So nothing but the voxels says
    anything about the truth. Findings that are not listed are there now and then; absent ones may
    be imitated: dependent density, prominent heart, little pericardial fluid, small nodes and
    nodules, calcified valve, gas in the oesophagus, slightly wide bronchi. Truth is what was drawn,
    past the thresholds of ``show_criteria``: heart to inner chest 0.50; pericardial fluid 5 mm and
    pleural fluid 6 mm deep; nodes of 10 mm short axis; nodules of 4 mm; ground glass in which
    vessels remain is a lung opacity and consolidation is not, nor is a flat band, which is
    atelectasis. ``easy`` asks for 2 to 4 findings that one measurement each settles, with nothing
    else in the scan; ``medium`` has all 18, mimics and more noise; ``hard`` shows them subtly. No
    two tasks share patient or scan, whatever their split.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the share of right calls, paid when they are handed in and not before: paid for
    each call, it would say which are right. Doing nothing scores 0.

    Checks of the ``strict`` profile: *submitted* (doing nothing fails); *plain_lines*, each line
    is ``finding: yes`` or ``finding: no`` for a finding asked for (doing nothing passes, and adds
    nothing); *called_once*, each finding has exactly one line (doing nothing fails); *correct*,
    each call is right (doing nothing fails). The ``paper`` profile: *submitted*, and
    *all_correct*, with the lines read as the published evaluator reads them: many words for yes
    and no, what follows a comma ignored, of several lines for a finding the last.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; such an episode has failed.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (number of findings), ``tools`` (OpenAI function
    form). ``step``: ``task_id``, ``turns_left``, ``time``, ``images`` if there are any, ``error``
    if a call was refused; at the end ``success`` and ``verdict`` with both profiles, whose metrics
    are accuracy, true and false positives and negatives, and missing calls (which the published
    counts put with the false negatives).

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `difficulty` (str or CtConfig, "medium"): ``"easy"``, ``"medium"`` or ``"hard"``.
    - `canonical` (bool, False): Whether the test split is ten tasks with the numbers of findings
        and of positives of the ten published ones. Which findings are listed, and which are there,
        is drawn anew, so that the one-sided prior fails here, too.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder of NIfTI volumes with a table of
        labels, such as CT-RATE.
    - `max_turns` (int, 60): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not submitting.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/CtAbnormality-v0`` (unlimited tasks) and ``HealthAgent/CtAbnormalityCanonical-v0``
    (``canonical=True``).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/CtAbnormality-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("view_slice", plane="axial", position=-40.0)
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> info["images"][0].shape
    (512, 512)
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
        difficulty: str | CtConfig = "medium",
        canonical: bool = False,
        source: str | Path = "synthetic",
        max_turns: int = 60,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        require("scipy.ndimage")
        require("PIL")
        config = EpisodeConfig(
            max_turns=turns(max_turns),
            step_time=timedelta(minutes=1),
            profile=checked_profile(profile),
        )
        super().__init__(
            CtFamily(_generator(difficulty, canonical, source), _ceilings(difficulty, canonical)),
            resolve(reward, costs),
            split=split,
            config=config,
            render_mode=render_mode,
        )


def _generator(difficulty: str | CtConfig, canonical: bool, source: str | Path) -> TaskGenerator:
    config = ct_config(difficulty)
    if str(source) != "synthetic":
        from healthgym.envs.ct_abnormality.sources import FolderGenerator

        if canonical:
            raise ConfigurationError("canonical belongs to the synthetic source.")
        require("nibabel")
        return FolderGenerator(source)
    label = difficulty if isinstance(difficulty, str) else "custom"
    name = f"{CtFamily.name}-canonical" if canonical else CtFamily.name
    return CtGenerator(config, label, name, canonical=canonical)


def _ceilings(difficulty: str | CtConfig, canonical: bool) -> dict[str, float]:
    """Return what calling without looking may reach by chance.

    Two findings are called right by a coin one time in four. The canonical test split has one
    task without positives and one with nothing else, each solved by a constant.
    """
    if canonical:
        # A few short lists of ten tasks: two lucky tosses among six are a third.
        return {**dict.fromkeys(_BLIND, 0.2), "guess": 0.35}
    fewest = ct_config(difficulty).labels[0]
    return dict.fromkeys(_BLIND, max(min(1.2 * 0.5**fewest, 0.6), 0.1 if fewest <= 4 else 0.05))
