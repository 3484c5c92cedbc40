"""The agent's verbs: look, measure, and edit the draft sentence by sentence."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from healthgym.core.tool import ToolKind, ToolResult, Toolset, tool
from healthgym.envs.xray_correction.reading.reader import read_text, split_sentences
from healthgym.envs.xray_correction.submission import (
    candidate_findings,
    final_answer,
    unmarked,
)
from healthgym.errors import ToolError
from healthgym.worlds.imaging.raster import Image, clip_box, display, resize
from healthgym.worlds.radiography.archive import Study, is_lateral
from healthgym.worlds.radiography.measure import compare_studies, measure
from healthgym.worlds.radiography.world import ReadingRoom

#: How many words that are not understood are named, and how many letters of each.
_MOST_WORDS, _LONGEST = 8, 40
_MOST_TEXT, _MOST_SENTENCE, _MOST_SENTENCES = 8000, 600, 40
_SIDE = 512


class CorrectionToolset(Toolset[ReadingRoom]):
    """Look at radiographs, measure them, correct the draft."""

    # -- reading -----------------------------------------------------------------------------

    @tool(ToolKind.READ)
    def list_studies(self) -> str:
        """List the patient's studies, oldest first: number, date and time, views."""
        lines = []
        for number, study in enumerate(self.world.radiographs.studies, 1):
            taken = f"{study.taken:%Y-%m-%d %H:%M}" if study.taken else "no date"
            views = ", ".join(f"view {n} {kind}" for n, kind in enumerate(study.views, 1))
            last = number == len(self.world.radiographs.studies)
            lines.append(f"study {number}: {taken}; {views}{'; to be reported' if last else ''}")
        return "\n".join(lines)

    @tool(ToolKind.READ)
    def read_report(self, study: int) -> str:
        """Read the report of a study; of the last one, the sections before the draft findings.

        Args:
            study: Number of the study, from 1.
        """
        index = self._index(study)
        if index == len(self.world.radiographs.studies) - 1:
            return f"{self.world.header}\n\nFINDINGS:  (the draft; see show_draft)"
        return self.world.radiographs.studies[index].report[:6000] or "There is no report."

    @tool(ToolKind.READ)
    def view_image(
        self,
        study: int,
        view: int = 1,
        left: int = 0,
        top: int = 0,
        right: int = 100,
        bottom: int = 100,
        low: int = 0,
        high: int = 255,
    ) -> ToolResult:
        """Show a radiograph, or a part of it enlarged, in a window of grey levels.

        Args:
            study: Number of the study, from 1.
            view: Number of the view, from 1.
            left: Left border of the part, in percent of the width.
            top: Upper border, in percent of the height.
            right: Right border, in percent of the width.
            bottom: Lower border, in percent of the height.
            low: Grey level shown black, 0 to 254.
            high: Grey level shown white, above low, up to 255.
        """
        index, place = self._view(study, view)
        if not (0 <= left < right <= 100 and 0 <= top < bottom <= 100):
            raise ToolError("The part is 0 <= left < right <= 100 and 0 <= top < bottom <= 100.")
        if not 0 <= low < high <= 255:
            raise ToolError("The window is 0 <= low < high <= 255.")
        pixels = self.world.radiographs.pixels(index, place)
        height, width = pixels.shape
        x0, y0, x1, y1 = clip_box(
            (left * width / 100, top * height / 100, right * width / 100, bottom * height / 100),
            height,
            width,
        )
        part = pixels[y0:y1, x0:x1]
        scale = _SIDE / max(part.shape)
        rows, columns = (max(round(side * scale), 1) for side in part.shape)
        shown = display(resize(part, rows, columns), low, high)
        kind = self._study(index).views[place]
        facing = "front of the patient" if is_lateral(kind) else "patient's right"
        text = (
            f"Study {study}, view {view} ({kind}), {width}x{height} pixels; shown {columns}x{rows}:"
            f" left {left} top {top} right {right} bottom {bottom} percent, window {low}-{high}; "
            f"{facing} on the left."
        )
        return ToolResult(text, (shown,))

    @tool(ToolKind.READ)
    def measure(
        self,
        what: Literal[
            "heart", "lungs", "bases", "pleura", "nodules", "bones", "wall", "airway", "tubes",
            "lines", "clips",
        ],
        study: int = 0,
    ) -> str:  # fmt: skip
        """Measure the frontal radiograph of a study by image analysis.

        heart: cardiothoracic ratio. lungs: density of each lung's zones, expansion. bases:
        diaphragm and costophrenic angles. pleura: pleural line and markings at the chest wall.
        nodules: small round densities. bones: steps in ribs. wall: gas in soft tissue. airway:
        tubes in trachea and gullet. tubes: chest tubes. lines: central lines, pumps, pacemakers.
        clips: clips and sternal wires. Lengths are in percent of the inner width of the thorax.

        Args:
            what: What to measure.
            study: Number of the study, from 1; 0 for the last.
        """
        index = self._index(study or len(self.world.radiographs.studies))
        return self._with_limits(measure(self._frontal(index), what), what)

    @tool(ToolKind.READ)
    def compare_prior(self, what: Literal["heart", "lungs", "bases", "pleura"]) -> str:
        """Measure the last study and the one before it, and the difference.

        Args:
            what: What to compare; see measure.
        """
        last = len(self.world.radiographs.studies) - 1
        if last < 1:
            raise ToolError("There is no prior study.")
        text = compare_studies(self._frontal(last - 1), self._frontal(last), what)
        return self._with_limits(text, f"compare {what}")

    @tool(ToolKind.READ)
    def show_draft(self) -> str:
        """Show the findings as they stand, sentence by sentence, with their numbers."""
        return "\n".join(f"{n}. {text}" for n, text in enumerate(self.world.sentences, 1))

    # -- writing -----------------------------------------------------------------------------

    @tool(ToolKind.WRITE)
    def edit_sentence(self, number: int, text: str) -> str:
        """Replace one sentence of the findings.

        Args:
            number: Number of the sentence, from 1.
            text: The new sentence, such as "There is a small left pleural effusion."
        """
        sentences = list(self.world.sentences)
        if not 1 <= number <= len(sentences):
            raise ToolError(f"There are sentences 1 to {len(sentences)}.")
        new = " ".join(unmarked(text).split())
        if not new or len(new) > _MOST_SENTENCE:
            raise ToolError(f"A sentence has 1 to {_MOST_SENTENCE} characters.")
        if sentences[number - 1] == new:
            raise ToolError(f"Sentence {number} reads so already.")
        sentences[number - 1] = new
        self.world.rewrite(tuple(sentences))
        return f"{number}. {new}{self._not_understood(new)}"

    @tool(ToolKind.WRITE)
    def revert_sentence(self, number: int) -> str:
        """Put a sentence of the draft back as it was.

        Args:
            number: Number of the sentence, from 1; 0 for the whole draft.
        """
        draft, sentences = self.world.draft, list(self.world.sentences)
        if number == 0:
            sentences = list(draft)
        elif len(sentences) != len(draft) or not 1 <= number <= len(draft):
            raise ToolError(f"Give a number from 1 to {len(draft)}, or 0 for the whole draft.")
        else:
            sentences[number - 1] = draft[number - 1]
        if tuple(sentences) == self.world.sentences:
            raise ToolError("That reads as in the draft already.")
        self.world.rewrite(tuple(sentences))
        return "Put back."

    @tool(ToolKind.WRITE)
    def write_findings(self, text: str) -> str:
        """Replace the whole findings by a text, which is cut into sentences again.

        Editing single sentences is safer: the report must keep the draft's sentences in order.

        Args:
            text: The findings, with or without a FINDINGS: header, or the JSON of a submission
                with final_answer; up to 8000 characters.
        """
        if len(text) > _MOST_TEXT:
            raise ToolError(f"Findings have up to {_MOST_TEXT} characters, not {len(text)}.")
        report = unmarked(final_answer(unmarked(text)))
        sentences = tuple(split_sentences(candidate_findings(report)))
        if len(sentences) > _MOST_SENTENCES:
            raise ToolError(f"Findings have up to {_MOST_SENTENCES} sentences.")
        if sentences == self.world.sentences:
            raise ToolError("The findings read so already.")
        self.world.rewrite(sentences)
        told = self._not_understood(" ".join(sentences))
        return f"The findings have {len(sentences)} sentences now.{told}"

    @tool(ToolKind.SUBMIT)
    def submit(self) -> str:
        """Hand in the findings as they stand and end the episode."""
        return "Submitted."

    # -- what the tools share ----------------------------------------------------------------

    def _with_limits(self, text: str, what: str) -> str:
        return "\n".join(filter(None, (text, self.world.limits.get(what))))

    def _not_understood(self, text: str) -> str:
        """Return a line that names the words of a text that are not read; the draft's may stay."""
        known = Counter(read_text(" ".join(self.world.draft)).unread)
        words = tuple(Counter(read_text(text).unread) - known)[:_MOST_WORDS]
        if not words:
            return ""
        named = ", ".join(f"'{word[:_LONGEST]}'" for word in words)
        return f"\nNot understood here: {named}. What is not understood counts as a false finding."

    def _index(self, study: int) -> int:
        count = len(self.world.radiographs.studies)
        if not 1 <= study <= count:
            raise ToolError(f"There are studies 1 to {count}.")
        return study - 1

    def _study(self, index: int) -> Study:
        return self.world.radiographs.studies[index]

    def _view(self, study: int, view: int) -> tuple[int, int]:
        index = self._index(study)
        views = self._study(index).views
        if not 1 <= view <= len(views):
            raise ToolError(f"Study {study} has views 1 to {len(views)}.")
        return index, view - 1

    def _frontal(self, index: int) -> Image:
        views = self._study(index).views
        place = next((n for n, kind in enumerate(views) if not is_lateral(kind)), None)
        if place is None:
            raise ToolError(f"Study {index + 1} has no frontal view to measure.")
        return self.world.radiographs.pixels(index, place)
