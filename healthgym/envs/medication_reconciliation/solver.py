"""Two clinicians who read what an agent reads: one who leads the talk, and one who answers.

Between them they solve every task from either seat, which shows that it can be solved by talking.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from datetime import date

from healthgym.core.tool import ToolCall, call
from healthgym.envs.medication_reconciliation.oracle import lines_of
from healthgym.envs.medication_reconciliation.reading import named, read_back
from healthgym.envs.medication_reconciliation.rules import decide
from healthgym.envs.medication_reconciliation.wording import SECTIONS, greeting
from healthgym.worlds.reconciliation.formulary import Medicine, formulary
from healthgym.worlds.reconciliation.record import Record
from healthgym.worlds.reconciliation.world import MAX_TEXT, TITLES, Standing, other_role

Talk = Generator[ToolCall, str, None]

#: Asked by whoever wants to hear of every medicine, named or not.
_ALL = re.compile(
    r"\b(?:all|everything|anything|every|others?|else|besides|not on|full|complete|counter)\b", re.I
)
#: What somebody has is asked for, or kinds of rows are, and no medicine by its name.
_GENERAL = re.compile(
    r"\b(?:what|which)\b.*\b(?:you (?:have|hold|see|show|know of|dispensed|supplied|ordered)"
    r"|your (?:side|half|end|list|charts?|records?))\b"
    r"|\b(?:what|which|any|list|tell|send|share|give|need|report|state)\b.*(?<!my )"
    r"\b(?:medicines|medications|meds|drugs|records?|labels|collections?|collection dates|purchases"
    r"|otcs?|letters|orders|dispensings?|prescriptions)\b",
    re.I,
)
#: By these a sentence goes on about what was named before.
_ABOUT_IT = re.compile(r"\b(?:it|its|them|these|those|this one|that one)\b", re.I)
_TODAY = re.compile(r"today, (\d{4}-\d\d-\d\d)")
_PROPOSAL = re.compile(
    r"^- ([a-z ]+): (\w+)(?: ([\d.]+) mg a day)? \(\w+\); (\w+) \(proposed by the ([a-z ]+)\)$",
    re.MULTILINE,
)
_SIGNED = re.compile(r"Signed by (.+)\.$")
_MESSAGE = "Message from the "


def lead(instruction: str) -> Talk:
    """Read, ask for the other half, apply the rules to both, propose every line, and sign."""
    role, today = _role(instruction), _today(instruction)
    text = yield from _read_half(role)
    reply = yield call("send_message", text="Which medicines do you have? Any allergies?")
    asked = ", ".join(named(text + reply))
    reply += yield call("send_message", text=f"The eGFR, allergies, and all you have on {asked}?")
    # `yield from` would pass on what is sent, and a list takes no messages.
    for line in lines_of(decide(read_back(f"{text}\n{reply}", today))):  # noqa: UP028
        yield line
    yield call("send_message", text="Please check my lines.")
    yield call("sign")


def answer(instruction: str) -> Talk:
    """Read; tell what is asked for; agree to what one's own half does not forbid; sign last."""
    role, today = _role(instruction), _today(instruction)
    text = yield from _read_half(role)
    known = read_back(text, today)
    heard = yield call("read_messages")
    greeted = False
    said: set[str] = set()
    while True:
        shown = yield call("show_list")
        proposed, forbidden = _review(shown, role, known)
        if proposed:
            yield call("agree", medicines=proposed)
        for name, why in forbidden.items():
            yield call("disagree", medicine=name, why=why)
        signed = _SIGNED.search(shown)
        if signed is not None and TITLES[other_role(role)] in signed[1]:
            if not forbidden and str(Standing.DISPUTED) not in shown:
                yield call("sign")
            return
        if greeted and _MESSAGE not in heard:
            return  # nobody is left to talk to
        greeted = True
        looked_at = bool(proposed or forbidden)
        heard = yield call("send_message", text=_reply(heard, text, looked_at, said))


