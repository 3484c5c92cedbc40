"""Documents, bundles and questionnaires of a case."""

from __future__ import annotations

from healthgym.core.state import table
from healthgym.worlds.managed_care.apps.app import App
from healthgym.worlds.managed_care.records.case import QuestionnaireResponse
from healthgym.worlds.managed_care.records.chart import DocumentReference


class DocumentsAndForms(App):
    """Documents and forms.

    Attributes:
        documents: Documents of cases, by id; the charts keep the rest.
        responses: Saved answers, by id.
    """

    name = "docs"
    documents = table[str, DocumentReference]()
    responses = table[str, QuestionnaireResponse]()
