#!/usr/bin/env bash
# Shows vjob at work on the embedded default, a simulated cluster: starts the
# daemon in a directory of its own, fills the cluster with two vjobs, and submits
# an urgent one, for which a running vjob is suspended as a whole and resumed
# later. Needs no privileges and leaves nothing behind.
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
printf 'state: %s/state\nlisten:\n  socket: %s/vjobd.sock\n' "$dir" "$dir" >"$dir/settings.yaml"
bin/vjobd --settings "$dir/settings.yaml" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	bin/vjob nodes >/dev/null 2>&1 && break
	kill -0 "$pid" 2>/dev/null || { cat "$dir/log"; echo "demo: the daemon did not start"; exit 1; }
	sleep 0.1
done

step() { printf '\n$ %s\n' "$*"; "$@"; }

step bin/vjob nodes
step bin/vjob submit --name climate --vms 9 --cpu 2 --mem 2GiB --steps 15m@2
step bin/vjob submit --name genome --vms 6 --cpu 2 --mem 2GiB --steps 10m@2 --spread
sleep 4
step bin/vjob submit --name storm-warning --vms 8 --cpu 2 --mem 1GiB --steps 5m@2 --priority 10
for file in examples/*.yaml; do [ ! -e "$file" ] || step bin/vjob submit "$file"; done

if [ -t 1 ]; then
	trap ':' INT # ends the live view, not the demo
	step bin/vjob watch || true
	trap 'exit 130' INT
else
	# Until a vjob that was suspended runs again.
	deadline=$((SECONDS + 120))
	until bin/vjob events --kind state --limit 1000 -o json | grep -q '"state": *"resuming"'; do
		[ $SECONDS -lt $deadline ] || { cat "$dir/log"; echo "demo: no vjob was suspended and resumed in two minutes"; exit 1; }
		step bin/vjob watch --once
		sleep 3
	done
fi
step bin/vjob list --all
step bin/vjob plans
