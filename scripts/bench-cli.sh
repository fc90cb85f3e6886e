#!/usr/bin/env bash
# Measures OAR's commands against a daemon of its own, with a simulated cluster on
# which nothing fits: JOBS submissions one by one as separate processes, lists of
# them, and an array of as many. Needs no privileges and leaves nothing behind.
set -euo pipefail
cd "$(dirname "$0")/.."
count=${JOBS:-5000}

dir=$(mktemp -d)
pid=
cleanup() {
	if [ -n "$pid" ] && kill "$pid" 2>/dev/null; then
		wait "$pid" || true
	fi
	rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

export VJOB_SERVER=unix://$dir/vjobd.sock
cat >"$dir/settings.yaml" <<END
state: $dir/state
listen: {socket: $dir/vjobd.sock}
policy: {name: conservative}
limits: {requests_per_second: 0}
nodes: [{name: "node-[1-16]", cpu: 4, memory: 32GiB}]
END
for name in sub stat; do ln -s "$PWD/bin/vjob-oar" "$dir/oar$name"; done
bin/vjobd --settings "$dir/settings.yaml" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 100); do
	bin/vjob nodes >/dev/null 2>&1 && break
	kill -0 "$pid" 2>/dev/null || { cat "$dir/log"; echo "bench-cli: the daemon did not start"; exit 1; }
	sleep 0.1
done

# took COMMAND… prints how many seconds it takes.
took() {
	local began ended
	began=$(date +%s%N)
	"$@" >"$dir/out"
	ended=$(date +%s%N)
	awk -v ns=$((ended - began)) 'BEGIN { printf "%.3f", ns / 1e9 }'
}
each() { for _ in $(seq "$count"); do "$dir/oarsub" -l nodes=16,walltime=1 "sleep 3600"; done; }

"$dir/oarsub" -l nodes=16,walltime=1 "sleep 3600" >/dev/null # takes the cluster; all others wait
array=$(took "$dir/oarsub" --array "$count" -l nodes=1,walltime=1 "sleep 60")
seconds=$(took each)
list=$(took "$dir/oarstat" -J)
table=$(took "$dir/oarstat")
printf '%-52s %s s\n' "oarsub --array $count" "$array"
printf '%-52s %s s, %s/s\n' "$count times oarsub, one process each" "$seconds" "$(awk -v n="$count" -v s="$seconds" 'BEGIN { printf "%.0f", n / s }')"
printf '%-52s %s s\n' "oarstat -J of $((2 * count + 1)) jobs" "$list"
printf '%-52s %s s\n' "oarstat of $((2 * count + 1)) jobs" "$table"
