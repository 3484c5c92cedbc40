"""Whether free words take back, forbid or doubt an order, and do not only state what is absent.

"Not needed" is about the order; "has not been vaccinated" and "no fever" are findings. What tells
them apart is what is denied: its need, standing or doing, or anything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from itertools import dropwhile

from healthgym.envs.fhir_record.orders.items import item_of, without_names
from healthgym.envs.fhir_record.orders.quantities import squeezed
from healthgym.envs.fhir_record.orders.tables import read_table
from healthgym.envs.fhir_record.task import OrderSpec

#: Words by which somebody takes back, forbids or doubts what is ordered.
_DENIAL = re.compile(
    r"\b(?:not|no|never|none|nor|cannot|without|false|untrue|wrong|"
    r"incorrect|cancel\w*|(?<!to )void(?:ed)?(?= (?:this|it|the|that|order|all)\b|$)|"
    r"disregard\w*|ignore\w*|hold|held|withh[eo]ld\w*|stop\w*|"
    r"discontinu\w*|mistake\w*|error\w*|erroneous\w*|instead|"
    r"avoid(?!ed)\w*|(?:be|is|are) avoided|refus\w*|declin\w*|"
    r"contraindicat\w*|unless|only if|withdr[ae]w\w*|revok\w*|invalid\w*|retract\w*|delete\w*|"
    r"unnecessary|unneeded|rejected|abort\w*|suspend\w*|postpone\w*|defer\w*|fake|allerg\w*|"
    r"forget\w*|oppos(?:e[sd]?|ing)|objects to|objected to|rather not|changed \w+ minds?|"
    r"(?:is|are|was|were|decided) against|"
    r"only (?:when|after|once|half|part))\b"
)
_DRUGS = (
    r"(?:(?:all|the|active|offending|qtc?[- ]prolonging|these|those|and|,) ?){0,6}"
    r"(?:drugs?|medications?|medicines?|agents?|ondansetron|prochlorperazine|haloperidol|quetiapine|"
    r"olanzapine|risperidone|ziprasidone|clozapine|chlorpromazine|enoxaparin|dalteparin|warfarin|"
    r"amiodarone|citalopram|levofloxacin|azithromycin|methadone|"
    r"fondaparinux|apixaban|rivaroxaban|dabigatran)(?:,? (?:and )?\w+)?"
)
#: After "no order is" these say that none was found; "needed" does not.
_ON_FILE = (
    r"(?:found|present|active|exists?|in place|on file|on record|placed|recorded|listed|documented|"
    r"seen|noted|available|there|outstanding|open|entered|written)\b"
)
#: What can be looked back on: "in this patient" is no time.
_SPAN = (
    r"(?:(?:past|last|current|flu|influenza|calendar) )*(?:\d+ )?(?:hours?|days?|weeks?|months?|"
    r"years?|seasons?|winter|autumn|fall|spring|stay|admission|hospitali[sz]ation|encounter|visit|"
    r"period|window|time|interval|shift|morning)\b"
)
#: What is denied of a patient rather than of an order, if what is between is no denial itself.
_ABSENT = re.compile(
    r"\b(?P<no>no|not|without|denies|nor)(?P<what>(?: \w[\w-]*){0,3}) "
    r"(?:allerg\w*|contraindicat\w*|errors?)(?: known)?\b"
)
#: What sounds like denial and states a finding: that something else is absent, or was ended.
_FINDING = re.compile(
    r"\b(?:no|without)(?: any| an?)? (?:prior|previous|recent|active|current|existing|documented|"
    r"recorded)(?: \w+){0,4}|\b(?:no|without)(?: an?)?(?: [\w-]+){1,4} order\b"
    r"|\b(?:no|without)(?: an?)?(?: [\w-]+){0,4}"
    r" (?:on record|on file|on (?:the )?(?:\w+ ){0,3}list|recorded|found|available|documented|"
    r"in (?:the )?chart)\b"
    rf"|\bno(?: [\w-]+){{0,4}} orders? (?:(?:was|were|is|are) )?{_ON_FILE}"
    r"|\b(?:orders?|opioids?|regimen) without *(?=$|[.,;])"
    r"|\bno(?: [\w-]+){0,4} (?:in|within|during|over|since) "
    rf"(?=(?:the )?(?:past|last|previous|prior|over|more|\d|(?:this|these) {_SPAN}))"
    r"|\b(?:stopp(?:ed|ing)|discontinu(?:ed|ing)|(?:discontinuation|cessation) of|after stop of) "
    rf"{_DRUGS}"
    rf"|\b{_DRUGS} (?:(?:was|were|has been|have been|is|are) )?(?:stopped|discontinued)\b"
    r"|\bto avoid (?!(?:giving|doing|using|taking|this|it|the)\b)"
    r"|\bhold parameters?\b(?::? none\b)?|\bno missed\b"
    r"|\b(?:after|since) (?:stop|stopping|discontinuing|holding) [a-z-]{3,}"
    r"|\bnone (?:since|yet|found|on|in|this|within|prior|before|recorded|documented|active)\b"
    r"|\? no(?:ne)?(?=$|[.,;])"
)
#: What sounds like denial and is ordinary advice.
_ADVICE = re.compile(
    r"\bdo(?:es)? not (?:crush|chew|break|split|swallow whole)"
    r"(?:,? (?:or|and) (?:crush|chew|break|split))?\b|\bno response\b|\bno improvement\b"
    r"|\bdo not (?:lie|drive|drink|eat|smoke|operate|exceed|share|rub|massage|shake)\b"
    r"|\bdo not take (?:(?:it|this|them) )?(?:with|within|together|at the same|more)\b"
    r"|\b(?:fasting|npo|preparation|prep|escort|sedation|premedication|hydration) "
    r"(?:(?:is|are) )?not (?:necessary|needed|required)\b"
    r"|\bavoid (?:a )?(?:hemoly[sz]\w+|traumatic)\b"
    r"|\b(?:check|screen|assess|ask|verify|review|rule out|exclude)\b"
    r"(?: \(?\w+\)?){1,6}? "
    r"(?:allerg(?:y|ies)|contraindications?)\b"
    r"|\bavoid taking (?:(?:it|this) )?(?:with|within|near)\b|\bdo not prime\b"
    r"|\bdo not (?:stop|skip) (?:(?:taking )?(?:it|this) )?(?:without|suddenly|abruptly)\b"
    r"|\bno known (?:drug )?allergies\b|\bdo not repeat more often than every 2 minutes\b"
)
#: What was ended, in the clinician's own list of the past; of the order itself it is a denial.
_ENDED = re.compile(
    r"\b(?P<what>[a-z-]{3,}) (?:(?:was|were|has been|have been) )?(?:stopped|discontinued|held)"
    r"(?! (?:it|this|that|these|the|all|if|until|unless|for|orders?)\b)"
    r"|\b(?P<no>[a-z-]{3,}):? none(?=$|[.,;])"
    r"|\b(?:allergic to|allergy to|allergies to|allergies:?|allergy:) (?P<to>[a-z-]{3,})"
    r"|\b(?P<has>[a-z-]{3,}) allerg(?:y|ies)\b(?!:? none)"
)
#: Who ends something, and what stands for the order.
_ENDING = frozenset(
    {"order", "orders", "it", "this", "that", "these", "them", "was", "were", "is", "are", "been",
     "and", "patient", "he", "she", "they", "nurse", "team", "all", "both", "has", "have", "not",
     "then", "please", "just", "with", "due", "because", "known", "severe"}
)  # fmt: skip
#: What an order is called by; with a word before it, it may be another one.
_TREATMENT = frozenset(
    {"therapy", "treatment", "prophylaxis", "replacement", "repletion", "supplementation",
     "regimen", "course", "intervention"}
)  # fmt: skip
#: Words before what is said of an order, where its name is taken out.
_LEADING = frozenset(
    {"this", "that", "the", "it", "order", "orders", "request", "is", "was", "are", "were", "has",
     "have", "been", "be", "being", "to", "now", "hereby", "therefore", "please", "just", "all",
     "already", "considered", "deemed", "entirely", "completely", "totally", "quite", "simply"}
)  # fmt: skip
#: What is done with an order, said of it afterwards.
_GIVEN = frozenset(
    {"given", "done", "administered", "performed", "ordered", "drawn", "taken", "started", "be",
     "made", "carried", "because", "due", "for", "this", "it", "that"}
)  # fmt: skip
#: What else is turned down; the words after it tell whether it is the order.
_TURNED_DOWN = re.compile(
    r"\b(?:refus(?:es|ed)|declin(?:es|ed)) (?P<what>[\w/-]+(?: [\w/-]+){0,2})"
)
#: Words by which all there is, or what was named before, is turned down.
_ALL = frozenset(
    {"the", "to", "everything", "care", "blood", "any", "anything", "further", "again"}
)
_NO = re.compile(r"\b(?:no|without)\b(?P<what>(?: [\w/'-]+){1,4})")
_NOT = re.compile(r"(?:\b(?P<before>[\w]+) )?\b(?:not|never)(?P<what>(?: [\w/'-]+){1,4})")
#: After these, what follows "not" is a state, and after other words only if it looks like one.
_BEING = frozenset({"is", "are", "was", "were", "been", "has", "have", "had", "having", "being"})
#: A state that "never" or a bare "not" may deny without a verb before it.
_STATE = re.compile(
    r"(?:been|had|yet|at|in|on|within|above|below|\w{2,}(?:ed|en|wn)|\w{3,}(?:ic|al|ant|ent|ive|ing|ous|ful|ly))$"
)


def denies(spec: OrderSpec, text: str) -> bool:
    """Return whether a text takes back, forbids or doubts the order it stands beside.

    Args:
        spec: The order.
        text: The free text.
    """
    plain = re.sub(r"\bcannot\b", "can not", squeezed(text).replace("\u2019", "'"))
    plain = re.sub(r"\b(?:can't|won't)\b", "will not", plain)
    plain = re.sub(r"n't\b", " not", plain)
    finding = item_of(spec).finding
    if finding:
        plain = finding.sub(" ", plain)
    # Commas and brackets stay: what is denied before one is not what is found behind it.
    plain = " ".join(without_names(spec, plain, pointed=True).split())
    if any(map(_is_taken_back, re.split(r"[.;!]", plain))):
        return True
    plain = _FINDING.sub(" ", _ADVICE.sub(" ", plain))
    other = _words("of_services" if spec.dose else "of_drugs")
    acts = _words("carried_out") - other
    acts |= item_of(spec).words if spec.dose is None else frozenset()
    plain = _ABSENT.sub(lambda found: _is_missing(found, acts), plain)
    plain = _TURNED_DOWN.sub(lambda found: _of_another(found, acts), plain)
    plain = _ENDED.sub(lambda found: _was_ended(found, acts, item_of(spec).words), plain)
    plain = _NO.sub(lambda found: _absent(found, acts), plain)
    plain = _NOT.sub(_is_a_state, plain)
    return _DENIAL.search(plain) is not None


def _of_another(found: re.Match[str], acts: frozenset[str]) -> str:
    """Return nothing in place of what is turned down and is not the order."""
    words = set(found["what"].split())
    about = words & (acts | _ALL | _ENDING | _words("turned_down") | _words("turned_down_first"))
    return found[0] if about else " "


def _is_missing(found: re.Match[str], acts: frozenset[str]) -> str:
    """Return nothing in place of an allergy or error that is denied, and not the order with it."""
    words = set(found["what"].split())
    about = _words("turned_down") | _words("acting") | _GIVEN
    about |= acts if found["no"] == "not" else frozenset()  # "no contrast allergy"
    return found[0] if words & about or any(map(_DENIAL.fullmatch, words)) else " "


def _was_ended(found: re.Match[str], acts: frozenset[str], own: frozenset[str]) -> str:
    """Return nothing in place of another thing that was ended, and the words if of the order."""
    what = found[found.lastgroup or 0]
    before = re.split(r"[.,;()]", found.string[: found.start()])[-1].split()
    treated = what in _TREATMENT and set(before) <= _TREATMENT | _LEADING | own | acts
    return found[0] if what in acts | _ENDING or treated or _DENIAL.fullmatch(what) else " "


def _is_taken_back(sentence: str) -> bool:
    """Return whether a part of a sentence that has no subject takes the order back.

    "Rescinded.", "Blocked by pharmacy." and "Pointless." are said of the order, as nothing else is
    named. Of participles there are too many to list: one that begins a sentence and is none of the
    usual findings takes it back.
    """
    for place, part in enumerate(re.split(r"[,:()]", sentence)):
        said = part.split()
        words = list(dropwhile(_LEADING.__contains__, said))
        if not words:
            continue
        # What is "to be removed by nursing" is still to come.
        to_come = said[:2] == ["to", "be"]
        alone = (len(words) == 1 or words[1] == "by") and not to_come
        if not place and alone and words[0].endswith("ed") and words[0] not in _words("bare"):
            return True
        kinds = ("taken_back", "alone") if part == sentence else ("taken_back",)
        if any(_forms(kind).match(" ".join(words)) for kind in kinds):
            return True
    return False


@cache
def _forms(kind: str) -> re.Pattern[str]:
    forms = "|".join(sentences()[kind])
    return re.compile(rf"(?:{forms})(?: (?:by|from|per|because|due to|as|anyway|please)\b|$)")


def _absent(found: re.Match[str], acts: frozenset[str]) -> str:
    """Return nothing in place of "no" with a finding, and the words themselves if of the order."""
    words = [word.strip("'-/") for word in found["what"].split()[:3]]
    about = (acts | _words("turned_down")) & set(words)
    if words[0] == "longer" and words[1:]:  # "no longer septic"
        about -= {"longer"}
    return found[0] if about or words[0] in _words("turned_down_first") else " "


def _is_a_state(found: re.Match[str]) -> str:
    before, words = found["before"] or "", found["what"].split()
    words = words[1:] if words[0] == "yet" else words
    if not words or words[0] in _words("turned_down_first"):
        return found[0]
    if _is_act(words):  # "not drawing it"; what a patient is "not taking" is a finding
        return found[0]
    yet = "yet" in found["what"].split()
    if (_words("turned_down") - ({"ordered"} if yet else frozenset())) & set(words[:3]):
        return found[0]
    if before in ("can", "could") and words[0] in _words("unable"):
        return " "
    if before in ("does", "did"):
        return " " if words[0] in _words("may_lack") else found[0]
    if before not in _BEING and not _STATE.match(words[0]):
        return found[0]
    return f"{before} "


def _is_act(words: list[str]) -> bool:
    """Return whether words are of doing what is ordered to it, such as "drawing this"."""
    stem = words[0].removesuffix("ing")
    if stem == words[0] or not {"it", "this", "that"} & set(words[1:2]):
        return False
    patients = stem in ("tak", "us") and "out" not in words
    return not patients and bool(_words("acting") & {stem, f"{stem}e", stem[:-1]})


def _words(kind: str) -> frozenset[str]:
    return frozenset(sentences()[kind])


@cache
def sentences() -> Mapping[str, list[str]]:
    """Return the words by which sentences beside an order are told apart, by their part in one."""
    table: Mapping[str, list[str]] = read_table("sentences")
    return table
