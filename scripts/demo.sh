#!/usr/bin/env bash
# Shows vjob at work on the embedded default, a simulated cluster: starts the
# daemon in a directory of its own, submits the sample vjobs, and shows them
# being suspended and resumed. Needs no privileges and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mktemp -d)
pid=
cleanup() {
	trap '' INT TERM
	if [ -n "$pid" ] && kill "$pid" 2>/dev/null; then
		wait "$pid" || true
	fi
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

export VJOB_SERVER=unix://$dir/vjobd.sock
bin/vjobd --state "$dir/state" --socket "$dir/vjobd.sock" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	bin/vjob nodes >/dev/null 2>&1 && break
	kill -0 "$pid" 2>/dev/null || { cat "$dir/log"; echo "demo: the daemon did not start"; exit 1; }
	sleep 0.1
done

step() { printf '\n$ %s\n' "$*"; "$@"; }

step bin/vjob nodes
for file in examples/*.yaml; do step bin/vjob submit "$file"; done

if [ -t 1 ]; then
	trap ':' INT # ends the live view, not the demo
	step bin/vjob watch || true
	trap 'exit 130' INT
else
	# Until a vjob that was suspended runs again.
	deadline=$((SECONDS + 120))
	until bin/vjob events -o json | grep -q '"state": *"resuming"'; do
		[ $SECONDS -lt $deadline ] || { cat "$dir/log"; echo "demo: no vjob was suspended and resumed in two minutes"; exit 1; }
		step bin/vjob watch --once
		sleep 3
	done
fi
step bin/vjob list
step bin/vjob plans
