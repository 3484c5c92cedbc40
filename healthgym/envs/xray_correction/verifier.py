"""The verdict on a corrected report.

Claims read from the submitted text are aligned with the true ones by entity, and their
differences counted in CheXprompt's six classes. What cannot be read, and is not in the true report
either, is a false finding. The paper profile asks for no clinically significant difference,
however the text is cut; the strict profile asks for an edit: the draft's sentences, one to one,
each saying what is true and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from healthgym.core.task import Task
from healthgym.core.verdict import Check, CheckResult, Judgement, Profile
from healthgym.core.verifier import Evidence, Verifier
from healthgym.envs.xray_correction.claims import Claim, ClaimError, ErrorClass, Statement, compare
from healthgym.envs.xray_correction.reading.merging import merged
from healthgym.envs.xray_correction.reading.reader import read, read_text, split_sentences
from healthgym.envs.xray_correction.reading.words import heights
from healthgym.envs.xray_correction.task import CorrectionReference
from healthgym.worlds.radiography.world import ReadingRoom

#: Heights of a tube's tip that are one, in centimetres: about a reader's error.
_NEAR = 1.0
#: How many words that were not read are named, and how many letters of each.
_MOST, _LONGEST = 8, 40

NOT_EMPTY = Check("not_empty", "The submitted findings are not empty.", weight=0.0)
CLASSES: dict[ErrorClass, Check] = {
    ErrorClass.FALSE_FINDING: Check(
        "false_findings", "Nothing is said to be there that is not (class A)."
    ),
    ErrorClass.OMISSION: Check("omissions", "Nothing that is there is left out (class B)."),
    ErrorClass.LOCATION: Check(
        "locations", "Side, zone and position of every finding and device are right (class C)."
    ),
    ErrorClass.SEVERITY: Check("severities", "Severities and numbers are right (class D)."),
    ErrorClass.COMPARISON_ADDED: Check(
        "comparisons", "No comparison with a prior study is made that does not hold (class E)."
    ),
    ErrorClass.COMPARISON_OMITTED: Check(
        "comparisons_kept", "No comparison with a prior study is left out (class F)."
    ),
}
JUDGED = Check(
    "judged_clean", "At least three of five votes of the judge count no significant error."
)
EDIT_ONLY = Check(
    "edit_only",
    "The report has the draft's sentences in their order, none added, merged or taken out, each "
    "about what it was about.",
    idle=True,
    loophole="The source accepts any rewriting, and the deletion of what need not be said.",
)
PLAIN = Check(
    "plain_report",
    "Each edited sentence is one sentence, and every word of it says what the truth says.",
    idle=True,
    loophole="The source's judge reads whatever the agent wrote.",
)


class Judge(Protocol):
    """Something that counts significant errors, such as :class:`healthgym.rewards.judge.LlmJudge`.

    It raises an :class:`~healthgym.errors.InfrastructureError` where it cannot tell.
    """

    def judge(self, reference: str, candidate: str) -> tuple[bool, dict[str, float]]:
        """Return whether a candidate passes, and metrics."""


class CorrectionVerifier(Verifier[Task, CorrectionReference, ReadingRoom]):
    """Judges reports as they were handed in.

    Args:
        judge: Decides the paper profile in place of the claims; none by default.
    """

    def __init__(self, judge: Judge | None = None) -> None:
        self._judge = judge

    def checks(self, profile: Profile) -> tuple[Check, ...]:
        """Return the checks of a profile; where there is a judge, it decides the paper's."""
        if profile is Profile.STRICT:
            return (*CLASSES.values(), EDIT_ONLY, PLAIN)
        return (NOT_EMPTY, *(CLASSES.values() if self._judge is None else (JUDGED,)))

    def judge(
        self, evidence: Evidence[Task, CorrectionReference, ReadingRoom], profile: Profile
    ) -> Judgement:
        """Return what is found of a report.

        Raises:
            InfrastructureError: If the judge cannot tell.
        """
        reference, room, before = evidence.reference, evidence.after, evidence.before
        if profile is Profile.STRICT:
            return _strict(reference, room, before)
        if self._judge is None:
            return _paper(reference, room, before)
        return _asked(self._judge, reference, room)


