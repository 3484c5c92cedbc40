"""The Gymnasium environment of EHR to MEDS conversion."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.envs.ehr_format_conversion.family import ConversionFamily
from healthgym.envs.ehr_format_conversion.generator import (
    ConversionGenerator,
    RequestConfig,
    request_config,
)
from healthgym.envs.ehr_format_conversion.sources import (
    FolderTables,
    SyntheticTables,
    TableSource,
)
from healthgym.rewards import Costs, resolve


class EhrFormatConversionEnv(HealthEnv):
    """Turn raw hospital tables into the MEDS cohort that a request asks for.

    ## Description

    The agent is a data engineer in an ETL repository it has not seen before: pipeline code, a
    default event configuration in YAML, raw tables in the columns of MIMIC-IV, documentation. A
    request asks for a cohort that differs from the nightly build: fields split into their own
    events, other code prefixes, another source of time, units out of the code, columns joined to
    the code, static events, new tables. A competent engineer copies the configuration, edits the
    copy, runs the pipeline with it, looks whether the cohort is what was meant, and leaves the
    default alone. It is hard because small things matter: a missing value becomes UNK or drops
    the row, a wrong time format drops all rows, an edit after the last run leaves a stale cohort.
    The pipeline follows MEDS-Transforms 0.2 and MIMIC-IV-MEDS 0.0.7 event for event. From the
    EHR to MEDS category of HealthAgentBench, which has one such request.

    ## Observation Space

    ``UnicodeText``: first the request, then the result of each call; long results come in pages.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `list_files` | read | Paths of files |
    | `read_file` | read | A text file, by pages |
    | `search_files` | read | Lines that contain a text |
    | `describe_table` | read | Columns of a raw table with types, gaps and examples |
    | `show_events` | read | The events a configuration makes of a table |
    | `copy_file` | write | Copies a file |
    | `set_event` | write | Sets or removes keys of an event, or adds one, in a configuration |
    | `drop_event` | write | Removes an event from a configuration |
    | `edit_file` | write | Replaces one text in a file |
    | `write_file` | write | Writes a whole file |
    | `run_etl` | write | Runs the pipeline with a configuration; writes a cohort |
    | `inspect_cohort` | read | Families, code counts and rows of a cohort |
    | `submit` | submit | Hands in the work and ends the episode |

    ## Starting State

    The seed draws a hospital (patients, stays, results, orders; missing values, repeated rows,
    days instead of times, numbers as text) and a request: one to seven wishes of ten kinds, no
    two about the same event, with names for prefixes that are of one split only. No patient is
    in two splits. With ``source`` set to a folder of MIMIC-IV its tables are used instead, the
    same for every task. ``canonical=True`` asks the published request every time, and the test
    split has one task, as in the source. The clock moves a minute a call; nothing depends on it.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the change of the verdict's progress at each step: how far the copied
    configuration has come from the default to the one asked for, and whether a cohort has been
    made from it; unrequested changes count against it. It sums to the final progress, 1 for
    success. Doing nothing scores 0 under both, and so does the default copied and run.

    Checks of the ``strict`` profile: *submitted* (doing nothing fails); *repository_intact*,
    default configuration, wiring and all else byte for byte as before (doing nothing passes, and
    adds nothing to the progress); *config_valid*, the copy is there and runs; *cohort_complete*,
    exactly the files due; *provenance*, every file is what the submitted configuration produces
    when run again; *families*, every code as often as asked for and no other; *shard_rows* and
    *shard_contents*, by a hash over full rows; *metadata*, codes, splits and description (doing
    nothing fails all of these). The ``paper`` profile is the published grader, step by step: it
    probes only the values that the request touches, does not ask how files were made, and has a
    hash that depends on the order of rows with equal keys.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; the episode is scored all the same.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (kinds of wishes), ``tools`` (OpenAI function
    form). ``step``: ``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused; at
    the end ``success`` and ``verdict`` with both profiles and the metric ``closeness``.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `difficulty` (str, dict or RequestConfig, "medium"): ``"easy"`` (seven tables, one or two
        plain wishes), ``"medium"`` (three or four of all kinds) or ``"hard"`` (five to seven,
        columns called by their meaning). A dict changes fields of the medium configuration, for a
        curriculum: ``{"wishes": [1, 2], "kinds": ["drop", "time"]}``.
    - `canonical` (bool, False): Whether to ask the published request every time.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder of raw MIMIC-IV tables.
    - `max_turns` (int, 40): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not finishing.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/EhrFormatConversion-v0`` (requests from the grammar) and
    ``HealthAgent/EhrFormatConversionCanonical-v0`` (``canonical=True``).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrFormatConversion-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> sorted(info)
    ['kind', 'split', 'task_id', 'tools']
    >>> action = healthgym.call("submit")
    >>> observation, reward, terminated, truncated, info = env.step(action)
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
        difficulty: str | Mapping[str, Any] | RequestConfig = "medium",
        canonical: bool = False,
        source: str | Path | TableSource = "synthetic",
        max_turns: int = 40,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        generator = _generator(difficulty, canonical, source)
        super().__init__(
            ConversionFamily(generator, canonical=canonical),
            resolve(reward, costs),
            split=split,
            config=EpisodeConfig(
                max_turns=arguments.turns(max_turns),
                profile=arguments.profile(profile),
                show_clock=False,  # nothing in a conversion depends on the time
            ),
            render_mode=render_mode,
        )


def _generator(
    difficulty: str | Mapping[str, Any] | RequestConfig,
    canonical: bool,
    source: str | Path | TableSource,
) -> ConversionGenerator:
    config = request_config(difficulty)
    tables: TableSource
    if source == "synthetic":
        tables = SyntheticTables(config.subjects, config.busy)
    elif isinstance(source, str | Path):
        tables = FolderTables(source)
    else:
        tables = source
    parts = [ConversionFamily.name, "canonical" if canonical else "", tables.name]
    return ConversionGenerator(
        tables,
        config,
        difficulty=difficulty if isinstance(difficulty, str) else "custom",
        canonical=canonical,
        name="-".join(part for part in parts if part),
    )
