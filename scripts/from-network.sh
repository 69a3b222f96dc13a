#!/bin/sh
# usage: scripts/from-network.sh COMMAND...
# Runs a command that fetches from a mirror or a registry (Debian, npm, PyPI), up to three times: one can fail for a moment. Says on
# stderr how each failure ended and that it is run again; shows nothing of a success. Ends with the last exit code.
# FROM_NETWORK_PAUSE: seconds before the second attempt, 5 by default; four times as many before the third.
set -u

log=$(mktemp)
trap 'rm -f "$log"' EXIT
pause=${FROM_NETWORK_PAUSE:-5}
attempt=1
until "$@" >"$log" 2>&1; do
  code=$?
  tail -n 20 "$log" >&2
  printf 'from-network: attempt %s failed (exit code %s): %s\n' "$attempt" "$code" "$*" >&2
  [ "$attempt" -lt 3 ] || exit "$code"
  printf 'from-network: once more in %s s\n' "$pause" >&2
  sleep "$pause"
  pause=$((pause * 4))
  attempt=$((attempt + 1))
done