def _role(instruction: str) -> str:
    return next(role for role in TITLES if instruction.startswith(greeting(role)))


def _today(instruction: str) -> date:
    found = _TODAY.search(instruction)
    assert found is not None, "the instruction tells the day"
    return date.fromisoformat(found[1])


def _read_half(role: str) -> Generator[ToolCall, str, str]:
    """Open every section, and return what they say."""
    texts = []
    for name in SECTIONS[role]:
        texts.append((yield call(name)))
    return "\n".join(texts)


def _review(shown: str, role: str, known: Record) -> tuple[list[str], dict[str, str]]:
    """Return the lines that wait for a role's word: those it agrees to, and why not to others."""
    proposed: list[str] = []
    forbidden: dict[str, str] = {}
    for name, end, dose, standing, by in _PROPOSAL.findall(shown):
        if by == TITLES[role] or standing != Standing.PROPOSED:
            continue
        why = _against(name, end, float(dose or 0), known)
        if why:
            forbidden[name] = why
        else:
            proposed.append(name)
    return proposed, forbidden


def _against(name: str, end: str, dose: float, known: Record) -> str:
    """Return what one's own half says against a line, whatever the other half says."""
    medicine = formulary()[name]
    if medicine.allergy in known.pharmacy.allergies and end != "stop":
        return f"The patient is allergic to {medicine.allergy}."
    if dose > medicine.allowed(dose, known.chart.egfr):
        return f"The eGFR is {known.chart.egfr}."
    return ""


def _reply(heard: str, text: str, looked_at: bool, said: set[str]) -> str:
    """Return what one's own half says to a question: of the medicines it names, and their kin.

    Args:
        heard: What was said.
        text: One's own half.
        looked_at: Whether lines were just agreed to, or not.
        said: The medicines that were told of so far; those of this reply are added.
    """
    question = heard.partition(_MESSAGE)[2] or heard
    wanted = [formulary()[name] for name in named(question)]
    told, names = _about(question, wanted, text)
    missing = [medicine.name for medicine in wanted if medicine.name not in names]
    parts = [
        *(["I have looked at your lines."] if looked_at else []),
        *(["This is what I have:", *told] if told else []),
        *([f"I have nothing on {', '.join(missing)}."] if missing else []),
    ]
    said |= {name for name in names if any(line.startswith(f"- {name}:") for line in told)}
    # Whoever asks for everything is told that there is more, whatever else the question names.
    everything = _ALL.search(question) is not None or _is_general(question)
    if (not wanted and not looked_at) or (set(names) - said and everything):
        parts.append(f"My medicines: {', '.join(names) or 'none'}. Ask me about them by name.")
    return "\n".join(parts)[:MAX_TEXT]


def _is_general(question: str) -> bool:
    """Return whether a sentence asks what there is, and not about a medicine that was named."""
    return any(
        _GENERAL.search(sentence) and not named(sentence) and not _ABOUT_IT.search(sentence)
        for sentence in re.split(r"[.?!\n]+(?:\s|$)", question)
    )


def _about(question: str, wanted: list[Medicine], text: str) -> tuple[list[str], list[str]]:
    """Return the lines of one's own half that a question is about, and all its medicines."""
    lower = question.lower()
    groups = {medicine.group for medicine in wanted}
    allergies = {medicine.allergy for medicine in wanted}
    kidneys = "egfr" in lower or "kidney" in lower or any(each.renal for each in wanted)
    told: list[str] = []
    names: dict[str, None] = {}
    for line in text.splitlines():
        subject, _, rest = line.removeprefix("- ").partition(": ")
        if subject in formulary():
            names[subject] = None
            about = formulary()[subject].group in groups
        elif subject == "allergy":
            about = "allerg" in lower or rest in allergies
        else:
            about = subject == "eGFR" and kidneys
        if about:
            told.append(line)
    return told, list(names)
