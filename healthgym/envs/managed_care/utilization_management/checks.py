"""What a review is judged by under the strict profile."""

from __future__ import annotations

from healthgym.core.verdict import Check, Harm
from healthgym.envs.managed_care.checks.rule import FailureMode

DOOR = Check(
    "front_door_right",
    "What came by fax, EDI or telephone was taken in within the time of its door, and as it came: "
    "the fax indexed as what it is; sender and control number those of the envelope; one note, "
    "with caller, number and service, the urgency that was claimed in the caller's words, or none; "
    "and a call promised if and as it was asked for.",
    loophole="the source's agents had no front doors; any nine digits open an EDI request, and any "
    "note a call",
    failure_mode=FailureMode.TOOL_USE,
)
INTAKE = Check(
    "intake_right",
    "The intake says which diagnoses, line and requesting provider the request has, and its four "
    "decisions are right; after a reply they are confirmed again.",
    loophole="in the source the decisions alone are compared, and any line will do",
    failure_mode=FailureMode.TOOL_USE,
)
TRIAGE = Check(
    "triage_right",
    "Urgency, gold card, disposition and lane are right, and hours, rule and deadline are those of "
    "the rules for the member's state, to the minute.",
    loophole="hours and deadline are never compared, and any lane can be had for the asking",
    failure_mode=FailureMode.POLICY,
)
FINDINGS = Check(
    "findings_right",
    "Whoever reviews writes down what is found, and each criterion has the result that the packet "
    "shows, by who looked at it last; one that a satisfied alternative makes needless may stay "
    "open.",
    weight=2.0,
    loophole="findings are a judge's business in the source, and without one nobody's",
    failure_mode=FailureMode.CRITERIA,
)
OBSERVED = Check(
    "values_observed",
    "Beside a result that numbers decide stand these, beside a diagnosis, a procedure or a finding "
    "its day; and what is entered is what the packet shows, in whichever unit it is measured.",
    loophole="a guess that all is well, by whoever knows the policy and opens no document",
    failure_mode=FailureMode.INVENTED,
)
SOURCED = Check(
    "findings_sourced",
    "Each finding that a criterion is met or not met names a document of the packet that bears on "
    "it, if there is one, at most one that does not (two, where none does), and none that is not "
    "there or about somebody else.",
    weight=2.0,
    loophole="citing everything, citing nothing, one page for every criterion",
    failure_mode=FailureMode.INVENTED,
)
RECOMMENDED = Check(
    "recommendation_right",
    "The nurse recommends what the findings call for, and once a question is answered again.",
    weight=2.0,
    loophole="approving everything, pending everything, handing everything on",
    failure_mode=FailureMode.CRITERIA,
)
INFORMATION = Check(
    "information_right",
    "What is asked for is what is missing, by criterion or kind of document, and nothing that is "
    "there; until the day that the rules give; no oftener than they allow.",
    weight=2.0,
    loophole="asking for everything, or for more information",
    failure_mode=FailureMode.SKIPPED,
)
DECIDED = Check(
    "physician_decision_right",
    "The physician's decision is the right one, signed, with the units that the policy allows; an "
    "adverse one, or one that leads to a call, names a criterion that it rests on, and none that "
    "the packet shows or that no physician found against the request.",
    weight=2.0,
    loophole="any words are a rationale in the source, and a nurse's findings a physician's",
    failure_mode=FailureMode.CRITERIA,
)
CALL = Check(
    "call_right",
    "The call was held at its time for a physician who may, what the case hangs on was asked, at "
    "most one criterion was raised besides, the outcome follows from what was established, and the "
    "summary names the criterion and that.",
    weight=2.0,
    loophole="an outcome without a word, since the other side's greeting counts as a call; asking "
    "about every criterion there is",
    failure_mode=FailureMode.SKIPPED,
)
ACKNOWLEDGED = Check(
    "appeal_acknowledged",
    "The appeal was acknowledged, by somebody of the plan's, within the business days of the "
    "rules.",
    loophole="the source knows no acknowledgement",
    failure_mode=FailureMode.SKIPPED,
)
INDEPENDENT = Check(
    "appeal_independent",
    "One person read the file anew and decided the appeal, who is employed for it and had no part "
    "in the denial.",
    loophole="in the source a flag is set, and whoever denied decides; nobody at all passes, too",
    failure_mode=FailureMode.POLICY,
)
ANSWERED = Check(
    "appeal_decision_right",
    "The appeal ended as the file and its grounds make it end, with the approval that follows from "
    "an overturn; the reason names the policy in force, its version, and, unless the appeal has no "
    "grounds, a criterion that the outcome rests on and none that speaks for the other.",
    weight=2.0,
    loophole="one outcome for every appeal; the words of the denial, or of the appeal, once more",
    failure_mode=FailureMode.CRITERIA,
)
DETERMINED = Check(
    "determination_right",
    "The determination is the right one, and made by a lane only where a lane decides.",
    weight=2.0,
    loophole="one word for every case",
    failure_mode=FailureMode.CRITERIA,
)
UNDECIDED = Check(
    "nothing_decided",
    "Nothing is determined, and no letter or notice went out, where there is nothing to decide.",
    idle=True,
    loophole="one word for every case",
    failure_mode=FailureMode.POLICY,
    harm=Harm.WRONG_SUBMISSION,
)
LETTERS = Check(
    "letters_right",
    "Just the letters and notices that the case calls for went out, each once; each letter was "
    "delivered by the channel on which the request was submitted, states what the rules want in "
    "it, as the records have it, and says no other decision in words of somebody's own.",
    loophole="letters are a subset in the source, undelivered and unread, and a remark may deny",
    failure_mode=FailureMode.TOOL_USE,
)
ROLES = Check(
    "roles_kept",
    "Whatever was done was done by somebody employed for it, the nurse of the case had no other "
    "part in its review, and nobody was overridden.",
    idle=True,
    loophole="unknown people decide, one person reviews twice, an override gives any decision",
    failure_mode=FailureMode.POLICY,
)
IN_TIME = Check(
    "in_time",
    "The limit for the decision did not pass before there was one.",
    idle=True,
    loophole="the source's clock stands still",
    failure_mode=FailureMode.STUCK,
    harm=Harm.LATE,
)
FOREIGN = Check(
    "others_untouched",
    "No record of another case was added, changed or taken away.",
    idle=True,
    loophole="the source watches eight actions, none of them a payer's",
    failure_mode=FailureMode.TOOL_USE,
    harm=Harm.FOREIGN_WRITE,
)
ONCE = Check(
    "no_step_twice",
    "No finished step was taken again: a confirmation, a review, a word, a letter, a delivery.",
    idle=True,
    loophole="in the source the last of several records counts, and which that is can be tried out",
    failure_mode=FailureMode.TOOL_USE,
)
WORDED = Check(
    "words_sound",
    "Whatever was written about the case in somebody's own words can stand: filled in, civil, not "
    "taken back, of the decision that was made, with no day, number, name, finding, person, "
    "conversation or saying that nobody could see, and the words of a criterion are its own.",
    idle=True,
    loophole="notes, reasons and summaries are read by nobody in the source, but for a judge",
    failure_mode=FailureMode.INVENTED,
)
ENDED = Check(
    "ends_right",
    "The case stands where the right work leads.",
    weight=2.0,
    failure_mode=FailureMode.STUCK,
)
STRICT = (
    DOOR, INTAKE, TRIAGE, FINDINGS, OBSERVED, SOURCED, RECOMMENDED, INFORMATION, DECIDED, CALL,
    ACKNOWLEDGED, INDEPENDENT, ANSWERED, DETERMINED, UNDECIDED, LETTERS, ROLES, IN_TIME, FOREIGN,
    ONCE, WORDED, ENDED,
)  # fmt: skip
