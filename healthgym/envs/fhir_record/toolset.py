"""The agent's verbs on a record system."""

from __future__ import annotations

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.fhir_record.toolset_reading import FolderReadingTools, ReadingTools
from healthgym.envs.fhir_record.toolset_writing import WritingTools


# Agents see the tools of the last base first: reading, writing, handing in.
class RecordToolset(WritingTools, ReadingTools):
    """Search, read and write a FHIR record system; short tables instead of JSON by default.

    The chart of the patient last named, or found as the only match, stays open: later calls are
    about that patient unless they name another.
    """

    @tool(ToolKind.SUBMIT)
    def finish(self, value: list) -> str:  # type: ignore[type-arg]
        """Hand in the answer and end the task.

        Args:
            value: The answer as a list, in the form the question asks for, e.g. [3.4] or [-1].
        """
        return "Finished."


class FolderToolset(RecordToolset, FolderReadingTools):
    """The same on a folder of real charts, with immunizations beside the rest."""
