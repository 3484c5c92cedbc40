"""The Gymnasium environment of data-quality audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.envs.ehr_data_quality.family import DataQualityFamily
from healthgym.envs.ehr_data_quality.generator import (
    DIFFICULTIES,
    AuditConfig,
    AuditGenerator,
    CorpusSource,
    SyntheticSource,
)
from healthgym.envs.ehr_data_quality.task import KINDS, Level
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve


class EhrDataQualityEnv(HealthEnv):
    """Find the errors that were planted in a hospital's tables, and flag their rows.

    ## Description

    The agent audits the data of a hospital before they go into a research database: eight tables
    in the schema of MIMIC-IV, from patients and admissions to laboratory results, prescriptions
    and bedside charting. Some rows are wrong: values no living patient can have, doses a
    hundredfold, numbers in another unit than their label, results that contradict each other,
    people whose sex or age the rest of their record contradicts. A good auditor reads what is
    normal in this hospital, profiles columns item by item, joins tables that should agree, and
    flags what cannot be true. It is hard because the tables are large, the errors few, and real
    hospitals are odd: haemolysed specimens, repeated tubes, late filing and drugs with uses in
    either sex are no errors. The task is that of HealthAgentBench's EHR data-quality category;
    families, sub-types, bands and the cluster rule are its recipe's.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call, which begins with the
    simulated time. Tables are shown as short lines of cells and say when there is more.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `list_files` | read | Files of the workspace |
    | `read_file` | read | Lines of a file |
    | `search_files` | read | Lines that hold some words |
    | `list_tables` | read | Tables with their columns |
    | `describe_table` | read | Types, empty cells and ranges of the columns |
    | `profile_column` | read | Quantiles or commonest values, by group |
    | `sample_rows` | read | Rows drawn at random |
    | `sql` | read | Any query (DuckDB) |
    | `save_table` | write | Keeps a query's result as a table |
    | `run_python` | read | Code in a sandbox; absent where none is installed |
    | `flag_rows` | write | Flags rows by their ids |
    | `flag_query` | write | Flags the rows a query finds |
    | `unflag_rows` | write | Takes flags back |
    | `review_flags` | read | The flags so far |
    | `submit` | submit | Hands in the flags and ends the episode |

    ## Starting State

    The seed draws a kind of audit (uniformly, or by the weights given), how much the instruction
    tells, and a hospital: patients, admissions, stays in intensive care, results with patients'
    own levels, charting rounds, prescriptions, and the natural oddities that README.md lists. Then
    errors are planted by the published recipe, stratified by item, unit or drug: a share of each
    sub-type in each table. Changed cells are written as their column is; added rows stand among
    the rows of their patient and moment, with ids, tubes and storage times of their own; row ids
    depend on nothing but the place and the seed. A task takes about a second to build at 800,000
    rows and milliseconds at 3,000, and environments in one process share its tables.

    ## Rewards

    ``sparse``: 1 if the flags are submitted and every check of the profile passes, else 0.
    ``shaped``: the verdict's progress, the share of errors found reduced in proportion where
    false flags outnumber them. It is paid when the flags are handed in: paid for each flag, it
    would tell which rows are wrong. Doing nothing scores 0 under both.

    Checks of the ``strict`` profile: *submitted*, the flags are handed in (doing nothing fails);
    *all_errors_found*, a wrong row of every error is flagged (doing nothing fails);
    *few_false_flags*, there are no more flagged rows without part in an error than errors found
    (doing nothing passes, and adds nothing to the progress). Rows that only reveal an error count
    neither way. The ``paper`` profile is the published evaluator: *submitted*; *cluster_recall*,
    any row of every cluster is flagged, evidence included; *row_precision*, at least 1 % of the
    flagged rows belong to a cluster.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; the episode is scored all the same.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind``, ``tools`` (OpenAI function form). ``step``:
    ``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused; at the end ``success``
    and ``verdict`` with both profiles, whose metrics include recall, precision and the share found
    of each family and sub-type.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``; no patient is in two.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `kinds` (list or dict, None): Kinds of audit to draw, with weights if a dict; all if None:
        ``"impossible_value"``, ``"inconsistency"``, ``"demographic_conflict"``, ``"combined"``.
    - `difficulty` (str or AuditConfig, "easy"): ``"easy"`` (10 patients, 3,000 rows, clues),
        ``"medium"`` (30 patients, 10,000 rows), ``"hard"`` (100 patients, 800,000 rows).
    - `level` (str, None): ``"clues"``, ``"base"`` or ``"hard"``: what instructions tell; as the
        difficulty says if None.
    - `canonical` (bool, False): Makes the test split the published set of eight: each kind with
        and without clues, in one hospital of full size,
        whatever the difficulty.
    - `source` (str or Path, "synthetic"): ``"synthetic"``, or the folder of the MIMIC-IV demo.
    - `python` (str, "sandbox"): ``"sandbox"``, ``"full"`` (CPython, numpy and polars under
        bubblewrap, and a tool `compute_table`; refused where that does not isolate), ``"none"``.
    - `max_turns` (int, 60): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not finishing.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/EhrDataQuality-v0`` (all kinds, ten patients, clues). The published set of eight
    is its test split with ``canonical=True``.

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrDataQuality-v0", kinds=["inconsistency"])
    >>> observation, info = env.reset(options={"index": 0})
    >>> info["kind"]
    'inconsistency'
    >>> query = "SELECT _row_id FROM patients"
    >>> action = healthgym.call("flag_query", table="patients", query=query, reason="all of them")
    >>> _ = env.step(action)
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["verdict"]["strict"]["metrics"]["false_flags"]
    (0.0, True, 10.0)

    ## Version History

    * v0: first version.
    """

    def __init__(
        self,
        *,
        split: str = "train",
        reward: str | RewardFunction = "sparse",
        profile: str = "strict",
        kinds: Sequence[str] | Mapping[str, float] | None = None,
        difficulty: str | AuditConfig = "easy",
        level: str | None = None,
        canonical: bool = False,
        source: str | Path | CorpusSource = "synthetic",
        python: str = "sandbox",
        max_turns: int = 60,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        generator = AuditGenerator(
            _config(difficulty, level),
            _weights(kinds),
            _source(source, whole=canonical),
            canonical=canonical,
        )
        super().__init__(
            DataQualityFamily(generator, python=python),
            resolve(reward, costs),
            split=split,
            config=EpisodeConfig(
                max_turns=arguments.turns(max_turns), profile=arguments.profile(profile)
            ),
            render_mode=render_mode,
        )


def _weights(kinds: Sequence[str] | Mapping[str, float] | None) -> dict[str, float]:
    if kinds is None:
        kinds = tuple(KINDS)
    if isinstance(kinds, str):
        kinds = (kinds,)
    return dict(kinds) if isinstance(kinds, Mapping) else dict.fromkeys(kinds, 1.0)


def _config(difficulty: str | AuditConfig, level: str | None) -> AuditConfig:
    if isinstance(difficulty, str):
        if difficulty not in DIFFICULTIES:
            accepted = ", ".join(DIFFICULTIES)
            raise ConfigurationError(f"difficulty {difficulty!r} is not one of {accepted}.")
        difficulty = DIFFICULTIES[difficulty]
    if level is None:
        return difficulty
    return AuditConfig(
        difficulty.corpus,
        difficulty.recipe,
        (arguments.member(Level, level, "level"),),
        difficulty.name,
    )


def _source(source: str | Path | CorpusSource, *, whole: bool) -> CorpusSource:
    if source == "synthetic":
        return SyntheticSource()
    if isinstance(source, str | Path):
        from healthgym.envs.ehr_data_quality.sources import open_source

        return open_source(source, whole=whole)
    return source
