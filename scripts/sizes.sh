#!/usr/bin/env bash
# Fails when a Go file has more lines than $1. A file that grows past it holds
# more than one noun; generated files say so in their first line and are exempt.
set -euo pipefail
cd "$(dirname "$0")/.."
long=$(git ls-files --cached --others --exclude-standard '*.go' | while read -r f; do
	[ -e "$f" ] || continue
	head -n 1 "$f" | grep -q '^// Code generated .* DO NOT EDIT\.$' && continue
	n=$(wc -l <"$f")
	[ "$n" -le "$1" ] || echo "$n $f"
done)
[ -z "$long" ] || { printf 'more than %s lines:\n%s\n' "$1" "$long"; exit 1; }
