"""What the offices say when they refuse: one sentence, and a stable code for whoever counts."""

from __future__ import annotations

from enum import StrEnum

from healthgym.errors import ToolError


class RefusalCode(StrEnum):
    """Why a call is refused."""

    NOT_FOUND = "not_found"
    BAD_ARGUMENT = "bad_argument"
    WRONG_STATE = "wrong_state"
    ILLEGAL_TRANSITION = "illegal_transition"
    DUPLICATE = "duplicate"
    MISSING_TEXT = "missing_text"
    MISSING_SIGNOFF = "missing_signoff"
    OVERRIDE_REQUIRED = "override_required"
    BLOCKED = "blocked"
    INTAKE_INCOMPLETE = "intake_incomplete"
    NO_REVIEWER = "no_reviewer"
    ROLE_FORBIDDEN = "role_forbidden"
    NOT_INDEPENDENT = "not_independent"
    WRONG_OWNER = "wrong_owner"
    CHANNEL_UNSUPPORTED = "channel_unsupported"
    DESK_CLOSED = "desk_closed"
    LIMIT_REACHED = "limit_reached"
    ENDED = "ended"
    #: Refused by a strict world only: the work that the call claims was not done.
    UNSUPPORTED_CLAIM = "unsupported_claim"
    #: Refused by a strict world only: the person has not agreed to it.
    NO_CONSENT = "no_consent"
    #: Refused by a strict world only: what the section or the plan must hold is not there.
    INCOMPLETE = "incomplete"
    #: Refused by a strict world only: a day that cannot be right.
    IMPLAUSIBLE_DATE = "implausible_date"
    #: Refused by a strict world only: more text than anybody would file, or none that is readable.
    UNREASONABLE_TEXT = "unreasonable_text"
    #: Refused by a strict world only: not the time at which the person may be called.
    OUT_OF_HOURS = "out_of_hours"
    #: Refused by a strict world only: a time limit that no rule gives.
    INVENTED_DEADLINE = "invented_deadline"
    #: Refused by a strict world only: policy and provider do not have the fast lane.
    LANE_NOT_ELIGIBLE = "lane_not_eligible"
    #: Refused by a strict world only: the worker is not in.
    OFF_DUTY = "off_duty"


class Refusal(ToolError):
    """A call that the world does not carry out; nothing has changed.

    Args:
        code: Why.
        sentence: What is wrong and what is accepted, for the agent.
    """

    def __init__(self, code: RefusalCode, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
