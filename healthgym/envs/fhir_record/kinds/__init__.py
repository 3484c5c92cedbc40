"""The task types of MedAgentBench, and our own for folders of real charts, one rule each."""

from collections.abc import Mapping

from healthgym.envs.fhir_record.kinds.base import TaskKind
from healthgym.envs.fhir_record.kinds.devices import DEVICE_KINDS
from healthgym.envs.fhir_record.kinds.heart import HEART_KINDS
from healthgym.envs.fhir_record.kinds.imaging import IMAGING_KINDS
from healthgym.envs.fhir_record.kinds.labs import LAB_KINDS
from healthgym.envs.fhir_record.kinds.lookups import PatientAge, PatientLookup
from healthgym.envs.fhir_record.kinds.medications import MEDICATION_KINDS
from healthgym.envs.fhir_record.kinds.own import OWN
from healthgym.envs.fhir_record.kinds.recording import BloodPressureRecording
from healthgym.envs.fhir_record.kinds.referral import OrthopedicReferral
from healthgym.envs.fhir_record.kinds.thyroid import THYROID_KINDS
from healthgym.envs.fhir_record.kinds.vaccines import VACCINE_KINDS

_ALL: tuple[TaskKind, ...] = (
    PatientLookup(),
    PatientAge(),
    BloodPressureRecording(),
    *LAB_KINDS,
    OrthopedicReferral(),
    *IMAGING_KINDS,
    *MEDICATION_KINDS,
    *HEART_KINDS,
    *DEVICE_KINDS,
    *THYROID_KINDS,
    *VACCINE_KINDS,
)

#: Every published task type by name, v1 before v2, in the order of their numbers.
KINDS: Mapping[str, TaskKind] = {
    kind.name: kind for kind in sorted(_ALL, key=lambda kind: (kind.name[:2], int(kind.name[4:])))
}

#: What folders are asked: those, and types that need what public folders hold.
FOLDER_KINDS: Mapping[str, TaskKind] = {**KINDS, **{kind.name: kind for kind in OWN}}

__all__ = ["FOLDER_KINDS", "KINDS", "TaskKind"]
