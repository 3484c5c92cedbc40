"""The Gymnasium environment of event modelling."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.ehr_event_modelling.family import EventModellingFamily


class EhrEventModellingEnv(DeclaredEnv, family=EventModellingFamily):
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

    {tools}

    `run_python` is absent where no sandbox is installed. `train_model` takes five minutes of the
    simulated time.

    ## Starting State

    The seed draws a cohort (one for each six indices) and a target. Patients have age, sex,
    background conditions and a use of care; a target strikes by risk. Before its diagnosis a
    disease shows, more and more, in complaints, tests, drugs and shifted values; some patients
    show nothing, and other conditions show the same. Visits are clustered, values are measured
    where somebody asked for them, records begin and end at random. Discharges, labels and cut-offs
    follow the source's rule: predictions at 23:59 of the day of discharge, positive where the
    first diagnosis comes 1 to 365 days later, no row where it is known or the year is not on
    record; one row, the first, for each test patient, whose later events are not in the tables.
    Train and validation patients were seen at one hospital, test patients at another, which writes
    most of the telling codes its own way, some in another unit. And each disease has a code that is
    entered later, under the day of the stay, where a chart was reviewed as a case: it gives the
    label away on train and validation rows, and says nothing on test rows. Which codes these are
    differs by cohort, and README.md tells it; so a model that is built without reading stays below
    the bar.
    The share of positives is the source's, or ``least_positive`` if that is more: with 10
    positives, as the source has for celiac disease, the bar would be noise. Nothing about a test
    patient depends on the label but what came before the prediction.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit_predictions`` and every check of the profile
    passes, else 0. ``shaped``: the verdict's progress, which is 0.9 times the predictions' AUROC
    above 0.5 in relation to the bar's (0 if a row is missing or double), less what models that are
    built without reading reach of it, so that it may be negative; and 1 for success. It is
    paid when they are handed in: paid for each draft, it would be a score on the test rows to
    climb by. Doing nothing scores 0 under both.

    {checks}

    The bar is fitted on the task's own rows, with what README.md tells: counts of codes with
    gradient-boosted trees, chosen on the validation rows. A query cannot look past the prediction
    times of test patients: their later events are not there. Of train patients it can, so a feature
    query is run a second time, on records that end at prediction times, and must say the same. The
    ``paper`` profile is the source's evaluator: rows joined by key, duplicates scored twice, no
    empty cell in any column, AUROC at least the bar. ``strict`` never asks for less; it reads
    patient ids that are text, and days without a time as their 23:59.

    ## Episode End

    {episode end}

    ## Information

    {information} A kind is a target.

    ## Arguments

    {common arguments}
    - `targets` (list, None): Targets to draw, such as ``["new_lupus"]``; all if None.
    - `difficulty` (str, dict or CohortConfig, "medium"): ``"easy"``, ``"medium"``, ``"hard"``,
        ``"large"``, ``"full"`` (the source's size), or weights of several.
    - `canonical` (bool, False): The source's six tasks as the test split: full size, its numbers of
        rows and positives, its grid of models for the bar.
    - `source` (str, "synthetic"): ``"synthetic"``, an EHRSHOT folder, or a MEDS cohort.
    - `python` (str, "sandbox"): ``"sandbox"``, ``"full"`` (CPython, numpy and polars under
        bubblewrap, and a tool `compute_table`; refused where that does not isolate), ``"none"``.
        In a box clocks and random numbers are the episode's, but for those that C code asks the
        kernel for: ``numpy.datetime64("now")``, SQLite's, ``/dev/urandom``.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrEventModelling-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 4})
    >>> info["kind"]
    'new_lupus'
    >>> action = healthgym.call("submit_predictions")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Test patients come from a hospital with codes and units of its own; look-ahead is found by
      running feature queries again; predictions are paid when they are handed in.
    * v0: first version, never released.
    """
