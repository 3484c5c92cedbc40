"""Files that are uploaded as evidence: what they are, and whether they are what they say."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING

from healthgym.worlds.managed_care.apps.provider import bundles
from healthgym.worlds.managed_care.records.chart import DocumentReference
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.vocabulary.authorization import DocumentKind

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.apps.provider.documents_and_forms import DocumentsAndForms

#: What only a clinician, a laboratory or a reading room writes.
FINDINGS = frozenset(
    {
        DocumentKind.CHART_NOTE,
        DocumentKind.PROGRESS_NOTE,
        DocumentKind.IMAGING_REPORT,
        DocumentKind.LAB_SUMMARY,
        DocumentKind.LAB_RESULT,
    }
)
#: How files of a type begin (the formats' own specifications); text begins with anything.
BEGINNINGS: Mapping[str, tuple[bytes, ...]] = {
    "application/pdf": (b"%PDF-",),
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/tiff": (b"II*\x00", b"MM\x00*"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (b"PK\x03\x04",),
    "text/plain": (),
}
_MIB = 1 << 20


def decoded(file_bytes: str) -> bytes:
    """Return the bytes of a file: base64 if it is that and begins as a known type, else text."""
    try:
        raw = base64.b64decode(file_bytes, validate=True)
    except (binascii.Error, ValueError):
        return file_bytes.encode("utf-8", "surrogatepass")
    known = (mark for marks in BEGINNINGS.values() for mark in marks)
    return raw if raw.startswith(tuple(known)) else file_bytes.encode("utf-8", "surrogatepass")


def require_file(file_bytes: str, mime_type: str, most_mib: int) -> bytes:
    """Return the bytes of a file that is what its type says; asked for by strict worlds.

    Args:
        file_bytes: The file in base64; a text may also be given as it is.
        mime_type: Its media type.
        most_mib: How large it may be, in MiB.

    Raises:
        Refusal: If the type is not accepted, the base64 is broken, the file is empty or too large,
            or it begins otherwise than files of its type do.
    """
    if mime_type not in BEGINNINGS:
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"Files of type {mime_type[:60]!r} are not accepted; accepted: "
            f"{', '.join(BEGINNINGS)}.",
        )
    if not file_bytes.strip():
        raise Refusal(RefusalCode.MISSING_TEXT, "The file is empty; send its bytes in base64.")
    marks = BEGINNINGS[mime_type]
    raw = _from_base64(file_bytes) if marks else decoded(file_bytes)
    if len(raw) > most_mib * _MIB:
        raise Refusal(
            RefusalCode.LIMIT_REACHED,
            f"The file has {len(raw)} bytes; at most {most_mib} MiB are accepted.",
        )
    if marks and not raw.startswith(marks):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT,
            f"The file does not begin as {mime_type} files do; send what the type says.",
        )
    if not marks and raw != file_bytes.encode("utf-8", "surrogatepass"):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT, "The file is no plain text; name the type that it has."
        )
    return raw


def _from_base64(file_bytes: str) -> bytes:
    try:
        return base64.b64decode(file_bytes, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(
            RefusalCode.BAD_ARGUMENT, "The file is no valid base64; encode its bytes in base64."
        ) from None


def require_genuine(desk: DocumentsAndForms, made: DocumentReference) -> None:
    """Refuse, in a strict world, a document that is on file already, or a finding nobody made.

    An office can write a letter and fill a form. A note, a report or a result it can only copy:
    whoever could write one would never lack evidence.

    Args:
        desk: Where it is to be kept.
        made: The document.

    Raises:
        Refusal: If there is one of the same kind, title and text, or it is a finding whose text
            no document of the patient's chart has.
    """
    bundles.require_new(desk, made)
    if made.kind not in FINDINGS:
        return
    text = made.content.split()
    for known in desk.world.charts[made.patient_id].documents:
        if known.kind is made.kind and known.content.split() == text:
            return
    raise Refusal(
        RefusalCode.UNSUPPORTED_CLAIM,
        f"No {made.kind} with this text is in the chart of {made.patient_id}; findings can only "
        "be copied. An office writes letters, forms and other papers of its own.",
    )
