"""The forms of a case."""

from __future__ import annotations

from collections.abc import Mapping

from healthgym.core.tool import ToolKind, tool
from healthgym.envs.managed_care.layouts import form_page
from healthgym.envs.managed_care.tools.base import LOOK, WRITING, OfficeToolset


class FormsToolset(OfficeToolset):
    """See which forms a case needs, and fill them."""

    namespace = "forms"

    def show(self, result: object) -> str:
        """Return a result as the agent reads it: forms as tables."""
        return super().show(form_page(result) if isinstance(result, Mapping) else result)

    @tool(ToolKind.READ, takes=LOOK)
    def list_required_forms(self, case_id: str, channel: str | None = None) -> str:
        """List the forms of a case: the request form, and the questions of its policy.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            channel: How it is to be sent, such as "portal"; the forms are the same for all.
        """
        return self.show(self.world.documents.list_required_forms(case_id, channel))

    @tool(ToolKind.WRITE, takes=WRITING)
    def save_form_response(
        self, case_id: str, answers: dict[str, str], form_id: str | None = None
    ) -> str:
        """Save answers to a form; earlier answers stay unless they are given anew.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            answers: Answers by key, such as {"request_plan_name": "Gold PPO"}. Numbers are given
                without their unit, yes-or-no questions as "yes" or "no", and what the chart does
                not say as "not documented". At most 2,000 characters each.
            form_id: The form, such as "FORM-REQUEST-CASE-ACT-001"; if left out, the answers go to
                the forms that ask for their keys.
        """
        return self.show(self.world.documents.save_form_response(case_id, answers, form_id))

    @tool(ToolKind.READ, takes=LOOK)
    def validate_form(self, case_id: str, form_id: str | None = None) -> str:
        """Check whether the forms of a case are complete; answers are not judged.

        Args:
            case_id: Id of the case, such as "CASE-ACT-001".
            form_id: Only this form, such as "FORM-REQUEST-CASE-ACT-001".
        """
        return self.show(self.world.documents.validate_form(case_id, form_id))
