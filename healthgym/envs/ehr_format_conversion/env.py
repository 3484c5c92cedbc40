"""The Gymnasium environment of EHR to MEDS conversion."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.ehr_format_conversion.family import ConversionFamily


class EhrFormatConversionEnv(DeclaredEnv, family=ConversionFamily):
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

    {tools}

    ## Starting State

    The seed draws a hospital (patients, stays, results, orders; missing values, repeated rows,
    days instead of times, numbers as text) and a request: one to seven wishes of ten kinds, no
    two about the same event, with names for prefixes that are of one split only. No patient is
    in two splits. With ``source`` set to a folder of MIMIC-IV its tables are used instead, the
    same for every task. ``canonical=True`` asks the published request every time, and the test
    split has one task, as in the source. The clock moves a minute a call; nothing depends on it.

    ## Rewards

    ``sparse``: 1 if every check of the profile passes at the end (``strict`` asks for ``submit``,
    ``paper`` does not), else 0. ``shaped``: the change of the progress at each step: how far the
    copied configuration has come from the default to the one asked for, and whether a cohort has
    been made from it; unrequested changes count against it. It sums to the final progress, 1 for
    success; what is never handed in under ``strict`` is paid back. Doing nothing scores 0 under
    both, and so does the default copied and run.

    {checks}

    The ``strict`` profile compares shards by a hash over full rows. The ``paper`` profile is the
    published grader, step by step: it probes only the values that the request touches, does not
    ask how files were made, and has a hash that depends on the order of rows with equal keys. An
    unrequested change of the repository takes all of the progress away.

    ## Episode End

    {episode end}

    ## Information

    {information} ``kind`` names the kinds of wishes. The metric is ``closeness``, of the
    configuration to the one asked for.

    ## Arguments

    {common arguments}
    - `difficulty` (str, RequestConfig or dict, "medium"): ``"easy"`` (seven tables, one or two
        plain wishes), ``"medium"`` (three or four of all kinds), ``"hard"`` (five to seven,
        columns called by their meaning), weights of several, or a ``RequestConfig``.
    - `request` (dict, None): Settings that go before those of the difficulty, for a curriculum:
        ``{"wishes": [1, 2], "kinds": ["drop"]}``; see
        :class:`healthgym.envs.ehr_format_conversion.task.RequestConfig`.
    - `canonical` (bool, False): Whether to ask the published request every time.
    - `source` (str or TableSource, "synthetic"): ``"synthetic"``, a folder of raw MIMIC-IV tables,
        or your own source of tables.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrFormatConversion-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> sorted(info)
    ['kind', 'split', 'task_id', 'tools']
    >>> action = healthgym.call("submit")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Files added to the repository fail; what is not handed in is not paid; the published request
      has no training split.
    * v0: first version, never released.
    """
