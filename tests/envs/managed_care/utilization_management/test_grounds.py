"""What a denial may name: any branch that fails, and nothing that another makes needless."""

from __future__ import annotations

import pytest

from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.utilization_management.task import (
    Path,
    ReviewInstance,
    StartStage,
)
from healthgym.worlds.managed_care.policies.postures import failing
from tests.envs.managed_care.utilization_management.playing import (
    DECIDE,
    MD,
    Script,
    changed,
    fails,
    first_of,
    play,
    rows,
    solution,
    task,
)

STAGE = StartStage.MD_REVIEW


def against(instance: ReviewInstance) -> set[str]:
    """Return the criteria that the packet contradicts."""
    return {name for name, result in instance.reference.final.items() if str(result) == "not_met"}


def on_failing_parts(instance: ReviewInstance) -> set[str]:
    """Return the criteria on the parts of the policy that are not carried."""
    wanted = instance.reference
    return set(failing(wanted.policy.criteria, wanted.postures))


def other_branches(instance: ReviewInstance) -> set[str]:
    """Return contradicted criteria of failing branches besides those that are named by default."""
    found = against(instance) & on_failing_parts(instance) - instance.reference.denied_on
    return found & {row["criterion_id"] for row in rows(solution(instance), MD)}


def branches_that_the_nurse_got_right(instance: ReviewInstance) -> set[str]:
    """Return those, where nothing else has to be put right."""
    found = other_branches(instance)
    return found if instance.reference.slipped <= found else set()


def needless(instance: ReviewInstance) -> set[str]:
    """Return contradicted criteria that a satisfied alternative makes needless."""
    found = against(instance) - on_failing_parts(instance)
    return found & {row["criterion_id"] for row in rows(solution(instance), MD)}


def resting_on(instance: ReviewInstance, names: set[str]) -> Script:
    """Return a denial that looks at some criteria alone, and names them."""
    script = solution(instance)
    seen = [row for row in rows(script, MD) if row["criterion_id"] in names]
    policy = instance.reference.policy
    told = f"{policy.id}, version {policy.version}: not met: {', '.join(sorted(names))}."
    script = changed(script, MD, -1, evaluations=seen)
    return changed(script, DECIDE, -1, denial_rationale=told, determination_rationale=told)


@pytest.mark.parametrize("profile", Profile)
def test_a_denial_may_rest_on_another_branch_that_fails(profile: Profile) -> None:
    instance = first_of(STAGE, Path.DENIED, branches_that_the_nurse_got_right)
    script = resting_on(instance, other_branches(instance))
    episode = play(instance, script)
    assert fails(episode, profile) == set()
    letter = episode.world.letters.of(instance.reference.case_id)[-1]
    assert all(f"- {name}:" in letter.body for name in other_branches(instance))


def test_a_denial_rests_on_nothing_that_an_alternative_makes_needless() -> None:
    instance = first_of(STAGE, Path.DENIED, needless)
    named = needless(instance)
    script = solution(instance)
    told = f"Not met: {', '.join(sorted(named))}."
    script = changed(script, DECIDE, -1, denial_rationale=told, determination_rationale=told)
    assert "physician_decision_right" in fails(play(instance, script))


def several_grounds(instance: ReviewInstance) -> set[str]:
    """Return contradicted criteria on failing parts, where there are several to choose from."""
    found = against(instance) & on_failing_parts(instance)
    seen = {row["criterion_id"] for row in rows(solution(instance), MD)}
    found &= seen
    return found if len(found) > 1 and other_branches(instance) else set()


def listed(text: str) -> set[str]:
    """Return the criteria that a letter lists as not met."""
    return {line[2:].split(":")[0] for line in text.splitlines() if line.startswith("- C")}


def test_a_letter_lists_what_the_rationale_names_and_nothing_else() -> None:
    instance = first_of(STAGE, Path.DENIED, several_grounds)
    name = min(other_branches(instance))
    number = name.removeprefix("C")
    for told in (f"{name} is not met.", f"Not met: criterion {number}."):
        script = changed(solution(instance), DECIDE, -1, denial_rationale=told)
        episode = play(instance, script)
        assert fails(episode) == set()
        assert listed(episode.world.letters.of(instance.reference.case_id)[-1].body) == {name}


def test_a_letter_lists_all_that_the_physician_found_where_no_criterion_is_named() -> None:
    instance = first_of(STAGE, Path.DENIED, several_grounds)
    script = changed(solution(instance), DECIDE, -1, denial_rationale="It is not necessary.")
    episode = play(instance, script)
    body = episode.world.letters.of(instance.reference.case_id)[-1].body
    assert listed(body) >= several_grounds(instance)
    assert "letters_right" not in fails(episode)


def test_a_letter_never_lists_what_is_found_met() -> None:
    instance = first_of(STAGE, Path.DENIED, several_grounds)
    final = instance.reference.final
    met = min(name for name, found in final.items() if str(found) == "met")
    name = min(other_branches(instance))
    told = f"{name} is not met, {met} is."
    episode = play(instance, changed(solution(instance), DECIDE, -1, denial_rationale=told))
    assert listed(episode.world.letters.of(instance.reference.case_id)[-1].body) == {name}


def test_a_partial_approval_is_told_as_a_limit() -> None:
    instance = task(STAGE, Path.PARTLY)
    episode = play(instance, solution(instance))
    told = [one.body for one in episode.world.inbox.messages.values() if "We approved" in one.body]
    assert told
    for body in told:
        assert "do not show" not in body
        assert "more than your plan allows at a time: " in body
