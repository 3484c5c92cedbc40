"""A policy as a page of the handbook, and its questionnaire.

Everything on a page follows from the policy; headings and sentences are chosen from several by the
policy's id, so pages differ, and each is the same whenever it is made. Each number stands on the
page once in a fixed form, so that it can be read back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from healthgym.core.borders import JsonDict
from healthgym.core.seeding import stable_hash
from healthgym.worlds.managed_care.policies.checking import meaning
from healthgym.worlds.managed_care.policies.criteria import AnyCriterion
from healthgym.worlds.managed_care.policies.documents import documents_for
from healthgym.worlds.managed_care.policies.keeping import kept
from healthgym.worlds.managed_care.policies.policy import Policy
from healthgym.worlds.managed_care.policies.tree import Group, Node, criteria, parts
from healthgym.worlds.managed_care.policies.wording import (
    criterion_text,
    group_text,
    listed,
    pick,
    wordings,
)

#: Where the handbook says until when a denial can be appealed: no policy has a window of its own.
APPEALS = "payer-um/operational/appeals.md"
#: Where it says until when a request is to be decided: a policy's hours are no limit.
CLOCKS = "payer-um/operational/sla-and-calendars.md"
_FOLDER = "medical-library/medical-policies"
#: Where the pages are that amend a policy between editions.
BULLETINS = f"{_FOLDER}/bulletins"


def page_path(policy_id: str, *, archived: str = "") -> str:
    """Return where a policy's page stands, from the root of the handbook.

    Args:
        policy_id: Id of the policy.
        archived: The version, of one that is kept among the former ones.
    """
    return (
        f"{_FOLDER}/archive/{policy_id}-{archived}.md" if archived else f"{_FOLDER}/{policy_id}.md"
    )


@kept
def render_page(policy: Policy) -> str:
    """Return a policy as markdown."""
    sections = [
        ("scope", [policy.texts.scope]),
        ("background", [policy.texts.background] if policy.texts.background else []),
        ("services", list(_services(policy))),
        ("diagnoses", [_phrase(policy, "diagnoses", codes=listed(policy.diagnosis_prefixes))]),
        ("sites", [_phrase(policy, "sites", sites=_sites(policy))]),
        ("criteria", list(_criteria(policy))),
        ("terms", list(_terms(policy))),
        ("documents", list(_documents(policy))),
        ("routing", list(_routing(policy))),
        ("clocks", list(_clocks(policy))),
        ("exclusions", [f"- {text}" for text in policy.texts.exclusions]),
        ("notes", [f"- {text}" for text in policy.texts.notes]),
        ("history", list(_history(policy))),
        ("related", [f"- [{name}]({page_path(name)})" for name in policy.related]),
    ]
    lines = [f"# {policy.title}", "", *_header(policy)]
    for name, body in sections:
        if body:
            lines += ["", f"## {_heading(policy, name)}", "", *body]
    return "\n".join(lines) + "\n"


def questionnaire_text(policy: Policy) -> str:
    """Return the questionnaire of a policy as markdown."""
    form = policy.form
    lines = [f"# {form.title}", "", f"Form {form.id}, version {policy.version}.", ""]
    lines += ["| Key | Question | Answer |", "| --- | --- | --- |"]
    for question in form.questions:
        answer = f"{question.answer}, {question.unit}" if question.unit else str(question.answer)
        lines.append(f"| {question.key} | {question.text} | {answer} |")
    return "\n".join(lines) + "\n"


@cache
def page_wordings() -> JsonDict:
    """Return headings and sentences of pages; shared, not to be changed."""
    table: JsonDict = json.loads((files(__package__) / "data" / "page.json").read_text("utf-8"))
    return table


def term_row(criterion: AnyCriterion) -> str:
    """Return where a criterion's term is read from; empty for terms of the request."""
    match meaning(criterion):
        case ("measurement", str(code)):
            loinc = code.replace("-", "").isdigit()
            return f"LOINC {code}" if loinc else f"Score or value {code}"
        case ("class", str(name), tuple(excluded)):
            return f"Class {name}" + (f"; not counted: {', '.join(excluded)}" if excluded else "")
        case ("therapy", str(name)):
            return f"Treatment {name}"
        case ("finding", str(key), tuple(scale)):
            plain = scale == ("absent", "present")
            return f"Entry {key}" + ("" if plain else f"; graded {' < '.join(scale)}")
        case ("diagnosis", tuple(prefixes), tuple(examples), str(near)):
            row = f"ICD-10-CM {', '.join(prefixes)}; such as {', '.join(examples)}"
            return row + (f"; not specific enough: {near}" if near else "")
        case ("procedure", tuple(codes)):
            return f"CPT/HCPCS {', '.join(codes)}"
        case ("substance", tuple(names)):
            return f"Substance {', '.join(names)}"
    return ""


def _heading(policy: Policy, name: str) -> str:
    return pick(page_wordings()["headings"][name], policy.id, "heading", name)


def _phrase(policy: Policy, *path: str, **slots: str) -> str:
    """Return a sentence of the page's table, by the path of its list."""
    options = page_wordings()
    for step in path:
        options = options[step]
    template = pick(list(options), policy.id, *path)
    text = template.format(id=policy.id, title=_subject(policy), **slots)
    return text[0].upper() + text[1:]


