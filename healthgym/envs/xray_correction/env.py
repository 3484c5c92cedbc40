"""The Gymnasium environment of X-ray report correction."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.core.task import TaskGenerator
from healthgym.envs.xray_correction.family import CorrectionFamily
from healthgym.envs.xray_correction.generator import CorrectionGenerator
from healthgym.envs.xray_correction.task import ReportConfig, report_config
from healthgym.envs.xray_correction.verifier import Judge
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve


class XrayCorrectionEnv(HealthEnv):
    """Correct the draft of a chest radiograph's findings by looking at the pictures.

    ## Description

    The agent is a radiologist who signs off reports. A patient has one to twelve chest
    radiographs with their reports; the last study is to be reported, and the draft of its
    FINDINGS carries errors: a side, a severity, a comparison with the prior study, a number, a
    position, or a finding that is not there. A careful reader checks each sentence against the
    pictures (and the prior pictures, where it compares), measures what can be measured, edits the
    sentences that are wrong and leaves the others alone. It is hard because every sentence reads
    well: whether it is true is in the pixels and nowhere else. From the X-ray report correction
    category of HealthAgentBench, with its swap principles P1 to P7; here patients are parametric
    3-D thoraces projected to radiographs, so that truth is known and tasks are unlimited.

    ## Observation Space

    ``UnicodeText``: first the task, then the result of each call, which begins with the simulated
    time. Pictures come in ``info["images"]``; the text says what they show.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `list_studies` | read | Studies with dates and views |
    | `read_report` | read | The report of an earlier study; the header of the last one |
    | `view_image` | read | A radiograph or a part of it, in a window of grey levels |
    | `measure` | read | A measurement of a frontal radiograph, by image analysis |
    | `compare_prior` | read | A measurement of the last two studies, and the difference |
    | `show_draft` | read | The findings as they stand, sentences numbered |
    | `edit_sentence` | write | Replaces a sentence |
    | `revert_sentence` | write | Puts a sentence of the draft back |
    | `write_findings` | write | Replaces the whole findings by a text |
    | `submit` | submit | Hands the findings in and ends the episode |

    ## Starting State

    The seed draws a patient (build, age, bones, vessels), what the last study shows and the
    report says of it, the studies before it, the words, and which sentences are made wrong by
    which principle. Sides, severities, states and comparisons are true as often as they are
    false, findings that hide each other are not in one report, and earlier reports say nothing
    of what the draft speaks of, so that text alone decides nothing. ``easy``: one or two studies,
    four sentences, one or two wrong, one wording each; ``medium``: one to four studies, seven to
    nine sentences, three to five wrong; ``hard``: two to twelve studies, nine to eleven sentences,
    four to eight wrong, 1024 pixels. ``canonical=True`` draws the source's ten cases by theme,
    number of errors and number of studies; its test split has exactly these ten.
    With ``source`` set to a folder of MIMIC-CXR-JPG its pictures and reports are used, and errors
    are made in its true findings by the same principles. The clock moves a minute a call; nothing
    depends on it.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the verdict's progress: the share of errors put right, less for what was broken.
    It is paid at the end and is 0 until then: paid for each edit, it would say which sentences are
    wrong. Doing nothing scores 0, and so does handing in the draft.

    Checks of both profiles, on claims read from the text and aligned with the truth, one for each
    class of errors that CheXprompt counts: *false_findings*, *omissions*, *locations*,
    *severities*, *comparisons*, *comparisons_kept*; and *submitted*. Doing nothing fails
    *submitted*, and handing in the draft fails at least one of the others. The ``paper`` profile
    counts clinically significant differences only, whatever the text looks like, and adds
    *not_empty*; with ``judge`` a language model decides instead (*judged_clean*). The ``strict``
    profile counts all differences, sentence by sentence, and adds *edit_only* (the draft's
    sentences, one to one) and *plain_report* (no text for a grader, no text without a finding);
    doing nothing passes these two, and they add nothing to the progress.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; an episode without a submission has failed.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (``"single"`` study or ``"serial"``), ``tools``
    (OpenAI function form). ``step``: ``task_id``, ``turns_left``, ``time``, ``images`` if any were
    shown, ``error`` if a call was refused; at the end ``success`` and ``verdict`` with both
    profiles, whose metrics are the errors of each class, the significant ones, and how many
    sentences are wrong.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `difficulty` (str or ReportConfig, "medium"): ``"easy"``, ``"medium"`` or ``"hard"``.
    - `canonical` (bool, False): Whether tasks are composed like the source's ten cases.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder in the layout of MIMIC-CXR-JPG.
    - `judge` (Judge, None): Decides the paper profile, such as
        :class:`healthgym.rewards.judge.LlmJudge`; by default the claims do.
    - `max_turns` (int, 60): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not submitting.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/XrayCorrection-v0`` (unlimited tasks) and
    ``HealthAgent/XrayCorrectionCanonical-v0`` (``canonical=True``: the test split has the ten
    published cases, in theme and composition).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/XrayCorrection-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("view_image", study=1)
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
        difficulty: str | ReportConfig = "medium",
        canonical: bool = False,
        source: str | Path = "synthetic",
        judge: Judge | None = None,
        max_turns: int = 60,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            CorrectionFamily(_generator(difficulty, canonical, source), judge),
            resolve(reward, costs),
            split=split,
            config=EpisodeConfig(
                max_turns=arguments.turns(max_turns), profile=arguments.profile(profile)
            ),
            render_mode=render_mode,
        )


def _generator(
    difficulty: str | ReportConfig, canonical: bool, source: str | Path
) -> TaskGenerator:
    config = report_config(difficulty)
    name = CorrectionFamily.name
    if str(source) != "synthetic":
        from healthgym.envs.xray_correction.sources import MimicGenerator

        if canonical:
            raise ConfigurationError("canonical belongs to the synthetic source.")
        return MimicGenerator(source, config.errors, f"{name}-mimic")
    return CorrectionGenerator(
        config,
        difficulty=difficulty if isinstance(difficulty, str) else "custom",
        canonical=canonical,
        name=f"{name}-canonical" if canonical else name,
    )
