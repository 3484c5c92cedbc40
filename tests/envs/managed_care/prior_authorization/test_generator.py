"""What tasks are drawn: how often which, what a configuration narrows, what stands in charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from healthgym.core.seeding import Split
from healthgym.core.verdict import Profile
from healthgym.envs.managed_care.cases.handling import handlings
from healthgym.envs.managed_care.cases.situations import Bar, Course, Gap
from healthgym.envs.managed_care.prior_authorization.choices import canonical_requests, choices_of
from healthgym.envs.managed_care.prior_authorization.env import PriorAuthorizationEnv
from healthgym.envs.managed_care.prior_authorization.family import AuthorizationFamily
from healthgym.envs.managed_care.prior_authorization.task import (
    PRESETS,
    AuthorizationConfig,
    AuthorizationInstance,
)
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care.facts import Finding, Measurement
from healthgym.worlds.managed_care.policies.loading import library
from healthgym.worlds.managed_care.policies.tree import criteria
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.vocabulary.authorization import (
    ProviderDeterminationAction,
    ServiceTypeCategory,
)
from tests.envs.managed_care.prior_authorization.playing import (
    FAMILY,
    changed,
    chart_of,
    fails,
    play,
    position,
    solution,
)

ENDINGS = (*Course, *Gap, *Bar)
#: Draws of endings, policies' categories among them; whole tasks are not needed for these.
DRAWS = 3_000


def tasks(config: AuthorizationConfig | str, count: int) -> list[AuthorizationInstance]:
    generator = AuthorizationFamily(config).generator
    return [generator.generate(Split.TRAIN, index) for index in range(count)]


# -- how often which -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", PRESETS)
def test_every_service_is_as_likely_whatever_is_to_be_done(level: str) -> None:
    choices = choices_of(PRESETS[level])
    rng = np.random.default_rng(5)
    count = DRAWS // len(choices.ways)
    for way in choices.ways:
        drawn = [next(choices.cases(way, rng)) for _ in range(count)]
        assert {ending for ending, _ in drawn} == set(way)
        services = Counter(policy.id for _, policy in drawn)
        for group in choices.services:
            share = count / len(choices.services) / len(group)
            assert all(abs(services[name] - share) < 5 * share**0.5 for name in group)


@pytest.mark.parametrize("level", PRESETS)
def test_every_code_of_a_service_is_as_likely_whether_authorized_or_not(level: str) -> None:
    choices = choices_of(PRESETS[level])
    for ending, able in choices.known.items():
        wanted = ending is not Bar.NOT_REQUIRED
        for policies in able.values():
            asked = [
                sum(each.procedures[n].authorization is wanted for each in policies)
                for n in range(len(policies[0].procedures))
            ]
            assert len(set(asked)) == 1


def test_what_is_drawn_is_what_tasks_are_about() -> None:
    kinds = Counter(each.reference.action for each in tasks("medium", 120))
    assert set(kinds) == set(ProviderDeterminationAction)
    assert min(kinds.values()) > 25


@pytest.mark.parametrize("ending", ENDINGS, ids=str)
def test_at_medium_every_category_that_can_end_so_is_drawn(ending: Course | Gap | Bar) -> None:
    able = {policy.category for policy in library().values() if handlings(policy, ending)}
    known = choices_of(PRESETS["medium"]).known[ending].values()
    assert {policies[0].category for policies in known} == able


# -- what a configuration narrows ------------------------------------------------------------------


def test_a_configuration_names_what_is_drawn() -> None:
    config = AuthorizationConfig(
        actions=("gather_more_evidence", "do_not_submit"),  # type: ignore[arg-type]
        gaps=(Gap.ABSENT,),
        bars=("coverage_inactive",),  # type: ignore[arg-type]
        categories=("oncology", "cardiology"),  # type: ignore[arg-type]
        criteria=(8, 12),
    )
    drawn = tasks(config, 24)
    assert {each.task.kind for each in drawn} == {
        "gather_more_evidence-absent",
        "do_not_submit-coverage_inactive",
    }
    assert {each.reference.service_type for each in drawn} == {
        ServiceTypeCategory.ONCOLOGY,
        ServiceTypeCategory.CARDIOLOGY,
    }
    sizes = {len(criteria(each.reference.policy.criteria)) for each in drawn}
    assert sizes <= set(range(8, 13))


def test_a_way_that_no_policy_allows_is_left_out_where_another_is() -> None:
    config = AuthorizationConfig(categories=(ServiceTypeCategory.SURGICAL,))
    submitted = choices_of(config).ways[0]
    assert Course.APPROVED in submitted
    assert Course.GOLD_CARD not in submitted


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"actions": ()}, "actions holds at least one of submit_pa"),
        ({"actions": ("appeal",)}, "actions: 'appeal' is not one of submit_pa"),
        ({"gaps": "absent"}, "gaps holds at least one of insufficient, absent, document"),
        ({"gaps": ("none",)}, "gaps: 'none' is not one of insufficient, absent, document"),
        ({"bars": ("weather",)}, "bars: 'weather' is not one of service_not_pa_required"),
        ({"courses": ()}, "courses holds at least one of approved"),
        ({"categories": ("dental",)}, "categories: 'dental' is not one of"),
        ({"criteria": (0, 3)}, "criteria is a lowest and a highest number from 1 to 20"),
        ({"open_criteria": 0}, "open_criteria lies between 1 and 20"),
        ({"drafted": 1.5}, "drafted is a probability, not 1.5"),
        ({"same_service": -0.1}, "same_service is a probability, not -0.1"),
        ({"patients": 2, "twins": 3}, "there are not more of them"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_what_cannot_be_configured_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigurationError, match=r"[.]$") as refused:
        AuthorizationConfig(**wrong)  # type: ignore[arg-type]
    assert said in str(refused.value)


def test_what_no_policy_gives_is_refused_before_the_first_task() -> None:
    config = AuthorizationConfig(
        actions=(ProviderDeterminationAction.SUBMIT_PA,),
        courses=(Course.GOLD_CARD,),
        categories=(ServiceTypeCategory.SURGICAL,),
    )
    with pytest.raises(ConfigurationError, match="in the categories surgical gives a request that"):
        AuthorizationFamily(config)


# -- the canonical 25 ------------------------------------------------------------------------------


def test_the_canonical_tasks_are_composed_like_the_published_ones() -> None:
    generator = AuthorizationFamily(canonical=True).generator
    assert generator.size(Split.TEST) == len(canonical_requests()) == 25
    drawn = [generator.generate(Split.TEST, index) for index in range(25)]
    kinds = Counter(each.reference.action for each in drawn)
    assert list(map(kinds.get, ProviderDeterminationAction)) == [8, 12, 5]
    endings = Counter(each.task.kind.partition("-")[2] for each in drawn)
    assert {endings[gap.value] for gap in Gap} == {4}
    assert all(endings[bar.value] for bar in Bar)
    assert len({each.reference.service_type for each in drawn}) == len(ServiceTypeCategory)
    for each, asked in zip(drawn, canonical_requests(), strict=True):
        assert each.task.kind.endswith(f"-{asked.ending}")
        assert each.reference.service_type is asked.category


def test_other_splits_of_the_canonical_tasks_end_like_them_under_any_service() -> None:
    generator = AuthorizationFamily(canonical=True).generator
    wanted = Counter(each.ending.value for each in canonical_requests())
    tasks = [generator.generate(Split.TRAIN, index) for index in range(250)]
    actions = Counter(each.reference.action for each in tasks)
    # The published shares of the three actions, within three standard deviations.
    for action, share in zip(ProviderDeterminationAction, (0.32, 0.48, 0.2), strict=True):
        assert abs(actions[action] - 250 * share) < 3 * (250 * share * (1 - share)) ** 0.5
    endings = Counter(each.task.kind.partition("-")[2] for each in tasks)
    assert set(endings) == set(wanted)
    services = {
        action: {each.reference.service_type for each in tasks if each.reference.action is action}
        for action in ProviderDeterminationAction
    }
    assert min(map(len, services.values())) >= 10


def test_the_oracle_solves_every_canonical_task() -> None:
    generator = AuthorizationFamily(canonical=True).generator
    for index in range(25):
        instance = generator.generate(Split.TEST, index)
        episode = play(instance, list(FAMILY.oracle(instance, np.random.default_rng(0))))  # type: ignore[arg-type]
        for profile in Profile:
            assert not fails(episode, profile), (instance.task.kind, profile)


def test_a_canonical_environment_has_so_many_test_tasks() -> None:
    env = PriorAuthorizationEnv(canonical=True)
    with pytest.raises(ConfigurationError):
        env.reset(options={"split": "test", "index": 25})


# -- the handbook ----------------------------------------------------------------------------------


def test_every_reference_of_every_page_leads_somewhere() -> None:
    checked = set()
    for instance in tasks("hard", 12):
        library_ = instance.start.handbook
        for path in library_.paths():
            if path in checked and path not in library_.changed:
                continue
            checked.add(path)
            for link in library_.read(path).links():
                assert link.path in library_, f"{path}:{link.line}: {link.path}"
                assert not link.anchor or link.anchor in library_.read(link.path).anchors()
    assert len(checked) > 150


def test_no_page_names_a_window_of_appeal_but_the_one_that_holds() -> None:
    for instance in tasks("medium", 5):
        start = instance.start
        days = f"{start.operations.internal_appeal_days} calendar days"
        assert days in start.handbook.read("payer-um/operational/appeals.md").text
        page = start.handbook.read(f"medical-library/medical-policies/{next(iter(library()))}.md")
        assert "(payer-um/operational/appeals.md)" in page.text
        assert "Internal appeal, filed" not in page.text


# -- pages that do not count -----------------------------------------------------------------------

TROUBLE = {"corrected": 0.0, "drafted": 0.0, "misfiled": 0.0, "converted": 0.0}


def with_trouble(name: str, count: int, **more: object) -> list[AuthorizationInstance]:
    calm = replace(PRESETS["medium"], **TROUBLE, **more)  # type: ignore[arg-type]
    return tasks(replace(calm, **{name: 1.0}), count)  # type: ignore[arg-type]


def strange(instance: AuthorizationInstance, name: str) -> list[DocumentReference]:
    """Return the pages of a task's chart that are wrong in a way."""
    chart = chart_of(instance)
    if name == "drafted":
        return [page for page in chart.documents if page.signed_at is None]
    if name == "misfiled":
        return [page for page in chart.documents if chart.patient.id not in page.content]
    pairs = pairwise(sorted(chart.documents, key=lambda page: page.id))
    return [page for page, after in pairs if after.title.startswith("Addendum to: ")]


