"""Whether the provider decided rightly, and on which documents."""

from __future__ import annotations

from healthgym.envs.managed_care.checks.case_file import CaseFile
from healthgym.envs.managed_care.checks.rule import Answer, Rule, rule
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind


def _holds_back(case: CaseFile) -> bool:
    expected = case.expectation.pre_submission
    return expected.holds_back or expected.packet_must_be_absent


def _determined(case: CaseFile) -> Answer:
    return case.final_action is not None


def _action(case: CaseFile) -> Answer:
    return case.final_action == case.expectation.pre_submission.final_action


def _nothing_sent(case: CaseFile) -> Answer:
    # Package and manifest are rendered from bundle and packet.
    return not (case.packet or case.bundles or case.acted("submit_authorization"))


def _documents(case: CaseFile) -> Answer:
    expected = case.expectation.pre_submission
    if expected.holds_back or not expected.required_document_kinds:
        return None
    return set(expected.required_document_kinds) <= {doc.kind for doc in case.documents}


def _absent(kind: DocumentKind) -> Rule:
    def ask(case: CaseFile) -> Answer:
        return all(doc.kind != kind for doc in case.documents)

    def asked(case: CaseFile) -> bool:
        return kind in case.expectation.pre_submission.absent_document_kinds

    return rule("provider_pre_submission.document_absent", ask, asked, suffix=f".{kind}")


def _names_action(case: CaseFile) -> bool:
    return case.expectation.pre_submission.holds_back


RULES = (
    rule("provider_pre_submission.provider_determination_present", _determined, _names_action),
    rule("provider_pre_submission.final_action", _action, _names_action),
    rule("provider_pre_submission.packet_absent", _nothing_sent, _holds_back),
    rule("provider_pre_submission.required_documents_present", _documents),
    *map(_absent, DocumentKind),
)
