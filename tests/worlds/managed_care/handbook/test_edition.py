"""The written edition: its numbers are the rules', its references lead somewhere."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.managed_care.handbook.draws import decisive_fields, draw, drawn_fields
from healthgym.worlds.managed_care.handbook.edition import (
    edition,
    load_edition,
    supplements,
    written_library,
)
from healthgym.worlds.managed_care.handbook.rules import OperatingRules, TurnaroundHours
from healthgym.worlds.managed_care.handbook.wording import PLACEHOLDER, wording
from healthgym.worlds.managed_care.vocabulary.authorization import PayerRole, SubmissionChannel

USUAL = OperatingRules()
CARD = "---\ntitle: A page\nversion: 2026.1\neffective: 2026-01-01\n---\n"


def test_the_compact_library_has_substance():
    pages = edition().pages(USUAL)
    substantial = [page for page in pages if len(page.text.split()) >= 100]
    assert len(pages) >= 110
    assert len(substantial) >= 90
    assert sum(len(page.text) for page in pages) > 130_000


def test_the_published_branches_are_there():
    top = {path.split("/")[0] for path in edition().templates}
    assert top == {"SKILL.md", "provider-pa", "payer-um", "care-manager", "platform",
                   "medical-library"}  # fmt: skip
    medical = {
        path.split("/")[1] for path in edition().templates if path.startswith("medical-library/")
    }
    assert medical == {
        *("README.md", "drug-pa", "medical-policies", "medical-policies-medicare", "care-plans"),
        *("clinical-guidelines", "exchange-behavioral-health", "pharmacy", "utilization-review"),
    }


def test_every_page_but_the_top_is_referred_to():
    pages = edition().pages(USUAL)
    named = {link.path for page in pages for link in page.links() if link.path != page.path}
    named |= {page.supersedes for page in pages}
    assert {page.path for page in pages} - named == {"SKILL.md"}


def test_no_placeholder_is_left_and_each_shows_the_rules():
    for path, template in edition().templates.items():
        text = template.fill(USUAL).text
        assert "{{" not in text, path
        for match in PLACEHOLDER.finditer(template.page.text):
            assert wording(USUAL, match[1]) in text, (path, match[1])


@pytest.mark.parametrize("name", drawn_fields())
def test_one_number_changes_the_pages_that_state_it_and_no_other(name):
    usual = getattr(USUAL, name)
    other = usual + 7 if isinstance(usual, int) else SubmissionChannel.EDI
    changed = replace(USUAL, **{name: other})
    before = {page.path: page.text for page in edition().pages(USUAL)}
    after = {page.path: page.text for page in edition().pages(changed)}
    differing = {path for path in before if before[path] != after[path]}
    assert differing == set(edition().stating[name])
    assert differing == {page.path for page in edition().overlay(changed)}
    assert differing


def test_a_state_clock_reaches_both_tables():
    hours = {**USUAL.state_hours, "NY": TurnaroundHours(19, 41, 67)}
    changed = replace(USUAL, state_hours=hours)
    text = next(
        page.text for page in edition().overlay(changed) if page.path.endswith("calendars.md")
    )
    assert "| NY | 19 | 41 | 67 |" in text
    assert "41 h, `state:NY`" in text


def test_every_rule_that_is_a_number_is_stated_somewhere():
    stated = edition().stating.keys() | supplements().stating.keys()
    unstated = {
        name
        for name in USUAL.__dataclass_fields__
        if isinstance(getattr(USUAL, name), int | float) and name not in stated
    }
    # The two timers of a case repeat the federal clock, which is stated.
    assert unstated == {"decision_due_days", "decision_due_expedited_hours"}


def test_a_task_overlays_at_most_twenty_pages():
    most = max(
        len(edition().overlay(draw(np.random.default_rng(seed), share=1.0))) for seed in range(5)
    )
    assert 10 <= most <= 20


@pytest.mark.parametrize("most", [2, 6, 12, 20])
def test_rules_can_be_kept_to_a_number_of_pages(most):
    for seed in range(6):
        drawn = draw(np.random.default_rng(seed), share=1.0)
        kept = edition().within(drawn, most)
        assert len(edition().overlay(kept)) <= most
        assert kept.changed_from(drawn).isdisjoint(decisive_fields())
        assert kept.changed_from(drawn) <= drawn.changed_from(USUAL)
    assert edition().within(drawn, 40) is drawn


def test_amendments_are_found_and_later_than_what_they_amend():
    library = written_library()
    lab = "payer-um/operational/bulletins/ob-2026-01-laboratory-results.md"
    announced = "payer-um/operational/bulletins/ob-2026-05-letters-of-necessity.md"
    evidence = "provider-pa/operational/evidence-currency.md"
    assert library.amendments(evidence) == (lab, announced)
    for path in library.paths():
        for amended in library.card(path).amends:
            assert library.card(path).effective > library.card(amended).effective


def test_an_amended_number_is_not_on_the_amended_page():
    stale = edition().templates["provider-pa/operational/evidence-currency.md"]
    assert "lab_age_days" not in stale.fields
    assert "180 days" in stale.page.text


def test_a_superseded_page_says_so_and_names_its_successor():
    superseded = [page for page in edition().pages(USUAL) if page.supersedes]
    assert superseded
    for page in superseded:
        former = written_library().read(page.supersedes)
        assert "**Superseded.**" in former.text
        assert page.path in {link.path for link in former.links()}
        assert former.effective < page.effective


@pytest.mark.parametrize(
    ("files", "where", "what"),
    [
        ({"a.md": "# No card\n"}, "a.md:1", "front matter"),
        ({"a.md": "---\ntitle: A\n# No end\n"}, "a.md:3", "no end"),
        ({"a.md": CARD.replace("version: 2026.1\n", "") + "# A\n"}, "a.md:1", "lacks version"),
        ({"a.md": CARD.replace("2026.1", "new") + "# A\n"}, "a.md:3", "2026.1"),
        ({"a.md": CARD.replace("01-01", "13-41") + "# A\n"}, "a.md:4", "month"),
        ({"a.md": CARD.replace("title", "tilte") + "# A\n"}, "a.md:2", "front matter"),
        ({"a.md": CARD.replace("---\n", "---\naudience: cooks\n", 1) + "# A\n"}, "a.md:2", "cooks"),
        ({"a.md": CARD + "No heading.\n"}, "a.md:6", "heading"),
        ({"a.md": CARD + "# A\n\n{{pend_dyas}} days\n"}, "a.md:8", "pend_dyas"),
        ({"a.md": CARD + "# A\n\nSee [b](b.md).\n"}, "a.md:8", "b.md"),
        ({"a.md": CARD + "# A\n\nSee [b](a.md#b).\n"}, "a.md:8", "a.md#b"),
        ({"a.md": CARD + "# A\n", "A.md": CARD + "# A\n"}, "a.md:1", "duplicate"),
        ({"a.md": CARD + "# A\n\n\xe9\n"}, "a.md:8", "UTF-8"),
        (
            {"a.md": CARD.replace("---\n", "---\nsupersedes: c.md\n", 1) + "# A\n"},
            "a.md:1",
            "c.md",
        ),
    ],
    ids=[
        *("no-card", "no-end", "no-version", "version", "date", "key", "audience", "heading"),
        *("placeholder", "dead-link", "dead-anchor", "duplicate", "encoding", "supersedes"),
    ],
)
def test_a_damaged_folder_names_file_and_line(tmp_path: Path, files, where, what):
    for name, text in files.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(DamagedDataError) as caught:
        load_edition(tmp_path)
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_a_folder_without_pages_is_missing(tmp_path: Path):
    with pytest.raises(MissingDataError, match="no pages"):
        load_edition(tmp_path / "nowhere")


def test_a_role_in_a_sentence_has_its_article():
    """Tables name roles bare; a sentence says which people are meant."""
    roles = "|".join(role.replace("_", " ") for role in PayerRole)
    bare = re.compile(rf"\b(?:[Oo]nly|by|;) (?:{roles})\b")
    for page in written_library().paths():
        assert not bare.search(written_library().read(page).text), page
