"""How a payer handles a service in one task: its lane, and which codes need an authorization.

A payer moves services in and out of its fast lanes and of its list of codes to be authorized. Were
both the library's, what was ordered would tell what becomes of the request.
"""

from __future__ import annotations

from collections.abc import Iterator

from healthgym.core.records import replace
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap, fits
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.vocabulary.authorization import (
    AuthorizationType,
    ServiceTypeCategory,
)


def handlings(policy: Policy, ending: Course | Gap | Bar) -> tuple[Policy, ...]:
    """Return a policy as a payer may handle it where a request is to end in a way.

    Among them every code is asked for as often as another.

    Args:
        policy: The policy in the library.
        ending: How the request is to end.
    """
    return tuple(each for each in _handled(policy, ending) if fits(each, ending))


def _handled(policy: Policy, ending: Course | Gap | Bar) -> Iterator[Policy]:
    opened = policy
    if not isinstance(ending, Bar) and ending not in (Course.GOLD_CARD, Course.NOTIFICATION):
        # Whoever reviews stays who it is; only the lanes without a review are closed.
        lanes = replace(policy.lanes, gold_card=False, notification_only=False)
        opened = replace(policy, lanes=lanes)
    if ending is not Bar.NOT_REQUIRED and all(each.authorization for each in policy.procedures):
        yield opened
    if _may_exempt(policy):
        for place in range(len(policy.procedures)):
            yield _exempting(opened, place)


def _may_exempt(policy: Policy) -> bool:
    """Return whether one code of several may need no authorization.

    Drugs and transplants always need one, but where the library says otherwise.
    """
    if not all(each.authorization for each in policy.procedures):
        return True
    drug = policy.authorization_type is AuthorizationType.RX
    return (
        len(policy.procedures) > 1
        and not drug
        and policy.category is not ServiceTypeCategory.TRANSPLANT
    )


def _exempting(policy: Policy, place: int) -> Policy:
    """Return a policy one code of which, by its place, needs no authorization."""
    codes = enumerate(policy.procedures)
    return replace(
        policy,
        procedures=tuple(replace(each, authorization=n != place) for n, each in codes),
    )
