#!/usr/bin/env bash
# Applies each patch of tests/mutants to a copy of the last commit and demands
# that the tests notice. See tests/mutants/README.md.
#   scripts/mutants.sh [NAME…]   only these; SEEDS=n as for `make sim`
set -euo pipefail
cd "$(dirname "$0")/.."

seeds=${SEEDS:-5000}
dir=$PWD/tests/mutants
work=$(mktemp -d)
cleanup() {
	cd "$dir"
	git worktree remove --force "$work/tree" 2>/dev/null || true
	rm -rf "$work"
	git worktree prune
}
trap cleanup EXIT
git worktree add --quiet --detach "$work/tree" HEAD
cd "$work/tree"

# run TEST… is true when the tests pass; the output is in $work/log.
run() { timeout "${LIMIT:-30m}" go test -tags libvirt_dlopen -count=1 -failfast -timeout 0 "$@" >"$work/log" 2>&1; }

patches=()
if [ $# -gt 0 ]; then
	for name in "$@"; do patches+=("$dir/${name%.patch}.patch"); done
else
	shopt -s nullglob
	patches=("$dir"/*.patch)
fi
[ ${#patches[@]} -gt 0 ] || { echo "mutants: no patches in tests/mutants"; exit 0; }

echo "mutants: without a patch the tests must pass ($seeds seeds)"
run ./tests/sim -seeds="$seeds" || { cat "$work/log"; echo "mutants: they fail before any patch"; exit 1; }

missed=0
for patch in "${patches[@]}"; do
	name=$(basename "$patch" .patch)
	tests=$(sed -n '/^diff /q; s/^Test: //p' "$patch")
	began=$SECONDS
	if ! git apply "$patch" 2>"$work/log"; then
		verdict="DOES NOT APPLY"
	else
		rc=0
		# shellcheck disable=SC2086 # several words on purpose
		run ${tests:-./tests/sim -seeds=$seeds} || rc=$?
		case $rc in
		0) verdict="NOT FOUND" ;;
		124) verdict="TOO SLOW" ;;
		*) verdict="found" ;;
		esac
		if grep -qE '^FAIL.*\[(build|setup) failed\]' "$work/log"; then verdict="DOES NOT BUILD"; fi
	fi
	proof=$(grep -m 1 -iE 'seed' "$work/log" || grep -m 1 -E '^ *--- FAIL' "$work/log" || head -n 1 "$work/log" || true)
	printf '%-14s %-36s %4d s  %.120s\n' "$verdict" "$name" $((SECONDS - began)) "${proof#"${proof%%[![:space:]]*}"}"
	[ "$verdict" = found ] || missed=$((missed + 1))
	git reset --quiet --hard && git clean -fdq
done
echo "mutants: $((${#patches[@]} - missed)) of ${#patches[@]} found"
[ "$missed" -eq 0 ]
