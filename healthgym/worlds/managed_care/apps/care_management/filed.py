"""What may be filed of a call: how far somebody is engaged, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.worlds.managed_care.conversation.mind import Parting, Stage
from healthgym.worlds.managed_care.conversation.surroundings import Answering
from healthgym.worlds.managed_care.records.care import ConversationSession
from healthgym.worlds.managed_care.vocabulary.care import (
    CMEngagement,
    CMOutreachOutcome,
    TerminationReason,
)
from healthgym.worlds.managed_care.voices import Consent, Memory

#: What may be said of somebody's engagement, by what they answered.
_ENGAGEMENT: Mapping[Consent, tuple[CMEngagement, ...]] = {
    Consent.GIVEN: (CMEngagement.ENGAGED, CMEngagement.TENTATIVE),
    Consent.REFUSED: (CMEngagement.REFUSED,),
    Consent.OPEN: (CMEngagement.TENTATIVE, CMEngagement.PENDING),
}


#: What came of a call that the person did not take.
_NOT_REACHED: Mapping[Answering, CMOutreachOutcome] = {
    Answering.NOBODY: CMOutreachOutcome.NO_ANSWER,
    Answering.MACHINE: CMOutreachOutcome.VOICEMAIL,
    Answering.STRANGER: CMOutreachOutcome.WRONG_NUMBER,
}
#: How somebody hangs up who wants no more of it; others only end a talk.
_TURNING_AWAY = frozenset({Parting.REFUSING, Parting.UPSET})


def engagements(session: ConversationSession, heard: Memory) -> tuple[CMEngagement, ...]:
    """Return what may be said of somebody's engagement after a call.

    Args:
        session: The call.
        heard: What the person has in mind.
    """
    return (
        _undecided(session, heard) if heard.consent is Consent.OPEN else _ENGAGEMENT[heard.consent]
    )


def outcome(heard: Memory) -> CMOutreachOutcome:
    """Return what came of the latest call."""
    if heard.consent is Consent.REFUSED:
        return CMOutreachOutcome.DECLINED
    answering = heard.mind.answering if heard.mind is not None else Answering.PERSON
    return _NOT_REACHED.get(answering, CMOutreachOutcome.REACHED)


def _undecided(session: ConversationSession, heard: Memory) -> tuple[CMEngagement, ...]:
    """Return what may be said of the engagement of somebody who has not answered.

    Who was never asked is not tentative, and who hung up is refusing only if it was for that.
    """
    accepted = _ENGAGEMENT[Consent.OPEN]
    if heard.mind is not None and heard.mind.stage is not Stage.INVITED:
        accepted = (CMEngagement.PENDING,)
    if session.termination_reason != TerminationReason.PATIENT_ENDED:
        return accepted
    parting = heard.turns[-1].parting if heard.turns else None
    if parting is None or parting in _TURNING_AWAY:
        accepted = (*accepted, CMEngagement.REFUSED)
    return accepted
