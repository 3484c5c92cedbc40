"""How some results are laid out before they are shown: what is long, or would be said twice.

A layout rearranges what an application returned, and leaves nothing out that a decision could need:
a form becomes a table, the values of a test become one row, and a packet says each thing once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from healthgym.envs.managed_care.presentation import named_values, scalar
from healthgym.worlds.managed_care.records.chart import DocumentReference, Observation
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

View: TypeAlias = Mapping[str, object]
Row: TypeAlias = dict[str, object]

#: Parts of a chart that are kept oldest first.
_DATED = ("encounters", "conditions", "procedures", "medications", "allergies", "documents")
#: A flag that says nothing.
_ORDINARY = "normal"
_EXTRAS = ("chart summary", "answered forms")


def chart_page(chart: View) -> View:
    """Return a chart with the newest first, and all values of a test in one row.

    Args:
        chart: What the chart's application returns.
    """
    page: Row = {}
    whose = _row(chart["patient"]).get("id")
    for name, value in chart.items():
        if name == "observations":
            page |= _tests(one for one in _items(value) if isinstance(one, Observation))
            continue
        rows = [_own(row, whose) for row in _rows(value)]
        if name == "encounters":
            page |= _visits(rows[::-1])
        elif name == "coverage" or name in _DATED:
            page[name] = rows[::-1] if name in _DATED else rows
        else:
            page[name] = value
    return page


def _own(row: Row, whose: object) -> Row:
    """Return a row of a chart; whose it is is said at the top, and again only of a stray."""
    return _without(row, "patient_id") if row.get("patient_id") == whose else row


def _visits(rows: Sequence[Row]) -> Row:
    """Return the visits; where they were is said once if it is one place, and each code once."""
    codes: Row = {}
    for row in rows:
        code, words = row.get("encounter_cpt_code"), row.get("encounter_cpt_description")
        if code and words:
            codes.setdefault(str(code), words)
    places = {str(row.get("facility_name") or "") for row in rows}
    told = {"encounter_cpt_description"}
    if len(places) == 1:
        told |= {"facility_name", "facility_npi"}
    return {
        "facility": places.pop() if len(places) == 1 else "",
        "encounters": [_without(row, *told) for row in rows],
        "encounter_codes": [{"code": code, "words": words} for code, words in codes.items()],
    }


def _tests(observations: Iterable[Observation]) -> Row:
    """Return measurements and findings, each test with all its values, the newest first."""
    measured: dict[tuple[str, str, str], list[str]] = {}
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in observations:
        flag = one.interpretation if one.interpretation not in (None, _ORDINARY) else ""
        words = one.value_text is not None
        value = scalar(one.value_text if words else one.value_quantity)
        said = f"{value}{f' {flag}' if flag else ''} ({one.observed_at.date()})"
        key = (one.code, one.display, one.value_unit or "")
        (found if words else measured).setdefault(key, []).append(said)
    return {"measurements": list(_by_test(measured)), "findings": list(_by_test(found))}


def _by_test(tests: Mapping[tuple[str, str, str], Sequence[str]]) -> Iterator[Row]:
    for (code, display, unit), values in tests.items():
        newest = ", ".join(reversed(values))
        yield {"code": code, "display": display, "unit": unit, "values": newest}


def case_page(result: View) -> View:
    """Return a case without its row of the work list, whose every cell stands elsewhere on it.

    Args:
        result: What a tool for cases returns.
    """
    whole = "case" in result and "service_request" in result
    return _without(dict(result), "summary") if whole else result


def form_page(result: View) -> View:
    """Return forms as tables of their questions; answers that were saved, once.

    Args:
        result: What a tool for forms returns.
    """
    page: Row = {}
    for name, value in result.items():
        match name:
            case "items":
                page |= {f"form_{n}": _form(row) for n, row in enumerate(_rows(value), 1)}
            case "saved_responses":
                page[name] = [_without(row, "answers") for row in _rows(value)]
            case "form_validations":
                page[name] = [_without(row, "required_fields") for row in _rows(value)]
            case _:
                page[name] = value
    return page


def _form(form: Row) -> Row:
    answers = form["answers"] if isinstance(form["answers"], Mapping) else {}
    required = set(_items(form["required_fields"]))
    questions = [
        {
            "key": asked["key"],
            "question": asked["question"],
            "type": f"{asked['type']}, {asked['unit']}" if asked["unit"] else asked["type"],
            "required": asked["key"] in required,
            "answer": answers.get(asked["key"], ""),
        }
        for section in _rows(form["sections"])
        for asked in _rows(section["questions"])
    ]
    return {
        "form_id": form["form_id"],
        "title": form["title"],
        "complete": form["complete"],
        "questions": questions,
    }


def packet_page(result: View) -> View:
    """Return a packet that was put together; documents and answers stand in what is sent, once.

    Args:
        result: What putting a packet together returns.
    """
    return {
        name: _without(document_page(value), "content", "answers", "included_document_ids")
        if name == "bundle_document"
        else value
        for name, value in result.items()
    }


def document_page(document: object) -> Row:
    """Return a document; of a packet with what goes with it in words.

    Args:
        document: The document.
    """
    page = _row(document)
    if isinstance(document, DocumentReference) and document.kind is DocumentKind.SUBMISSION_BUNDLE:
        data = dict(document.structured_data)
        given = data.pop("extras", ())
        chosen = [words for words, there in zip(_EXTRAS, given, strict=False) if there]
        page |= {"structured_data": {}, **data, "goes_with_it": chosen or "nothing else"}
    return page


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _items(value: object) -> Sequence[object]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _rows(value: object) -> list[Row]:
    return [_row(item) for item in _items(value)]


def _row(item: object) -> Row:
    return dict(named_values(item) or {})
