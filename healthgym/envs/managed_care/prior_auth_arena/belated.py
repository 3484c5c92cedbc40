"""What went out about a decision after the other side had already answered it.

A provider may appeal as soon as it sees a decision, in the hour in which nobody is in who writes
letters. What the payer then still owes the practice and the member it owes for the decision before.
"""

from __future__ import annotations

from healthgym.envs.managed_care.utilization_management.posted import notice_kind
from healthgym.envs.managed_care.utilization_management.task import ReviewReference
from healthgym.worlds.managed_care.shared import SharedOffices


def with_belated(kept: SharedOffices, now: SharedOffices, truth: ReviewReference) -> SharedOffices:
    """Return the world as it was when a decision was appealed, with what was owed for it since.

    Args:
        kept: The world then; it is not changed.
        now: The world now; the same one if nothing was appealed.
        truth: What was right until then: its letters and notices are those that were owed.
    """
    if kept is now:
        return kept
    told = kept.clone()
    wanted = {*map(str, truth.letters)}
    for letter in now.letters.of(truth.case_id):
        if str(letter.letter_type) in wanted:
            told.letters.letters[letter.id] = letter
    for request_id, request in now.letters.requests.items():
        if request.generated_letter_id in told.letters.letters:
            told.letters.requests[request_id] = request
    owed = {*map(str, truth.notices)}
    for key, message in now.inbox.messages.items():
        if message.case_id == truth.case_id and notice_kind(message) in owed:
            told.inbox.messages[key] = message
    return told
