"""The care-management environment."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.managed_care.care_management.family import CareFamily


class CareManagementEnv(DeclaredEnv, family=CareFamily):
    """Care for a referred member: chart, telephone, assessment and plan, or a respected no.

    ## Description

    The agent is a care manager of a health plan. Members are referred for more care than an office
    visit gives; the agent is told about one of them by circumstances, without a name. A competent
    care manager finds the referral among similar ones, chooses programme and priority by the
    numbers that hold today, reads the chart, and then calls. On the phone everything that matters
    is said by a person: somebody who wants to know who is calling, may be at work, may be afraid
    of the bill, may say no and mean it. Consent is what the person answers after having been told
    what it is about, not what the caller writes down. Who agreed is asked, with permission and a
    few questions at a time, what the record leaves open: how each medicine is really taken, how
    the days are (the PHQ-9 and the GAD-7, item by item, answered in everyday words), what gets in
    the way. What was told becomes four sections, the sections become a plan; danger to life is
    answered before anything else. A refusal for good is thanked for and ends the episode, and an
    assessment which the person breaks off stays open with its reason: both are right answers.
    It is hard because a call is short (20 messages of both sides) and the person remembers
    everything, because a second no is final, because the polite question at the wrong moment is a
    breach, and because nothing may be filed that neither chart nor person has said.

    The task is that of χ-Bench's care-management domain (its public contract is the ``paper``
    profile), on a world of our own: its 16 tools with their names, parameters and records, its
    19 transitions of an episode, here with a clock, hours of calling and rules, and a person who
    is no language model: a deterministic recogniser reads dialogue acts from the words, and where
    it is unsure the person asks back. Handbook, charts and persons are ours; nothing of the
    source's gated material is used. Clinical rules are made for this exercise and are no guidance
    for care.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call as lines and compact
    tables. Long results continue with ``read_more``.

    ## Action Space

    {tools}

    Calls take simulated time: a look and each exchange on the phone two minutes, an entry five, a
    section ten, writing fifteen. ``wait`` lets time pass; ``finish`` ends the episode.

    ## Starting State

    The seed draws the ending that is right (a plan for 60 of 100 episodes, a respected refusal for
    15, an assessment that stays blocked for 25; at easy 67, 8 and 25, since a likely class and a
    short call are all that a refusal takes), a condition of 22, a programme in which that can be,
    and a person: one of five kinds, ready, hesitant, refusing at first or for good, with worries,
    hints, what has to happen before they agree and what makes them refuse, answers to every item
    and question, medicines as they are really taken, a good or a bad time for the call. Patient and
    chart are drawn from one clinical model; other referrals stand in the queue, some of them alike.
    The handbook's numbers are drawn anew for each task. Difficulties share no random numbers, and
    nobody who is meant in one split is meant in another.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the profile passes, else
    0. ``shaped``: until the end up to half a point for stages that are reached, right or wrong (an
    episode, a review, a person who is verified and told why, an answer either way, subjects talked
    about, sections, a plan, an end); at the end the verdict's progress takes its place, and harm
    counts. Doing nothing scores 0.

    {checks}

    ``paper`` judges the state that is left, handed in or not, by the 14 deterministic checks of
    the public contract (edition ``cm_v4``). The source has one right ending, a finalized plan.
    Where a refusal is right, ``paper`` expects the episode to be ``disenrolled``, and where the
    assessment cannot be finished ``assessment_blocked``; of the source's checks those of the chart
    review and those across stages then apply, with the actions that lead there, and those of
    assessment and plan do not. The gates of edition ``cm_v3`` are in the package and in no task's
    contract, as in the public tasks; what they ask is part of *plan_follows* and *sections_true*.

    The source's five rubrics, judged by a language model, are left out; what stands in for them
    under ``strict``: for the conduct of the call *identity_first*, *told_before_asked*,
    *no_harvesting* and *listened*; for the legitimacy of consent *consent_true*, *no_pressure*,
    *no_promise*, *no_reframing* and *refusal_respected*; for the truth of the assessment
    *asked_enough*, *sections_true* and *blocked_right*; for the fit of the plan *plan_follows* and
    *escalated*; for privacy *privacy_kept*. Each reads what the person understood and remembers,
    or a typed record, never the elegance of a sentence.

    ## Episode End

    {episode end}

    ## Information

    {information}

    ## Arguments

    {common arguments}
    - `difficulty` (str, CareConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several. A configuration narrows what is drawn: endings, conditions,
        programmes, persons, how much stands around. ``"conversations"`` is what makes calls hard:
        people who are not there, hear badly, speak another language, are moody or looked after by
        others, and every ending there is. ``"drill"`` is one skill for small models:
        one call in an open episode, five tools and eight calls, with somebody who is ready, has
        one worry, or refuses for good; of the checks it asks those of the call and its record.
    - `rules` (str, "strict"): Which rules the office keeps: ``"strict"``, or ``"compat"`` for the
        source's permissiveness, call by call. The source's patients forget every call, so that
        ``"compat"`` needs ``profile="paper"``, drills aside.
    - `handbook` (str, "compact"): ``"compact"``, about 120 pages and the policies, or ``"full"``,
        3,114 pages (39 MB), written once into the user's cache folder (``XDG_CACHE_HOME``).
    - `canonical` (bool, False): Whether tasks are composed like the source's 25, by condition and
        person, and the test split is these.
    - `ablate` (str, "none"): Which parts of the handbook are withheld: ``"domain"`` (how the
        offices work), ``"medical"`` (the medical library), ``"both"``.
    - `surface` (str, "native"): How tools are called: ``"native"`` for typed calls, ``"cli"`` for
        lines such as ``chi cm_intake list_referral_queue``.
    - `tools` (str, "published"): Which tools there are: the source's, or ``"extended"``, in which
        a message may have a list of the acts that are meant by it. The list helps ordinary acts to
        be understood, and never proves consent, a promise, pressure or a breach of privacy.

    - `judge` (Endpoint, dict or RubricJudge, None): A language model that is asked about the
        source's rubrics, by its fields such as ``base_url``, ``model`` and ``votes``: each is one
        more check under ``paper``, met by a strict majority of votes that quote the record where
        the rubric says. What it said is in the record of the episode. By default nobody is asked.
    - `speaker` (Endpoint or dict, None): A language model that finds words for
        the person on the phone, by its fields such as ``base_url`` and ``model``. What is
        said, told and agreed is decided before it is asked, and where its sentence says more or
        less, another is said. What the model said is in the record of the episode. By default
        nobody is asked.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/CareManagement-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> "care manager" in observation
    True
    >>> action = healthgym.call("handbook.read", path="care-manager/operational/consent.md")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> "What has to be said first" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      More acts are heard, and heard more narrowly; reasons of a blocked assessment have a kind
      and a quotation; refusals and blocked assessments are a smaller share of the tasks.
    * v0: first version, never released.
    """
