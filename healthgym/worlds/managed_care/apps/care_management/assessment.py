"""The assessment in four sections."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.assessment import CMAssessment


class Assessments(App):
    """Assessments.

    Attributes:
        assessments: Assessments, by id.
    """

    name = "cm_assessment"
    assessments = table[str, CMAssessment]()
