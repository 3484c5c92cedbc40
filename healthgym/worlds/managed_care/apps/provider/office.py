"""What the provider's applications have in common: names in the log, and limits on texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode

#: An answer made of several records, by name.
View = Mapping[str, object]


class Limit(StrEnum):
    """Texts that have a greatest length, in characters."""

    TITLE = "title"
    CONTENT = "content"
    DESCRIPTION = "description"
    NOTE = "note"
    REASON = "reason"
    RATIONALE = "rationale"
    ANSWER = "answer"


#: A strict world refuses longer texts: an office's fields are finite, and a flood is no evidence.
LONGEST: Mapping[Limit, int] = {
    Limit.TITLE: 200,
    Limit.CONTENT: 20_000,
    Limit.DESCRIPTION: 500,
    Limit.NOTE: 4_000,
    Limit.REASON: 4_000,
    Limit.RATIONALE: 10_000,
    Limit.ANSWER: 2_000,
}


def listing(items: Iterable[object]) -> View:
    """Return a list as an answer that says how many there are, also when there are none."""
    shown = tuple(items)
    return {"total": len(shown), "items": shown}


class ProviderApp(App):
    """An application of the provider.

    The log names what was used as the source does: one of our applications answers for several of
    its services (``pa_queue``, ``doc_center``, ``payer_hub``).
    """

    def noted(self, name: str, case_id: str, actor: str = "") -> None:
        """Note a change under its full name: ``doc_center.upload_evidence``."""
        app, _, action = name.partition(".")
        self.world.history.audit(app, action, case_id, actor or self.world.actor)

    def saw(self, name: str, case_id: str = "") -> None:
        """Note a look under its full name: ``pa_queue.get_case``."""
        app, _, action = name.partition(".")
        self.world.history.looked(app, action, case_id, self.world.actor)


def require_text(text: str | None, what: str, limit: Limit) -> str:
    """Return a text that is there and not too long.

    Args:
        text: The text.
        what: What it is, for the sentence: ``The note``.
        limit: How long it may be.

    Raises:
        Refusal: If it is blank, or too long.
    """
    if text is None or not text.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, f"{what} is blank; say it in words.")
    return require_short(text, what, limit)


def require_short(text: str, what: str, limit: Limit) -> str:
    """Return a text that is not too long.

    Raises:
        Refusal: If it is.
    """
    longest = LONGEST[limit]
    if len(text) > longest:
        raise Refusal(
            RefusalCode.LIMIT_REACHED,
            f"{what} has {len(text)} characters; at most {longest} are accepted.",
        )
    return text