@pytest.mark.parametrize("name", ["drafted", "misfiled", "corrected"])
def test_a_page_that_does_not_count_shows_nothing_and_is_not_to_be_sent(name: str) -> None:
    found = 0
    for instance in with_trouble(name, 16):
        chart, wanted = chart_of(instance), instance.reference
        for page in strange(instance, name):
            found += 1
            assert not chart.shows.get(page.id)
            assert page.id not in wanted.documents
    assert found > 8


def test_nothing_is_wrong_with_charts_that_are_to_be_easy() -> None:
    for instance in tasks("easy", 10):
        assert not any(strange(instance, name) for name in ("drafted", "misfiled", "corrected"))


def test_a_correction_names_the_error_and_states_what_is_true() -> None:
    found = 0
    for instance in with_trouble("corrected", 16):
        chart = chart_of(instance)
        for wrong in strange(instance, "corrected"):
            pages = {page.id: page for page in chart.documents}
            number = int(wrong.id[-3:]) + 1
            right = pages[f"{wrong.id[:-3]}{number:03d}"]
            (fact_id,) = chart.shows[right.id]
            fact = next(fact for fact in chart.facts if fact.id == fact_id)
            assert right.author_name == wrong.author_name
            assert (right.created_at - wrong.created_at).days >= 7
            entry = next(line for line in right.content.splitlines() if line[:2] == "- ")
            assert isinstance(fact, Measurement | Finding)
            value = f" {fact.value:g}" if isinstance(fact, Measurement) else fact.value
            assert value in entry
            assert entry[2:] not in wrong.content
            found += 1
    assert found > 5


