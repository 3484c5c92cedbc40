#!/bin/sh
# Each face against the real library, in a virtual environment of its own: some exclude each other.
# Usage: tests/faces.sh [FACE...]   (openenv, mcp1, mcp2, harbor, inspect, verifiers; all if none is named)
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
HOME_OF_FACES=${FACES:-.venv-faces}

face() {
    name=$1 extra=$2 also=$3
    shift 3
    venv=$HOME_OF_FACES/$name
    if [ ! -e "$venv/.installed" ] || [ pyproject.toml -nt "$venv/.installed" ]; then
        echo "Installing $name ..."
        [ -x "$venv/bin/python" ] || "$PYTHON" -m venv "$venv"
        # shellcheck disable=SC2086
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            --editable ".[$extra]" "hypothesis>=6.120,<7" "pytest>=9,<10" $also
        touch "$venv/.installed"
    fi
    echo "$name:"
    "$venv/bin/python" -m pytest -q "$@"
}

for wanted in ${*:-openenv mcp1 mcp2 harbor inspect verifiers}; do
    case $wanted in
        openenv) face openenv openenv "" tests/integrations/test_openenv.py ;;
        mcp1) face mcp1 mcp "mcp<2" tests/integrations/test_mcp.py ;;
        mcp2) face mcp2 mcp "mcp>=2" tests/integrations/test_mcp.py ;;
        harbor)
            # It needs a younger Python than we do.
            PYTHON=${PYTHON_OF_HARBOR:-python3.12} \
                face harbor harbor "" tests/integrations/test_harbor.py
            ;;
        inspect) face inspect inspect "" tests/integrations/test_inspect.py ;;
        verifiers) face verifiers verifiers "" tests/integrations/test_verifiers.py ;;
        *)
            echo "There is no face $wanted: openenv, mcp1, mcp2, harbor, inspect or verifiers." >&2
            exit 2
            ;;
    esac
done
