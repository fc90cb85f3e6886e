#!/usr/bin/env bash
# Runs every test and ends with a list of those that could not run, and why. The
# real lab comes last and alone: its guests need the processors.
#   V=1      show every test, not only logs, failures and packages
#   CI=true  as V=1, and a test of the real lab that skips is a failure
set -euo pipefail
cd "$(dirname "$0")/.."

tags=libvirt_dlopen
export GOGC=${GOGC:-400} GOMEMLIMIT=${GOMEMLIMIT:-3GiB} # time is dearer than memory
ci=${CI:-false}
verbose=${V:-$([ "$ci" = true ] && echo 1 || echo 0)}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

quiet='^=== (RUN|PAUSE|CONT|NAME) |^ *--- PASS: |^PASS$|\[no test files\]$'
show() { if [ "$verbose" = 1 ]; then cat; else grep --line-buffered -vE "$quiet" || true; fi; }

run() {
	printf '\n# go test %s\n' "$1"
	shift
	go test -tags "$tags" -v "$@" 2>&1 | tee -a "$log" | show || failed=1
}

# run_real runs the tests of the packages of the real lab, each in a process and with a
# cluster of its own: a hang of one takes no other along. Two thirds of their time is waiting,
# so three run side by side; each is shown when it has ended.
run_real() {
	local dir test list package
	dir=$(mktemp -d)
	export VJOBD=$dir/vjobd # for all tests that need it
	go build -tags "$tags" -o "$VJOBD" ./cmd/vjobd || failed=1
	for package in "$@"; do
		mkdir "$dir/${package##*/}"
		if ! go test -c -tags "$tags" -o "$dir/${package##*/}/tests" "$package" || ! list=$("$dir/${package##*/}/tests" -test.list '^Test' | grep '^Test'); then
			run "$package: no tests can be listed" -run '^$' "$package"
			failed=1
			continue
		fi
		for test in $list; do echo "$package $test"; done >>"$dir/list"
	done
	while read -r package test; do
		while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n || true; done
		run_alone "$dir/${package##*/}" "$package" "$test" </dev/null &
	done < <(longest_first <"$dir/list")
	wait
	[ -z "$(find "$dir" -name failed)" ] || failed=1
	rm -r "$dir"
}

# longest_first sorts lines of packages and tests: the longest tests, in the order of their
# length, then the others. A long one that begins late would run alone at the end.
longest_first() {
	local longest='TestConformance TestKilledAnywhere TestSwitches TestLinux TestTorture TestImagesAreLoadedSlowly TestImagesAreKept TestEstimatesBecomeRight'
	awk -v names="$longest" '
		BEGIN { n = split(names, name); for (i in name) rank[name[i]] = i }
		{ print ($2 in rank ? rank[$2] : n + 1), $0 }' | sort -s -n -k 1,1 | cut -d ' ' -f 2-
}

# run_alone runs one test of a package whose tests are compiled already, and tells what it
# took: on a busy machine the time of the processors says more than the other.
run_alone() {
	local begin=$SECONDS word=ok
	(cd "$(go list -f '{{.Dir}}' -tags "$tags" "$2")" &&
		exec "$1/tests" -test.v -test.timeout 12m -test.run "^$3\$") >"$1/$3" 2>&1 || word=FAIL
	if [ "$word" = FAIL ]; then touch "$1/failed"; fi
	times >"$1/$3.times"
	printf '%s\t%s\t%ds (processors: user and system %s)\n' "$word" "$2" $((SECONDS - begin)) "$(tail -n 1 "$1/$3.times")" >>"$1/$3"
	{
		flock 9
		printf '\n# %s %s, on real hosts\n' "$2" "$3"
		tee -a "$log" <"$1/$3"
		[ "$word" = ok ] || failures "$1/$3"
	} 9<"$log" | show
}

# skips prints "package: test: reason" for each test that skipped.
skips() {
	awk '
		/^=== (RUN|CONT|NAME) / { test = $3; next }
		/^ +[^ ]+\.go:[0-9]+: / { reason[test] = $0; sub(/^ +[^ ]+: /, "", reason[test]); next }
		/^ *--- SKIP: /         { list[++n] = $3; next }
		/^(ok|FAIL|---) *\t/    {
			for (i = 1; i <= n; i++) printf "%s: %s: %s\n", $2, list[i], reason[list[i]]
			n = 0; delete reason
		}' "$log"
}

# failures prints from a log the last lines of each test that failed, and of each package
# that broke off.
failures() {
	awk '
		function tail(key,   i) {
			for (i = said[key] > 25 ? said[key] - 24 : 1; i <= said[key]; i++) print line[key, i]
		}
		/^=== (RUN|CONT|NAME) / { test = $3; next }
		/^ *--- FAIL: /         { print; tail($3); told = 1; next }
		/^ *--- /               { next }
		/^(ok|FAIL|\?) *\t/     {
			if (/^FAIL/ && !told) tail("")
			if (/^FAIL/) print
			delete said; delete line; test = ""; told = 0
			next
		}
		{
			text = substr($0, 1, 800)
			if (/^panic: /) told = 0
			if (/^vet: |^[^ ]+\.go:[0-9]+:[0-9]+: /) print # it does not compile
			line["", ++said[""]] = text
			if (test != "") line[test, ++said[test]] = text
		}' "$1"
}

packages=$(go list -tags "$tags" ./... | sort -r) # the longest tests, which are in the last folders, first
lab=$(grep '/tests/lab' <<<"$packages" || true)
# shellcheck disable=SC2046,SC2086 # package paths hold no spaces
run "everything but the real lab" -timeout 25m $(grep -v '/tests/lab' <<<"$packages")
# shellcheck disable=SC2086 # package paths hold no spaces
run_real $lab

skipped=$(skips)
printf '\n%s packages, %s tests passed, %s failed, %s skipped\n' "$(wc -l <<<"$packages")" \
	"$(grep -cE '^ *--- PASS: ' "$log" || true)" "$(grep -cE '^ *--- FAIL: ' "$log" || true)" \
	"$(grep -cE '^ *--- SKIP: ' "$log" || true)"
if [ -n "$skipped" ]; then
	printf '\n!!! NOT RUN, so not known to work:\n%s\n' "$skipped"
	if [ "$ci" = true ] && grep -q '/tests/lab' <<<"$skipped"; then
		echo "!!! In CI the real lab must run."
		failed=1
	fi
fi
if [ "$failed" != 0 ]; then
	printf '\nFAILED:\n'
	failures "$log"
fi
exit "$failed"