@pytest.mark.parametrize("name", ["drafted", "misfiled", "corrected"])
def test_a_page_that_does_not_count_is_held_against_who_sends_it(name: str) -> None:
    only = {"courses": (Course.APPROVED,), "actions": (ProviderDeterminationAction.SUBMIT_PA,)}
    instance = next(each for each in with_trouble(name, 12, **only) if strange(each, name))
    script = solution(instance)
    assert not fails(play(instance, script))
    bundle = script[position(script, "docs.create_submission_bundle")]
    ids = bundle.arguments["document_ids"]
    assert isinstance(ids, list)
    (page, *_) = strange(instance, name)
    more = changed(script, bundle.name, document_ids=[*ids, page.id])
    # One page more may also make the packet too large for its channel.
    assert fails(play(instance, more)) - {"channel_right"} == {"minimum_necessary"}


def test_documents_give_values_in_other_units_and_results_do_not() -> None:
    calm = replace(PRESETS["medium"], **TROUBLE)  # type: ignore[arg-type]
    found = 0
    for plain, other in zip(tasks(calm, 60), with_trouble("converted", 60), strict=True):
        one, two = chart_of(plain), chart_of(other)
        assert one.observations == two.observations
        assert plain.reference.answers == other.reference.answers
        texts = [[page.content for page in chart.documents] for chart in (one, two)]
        found += texts[0] != texts[1]
    assert 2 <= found < 40
