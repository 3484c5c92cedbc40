#!/bin/sh
# Plays the recorded calls again, from the seed, and judges them; nothing else that the agent left
# behind is looked at. A record that does not play again is an error, and no score.
set -eu
logs=/logs/verifier
mkdir -p "$logs"
# In the agent's own container: whatever it left running must not write after us.
if [ "$(stat -c %U /opt/episode)" = keeper ] && id -u agent > /dev/null 2>&1; then
    for round in 1 2 3; do
        for process in /proc/[0-9]*; do
            if [ "$(stat -c %U "$process" 2> /dev/null)" = agent ]; then
                kill -9 "${process#/proc/}" 2> /dev/null || true
            fi
        done
    done
fi
rm -f "$logs/reward.txt" "$logs/reward.json" "$logs/verdict.json"
cd /
/opt/episode/venv/bin/python -I -X utf8 -m healthgym session score \
    --actions /opt/episode/actions.jsonl --json "$logs/verdict.json" \
    --reward "$logs/reward.txt" /tests/task.json
