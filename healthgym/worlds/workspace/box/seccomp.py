"""What a boxed program may ask of the kernel: a seccomp filter, assembled from a table.

Namespaces are the wall; the filter is the second one. It leaves out what code on tables never
needs: starting processes (threads are allowed), sockets, memory that no limit counts, other
namespaces, tracing, keys and the kernel's own programs. System calls newer than the table are
unknown to it and do not exist for the box.
"""

from __future__ import annotations

import errno
import json
import platform
import struct
from functools import cache
from importlib import resources

from healthgym.core.borders import JsonDict
from healthgym.errors import SandboxUnavailableError

# Classic BPF, linux/bpf_common.h and linux/seccomp.h.
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x00010000
#: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
_CLONE_NEW = 0x7E020080
_REFUSE, _ABSENT = _ERRNO | errno.EPERM, _ERRNO | errno.ENOSYS


@cache
def _table() -> JsonDict:
    text = resources.files(__package__).joinpath("seccomp.json").read_text(encoding="utf-8")
    found: JsonDict = json.loads(text)
    return found


def call_numbers(machine: str | None = None) -> dict[str, int]:
    """Return the numbers of the system calls the filter names, for a machine.

    Raises:
        SandboxUnavailableError: If there is no table of that machine's system calls.
    """
    entry = _entry(machine)
    return {"clone": entry["clone"], **entry["refused"], **_table()["allowed_since"]}


def _entry(machine: str | None) -> JsonDict:
    machines: dict[str, JsonDict] = _table()["machines"]
    machine = machine or platform.machine()
    if machine not in machines:
        raise SandboxUnavailableError(
            f"There is no filter of system calls for {machine!r}; full Python runs on "
            f"{', '.join(machines)}."
        )
    return machines[machine]


def seccomp_filter(machine: str | None = None) -> bytes:
    """Return the filter for a machine as ``struct sock_filter`` records.

    Args:
        machine: As :func:`platform.machine` names it; this one if None.

    Raises:
        SandboxUnavailableError: If there is no table of that machine's system calls.
    """
    table, entry = _table(), _entry(machine)
    code = [_step(_LOAD, _ARCHITECTURE), *_if(_EQUAL, entry["audit"], otherwise=_KILL)]
    code += [_step(_LOAD, _NUMBER)]
    code += _if(_AT_LEAST, entry["highest"], then=_KILL)
    for number in table["allowed_since"].values():
        code += _if(_EQUAL, number, then=_ALLOW)
    # clone3 is one of these. As its flags are out of a filter's reach it must not exist, and the C
    # library falls back to clone.
    code += _if(_AT_LEAST, table["since"], then=_ABSENT)
    for number in entry["refused"].values():
        code += _if(_EQUAL, number, then=_REFUSE)
    code += _if(_EQUAL, entry["clone"], otherwise=_ALLOW)
    code += [_step(_LOAD, _FIRST_ARGUMENT)]
    code += _if(_ANY_BIT, _CLONE_NEW, then=_REFUSE)
    code += _if(_ANY_BIT, _CLONE_THREAD, otherwise=_REFUSE)
    code += [_step(_RETURN, _ALLOW)]
    return b"".join(code)


def _step(operation: int, operand: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, yes, no, operand)


def _if(
    test: int, operand: int, *, then: int | None = None, otherwise: int | None = None
) -> list[bytes]:
    """Return early with a verdict if a test holds (``then``) or if it does not (``otherwise``)."""
    if then is not None:
        return [_step(test, operand, 0, 1), _step(_RETURN, then)]
    assert otherwise is not None
    return [_step(test, operand, 1, 0), _step(_RETURN, otherwise)]