def _asked(judge: Judge, reference: CorrectionReference, room: ReadingRoom) -> Judgement:
    """Return what a judge says of a report; an empty one fails without it."""
    text = room.findings
    if not text.strip():
        return Judgement.of([NOT_EMPTY.result(False), JUDGED.result(False)], progress=0.0)
    truth = " ".join(statement.text for statement in reference.truth)
    passed, metrics = judge.judge(truth, text)
    results = [NOT_EMPTY.result(True), JUDGED.result(passed)]
    return Judgement.of(results, progress=float(passed), metrics=metrics)


def _paper(reference: CorrectionReference, room: ReadingRoom, before: ReadingRoom) -> Judgement:
    """Return what the claims say: no clinically significant difference may be left."""
    empty = not room.findings.strip()
    errors = text_errors(reference.truth, room.findings)
    worst = [error for error in errors if error.significant]
    results = [NOT_EMPTY.result(not empty), *_class_results(worst, _added(reference.truth, room))]
    if empty:
        return Judgement.of(results, progress=0.0)
    start = [e for e in text_errors(reference.truth, before.findings) if e.significant]
    gained = max(1 - len(worst) / max(len(start), 1), -1.0)
    metrics = _metrics(errors) | {"mean_sig_errors": float(len(worst))}
    return Judgement.of(results, progress=gained, metrics=metrics)


def text_errors(truth: Sequence[Statement], findings: str) -> list[ClaimError]:
    """Return how findings differ from what is true; words that the truth has not are an error."""
    reading = read_text(findings)
    claims = merged(claim for statement in truth for claim in statement.claims)
    errors = align(claims, reading.claims)
    for statement in truth:
        errors += _other_height(statement, findings, errors)
    if _unknown(truth, reading.unread):
        errors.append(ClaimError(ErrorClass.FALSE_FINDING, "unread"))
    return errors


def _unknown(truth: Sequence[Statement], unread: Sequence[str]) -> tuple[str, ...]:
    """Return the words that could not be read, and that the truth has not."""
    return tuple(Counter(unread) - Counter(word for each in truth for word in each.unread))


def _added(truth: Sequence[Statement], room: ReadingRoom) -> tuple[str, ...]:
    return _unknown(truth, read_text(room.findings).unread)


def align(truth: Sequence[Claim], said: Sequence[Claim]) -> list[ClaimError]:
    """Return how what a text says differs from what is true.

    Claims meet by entity. What is said twice with different contents is judged twice: the claim
    that fits best answers the truth, each other one is a false finding.
    """
    errors: list[ClaimError] = []
    rest = list(said)
    for claim in truth:
        same = [other for other in rest if other.entity == claim.entity]
        if not same:
            present = claim.present is not False
            errors.append(ClaimError(ErrorClass.OMISSION, claim.entity, present))
            continue
        best = min(same, key=lambda other: _cost(compare(claim, other)))
        rest.remove(best)
        errors += compare(claim, best)
    there = {claim.entity for claim in truth if claim.present is not False}
    for other in rest:
        # Saying of something else that it is not there is no significant error, but is one.
        significant = other.present is not False or other.entity in there or bool(other.change)
        errors.append(ClaimError(ErrorClass.FALSE_FINDING, other.entity, significant))
    return errors


def _cost(errors: Sequence[ClaimError]) -> tuple[int, int]:
    return sum(error.significant for error in errors), len(errors)


def _strict(reference: CorrectionReference, room: ReadingRoom, before: ReadingRoom) -> Judgement:
    """Return what is found sentence by sentence: an edit of the draft, and no difference."""
    sentences, draft = room.sentences, before.draft
    matched = len(sentences) == len(draft)
    subjects, unclear = matched, list[str]()
    errors: list[ClaimError] = []
    for number, statement in enumerate(reference.truth):
        text = sentences[number] if number < len(sentences) else ""
        errors += sentence_errors(statement, text)
        if matched and text != draft[number]:
            about = {claim.entity for claim in read(text)}
            subjects &= about == {claim.entity for claim in read(draft[number])}
            if not is_plain(statement, text):
                unclear.append(f"{number + 1}: {_unclear(statement, text)}")
    extra = sentences[len(draft) :]
    errors += [e for text in extra for e in align((), read(text))]
    unclear += [_unread(read_text(text).unread) for text in extra if read_text(text).unread]
    plain = PLAIN.result(not unclear, "; ".join(unclear))
    results = [*_class_results(errors), EDIT_ONLY.result(subjects), plain]
    wrong = len(reference.swapped)
    broken = _wrong_sentences(reference, sentences)
    gained = max(1 - broken / max(wrong, 1), -1.0) if subjects and plain.passed else 0.0
    metrics = _metrics(errors) | {"wrong_sentences": float(broken)}
    return Judgement.of(results, progress=gained, metrics=metrics)


