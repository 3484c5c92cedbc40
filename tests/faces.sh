#!/bin/sh
# Each face against the real library, in a virtual environment of its own: some exclude each other.
# Usage: tests/faces.sh [FACE...]   (openenv, mcp1, mcp2, harbor, inspect, verifiers, nemo, ray,
# serve; all if none is named)
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
HOME_OF_FACES=${FACES:-.venv-faces}

face() {
    name=$1 extra=$2 also=$3
    shift 3
    venv=$HOME_OF_FACES/$name
    if [ ! -e "$venv/.installed" ] || [ pyproject.toml -nt "$venv/.installed" ] ||
        [ tests/faces.sh -nt "$venv/.installed" ]; then
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

younger() {
    if ! command -v "$1" > /dev/null; then
        echo "$2: left out, there is no $1."
        return
    fi
    # A subshell, for a shell may keep what is set for a function.
    (PYTHON=$1 && face "$2" "$3" "" "tests/integrations/$4")
}

for wanted in ${*:-openenv mcp1 mcp2 harbor inspect verifiers nemo ray serve}; do
    case $wanted in
        openenv) face openenv openenv "" tests/integrations/test_openenv.py \
            tests/integrations/test_openenv_checks.py ;;
        mcp1) face mcp1 mcp "mcp<2" tests/integrations/test_mcp.py ;;
        mcp2) face mcp2 mcp "mcp>=2" tests/integrations/test_mcp.py ;;
        # These two need a younger Python than we do.
        harbor) younger "${PYTHON_OF_HARBOR:-python3.12}" harbor harbor test_harbor.py ;;
        # 3.13.14 by what it says; PIP_IGNORE_REQUIRES_PYTHON=1 has run it on 3.13.0.
        nemo) younger "${PYTHON_OF_NEMO:-python3.13}" nemo nemo-gym test_nemo_gym.py ;;
        inspect) face inspect inspect,imaging "" tests/integrations/test_inspect.py ;;
        ray) face ray ray "" tests/integrations/test_cluster.py ;;
        # Not a face of ours, but a server that a model may stand behind.
        serve) face serve trl "transformers[serving]" \
            tests/integrations/test_transformers_serve.py ;;
        verifiers) face verifiers verifiers,imaging "" tests/integrations/test_verifiers.py ;;
        *)
            echo "There is no face $wanted: openenv, mcp1, mcp2, harbor, inspect," \
                "verifiers, nemo, ray or serve." >&2
            exit 2
            ;;
    esac
done
