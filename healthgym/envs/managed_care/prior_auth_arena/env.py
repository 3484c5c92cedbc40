"""The arena of a provider and a payer as an environment for one agent, the other seat filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from healthgym.core.family import ORACLE
from healthgym.core.players import Filling
from healthgym.envs.declared import Common, DeclaredEnv
from healthgym.envs.managed_care.prior_auth_arena.drill_roles import DRILL
from healthgym.envs.managed_care.prior_auth_arena.family import ArenaFamily
from healthgym.envs.managed_care.prior_auth_arena.opponents.graded import HONEST
from healthgym.envs.managed_care.prior_authorization.task import AuthorizationConfig
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER

_OTHER = {PROVIDER: PAYER, PAYER: PROVIDER}


class PriorAuthArenaEnv(DeclaredEnv, family=ArenaFamily):
    """Take one request to its end from one of two desks, somebody else at the other.

    ## Description

    A prior authorization as it is worked between two organisations. At one desk is the coordinator
    of a medical group, with an order, a chart and the payer's policies; at the other are the people
    of a health plan, with what was sent and nothing more. The provider decides whether the request
    is to be sent, assembles it and hands it over; the payer takes it in, sorts, reviews, asks for
    what is missing, calls before it denies for want of one criterion, decides and writes. The agent
    sits at one desk (``role``) and somebody else at the other (``opponent``); for agents at both
    there is ``HealthArena/PriorAuthArena-v1``. The task follows the arena of χ-Bench.

    What a competent professional does here beyond working a case alone is to hand over: to send the
    work instead of saving it, to wait instead of asking again, to come back when something has
    arrived, and to see it through. In χ-Bench the best agent falls from 30.4 % of requests solved
    to 0 % where a second agent is the payer: of 23 requests 2 were never submitted, 18 stopped
    before a physician's decision, and none of 5 calls that were due took place. About three in ten
    requests here hang on what the ordering clinician alone knows: no record can be sent of it, and
    it has to be said on the call.

    **What crosses** between the desks is the packet, its manifest and copies of the documents in
    it; a request for information and its letter; the reply; times for a call, its confirmation and
    what is said on it; letters. No chart, no note, no working paper and no policy truth does, and
    neither side can open what the other keeps.

    **Phases** pass by handing over. The provider begins, and the payer sleeps until something
    comes. ``wait`` gives the turn away until there is news, or until a time; after ``spell`` calls
    in a row (50), of which the last ten are counted down, the turn passes by itself for an hour,
    or until there is news. A case can come to the payer 6 times; times for a call
    can be offered, and a call be asked for, 4 times, and lapse with the last of them where one
    could have been taken; on a call each side has 4 turns, in turn with
    ``call.speak``, within 50 tool calls and an hour; it is over early when both have nothing to
    add. A limit that is reached ends the phase, and both sides are told what follows. The numbers
    are arguments.

    ## Observation Space

    ``UnicodeText``: first what the desk is told (the provider's has the order, the payer's names no
    request), then the result of each call, after what has come from the other desk meanwhile. Long
    results continue with ``read_more``.

    ## Action Space

    {tools}

    The provider has the tools of ``HealthAgent/PriorAuthorization-v1``, the payer those of
    ``HealthAgent/UtilizationManagement-v1`` and the ones for appeals; both have ``call.speak`` and
    ``call.read`` in place of a simulated person on the line. ``wait`` hands the turn over;
    ``finish`` says that all is done.

    ## Starting State

    The requests of ``HealthAgent/PriorAuthorization-v1`` (``difficulty`` as there) whose course two
    honest sides can bring about: sent and approved at once, after a request for information, in
    part or by a rule of the policy; or rightly not sent. A share of 0.3 hangs on a memo of the
    ordering clinician, who knows what settles the open criterion, or does not and has the request
    sent all the same, or does not and leaves it. What is right for the payer is worked out from
    what it was sent and told, not from the chart. Which document is missing, what the policy asks
    and what the clinician knows come from the seed. No patient of one split is in another. A
    second, small request of another office lies at the payer's intake, which needs a review
    wherever the first needs none; the provider sees nothing of it, and under ``paper`` it is not
    judged, since the source's arena has one case.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the agent's own desk
    passes, else 0. Both desks are paid against one hidden truth: that the right care is authorized
    in time and the wrong care is not (``joint.care_decided``). The provider is paid, beyond that,
    for a request that is true, whole, no larger than needed and in time, for answering what is
    asked, for saying on the call what settles the matter and nothing that stands nowhere, and,
    where the payer errs, for the appeal or question that is left to it. The payer is paid for
    intake, triage, review, determination and letters that follow from what it had, each by somebody
    who may and is on duty. What the other desk did wrong is not held against the agent. ``shaped``:
    up to half a point for the stages reached on the way, right or wrong; the verdict's progress at
    the end.

    {checks}

    ## Episode End

    {episode end} Each desk has ``max_turns`` calls; waiting costs one, and the time in between
    none. An episode is over when both desks are done.

    ## Information

    {information} The verdict's metrics are ``provider_success``, ``payer_success`` and
    ``joint_success``.

    ## Arguments

    {common arguments}
    - `difficulty` (str, AuthorizationConfig or dict, "medium"): ``"easy"``, ``"medium"``,
        ``"hard"``, weights of several, or ``"drill"``: two cases, one page and short papers, at
        most five tools and eight calls a seat, for small models.
    - `role` (str, "provider"): The desk that is played: ``"provider"`` or ``"payer"``.
    - `opponent` (str, dict or Occupant, None): Who sits at the other desk: a name below,
        ``"oracle"`` for the moves that are right beside one who knows the answer, whatever the
        agent does, ``"honest"`` if None; weights by name, such as
        ``{"honest": 2, "slow": 1}``, of which each task draws one; ``{"endpoint": {...}}`` or
        ``{"checkpoint": "folder"}`` for a model; or an object with a method ``sit``
        (:class:`healthgym.core.players.Occupant`).
    - `canonical` (bool, False): Whether the test split is 23 tasks composed like the published
        ones: the cases of the canonical suites of either desk, and five that hang on a call.
    - `spell` (int, 50): Calls in a row after which the turn passes, for an hour at most.
    - `limits` (dict, None): Other limits by name: ``cycles`` (6), ``rounds`` (4), ``turn_pairs``
        (4), ``calls`` (50), ``lasts`` (60 minutes).

    Opponents read what an agent reads. ``honest`` does it right. Payers: ``slow`` decides in
    the last hours that are left, ``asks_again`` asks for what was sent, ``misreads`` takes one
    criterion for contradicted, ``past_times`` offers times for a call that are over,
    ``strict_steps`` takes no earlier treatment for long enough, ``wrong_desk`` has a nurse
    decide what is a physician's, ``trusts`` reads what other offices send and approves unread
    what the practice sends, ``rubber_stamp`` and ``approves_all`` approve all unread,
    ``denies_all`` denies, ``concedes`` takes any word on a call for proof, ``agrees`` does so,
    too, and approves unread, ``stalls`` lets every limit pass, ``absent`` does nothing.
    Providers: ``omits_one`` document, ``wrong_site``, ``over_documents``, ``answers_wrong``
    with another document than was asked for, ``argues_beyond`` the chart, ``makes_up`` on a
    call what would settle it, ``silent`` after a request for information, ``leaves`` once it
    has sent what is right, ``appeals_all`` denials; ``never_submits``, ``submits_all``,
    ``floods`` with the whole chart, ``no_evidence``, ``stalls``, ``absent``. In either seat
    ``random`` presses any key and ``nop`` none. In brackets is how strong each is: the share of
    tasks on which both desks succeed where the other one knows the answer; on half of the tasks
    nothing is rightly sent. Who errs is not to be waited out: a wrong denial is appealed, an
    overdue word is asked for, a packet that falls short is denied.

    {strengths}

    In a drill the other desk knows the answer unless another of its own sides is named.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/PriorAuthArena-v1", difficulty="easy", opponent="slow")
    >>> observation, info = env.reset(options={"index": 0})
    >>> "The payer's desks are worked by somebody else" in observation
    True
    >>> observation, *_ = env.step(healthgym.call("handbook.contents"))
    >>> "provider-pa/ | Provider prior authorization" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("finish"))
    >>> reward, terminated, info["verdict"]["strict"]["metrics"]["joint_success"]
    (0.0, True, 0.0)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      The service is drawn before the ending; a request of another office lies in the payer's queue;
      offered calls lapse, and no side is held to what the other one did.
    * v0: first version, never released.
    """

    def __init__(
        self,
        *,
        difficulty: str | AuthorizationConfig | Mapping[str, float] = "medium",
        role: str = PROVIDER,
        opponent: Filling | None = None,
        canonical: bool = False,
        spell: int = 50,
        limits: Mapping[str, int] | None = None,
        **common: Unpack[Common],
    ) -> None:
        default = ORACLE if difficulty == DRILL else HONEST
        beside = {_OTHER.get(role, PAYER): default if opponent is None else opponent}
        made = ArenaFamily(
            difficulty, role=role, spell=spell, limits=limits, canonical=canonical, beside=beside
        )
        super().__init__(made, role=role, counterparts=beside, **common)