def sentence_errors(truth: Statement, text: str) -> list[ClaimError]:
    """Return the errors of one sentence; a sentence as it should be has none."""
    if _same(truth.text, text):
        return []
    if not truth.claims:
        # A sentence that nothing can be read from has to stay as it is.
        return [ClaimError(ErrorClass.OMISSION, "unread")]
    errors = align(truth.claims, read(text))
    return [*errors, *_other_height(truth, text, errors)]


def _other_height(truth: Statement, text: str, found: Sequence[ClaimError]) -> list[ClaimError]:
    """Return whether a tube is said to end at another height, where both tell one.

    What ends in a bronchus has none. Another place, which is found already, is one error.
    """
    if any(error.entity == "endotracheal_tube" for error in found):
        return []
    told = heights(truth.text)
    low = any(c.entity == "endotracheal_tube" and c.place == "low" for c in truth.claims)
    none = low and not told and heights(text)
    other = none or any(abs(one - two) > _NEAR for one in told for two in heights(text))
    return [ClaimError(ErrorClass.LOCATION, "endotracheal_tube")] if other else []


def _same(one: str, two: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(two.split()).casefold()


def _wrong_sentences(reference: CorrectionReference, sentences: Sequence[str]) -> int:
    return sum(
        bool(sentence_errors(statement, sentences[n] if n < len(sentences) else ""))
        for n, statement in enumerate(reference.truth)
    )


def sentence_fits(truth: Statement, text: str) -> bool:
    """Return whether a sentence can stand for a true one in an edited report."""
    return is_plain(truth, text) and not sentence_errors(truth, text)


def is_plain(truth: Statement, text: str) -> bool:
    """Return whether a text is one sentence without words that the truth has not."""
    if _same(truth.text, text):
        return True
    # In their order: "no mass" is not "a mass, no".
    return len(split_sentences(text)) == 1 and read_text(text).unread == truth.unread


def _unclear(truth: Statement, text: str) -> str:
    """Return why an edited sentence does not say what the truth says and nothing else."""
    count = len(split_sentences(text))
    if count != 1:
        return f"{count} sentences in place of one"
    unread = read_text(text).unread
    more, less = (Counter(a) - Counter(b) for a, b in
                  ((unread, truth.unread), (truth.unread, unread)))  # fmt: skip
    if more or not less:
        return _unread(tuple(more) or unread)
    return f"left out: {_quoted(tuple(less))}"


def _unread(words: Sequence[str]) -> str:
    return f"says more than the truth, or what is not understood: {_quoted(words)}"


def _quoted(words: Sequence[str]) -> str:
    shown = ", ".join(f"'{word[:_LONGEST]}'" for word in words[:_MOST])
    return f"{shown} and {len(words) - _MOST} more" if len(words) > _MOST else shown


def _class_results(errors: Sequence[ClaimError], unread: Sequence[str] = ()) -> list[CheckResult]:
    details = {}
    for kind in ErrorClass:
        about = Counter(error.entity for error in errors if error.error is kind)
        named = ", ".join(f"{name} x{n}" if n > 1 else name for name, n in about.items())
        details[kind] = f"{about.total()} found: {named}" if about else ""
    if unread and details[ErrorClass.FALSE_FINDING]:
        details[ErrorClass.FALSE_FINDING] += f" ({_quoted(unread)})"
    return [check.result(not details[kind], details[kind]) for kind, check in CLASSES.items()]


def _metrics(errors: Sequence[ClaimError]) -> dict[str, float]:
    found = {
        f"errors_{kind.value}": float(sum(error.error is kind for error in errors))
        for kind in ErrorClass
    }
    return found | {"significant_errors": float(sum(error.significant for error in errors))}
