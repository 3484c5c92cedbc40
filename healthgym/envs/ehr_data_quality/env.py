"""The Gymnasium environment of data-quality audits."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.ehr_data_quality.family import DataQualityFamily


class EhrDataQualityEnv(DeclaredEnv, family=DataQualityFamily):
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
    either sex are no errors. Each hospital has its own practice, which practice.md tells: codes
    that stand for a missing reading, items on which two methods disagree, labels of unit that mean
    nothing, doses ordered by the box, patients whose record is as it should be. For each error
    there are two or three rows that look the same and are excused there; what one hospital excuses
    is an error in the next, so that no fixed set of queries solves an audit. The task is that of
    HealthAgentBench's EHR data-quality category; families, sub-types, bands and the cluster rule
    are its recipe's.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call, which begins with the
    simulated time. Tables are shown as short lines of cells and say when there is more.

    ## Action Space

    {tools}

    `run_python` is absent where no sandbox is installed.

    ## Starting State

    The seed draws a kind of audit (uniformly, or by the weights given), how much the instruction
    tells, and a hospital: patients, admissions, stays in intensive care, results with patients'
    own levels, charting rounds, prescriptions, the natural oddities that README.md lists, and its
    practice. Then errors of the kind, and look-alikes of all kinds, are planted by one hand after
    the published recipe, stratified by item, unit or drug: a share of each sub-type in each table.
    Changed cells are written as their column is; added rows stand among the rows of their patient
    and moment, with ids, tubes and storage times of their own; row ids depend on nothing but the
    place and the seed. A task takes about a second to build at 800,000 rows and milliseconds at
    3,600, and environments in one process share its tables. No patient is in two splits.

    ## Rewards

    ``sparse``: 1 if the flags are submitted and every check of the profile passes, else 0.
    ``shaped``: the verdict's progress, the share of errors found reduced in proportion where false
    flags are more than half as many, less what a few fixed queries find, so that it may be
    negative; 1 for success. It is paid when the flags are handed in: paid for each flag, it would
    tell which rows are wrong. Doing nothing scores 0 under both.

    {checks}

    Rows that only reveal an error count neither way under ``strict``. The ``paper`` profile is
    the published evaluator.

    ## Episode End

    {episode end}

    ## Information

    {information} The metrics include recall, precision and the share found of each family and
    sub-type.

    ## Arguments

    {common arguments}
    - `kinds` (list or dict, None): Kinds of audit to draw, with weights if a dict; all if None:
        ``"impossible_value"``, ``"inconsistency"``, ``"demographic_conflict"``, ``"combined"``.
    - `difficulty` (str, AuditConfig or dict, "easy"): ``"easy"`` (12 patients, 3,600 rows,
        clues), ``"medium"`` (30 patients, 10,000 rows), ``"hard"`` (100 patients, 800,000 rows),
        or weights of several.
    - `level` (str, None): ``"clues"``, ``"base"`` or ``"hard"``: what instructions tell; as the
        difficulty says if None.
    - `canonical` (bool, False): Makes the test split the published set of eight: each kind with
        and without clues, in one hospital of full size, whatever the difficulty.
    - `source` (str or Path, "synthetic"): ``"synthetic"``, or the folder of the MIMIC-IV demo.
        There practice.md lists what was measured in the clean tables: by how much each item's
        close results differ, labels, doses and numbers that are odd. Nothing is planted in what it
        lists, so errors can be told: errors of conflict only in items whose own close results
        agree, which leaves out most vital signs.
    - `python` (str, "sandbox"): ``"sandbox"``, ``"full"`` (CPython, numpy and polars under
        bubblewrap, and a tool `compute_table`; refused where that does not isolate), ``"none"``.
        In a box clocks and random numbers are the episode's, but for those that C code asks the
        kernel for: ``numpy.datetime64("now")``, SQLite's, ``/dev/urandom``.

    ## Registered Configurations

    {configurations}

    The published set of eight is its test split with ``canonical=True``.

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/EhrDataQuality-v1", kinds=["inconsistency"])
    >>> observation, info = env.reset(options={"index": 0})
    >>> info["kind"]
    'inconsistency'
    >>> query = "SELECT _row_id FROM patients"
    >>> action = healthgym.call("flag_query", table="patients", query=query, reason="all of them")
    >>> _ = env.step(action)
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["verdict"]["strict"]["metrics"]["false_flags"]
    (0.0, True, 12.0)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Every hospital has its own practice, so that fixed queries solve no audit; at most a
      third of the claims may be false.
    * v0: first version, never released.
    """
