"""The trial-matching environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.core.task import TaskGenerator
from healthgym.envs.trial_matching.family import TrialMatchingFamily
from healthgym.envs.trial_matching.generator import TrialMatchingGenerator
from healthgym.envs.trial_matching.task import PoolConfig, pool_config
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve
from healthgym.worlds.corpus.ranking import require_library


class TrialMatchingEnv(HealthEnv):
    """Read a patient's admission note and shortlist the clinical trials the patient can enter.

    ## Description

    The agent screens one patient for a trials office. It reads an admission note and looks through
    a pool of 300 to 450 registered trials, of which three to nine admit the patient. A careful
    screener takes stock of the patient's conditions, stages, results, drugs and dates, searches
    the pool by each, reads the criteria one by one, and lists a trial only if every inclusion
    criterion is met and no exclusion criterion is. It is hard because most trials about the
    patient's condition fail on a single line: a value in another unit, a drug stopped too
    recently, a wider term for something in the history, an exception, a stage one too high, a
    value that is not in the note. The task is HealthAgentBench's clinical trial matching, which
    takes topics, trials and judgements from the TREC Clinical Trials track; here patients and
    trials come from one latent clinical model, so that eligibility of every pair is computed.

    ## Observation Space

    ``UnicodeText``: first the task with its reading rules, then the result of each call. Results
    begin with the simulated time, are bounded, and say how many pages there are.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `read_note` | read | The admission note |
    | `list_trials` | read | The pool, 25 trials a page |
    | `search_trials` | read | Trials by words (BM25), and by sex and age |
    | `read_trial` | read | One section of a trial, or its ClinicalTrials.gov XML |
    | `read_eligibility` | read | Criteria of up to eight trials |
    | `show_shortlist` | read | The shortlist |
    | `add_to_shortlist` | write | Adds trials, at the end or at a place |
    | `remove_from_shortlist` | write | Takes trials off |
    | `reorder_shortlist` | write | Brings trials to the top |
    | `write_shortlist` | write | Replaces the shortlist by a text |
    | `submit` | submit | Hands the shortlist in and ends the episode |

    ## Starting State

    The seed draws the condition of the admission (one of 31), the patient (age, sex, stage or
    type, comorbidities, events, drug courses, readings, allergies, each with its date), the size
    of the pool and how many trials have each grade: 2, eligible; 1, every inclusion criterion met
    and an exclusion criterion, too; 0, an inclusion criterion not met. Trials about the patient's
    conditions are drawn for the task; the others come from a registry of the split. All are drawn
    from the same slots, and no trial outside the answer admits the patient. Patients of the splits
    differ in condition, stage, sex, age or comorbidity; trials in condition or in what is tried,
    and in registry number. ``easy`` has 20 trials, two or three criteria of a kind, and one fixed
    wording; ``medium`` has synonyms, other units, negation and composite criteria; ``hard`` adds
    abbreviations, more criteria, nesting, dates to be reckoned with, results and regimens to be
    worked out, relatives and drugs that were never given.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the verdict's progress, which is the F1 score of the list under ``strict`` and
    its recall@50 under ``paper``, 1 for success. It is paid at the end and is 0 until then: paid
    for each change of the list, it would say which trials are right. Doing nothing scores 0.

    Checks of the ``strict`` profile: *submitted*, the list is handed in (doing nothing fails);
    *complete*, every eligible trial is on it (doing nothing fails); *precise*, nothing else is
    (doing nothing fails; for judged data half of the lines must be eligible); *plain_lines*, each
    line is one registry number of the pool, once (doing nothing passes, and adds nothing). The
    ``paper`` profile: *submitted*, and *recall_at_50*: every eligible trial is among the first
    fifty of the pool's trials on the list, read as the published evaluator reads it.

    ## Episode End

    ``terminated`` when ``submit`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; an episode without a submission has failed.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (condition of the admission), ``tools`` (OpenAI
    function form). ``step``: ``task_id``, ``turns_left``, ``time``, ``error`` if a call was
    refused; at the end ``success`` and ``verdict`` with both profiles, whose metrics are recall,
    recall at 20 and 50, precision, F1, and how many trials were listed.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `difficulty` (str or PoolConfig, "medium"): ``"easy"``, ``"medium"`` or ``"hard"``.
    - `pool_size` (int or pair, None): Trials in a pool, or fewest and most; as the difficulty says.
    - `canonical` (bool, False): Whether the test split is the nine published tasks, in patient,
        size and composition of the pool.
    - `source` (str, "synthetic"): ``"synthetic"``, or a TREC Clinical Trials folder.
    - `year` (int, 2021): Year of that folder's topics, 2021 or 2022.
    - `max_turns` (int, 80): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not submitting.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/TrialMatching-v0`` (unlimited tasks) and ``HealthAgent/TrialMatchingCanonical-v0``
    (``canonical=True``: the test split has the nine published tasks).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/TrialMatching-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("list_trials")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> observation.splitlines()[-1]
    '(page 1 of 1, 20 trials)'
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
        difficulty: str | PoolConfig = "medium",
        pool_size: int | Sequence[int] | None = None,
        canonical: bool = False,
        source: str | Path = "synthetic",
        year: int = 2021,
        max_turns: int = 80,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        require_library()
        config = EpisodeConfig(
            max_turns=arguments.turns(max_turns),
            step_time=timedelta(minutes=1),
            profile=arguments.profile(profile),
        )
        super().__init__(
            TrialMatchingFamily(_generator(difficulty, pool_size, canonical, source, year)),
            resolve(reward, costs),
            split=split,
            config=config,
            render_mode=render_mode,
        )


def _generator(
    difficulty: str | PoolConfig,
    pool_size: int | Sequence[int] | None,
    canonical: bool,
    source: str | Path,
    year: int,
) -> TaskGenerator:
    if str(source) != "synthetic":
        from healthgym.envs.trial_matching.sources import TrecGenerator

        if pool_size is not None or canonical:
            raise ConfigurationError("pool_size and canonical belong to the synthetic source.")
        if year not in (2021, 2022):
            raise ConfigurationError(f"year is 2021 or 2022, not {year!r}.")
        return TrecGenerator(source, year)
    config = pool_config(difficulty).sized(pool_size)
    name = TrialMatchingFamily.name
    if canonical:
        return TrialMatchingGenerator(config, f"{name}-canonical", canonical=True)
    return TrialMatchingGenerator(config, name)
