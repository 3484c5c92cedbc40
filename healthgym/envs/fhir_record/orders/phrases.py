"""Other ways to ask for the same: polite forms and idioms put plainly, before words are read.

"Could you take the Foley out as soon as you can?" asks for what "Please remove the catheter soon."
asks for. What is put plainly is read like everything else, so politeness lets nothing through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from healthgym.core.borders import JsonDict
from healthgym.envs.fhir_record.orders.denial import sentences
from healthgym.envs.fhir_record.orders.items import Item, item_of
from healthgym.envs.fhir_record.orders.tables import read_table
from healthgym.envs.fhir_record.task import OrderSpec

#: Where a phrase has to end; "as soon as you can find a reason" goes on.
_END = (
    r"(?= *(?:$|[.,;:!?)\u2013\u2014]|-|(?:please|pls|thanks?|today|tonight|tomorrow|now|and|this|"
    r"with|in|at|via|so|before|after|per|because|since)\b))"
)
_BY = re.compile(r"\bnot? later than\b")
#: Somebody is asked on a condition that is none: "if you could draw it, that would be great".
_WOULD_BE_GREAT = re.compile(
    r"\bif (?:you|someone|nursing) (?:could|would|can) (?:please |kindly )?"
    r"(?P<what>[^.;!?]{1,80}?),? (?:that|this|it) (?:would|will) be "
    r"(?:great|good|nice|lovely|helpful|appreciated)\b"
)
#: What is ended where the thing was named before: "Foley in since Monday. Please d/c."
_IT = re.compile(
    rf"\b(?:discontinue(?: it)?|get rid of it|take it away){_END}"
    r"|\b(?:take|get|pull) it out\b(?! of| again| for)"
    r"|\bit (?:can|may|should|must) (?:now )?come out\b"
)
#: How it is named, if not by its name.
_PRESENT = r"\b(?:indwelling|dwell\w*|in situ|inserted|insertion)\b"
#: An order that is absent is not what is ended.
_NO_ORDER = re.compile(r"\bno(?: [\w-]+){0,3} (?:orders?|requests?)\b")
_ORDER = re.compile(r"\b(?:orders?|requests?)\b")
#: What a verb is followed by where it is asked for, in whatever form it stands.
_AFTER_PLEASE = re.compile(r"\bplease (?:(?:also|just|then) )*(?P<verb>[a-z]+)\b")


def put_plainly(spec: OrderSpec, text: str) -> str:
    """Return a text with its polite forms and idioms put as a plain request.

    Args:
        spec: The order.
        text: Free text in lower case, its shorthand written out.
    """
    text = _forms()["soon"].sub("soon", _BY.sub("by", text))
    text = _WOULD_BE_GREAT.sub(r"please \g<what>", text)
    text = _forms()["polite"].sub("please ", text)
    text = _AFTER_PLEASE.sub(_base_form, " ".join(text.split()))
    return _taken_out(item_of(spec), text)


def _base_form(found: re.Match[str]) -> str:
    """Return a request with its verb as a command: "please drawing" and "please drew"."""
    verb = found["verb"]
    base = _bases().get(verb, verb)
    return found[0][: found.start("verb") - found.start()] + base


def _taken_out(item: Item, text: str) -> str:
    """Return a text in which the thing that an order takes away is always removed."""
    if item.taken is None:
        return text
    ways, plain = item.taken
    text = ways.sub(plain, text)
    named = re.search(rf"\b(?:{item.thing})|{_PRESENT}|{re.escape(plain)}", text)
    if named is None:
        return text

    def ended(found: re.Match[str]) -> str:
        between = _NO_ORDER.sub(" ", text[named.end() : found.start()])
        meant = found.start() >= named.end() and not _ORDER.search(between)
        return plain if meant else found[0]

    return _IT.sub(ended, text)


def as_command(spec: OrderSpec, text: str) -> str:
    """Return a text in which the plain way to have a thing taken away is a verb, and no name.

    Who is to do it, and on what it hangs, is read of a verb alone: "urology can remove it".

    Args:
        spec: The order.
        text: Free text that was put plainly.
    """
    taken = item_of(spec).taken
    return text.replace(taken[1], "remove it") if taken else text


def participles() -> frozenset[str]:
    """Return the words that say of a command that it is carried out, such as "drawn"."""
    return frozenset(form for form in _bases() if not form.endswith("ing"))


@cache
def _bases() -> Mapping[str, str]:
    """Return the command of each of its forms: of "drawing", "drew" and "drawn"."""
    bases: dict[str, str] = {}
    for verb in sentences()["acting"] + sentences()["turning"]:
        if not verb.isalpha():
            continue
        stem = verb.removesuffix("e")
        for root in (stem, verb + verb[-1]):
            bases |= {f"{root}ing": verb, f"{root}ed": verb}
    irregular: dict[str, str] = _table()["irregular"]
    return bases | irregular


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    table = _table()
    gerunds = "|".join(sorted(form for form in _bases() if form.endswith("ing")))
    polite = "|".join(table["polite"])
    polite = polite.replace("{gerund}", rf"(?:{gerunds})\b")
    polite = polite.replace("{participle}", rf"(?:{'|'.join(sorted(participles()))})\b")
    return {
        "soon": re.compile(rf"\b(?:{'|'.join(table['soon'])}){_END}"),
        "polite": re.compile(rf"(?<![\w'])(?:{polite}) *"),
    }


@cache
def _table() -> JsonDict:
    table: JsonDict = read_table("phrases")
    return table
