"""The marathon environments."""

from __future__ import annotations

from healthgym.core.borders import Info
from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.managed_care.marathon.family import (
    AuthorizationMarathon,
    CareMarathon,
    MarathonFamily,
    ReviewMarathon,
)


class _MarathonEnv(DeclaredEnv, family=MarathonFamily):
    """Work a queue of cases at one desk; what the pages of the three desks say alike.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call; what has arrived meanwhile
    stands before it. Long results continue with ``read_more``.

    ## Rewards

    ``sparse``: 1 if every case is solved and the work is handed in with ``finish``, else 0.
    ``shaped``: in the end the share of cases solved; on the way half a point, divided by the number
    of cases, for each that has come to an end, right or wrong, and nothing for opening or reading.
    A case is solved if every check of the single environment passes on what belongs to it, as if it
    were alone, and under ``strict`` nothing that another case alone holds was written into it.

    {checks}

    ## Episode End

    {episode end} With ``days`` it is also over when so many simulated days have passed.

    ## Information

    {information} At the end ``info["tokens"]`` has the tokens of observations that were read:
    ``total``, ``cases`` by case, ``other``, and ``exceeded_at``, the turn with which ``context``
    was exceeded.

    ## Arguments

    {common arguments}
    - `difficulty` (str, "medium"): ``"easy"``, ``"medium"`` or ``"hard"``, as in the single
        environment, and in care management ``"conversations"``. In utilization management also
        ``"drill"``: a nurse's findings on two criteria of each case, with five tools and eight
        calls a case, for small models. Findings written unread are right for a case in nine.
    - `size` (int, 25): Cases of an episode: 25 as in the source, or 1, 3, 5 or 10. A curriculum of
        sizes is ``Curriculum(env, [{"kwargs": {"size": 1}, "episodes": 200, "success": 0.5},
        {"kwargs": {"size": 3}}])`` of ``healthgym.wrappers``; a mixture of sizes is
        ``trl_spec({"one": env_id, "ten": env_id}, env_kwargs={"one": {"size": 1}, "ten": {"size":
        10}})`` of ``healthgym.integrations.trl``.
    - `canonical` (bool, False): Whether the test split is the 25 cases of the canonical suite, with
        25 cases as one episode.
    - `days` (int or None, None): Simulated days after which the episode ends.
    - `context` (int or None, None): Tokens of memory for which the episode is meant. The agent is
        told; notes that it keeps with ``notes.add`` stay.
    - `tokenizer` (function or None, None): Counts the tokens of a text; a quarter of its UTF-8
        bytes if None.
    """

    family: MarathonFamily

    def _info(self) -> Info:
        info = super()._info()
        if self.episode.settled:
            info["tokens"] = self.family.tokens_read(self.episode, self.role)
        return info


class MarathonPriorAuthorizationEnv(_MarathonEnv, family=AuthorizationMarathon):
    """Work a queue of orders at the provider's desk, each to the payer's last word.

    ## Description

    The agent is the prior-authorization coordinator of a medical group. In the inbox lies a message
    for each of several orders, which says who ordered what for a patient of which age and city. All
    of them are the agent's, in any order, in one world and one episode; answers of the payer,
    requests for information, times for calls and deadlines arrive while it is at another order.
    Each is a task of ``HealthAgent/PriorAuthorization-v1``, with its own patient, policy, course
    and verdict. What is hard is to finish: who opens every case, reads a little of each and saves
    part of the work has done nothing.

    In χ-Bench the best agents fall from 30 % of cases solved to 8 % where they have 25 of them in
    one session: they fan out, and no agent submitted a single authorization. There a session runs
    with the first case's person and without calls between physicians; here each case keeps its own.

    ## Action Space

    {tools}

    The desk has as many hands as there are orders: a call takes its simulated time divided by
    their number. ``wait`` lets time pass until something arrives; ``finish`` ends the episode.

    ## Starting State

    The cases of an episode are so many in a row of the tasks of the single environment, drawn under
    one morning and one set of numbers; under one policy there may be several. A case that does not
    fit beside those before it (the same patient, a policy that would rule another's) gets another
    patient or policy, or makes room for another case. No patient of one split is in another.

    ## Information

    {inherited} The verdict's metrics count cases solved, finished, touched and abandoned, missed
    deadlines, calls of a touched case and of none, writes that name things of more than one case,
    and facts that were carried from one case into another.

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/MarathonPriorAuthorization-v1", difficulty="easy", size=1)
    >>> observation, info = env.reset(options={"index": 0})
    >>> "in your inbox" in observation
    True
    >>> observation, *_ = env.step(healthgym.call("inbox.list_messages"))
    >>> "MSG-ORD-0001" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["verdict"]["strict"]["metrics"]["touched"]
    (0.0, True, 0.0)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      25 cases unless fewer are asked for; every case has time for its call.
    * v0: first version, never released.
    """


