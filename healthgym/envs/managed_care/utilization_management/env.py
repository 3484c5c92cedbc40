"""The utilization-management environment."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.managed_care.utilization_management.family import ReviewFamily


class UtilizationManagementEnv(DeclaredEnv, family=ReviewFamily):
    """Review a request at the payer, from any of its stages to the letter.

    ## Description

    The agent works the payer's desks: it is the intake coordinator, the nurse, the physician who
    decides, the physician who calls, and whoever writes the letter, each under the id of somebody
    who is employed for that and on duty. A practice has asked for a service for one of its
    patients; the case lies at intake, at triage, with a nurse, with a physician, or before a call
    of peers, and what came before was done by other people of the payer's, on record. A competent
    reviewer finds the policy that is in force for the member's plan and state on the day of the
    request, reads what was sent and nothing else, answers each criterion with a document that
    bears on it, and does what follows: approve, hand on, or ask once for just what is missing,
    with the day that the rules give; as a physician approve, approve in part, deny with the
    criterion named and signed, or offer a call where one is due; and then determination, letter to
    the practice by the channel on which the request was submitted, and notice to the member. It is
    hard because the numbers hold for today only, drafts, corrected notes and other patients' pages
    lie in the packet, values come in other units and just short of a limit, people are in at their
    hours, the clock runs on, the practice answers in its own time or not at all, and nobody may
    take two parts in a case. On the extended surface the case may have been denied and appealed:
    then somebody who had no part in the denial reads the file anew, with what the appeal brings;
    or it waits at a front door, and is first taken in there.

    The task is that of χ-Bench's utilization-management domain (its public contract is the
    ``paper`` profile), on a world of our own: the 41 payer tools that its agents had, with their
    names, parameters and records, here with real time, roles, independence and letters that state
    what the rules want. The practice is played by staff of its own, the clinician on the call by
    somebody who tells what is asked for and what is true. Policies, handbook, charts and letters
    are ours; nothing of the source's gated material is used. Clinical rules are made for this
    exercise and are no guidance for care.

    ## Observation Space

    ``UnicodeText``: first the instruction, which names the case, then the result of each call as
    lines and compact tables; what has arrived meanwhile stands before it. Long results continue
    with ``read_more``.

    ## Action Space

    {tools}

    Calls take simulated time: a look two minutes, an entry five, a decision ten, writing fifteen.
    ``wait`` lets time pass until something arrives; ``finish`` ends the episode.

    ## Starting State

    The seed draws where the case is taken over (intake, triage, nurse, physician, call; each as
    often), then how it is rightly decided, of what is possible from there: by a nurse; by a
    physician, to whom the policy reserves it; in part; denied, since a criterion is contradicted;
    approved once what was asked for has come; denied since it does not come, or closed since
    nobody answers; approved by a lane; upheld or overturned on a call; or not to be decided at all
    (not insured, out of network, no authorization needed). What a lane approves and what is not to
    be decided takes no look at the packet and is rarer: half as often as another path at medium
    and hard, a tenth as often at easy (`unreviewed`), so that nobody lives on it. Then a kind of
    service, a policy and a patient as prior authorization draws them, what the practice sends of
    the chart, and the payer's people work the case up to the stage, through the same applications.
    Where the agent begins as the physician, the nurse has mostly erred on what decides the case:
    passed a page over, turned the digits of a value, or gone by a superseded version (`slips`: 0.9
    at medium and hard, as far as such an error would mislead); else the nurse is right.
    Difficulties share no random numbers, and no patient who is meant in one split is meant in
    another. A draw in which what was sent does not deserve the ending, or that could not be decided
    in time, is drawn again. Around stand up to 24 open cases of other members in all stages, and a
    handbook of about 120 pages besides the policies, with the roster of who works when.

    On the extended surface (``tools="extended"``) a front door is a stage before intake, and at
    medium and hard an appeal is another, each as often as the others; all tasks are others than on
    the published surface, and their keys say so.

    At a front door the request has come by fax, EDI or telephone some minutes ago and is open to
    nobody until it is taken in, within the hours of its door: the fax found among others' and
    indexed as what it is, the envelope's sender and control number read from the segments of the
    interchange, or the note of the call filed with the caller's words of urgency, if there were
    any, and a call promised in UTC for the time that the caller wished for on the practice's clock,
    if one was. Then the case goes on from intake.

    What is appealed was denied by the payer's people, the letter has gone out, and the practice
    appeals hours or days later. Overturned and upheld are drawn as often. Overturned:
    documents that were held back come now and carry the request, or everything was there and nurse
    and physician erred (a page passed over, digits turned, a superseded version). Upheld: documents
    come and settle something, though not everything; or the denial stands, though somebody erred on
    something else; or the appeal has no grounds, since it does not name the policy in force and its
    version, whatever the file shows. Pages without bearing come along where nothing else does, as
    often on either side. In half of the tasks directors of appeals may sign denials as well, and
    one of them mostly signed this one.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the profile passes, else
    0. ``shaped``: until the end half a point for what is reached of the stages that were ahead,
    right or wrong (intake, triage, findings by their number, a reviewer's word, a determination, a
    letter that went out; of an appeal: acknowledged, given to a reviewer, findings, decided, the
    member told); at the end the verdict's progress takes its place, so that an empty walk
    pays back its advance, and harm counts. Doing nothing scores 0. What was done before the agent
    came is not asked about.

    {checks}

    ``paper`` judges the state that is left, handed in or not, by the stages that the agent had to
    do. Its rubric judge, a language model, is left out; under the public contract it has what each
    criterion, recommendation, decision and call is worth. What stands in for it under ``strict``:
    of criterion assessments `findings_right`, `values_observed` and `findings_sourced`; of
    recommendation and decision `recommendation_right`, `physician_decision_right` and
    `determination_right`; of the rationale the criteria that an adverse decision names; of points
    resolved, outcome and summary of a call `call_right`; of shortcuts that are forbidden
    `roles_kept`.

    ## Episode End

    {episode end}

    ## Information

    {information}

    ## Arguments

    {common arguments}
    - `difficulty` (str, ReviewConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several. A configuration narrows what is drawn (``stages``, ``paths``,
        ``categories``; each is drawn as often as another that is possible, the paths without a
        review by the share that ``unreviewed`` keeps of them) and says how deep policies are, how
        many cases stand around, and how likely the packet is misleading. ``"drill"`` is one skill
        for small models: a nurse's findings on two criteria, from a page of two lines and one short
        note, with four tools and eight calls; of the checks those of findings, roles, other cases
        and repeated steps are asked.
    - `rules` (str, "strict"): Which rules the offices keep: ``"strict"``, or ``"compat"`` for the
        source's permissiveness, call by call.
    - `handbook` (str, "compact"): ``"compact"``, about 120 pages and the policies, or ``"full"``,
        3,114 pages (39 MB), written once into the user's cache folder, then mapped.
    - `canonical` (bool, False): Whether tasks are composed like the source's 25, and the test split
        is these: taken over at the nurse's (8), intake (5), triage (4), the physician's (4) and
        before a call (4), on the cases of prior authorization's canonical split.
    - `ablate` (str, "none"): Which parts of the handbook are withheld, as in the source's
        ablations: ``"domain"`` (how the offices work), ``"medical"`` (the medical library),
        ``"both"``. Tasks and checks stay the same.
    - `surface` (str, "native"): How tools are called: ``"native"`` for typed calls, ``"cli"`` for
        lines such as ``chi review get_nurse_review_data --case_id CASE-6149``; tools are not
        listed then but explained by ``chi --help``.
    - `tools` (str, "published"): Which tools there are: the source's, or ``"extended"`` by the
        payer's fax room, EDI gateway and call centre, the look-ups of intake, the benefit check,
        the payer's policy library, its appeals desk and its audit. The library goes with the pages
        where policies are withheld. With the desks come requests at the front doors and, at medium
        and hard, appeals; a configuration names the stages (``front_door``, ``appeal``) and the
        paths of appeals (``appeal_upheld``, ``appeal_overturned``) itself. Canonical tasks are the
        same with either.
    - `judge` (Endpoint, dict or RubricJudge, None): A language model that is asked about the
        source's rubrics, by its fields such as ``base_url``, ``model`` and ``votes``: each is one
        more check under ``paper``, met by a strict majority of votes that quote the record where
        the rubric says. What it said is in the record of the episode. By default nobody is asked.
    - `speaker` (Endpoint or dict, None): A language model that finds words for
        the ordering clinician on a call, by its fields such as ``base_url`` and ``model``. What is
        said, told and agreed is decided before it is asked, and where its sentence says more or
        less, another is said. What the model said is in the record of the episode. By default
        nobody is asked.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/UtilizationManagement-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> "is yours" in observation
    True
    >>> action = healthgym.call("handbook.search", query="pends and requests for information")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> "payer-um/operational/pends-and-information-requests.md" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Numbers and days are asked for beside findings; letters and rationales are read; cases that
      nobody reviews are drawn more rarely.
    * v0: first version, never released.
    """
