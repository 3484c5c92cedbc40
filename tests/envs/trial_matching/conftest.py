import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def trec_folder() -> Path:
    root = Path(__file__).parents[3]
    folder = Path(os.environ.get("HEALTHGYM_DATA", root.parent / "shared" / "data")) / "trec-ct"
    if not (folder / "topics2021.xml").is_file():
        pytest.skip("no TREC Clinical Trials folder: set HEALTHGYM_DATA to where trec-ct is")
    return folder