class MarathonUtilizationManagementEnv(_MarathonEnv, family=ReviewMarathon):
    """Work a queue of requests at the payer's desks, each to its letter.

    ## Description

    The agent plays the people of a health plan. In the intake queue lie several requests, at
    whatever stage each is: just come in, to be triaged, with a nurse, with a physician, before a
    call. All of them are the agent's, in any order, in one world and one episode; replies of
    practices, times for calls and deadlines arrive while it is at another case. Each is a task of
    ``HealthAgent/UtilizationManagement-v1``, with its own patient, policy, call and verdict. What
    is hard is to finish, and to keep what belongs to one case out of another.

    In χ-Bench the best agents fall from 32 % of cases solved to 3 % where they have 25 of them in
    one session, and bring 3 to 8 of them to a decision.

    ## Action Space

    {tools}

    There are as many people at the desks as cases: a call takes its simulated time divided by
    their number. ``wait`` lets time pass until something arrives; ``finish`` ends the episode.

    ## Starting State

    The cases of an episode are so many in a row of the tasks of the single environment, drawn under
    one set of numbers, sent so that all are taken over on one day; under one policy there may be
    several. A case that does not fit beside those before it gets another patient or policy, or
    makes room for another case. No patient of one split is in another.

    ## Information

    {inherited} The verdict's metrics are those of
    ``HealthAgent/MarathonPriorAuthorization-v1``.

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/MarathonUtilizationManagement-v1", difficulty="easy", size=1)
    >>> observation, info = env.reset(options={"index": 0})
    >>> "in the intake queue" in observation
    True
    >>> observation, *_ = env.step(healthgym.call("payer_intake_hub.list_intake_queue"))
    >>> "CASE-" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      25 cases unless fewer are asked for; every case has time for its call.
    * v0: first version, never released.
    """


class MarathonCareManagementEnv(_MarathonEnv, family=CareMarathon):
    """Work a queue of referrals at a care manager's desk, each to where it rightly ends.

    ## Description

    The agent is a care manager of a health plan. In the queue lie several referrals; all of them
    are the agent's, in any order, in one world and one episode, and people who asked to be called
    at another time have to be. Each is a task of ``HealthAgent/CareManagement-v1``, with its own
    person on the phone, programme, ending and verdict. What is hard is to finish, and to say to
    nobody what another one told.

    In χ-Bench the best agents solve none or one of 25 cases in one session, in which every patient
    speaks as the first one would; here each is who they are.

    ## Observation Space

    ``UnicodeText``: first the instruction, then the result of each call. Long results continue with
    ``read_more``.

    ## Action Space

    {tools}

    The desk has as many hands as there are referrals: a call takes its simulated time divided by
    their number. ``wait`` lets time pass; ``finish`` ends the episode.

    ## Starting State

    The cases of an episode are so many in a row of the tasks of the single environment, drawn under
    one morning and one set of numbers. A case that is about somebody who has one already is about
    another person. No patient of one split is in another.

    ## Information

    {inherited} The verdict's metrics are those of
    ``HealthAgent/MarathonPriorAuthorization-v1``.

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/MarathonCareManagement-v1", difficulty="easy", size=1)
    >>> observation, info = env.reset(options={"index": 0})
    >>> "in the referral queue" in observation
    True
    >>> observation, *_ = env.step(healthgym.call("cm_intake.list_referral_queue"))
    >>> "REF-" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      25 cases unless fewer are asked for; every case has time for its call.
    * v0: first version, never released.
    """
