"""The medication reconciliation environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

from healthgym.envs.declared import Common, DeclaredEnv
from healthgym.envs.medication_reconciliation.family import COLLEAGUE, ReconciliationFamily
from healthgym.envs.medication_reconciliation.task import ReconciliationConfig
from healthgym.worlds.reconciliation.world import PHYSICIAN, other_role


class MedicationReconciliationEnv(DeclaredEnv, family=ReconciliationFamily):
    """Agree with a colleague on one medication list, each seeing half of the record.

    ## Description

    A patient with 4 to 10 medicines leaves the hospital. The ward physician has the chart: the
    admission list, what the ward started, kidney function. The community pharmacist has the
    dispensing history, allergies, sales without a prescription and the practice's letters. A
    careful clinician reads their own half, asks for the other, notices what does not fit (a dose
    that was changed since, an order against an allergy, two medicines of one class, a medicine
    that was stopped or is not collected), and signs only what both have checked. It is hard
    because the lists look complete and are not: read alone, the chart is wrong on about 7 lines in
    10 and the pharmacy's half on about as many, and one wrong line fails the list. The agent plays
    one clinician and a scripted colleague the other, who answers what is asked by name, agrees to
    lines that its half does not forbid, and signs last. For agents in both seats there is
    ``HealthArena/MedicationReconciliation-v1``. The task is ours and comes from no benchmark; its
    rules and renal limits are stated, are made for this exercise, and are no guidance for care.

    ## Observation Space

    ``UnicodeText``: first the task with its rules, then the result of each call, after what the
    colleague said and did meanwhile.

    ## Action Space

    {tools}

    The three tools that read a half belong to one role each. A message takes five minutes and
    hands the turn over; the colleague answers before the next observation.

    ## Starting State

    The seed draws the number of medicines and the eGFR, then how each line ends (continue, change,
    stop, clarify; equally often before duplicates are added), then a cause from those that end so,
    a medicine of a class of its own, doses and dates. Most causes have a twin that looks the same
    in one half and ends otherwise: a stopped medicine that was started again, a medicine not
    collected because a clinic supplies it, an order that no allergy forbids. Where duplicates
    occur one is in either half. A record in which one half's own reading is right throughout, or
    in which all lines end alike, is drawn again. ``easy`` has 4 or 5 medicines, healthy kidneys, no
    duplicates and 6 hours until discharge; ``medium`` 6 to 8 medicines and 4 hours; ``hard`` 8 to
    10 and 3 hours. In the latter two half of the patients have an eGFR below 30. No two tasks
    share a record, whatever their split.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``sign`` and every check of the profile passes, else 0.
    ``shaped``: the share of right lines, less the share that ends in the commonest way, rescaled to
    at most 1; paid when the list is signed, and not before: paid for each line, it would say which
    are right. It is 0 where a line is for a medicine that is in neither half, one signature is
    missing, the agent did not read its half, or a line was not agreed to. Doing nothing scores 0.

    {checks}

    No source has a rule for ``paper``; it is the plain one, the right lines under two signatures,
    with the holes left open that ``strict`` closes.

    ## Episode End

    {episode end} A list that is not signed by both when the patient leaves lapses, and whoever has
    not signed is truncated.

    ## Information

    {information} The metrics are the share of right lines, the number of lines, and of lines for
    medicines in neither half.

    ## Arguments

    {common arguments}
    - `difficulty` (str, ReconciliationConfig or dict, "medium"): ``"easy"``, ``"medium"``,
        ``"hard"``, or weights of several.
    - `role` (str, "physician"): The seat that is played: ``"physician"`` or ``"pharmacist"``.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/MedicationReconciliation-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> observation[:31]
    'You are the ward physician; you'
    >>> action = healthgym.call("send_message", text="Which medicines do you have?")
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> "Message from the community pharmacist: My medicines:" in observation
    True
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("sign"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Progress takes chance off and is paid when the list is handed in.
    * v0: first version, never released.
    """

    def __init__(
        self,
        *,
        difficulty: str | ReconciliationConfig | Mapping[str, float] = "medium",
        role: str = PHYSICIAN,
        **common: Unpack[Common],
    ) -> None:
        super().__init__(
            ReconciliationFamily(difficulty, role=role),
            role=role,
            counterparts={other_role(role): COLLEAGUE},
            **common,
        )
