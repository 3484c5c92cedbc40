"""The Gymnasium environment of event modelling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.core.task import TaskGenerator
from healthgym.envs.ehr_event_modelling.family import EventModellingFamily
from healthgym.envs.ehr_event_modelling.generator import EventModellingGenerator
from healthgym.envs.ehr_event_modelling.models import require_lightgbm
from healthgym.envs.ehr_event_modelling.sizes import FULL, CohortConfig, cohort_config
from healthgym.envs.ehr_event_modelling.task import Target
from healthgym.errors import ConfigurationError
from healthgym.rewards import Costs, resolve


class EhrEventModellingEnv(HealthEnv):
    """Predict who will get a diagnosis, from the longitudinal records of a cohort.

    ## Description

    The agent is a data scientist of a health system. For each of several hundred hospital
    discharges it is to estimate the probability that a disease (acute myocardial infarction,
    celiac disease, hyperlipidemia, essential hypertension, lupus or pancreatic cancer) is
    diagnosed for the first time within a year. A competent modeller reads the schema, looks at
    rates of outcome, turns events into features that use only what was known at the time of
    prediction, compares models on validation patients and hands in the best. It is hard because
    outcomes are rare, signs are shared with other diseases, visits are irregular, records are
    censored, most codes say nothing, and train records go on after the prediction time: what
    follows a diagnosis predicts it perfectly there, and does not exist for test patients. The
    tasks are those of HealthAgentBench's EHR event modelling, which takes them from EHRSHOT.

    ## Observation Space

    ``UnicodeText``: first the task, then the result of each call, which begins with the
    simulated time; tables have a bounded number of rows and say when there are more.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `list_files`, `read_file`, `search_files` | read | The README of the study |
    | `list_tables`, `describe_table`, `profile_column`, `sample_rows` | read | Tables at a glance |
    | `sql` | read | A read-only DuckDB query |
    | `save_table` | write | Keeps the result of a query |
    | `run_python` | read | Code in a sandbox; absent where none is installed |
    | `build_features` | write | Counts or values of codes within a window, for all rows |
    | `build_demographics` | write | Age, sex, length of the record |
    | `build_features_from_query` | write | Features made by SQL |
    | `train_model` | write | Trees or logistic regression, with validation metrics; 5 minutes |
    | `evaluate_models`, `evaluate_query` | read | Validation metrics |
    | `list_work` | read | What was made so far |
    | `draft_predictions` | write | Predictions by the mean of some models |
    | `draft_predictions_from_query` | write | Predictions made by SQL |
    | `review_predictions` | read | What the draft holds |
    | `submit_predictions` | submit | Hands in the draft and ends the episode |

    ## Starting State

    The seed draws a cohort (one for each six indices) and a target. Patients have age, sex,
    background conditions and a use of care; a target strikes by risk. Before its diagnosis a
    disease shows, more and more, in complaints, tests, drugs and shifted values; some patients
    show nothing, and other conditions show the same. Visits are clustered, values are measured
    where somebody asked for them, records begin and end at random. Discharges, labels and cut-offs
    follow the source's rule: predictions at 23:59 of the day of discharge, positive where the
    first diagnosis comes 1 to 365 days later, no row where it is known or the year is not on
    record; one row, the first, for each test patient, whose later events are not in the tables.
    The share of positives is the source's, or ``least_positive`` if that is more: with 10
    positives, as the source has for celiac disease, the bar would be noise. Nothing about a test
    patient depends on the label but what came before the prediction.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit_predictions`` and every check of the profile
    passes, else 0. ``shaped``: the verdict's progress, which is 0.9 times the predictions' AUROC
    above 0.5 in relation to the bar's (0 if a row is missing or double), and 1 for success. It is
    paid when they are handed in: paid for each draft, it would be a score on the test rows to
    climb by. Doing nothing scores 0 under both.

    Checks of the ``strict`` profile, none of which doing nothing passes: *submitted*, predictions
    are handed in; *complete*, every test row has a probability; *once*, and only one, and there
    are no others; *cut_off*, no feature of the models was built with days after the prediction
    time (a query cannot cross it for test patients: their later events are not there); *skill*,
    AUROC is more than what uninformed scores reach once in a thousand test sets; *bar*, AUROC is
    at least that of counts of codes with gradient-boosted trees, chosen on the validation rows,
    less its bootstrap standard error. The ``paper`` profile is the source's evaluator: rows joined
    by key, duplicates scored twice, AUROC at least the bar.

    ## Episode End

    ``terminated`` when ``submit_predictions`` is called. ``truncated`` when ``max_turns`` calls
    were made without it; the episode is scored all the same.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (target), ``tools`` (OpenAI function form).
    ``step``: ``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused; at the end
    ``success`` and ``verdict`` with both profiles.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``; no cohort is in two.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `targets` (list, None): Targets to draw, such as ``["new_lupus"]``; all if None.
    - `difficulty` (str, dict or CohortConfig, "medium"): ``"easy"``, ``"medium"``, ``"hard"``,
        ``"large"``, ``"full"`` (the source's size), or weights of several.
    - `canonical` (bool, False): The source's six tasks as the test split: full size, its numbers of
        rows and positives, its grid of models for the bar.
    - `source` (str, "synthetic"): ``"synthetic"``, an EHRSHOT folder, or a MEDS cohort.
    - `python` (str, "sandbox"): ``"sandbox"``, ``"full"`` (CPython, numpy and polars under
        bubblewrap, and a tool `compute_table`; refused where that does not isolate), ``"none"``.
    - `max_turns` (int, 30): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not finishing.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/EhrEventModelling-v0`` (all targets, training size).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrEventModelling-v0", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 4})
    >>> info["kind"]
    'new_lupus'
    >>> action = healthgym.call("submit_predictions")
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
        targets: Sequence[str] | None = None,
        difficulty: str | CohortConfig | Mapping[str, float] = "medium",
        canonical: bool = False,
        source: str | Path = "synthetic",
        python: str = "sandbox",
        max_turns: int = 30,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        require_lightgbm()
        super().__init__(
            EventModellingFamily(
                _generator(_targets(targets), difficulty, canonical, source), python=python
            ),
            resolve(reward, costs),
            split=split,
            config=EpisodeConfig(
                max_turns=arguments.turns(max_turns), profile=arguments.profile(profile)
            ),
            render_mode=render_mode,
        )


def _generator(
    targets: tuple[Target, ...],
    difficulty: str | CohortConfig | Mapping[str, float],
    canonical: bool,
    source: str | Path,
) -> TaskGenerator:
    name = EventModellingFamily.name
    if str(source) != "synthetic":
        from healthgym.envs.ehr_event_modelling.readers import read_source
        from healthgym.envs.ehr_event_modelling.sources import RealGenerator

        return RealGenerator(read_source(source), targets, name=f"{name}-real")
    if canonical:
        return EventModellingGenerator(
            {"full": (FULL, 1.0)}, targets, name=f"{name}-canonical", tests=len(targets)
        )
    weights: Mapping[Any, float]
    weights = difficulty if isinstance(difficulty, Mapping) else {difficulty: 1.0}
    levels = {
        level if isinstance(level, str) else "custom": (cohort_config(level), float(weight))
        for level, weight in weights.items()
    }
    return EventModellingGenerator(levels, targets, name=name)


def _targets(targets: Sequence[str] | None) -> tuple[Target, ...]:
    if targets is None:
        return tuple(Target)
    names = [targets] if isinstance(targets, str) else list(targets)
    try:
        chosen = tuple(Target(name) for name in names)
    except ValueError:
        chosen = ()
    if not chosen or len(set(chosen)) < len(chosen):
        raise ConfigurationError(
            f"targets {names!r} are not some of {', '.join(Target)}, each once."
        )
    return chosen
