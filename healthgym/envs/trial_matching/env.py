"""The trial-matching environment."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.trial_matching.family import TrialMatchingFamily


class TrialMatchingEnv(DeclaredEnv, family=TrialMatchingFamily):
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

    {tools}

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

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else 0.
    ``shaped``: Cohen's kappa of the list over the pool under ``strict``, and its recall@50 less
    what as many random picks would have under ``paper``; 1 for success. It is paid at the end and
    is 0 until then: paid for each change of the list, it would say which trials are right. Doing
    nothing scores 0.

    {checks}

    For judged data half of the trials named must be eligible under ``strict``. Under ``paper`` the
    list is read as the published evaluator reads it: of each line the first number, whatever is
    said of it. Under ``strict`` several may stand on a line, as in "A, B and C" or a JSON list, and
    `write_shortlist` tells which line cannot be read and why.

    ## Episode End

    {episode end}

    ## Information

    {information} The kind is the condition of the admission; the metrics are recall, recall at 20
    and 50, precision, F1, and how many trials were listed.

    ## Arguments

    {common arguments}
    - `difficulty` (str, PoolConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several.
    - `pool_size` (int or pair, None): Trials in a pool, or fewest and most; as the difficulty says.
    - `canonical` (bool, False): Whether the test split is the nine published tasks, in patient,
        size and composition of the pool.
    - `source` (str, "synthetic"): ``"synthetic"``, or a TREC Clinical Trials folder, with the
        audited answers of the published topics in ``gold/task_6.txt`` and so on.
    - `year` (int, 2021): Year of that folder's topics, 2021 or 2022.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/TrialMatching-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("list_trials")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> observation.splitlines()[-1]
    '(page 1 of 1, 20 trials)'
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Lists are read as a person writes them; the published topics are graded by audited answers.
    * v0: first version, never released.
    """
