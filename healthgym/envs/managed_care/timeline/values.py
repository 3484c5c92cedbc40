"""Values of records as HTML: people by name, times on the desk's clock, lists and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum

from healthgym.envs.managed_care.presentation import scalar
from healthgym.envs.managed_care.timeline.markdown import clean
from healthgym.envs.managed_care.timeline.offices import Offices, words

#: Results, decisions and statuses by what they mean for the request; the rest is neutral.
_GOOD = frozenset(
    {
        "met", "satisfied", "approved", "approve", "submit_pa", "strong", "appeal_overturned",
        "external_appeal_overturned", "overturned", "complete",
    }
)  # fmt: skip
_BAD = frozenset(
    {
        "not_met", "contradicts", "denied", "deny", "do_not_submit", "appeal_upheld", "weak",
        "external_appeal_upheld", "upheld", "missed", "late",
    }
)  # fmt: skip
_OPEN = frozenset(
    {
        "unclear", "insufficient", "gather_more_evidence", "pended_action_required",
        "request_info", "docs_needed", "partially_approved", "partial_approve", "escalate",
        "refer_to_md",
    }
)  # fmt: skip


#: An identifier, such as ``appeals_medical_director``; not an id, which has figures or capitals.
_IDENTIFIER = re.compile(r"[a-z]+(?:_[a-z]+)+")
#: Names of fields that say more, or other words, than the field's name.
_LABELS = {
    "superseded_by": "later superseded by",
    "line_number": "line",
    "sla_hours": "limit, hours",
    "sla_rule_source": "by",
    "sla_deadline": "due",
    "sla_due_at": "due",
}
#: Whose move it is while a case has a status, where it is not decided.
_PROVIDER = frozenset({"draft", "requirement_checked", "ready_to_submit"})
_PAYER = frozenset({"submitted", "under_review", "resubmitted", "appealed", "external_appealed"})


def tone(value: object) -> str:
    """Return how a result is coloured: ``good``, ``bad``, ``open``, or nothing."""
    name = str(value)
    if name in _GOOD:
        return "good"
    return "bad" if name in _BAD else "open" if name in _OPEN else ""


def turn(status: object) -> str:
    """Return how a status is coloured: what it means, or whose move it is."""
    name = str(status)
    return tone(name) or ("provider" if name in _PROVIDER else "payer" if name in _PAYER else "")


def label(name: str) -> str:
    """Return the name of a field in words."""
    return clean(_LABELS.get(name, words(name)))


def chip(text: object, kind: str = "") -> str:
    """Return a word in a box."""
    return f'<span class="chip {kind}">{clean(words(text))}</span>'


def local(offices: Offices, at: datetime, *, day: bool = True) -> str:
    """Return a time as the desk's clock has it, with UTC beside it."""
    shown = offices.home.local(at)
    told = f"{shown:%a} {shown.day} {shown:%b %H:%M}" if day else f"{shown:%H:%M}"
    return f'{told} <span class="quiet">{at:%H:%M} UTC</span>'


def value_html(offices: Offices, value: object) -> str:
    """Return a value of a record, in one line if it can be."""
    if isinstance(value, Enum):
        kind = tone(value.value)
        return chip(value.value, kind) if kind else clean(words(value.value))
    if isinstance(value, datetime):
        return local(offices, value)
    if isinstance(value, str):
        if offices.known(value) and value:
            return f'{clean(offices.name(value))} <span class="quiet">{clean(value)}</span>'
        plain = words(value) if _IDENTIFIER.fullmatch(value) else value
        return chip(value, tone(value)) if tone(value) else clean(plain)
    if isinstance(value, Mapping):
        return table_html(offices, value)
    if isinstance(value, Sequence):
        return ", ".join(value_html(offices, item) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        named = {item.name: getattr(value, item.name) for item in fields(value)}
        filled = {k: v for k, v in named.items() if v not in (None, "", (), [], {})}
        return "; ".join(f"{words(k)} {value_html(offices, v)}" for k, v in filled.items())
    return clean(scalar(value))  # yes and no among them


def table_html(offices: Offices, facts: Mapping[str, object], names: Mapping[str, str] = {}) -> str:
    """Return named values as rows.

    Args:
        offices: Whose people the values may name.
        facts: The values.
        names: What the names stand for, where they do not tell themselves.
    """
    rows = []
    for key, value in facts.items():
        shown = clean(names.get(key, "")) or label(key)
        code = f'<br><code class="quiet">{clean(key)}</code>' if key in names else ""
        rows.append(f"<tr><th>{shown}{code}</th><td>{value_html(offices, value)}</td></tr>")
    return f'<div class="scroll"><table class="facts">{"".join(rows)}</table></div>'


def tree_html(offices: Offices, name: str, value: object) -> str:
    """Return a record within a record: its fields in a line, and below what they hold in turn.

    Args:
        offices: Whose people the values may name.
        name: The field.
        value: A record, or several.
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        return f'<div class="tree"><b>{label(name)}</b>{_branch(offices, value)}</div>'
    rows = "".join(f"<li>{_branch(offices, part)}</li>" for part in value)
    return f'<div class="tree"><i>{label(name)}</i><ul>{rows}</ul></div>'


def _branch(offices: Offices, value: object) -> str:
    if not is_dataclass(value) or isinstance(value, type):
        return value_html(offices, value)
    line, below = [], []
    for item in fields(value):
        held = getattr(value, item.name)
        if held in (None, "", (), [], {}):
            continue
        if isinstance(held, tuple) and is_dataclass(held[0]):
            below.append(tree_html(offices, item.name, held))
        else:
            shown = value_html(offices, held)
            line.append(f'<span class="pair"><i>{label(item.name)}</i> {shown}</span>')
    return f'<div class="line">{"".join(line)}</div>{"".join(below)}'
