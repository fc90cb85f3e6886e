#!/usr/bin/env bash
# Fails when a function can be reached neither from a program nor from a test.
set -euo pipefail
cd "$(dirname "$0")/.."
dead=$(go tool -modfile=tools.mod deadcode -test -tags libvirt_dlopen ./...)
[ -z "$dead" ] || { printf 'nothing calls these:\n%s\n' "$dead"; exit 1; }
