"""Doctests are sought in every module; these need what an extra brings."""

from importlib.util import find_spec

_NEEDS = {
    "healthgym/integrations/openenv.py": "openenv",
    "healthgym/integrations/openenv_checks": "openenv",
    "healthgym/integrations/mcp.py": "mcp",
    "healthgym/integrations/verifiers.py": "verifiers",
    "healthgym/integrations/inspect.py": "inspect_ai",
    "healthgym/integrations/nemo_gym.py": "nemo_gym",
    "tests/integrations/harbor_local.py": "harbor",
}
collect_ignore = [path for path, library in _NEEDS.items() if find_spec(library) is None]