def _subject(policy: Policy) -> str:
    """Return the title as it stands inside a sentence."""
    first = policy.title.split()[0]
    return policy.title if first[1:] != first[1:].lower() else _lower(policy.title)


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _sites(policy: Policy) -> str:
    return listed([wordings()["sites"][site.value] for site in policy.sites])


def _header(policy: Policy) -> Iterator[str]:
    yield "| Policy | Version | In force | Plan | States | Kind of service | Payer |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    until = f" to {policy.terminated}" if policy.terminated else " onward"
    cells = [
        policy.id,
        policy.version,
        f"{policy.effective}{until}",
        ", ".join(policy.plans),
        ", ".join(policy.states) or "all",
        policy.category.value,
        policy.payer,
    ]
    yield f"| {' | '.join(cells)} |"


def _services(policy: Policy) -> Iterator[str]:
    asked = [item.code for item in policy.procedures if item.authorization]
    free = [item.code for item in policy.procedures if not item.authorization]
    if asked:
        yield _phrase(policy, "required", codes=listed(asked, "and"))
    if free:
        yield _phrase(policy, "free", codes=listed(free, "and"))
    yield from ("", "| Code | Service | Authorization |", "| --- | --- | --- |")
    for item in policy.procedures:
        yield f"| {item.code} | {item.display} | {'yes' if item.authorization else 'no'} |"


def _criteria(policy: Policy) -> Iterator[str]:
    tree = policy.criteria
    yield _phrase(policy, "criteria")
    yield ""
    below = parts(tree)
    # Subsections need groups only: a criterion behind one would seem to belong to it.
    if isinstance(tree, Group) and all(isinstance(part, Group) for part in below) and below:
        yield f"**{_label(tree)}** {group_text(policy.id, tree)}"
        for part in below:
            yield from ("", f"### {_label(part)}", "")
            yield from _section(policy, part)
    else:
        yield from _outline(policy, tree, 0)


def _label(node: Node) -> str:
    title = node.title if isinstance(node, Group) else ""
    return f"{node.id} · {title}" if title else f"{node.id}."


def _section(policy: Policy, part: Node) -> Iterator[str]:
    """Yield a subsection: an outline, or a table where nothing is nested and the hash says so."""
    if not isinstance(part, Group):
        raise TypeError(f"{part.id} is no group.")
    yield group_text(policy.id, part)
    yield ""
    below = parts(part)
    flat = not any(isinstance(node, Group) for node in below)
    if flat and stable_hash(f"{policy.id}/{part.id}/layout") % 2:
        yield from ("| No. | Requirement |", "| --- | --- |")
        for node in below:
            yield f"| {node.id} | {_statement(policy, node)} |"
    else:
        for node in below:
            yield from _outline(policy, node, 0)


def _outline(policy: Policy, node: Node, level: int) -> Iterator[str]:
    label = _label(node).removesuffix(".")
    yield f"{'  ' * level}- **{label}.** {_statement(policy, node)}"
    for part in parts(node):
        yield from _outline(policy, part, level + 1)


def _statement(policy: Policy, node: Node) -> str:
    if isinstance(node, Group):
        return group_text(policy.id, node)
    return criterion_text(policy.id, node)


def _terms(policy: Policy) -> Iterator[str]:
    rows = {(item.display, term_row(item)) for item in criteria(policy.criteria)}
    known = sorted((term, source) for term, source in rows if source)
    if known:
        yield from ("| Term | Read from |", "| --- | --- |")
        for term, source in known:
            yield f"| {term} | {source} |"


def _documents(policy: Policy) -> Iterator[str]:
    yield _phrase(policy, "documents")
    yield ""
    needs = documents_for(policy.id, policy.criteria)
    for need in needs:
        yield f"- `{need.kind.value}`{'' if need.required else ' (alternative)'} {need.text}"
    shown = {need.kind for need in needs if need.required}
    for kind in policy.extra_documents:
        if kind not in shown:
            yield f"- `{kind.value}` {_phrase(policy, 'extra', kind.value)}"


def _routing(policy: Policy) -> Iterator[str]:
    lanes = policy.lanes
    sentences = []
    if lanes.gold_card:
        sentences.append(_phrase(policy, "lanes", "gold_card"))
    if lanes.notification_only:
        sentences.append(_phrase(policy, "lanes", "notification_only"))
    for name in ("delegated_program", "specialty_program", "external_vendor"):
        program: str = getattr(lanes, name)
        if program:
            sentences.append(_phrase(policy, "lanes", name, name=program))
    if not sentences:
        sentences.append(_phrase(policy, "lanes", "standard"))
    # What the plan merely takes note of, nobody approves.
    if not lanes.notification_only:
        sentences.append(_phrase(policy, "nurse" if policy.nurse_may_approve else "physician"))
    if policy.out_of_network:
        sentences.append(_phrase(policy, "network"))
    yield " ".join(sentences)


def _clocks(policy: Policy) -> Iterator[str]:
    yield from (f"| Clock | Aim; the [limit that counts]({CLOCKS}) is the law's |", "| --- | --- |")
    yield f"| Decision, standard request | {policy.standard_hours} hours |"
    yield f"| Decision, expedited request | {policy.expedited_hours} hours |"
    yield from ("", _phrase(policy, "appeals", page=APPEALS))


def _history(policy: Policy) -> Iterator[str]:
    if policy.history:
        yield from ("| Version | Change |", "| --- | --- |")
        for version, change in policy.history:
            yield f"| {version} | {change} |"
