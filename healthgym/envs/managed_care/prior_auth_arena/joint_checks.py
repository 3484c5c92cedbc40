"""What is asked of the two sides together, and of what passes between them."""

from __future__ import annotations

from healthgym.core.verdict import Check, Harm
from healthgym.envs.managed_care.checks.rule import FailureMode

OUTCOME = Check(
    "joint.care_decided",
    "The request stands in the end where the hidden truth has it: what is right is authorized, "
    "what is not is neither sent nor authorized.",
    weight=2.0,
    loophole="two sides that agree with each other about anything",
    failure_mode=FailureMode.CRITERIA,
)
WHOLE = Check(
    "joint.packet_whole",
    "The payer holds the documents that were listed as sent, each of them and no other.",
    failure_mode=FailureMode.TOOL_USE,
)
ANSWERED = Check(
    "joint.pends_answered",
    "Each request for information that was rightly made was answered, with what settles it.",
    idle=True,
    loophole="an answer that brings something else closes a pend in the source",
    failure_mode=FailureMode.SKIPPED,
)
ORDERED = Check(
    "joint.dates_in_order",
    "Sent, received, asked, answered, determined and written follow each other on the clock, and "
    "the word was there before its limit.",
    idle=True,
    loophole="the source compares times on a clock that stands still",
    failure_mode=FailureMode.POLICY,
    harm=Harm.LATE,
)
IDLE = Check(
    "payer.nothing_invented",
    "Where nothing was handed in, nothing was determined and no letter went out.",
    idle=True,
    failure_mode=FailureMode.TOOL_USE,
    harm=Harm.FOREIGN_WRITE,
)
HELD = Check(
    "joint.call_held",
    "Where one criterion alone was left open after the answer, a call was held: both spoke, and "
    "the outcome was recorded after it, with the payer still there.",
    loophole="in the source no required call took place",
    failure_mode=FailureMode.SKIPPED,
)
AGREED = Check(
    "joint.positions_hold",
    "Both positions at the end of a call, its outcome and the determination are those that follow "
    "from what was said.",
    weight=2.0,
    loophole="agreeing with nothing said, or against what was said",
    failure_mode=FailureMode.CRITERIA,
)
TOLD = Check(
    "provider.fact_told",
    "What the ordering clinician alone knows of the criterion in dispute, and what settles it, was "
    "said on the call, with its days.",
    weight=2.0,
    loophole="asking for an approval and giving no reason",
    failure_mode=FailureMode.SKIPPED,
)
LED = Check(
    "payer.call_led",
    "On the call the payer named the criterion in dispute, and the note of the outcome names it "
    "and the day of what turned it.",
    loophole="agreeing to whatever is said",
    failure_mode=FailureMode.SKIPPED,
)
TRUE = Check(
    "provider.call_true",
    "What the provider said on a call stands in its records, the policy, or a clinician's memo.",
    idle=True,
    loophole="in the source nobody compares what is said with anything",
    failure_mode=FailureMode.INVENTED,
)
HONEST = Check(
    "payer.call_true",
    "What the payer said on a call stands in what it was sent or told, or in the policy.",
    idle=True,
    loophole="in the source nobody compares what is said with anything",
    failure_mode=FailureMode.INVENTED,
)
TIMELY = Check(
    "provider.sent_in_time",
    "The request was sent, or the reason recorded why it is not, by the time that is given.",
    failure_mode=FailureMode.STUCK,
    harm=Harm.LATE,
)
