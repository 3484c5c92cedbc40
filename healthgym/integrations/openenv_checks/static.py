"""Checks of a package's files: what it declares, pins and is made of."""

from __future__ import annotations

import json
import re

from openenv.validation import Level, load_policy

from healthgym.integrations.openenv_checks.looking import Finding, OurCheck, Package, Unchecked
from healthgym.integrations.openenv_checks.package import distribution_pin
from healthgym.version import __version__

_ARCHIVES = {".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".whl"}
_LABELS = ("title", "description", "version", "licenses")
_PIN = re.compile(r"([\w.-]+)==([\w.+!-]+)")


def _pins(package: Package) -> list[tuple[str, str]]:
    lines = (package.root / "requirements.txt").read_text("utf-8").splitlines()
    return [(found[1], found[2]) for line in lines if (found := _PIN.fullmatch(line))]


def _no_image(package: Package) -> Finding:
    raise Unchecked("needs an image: none is built here")


def _layout(package: Package) -> Finding:
    files = [file for file in package.root.rglob("*") if file.is_file()]
    found = [str(file.relative_to(package.root)) for file in files if file.suffix in _ARCHIVES]
    return Finding(
        "the package's files were listed; none is an archive",
        [f"{name} is an archive" for name in found],
        {"files": len(files), "bytes": sum(file.stat().st_size for file in files)},
    )


def _sbom(package: Package) -> Finding:
    bill = json.loads((package.root / "sbom.json").read_text("utf-8"))
    listed = [(each["name"], each["version"]) for each in bill["components"]]
    odd = sorted(set(listed) ^ set(_pins(package)))
    if bill.get("bomFormat") != "CycloneDX":
        odd.append(("format", str(bill.get("bomFormat"))))
    return Finding(
        "sbom.json (CycloneDX) was compared with requirements.txt; of the image's own system "
        "packages nothing is known here",
        [f"{name} {version} is in one of the two alone" for name, version in odd],
        {"components": len(listed)},
    )


def _oci_labels(package: Package) -> Finding:
    recipe = (package.root / "Dockerfile").read_text("utf-8")
    missing = [name for name in _LABELS if f"org.opencontainers.image.{name}=" not in recipe]
    return Finding(
        "the Dockerfile's LABEL was read; no image was inspected",
        [f"no org.opencontainers.image.{name}" for name in missing],
        {"labels": len(_LABELS) - len(missing)},
    )


def _resources(package: Package) -> Finding:
    declared = package.manifest.resources
    return Finding(
        "the manifest declares processor, memory, disk and time", (), declared.model_dump()
    )


def _timeout(package: Package) -> Finding:
    most = load_policy("v2").bounds.max_episode_timeout_s
    declared = package.manifest.resources.episode_timeout_s
    return Finding(
        "the declared time was compared with the policy's ceiling",
        [] if declared <= most else [f"{declared} s is over {most} s"],
        {"episode_timeout_s": declared, "ceiling_s": most},
    )


def _dependencies(package: Package) -> Finding:
    lines = (package.root / "requirements.txt").read_text("utf-8").splitlines()
    loose = [line for line in lines if not _PIN.fullmatch(line)]
    served = dict(_pins(package)).get("healthgym")
    if served != __version__:
        loose.append(f"healthgym {served}, where {__version__} is served")
    return Finding(
        "every line of requirements.txt names one version; hashes and the base image's digest are "
        "not pinned",
        [f"not pinned: {line}" for line in loose],
        {"pinned": len(lines) - len(loose)},
    )


def _tasks(package: Package) -> Finding:
    pin = package.manifest.task_distribution
    now = f"healthgym {__version__} {distribution_pin(package.env)}"
    said = pin.dataset_version if pin else None
    return Finding(
        "the first tasks of each split were drawn again and their digest compared",
        [] if said == now else [f"declared {said}, drawn {now}"],
        {"dataset_version": now},
    )


CHECKS = (
    OurCheck("static.reproducible_build", Level.STATIC, _no_image),
    OurCheck("static.image_hygiene", Level.STATIC, _no_image),
    OurCheck("static.layout", Level.STATIC, _layout),
    OurCheck("static.sbom", Level.STATIC, _sbom),
    OurCheck("static.oci_labels", Level.STATIC, _oci_labels),
    OurCheck("static.resource_declaration", Level.STATIC, _resources),
    OurCheck("static.timeout_ceiling", Level.STATIC, _timeout),
    OurCheck("static.dependency_pinning", Level.STATIC, _dependencies),
    OurCheck("static.task_distribution_pinning", Level.STATIC, _tasks),
)
