"""What arrives at the payer by a channel, and how fast it is handled."""

from __future__ import annotations

from dataclasses import replace

import pytest

from healthgym.worlds.managed_care.handbook.rules import OperatingRules
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    SubmissionChannel,
    Urgency,
    UrgencyLevel,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.apps.provider.office import CASE, SUBMIT, bundle, fill, office

OPERATIONS = replace(
    OperatingRules(),
    portal_documents_most=1,
    api_documents_most=2,
    expedited_channel=SubmissionChannel.FAX,
)


def sent(
    channel: SubmissionChannel,
    urgency: Urgency = Urgency.STANDARD,
    rules: Rules = Rules.STRICT,
) -> ManagedCareWorld:
    """Return a world in which a packet of two documents and a form was sent."""
    world = office(rules)
    world.__dict__["operations"] = OPERATIONS
    world.cases.put(replace(world.cases.get(CASE), urgency=urgency))
    fill(world)
    packet = bundle(world)
    world.authorizations.finalize(CASE, SUBMIT)
    world.authorizations.submit(CASE, channel, packet)
    return world


def arrived(world: ManagedCareWorld) -> tuple[str, ...]:
    return tuple(document.id for document in world.intake.sent(CASE))


@pytest.mark.parametrize(
    ("channel", "most"),
    [
        (SubmissionChannel.PORTAL, 1),
        (SubmissionChannel.API, 2),
        (SubmissionChannel.EDI, None),
    ],
)
def test_a_gateway_keeps_what_it_takes_and_drops_the_rest(
    channel: SubmissionChannel, most: int | None
) -> None:
    world = sent(channel)
    packet = world.documents.newest_bundle(CASE)
    listed = tuple(each.id for each in world.documents.included_in(packet or ""))
    assert len(listed) > 1
    assert arrived(world) == listed[:most]


def test_an_expedited_request_is_whole_by_its_own_channel() -> None:
    assert len(arrived(sent(SubmissionChannel.FAX, Urgency.EXPEDITED))) > 1
    assert len(arrived(sent(SubmissionChannel.PORTAL, Urgency.EXPEDITED))) == 1


@pytest.mark.parametrize(
    ("channel", "level"),
    [
        (SubmissionChannel.FAX, UrgencyLevel.URGENT),
        (SubmissionChannel.PORTAL, UrgencyLevel.STANDARD),
    ],
)
def test_an_expedited_request_by_another_channel_waits_with_the_rest(
    channel: SubmissionChannel, level: UrgencyLevel
) -> None:
    intake = sent(channel, Urgency.EXPEDITED).intake.get(CASE)
    assert intake.level_of_urgency == level
    assert {line.level_of_urgency for line in intake.line_items} == {level}


def test_a_compatible_world_takes_everything_by_every_channel() -> None:
    world = sent(SubmissionChannel.PORTAL, Urgency.EXPEDITED, Rules.COMPAT)
    assert len(arrived(world)) > 1
    assert world.intake.get(CASE).level_of_urgency == UrgencyLevel.URGENT
