"""A world with a repository, raw hospital tables and the pipeline that turns them into MEDS.

The pipeline follows the event configurations of MEDS-Transforms 0.2 event for event; the tests
prove it against the published tools.
"""

from healthgym.errors import MissingDependencyError

try:
    import polars as _polars  # noqa: F401
    import pyarrow as _pyarrow  # noqa: F401
    import yaml as _yaml  # noqa: F401
except ImportError as error:
    raise MissingDependencyError(
        f"{error.name} is not installed; the ETL world needs `pip install 'healthgym[etl]'`."
    ) from error
