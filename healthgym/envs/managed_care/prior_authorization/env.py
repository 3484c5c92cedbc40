"""The prior-authorization environment."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily


class PriorAuthorizationEnv(DeclaredEnv, family=AuthorizationFamily):
    """Work a prior authorization from the order to the payer's last word.

    ## Description

    The agent is the prior-authorization coordinator of a medical group. A clinician has ordered a
    service; the agent is told who ordered what for a patient of which age and city, and neither
    the name nor the procedure. A competent coordinator finds the patient among similar ones, the
    order, the coverage on the day, and the policy that is in force for that plan and state (not
    its superseded version, not the one of another plan, with the bulletin that amends it); reads
    which criteria the policy has and what the chart shows of each; and decides. If everything is
    shown: fill the forms truthfully, attach the documents that show it and no others, submit, and
    see it through, whatever the payer answers. If something is open: gather, and name the gaps.
    If it is not to be submitted: say for which reason. It is hard because the numbers hold for
    today only, evidence is in prose as well as in tables, near misses are common (a value just
    short, a course a week too short, a result too old, another unit), and the payer takes nothing
    for granted: its nurses and physicians work in their hours, read the attached documents and
    nothing else, pend, deny, or err and have to be told so on appeal.

    The task is that of χ-Bench's provider prior-authorization domain (its public contract is the
    ``paper`` profile), on a world of our own: its 30 provider tools with their names, parameters
    and records, its 18 case statuses and 48 transitions, here with real time, roles and rules, and
    a payer that answers. Policies, handbook, charts and letters are ours; nothing of the source's
    gated material is used. Clinical rules are made for this exercise and are no guidance for care.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call as lines and compact
    tables; what has arrived meanwhile stands before it. Long results continue with ``read_more``.

    ## Action Space

    {tools}

    Calls take simulated time: a look two minutes, an entry five, a decision ten, writing fifteen.
    ``wait`` lets time pass until something arrives; ``finish`` ends the episode.

    ## Starting State

    The seed draws the right action (submit, gather, do not submit; a third each), then a kind of
    service and a policy of it, each as often whatever the action is, so that what was ordered tells
    nothing of it (the library has 29 policies, at least two for each of 13 kinds, 2 to 19 criteria;
    one that is longer than a difficulty wants stands in a shorter edition, branches left out). Then
    why the action is right: eleven courses of a submission (approved by a nurse; pended for a
    document that is sent on request only; partly approved; gold card; notification; delegated,
    specialty and vendor review; about to be denied by a superseded version and put right on a call
    of peers; denied so and overturned on appeal, or by an external reviewer), three kinds of gaps
    (insufficient, absent, a required document not on file), four bars (no authorization needed,
    coverage ended, out of network, a criterion contradicted); those that few policies allow more
    often where they can be. Then how the payer handles the service (which code needs no
    authorization, whether a lane without a review is open), the policy's numbers, its rivals in the
    handbook, and a patient
    whose chart, drawn from one clinical model, makes it so. Difficulties share no random numbers,
    and no patient who is meant in one split is meant in another. A draw in which the finished chart
    does not deserve the ending is drawn again. Some charts hold pages that do not count (a note
    that a later one corrects, a draft that nobody signed, another patient's page) or give values in
    another unit; the handbook says what holds then. Around stand other patients, some of them alike
    and with an order for the same service, their open cases, and a handbook of about 120 pages
    besides the policies.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the profile passes, else
    0. ``shaped``: until the end half a point, in five steps, for stages that are reached, right
    or wrong (a case, a decision, a submission or its withholding, an answer, an end); at the end
    the verdict's progress takes its place, so that an empty walk pays back its advance, and harm
    counts. Doing nothing scores 0.

    {checks}

    ``paper`` judges the state that is left, handed in or not. The source expects a submitted
    request to stay ``submitted``; where the payer answers that is no right ending, and the status
    expected is the one that the answer leads to. Its rubric judge, a language model, is left out
    unless ``judge`` names one: in the published runs it decided none of the provider's tasks. What
    stands in for its rubrics under ``strict``: *forms_true* and *nothing_invented* for what is
    claimed of the chart, *case_right* for the service, *packet_shows* for the checklist,
    *grounds_named* for a request that is not sent, which the source does not have judged.

    ## Episode End

    {episode end}

    ## Information

    {information}

    ## Arguments

    {common arguments}
    - `difficulty` (str, AuthorizationConfig or dict, "medium"): ``"easy"``, ``"medium"``,
        ``"hard"``, or weights of several.
        A configuration narrows what is drawn (``actions``, ``courses``, ``gaps``, ``bars``,
        ``categories``) and says how deep policies are, how much stands around, and how likely the
        chart's paper is wrong.
        ``"drill"`` is one skill for small models: to decide on an open case, from a page of two
        lines and one short note, with four tools and eight calls; of the checks those of the
        decision and its grounds are asked, and those that hold for every case.
    - `rules` (str, "strict"): Which rules the offices keep: ``"strict"``, or ``"compat"`` for the
        source's permissiveness, call by call.
    - `handbook` (str, "compact"): ``"compact"``, about 120 pages and the policies, or ``"full"``,
        3,114 pages (39 MB) with other payers' policies, former versions, minutes and casebooks
        around them; written once, in some seconds, into the user's cache folder
        (``XDG_CACHE_HOME``), then mapped.
    - `canonical` (bool, False): Whether tasks are composed like the source's 25, and the test split
        is these: 8 to submit, 12 to gather evidence for, 5 not to submit.
    - `ablate` (str, "none"): Which parts of the handbook are withheld, as in the source's
        ablations: ``"domain"`` (how the offices work), ``"medical"`` (the medical library),
        ``"both"``. Tasks and checks stay the same.
    - `surface` (str, "native"): How tools are called: ``"native"`` for typed calls, ``"cli"`` for
        lines such as ``chi chart search_patients --last_name Stone``; tools are not listed then
        but explained by ``chi --help``.
    - `tools` (str, "published"): Which tools there are: the source's, or ``"extended"`` by the
        benefit check, the payer's policy library, its portal and its API, by which an undecided
        request can be withdrawn. The library goes with the pages where policies are withheld.
    - `source` (str, "synthetic"): Where the payer's policies come from: the library of this
        package, or a folder with ``coverage-determinations``, ``questionnaires`` and
        ``davinci-pas``, whose published questions and limits then are the criteria; which answers
        lead to coverage, and every patient, is made up all the same.
    - `judge` (Endpoint, dict or RubricJudge, None): A language model that is asked about the
        source's rubrics, by its fields such as ``base_url``, ``model`` and ``votes``: each is one
        more check under ``paper``, met by a strict majority of votes that quote the record where
        the rubric says. What it said is in the record of the episode. By default nobody is asked.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/PriorAuthorization-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> "prior authorization coordinator" in observation
    True
    >>> action = healthgym.call("handbook.search", query="naming gaps")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> "provider-pa/operational/naming-gaps.md" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      The service is drawn before the ending, and which code needs no authorization for each task.
    * v0: first version, never released.
    """
