#!/usr/bin/env bash
# Checks what building and testing need. As root on Debian it installs what is
# missing; else it says so and goes on, and the tests that need it will not run.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*"; }
die() { say "$*" >&2; exit 1; }

want=$(awk '$1 == "go" { print $2 }' go.mod)
command -v go >/dev/null || die "Go $want or later is missing: https://go.dev/doc/install"
have=$(go env GOVERSION) || die "Go $want or later is needed (go.mod); $(go version | cut -d' ' -f3) cannot fetch it"
say "$have (go.mod wants $want)"

# command to look for → Debian package that brings it
needs=(
	gcc:gcc
	libvirtd:libvirt-daemon
	virsh:libvirt-clients
	qemu-system-x86_64:qemu-system-x86
	busybox:busybox-static
	cpio:cpio
	mformat:mtools
	syslinux:syslinux
	ip:iproute2
	ipmitool:ipmitool
	ipmi_sim:openipmi
)
missing=()
for need in "${needs[@]}"; do
	PATH=$PATH:/usr/sbin:/sbin command -v "${need%%:*}" >/dev/null || missing+=("${need##*:}")
done
[ -e /usr/include/stdlib.h ] || missing+=(libc6-dev)

if [ ${#missing[@]} -eq 0 ]; then
	say "nothing is missing"
elif [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	say "installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt="apt-get -qq -o DPkg::Lock::Timeout=300"
	$apt update
	$apt install -y --no-install-recommends "${missing[@]}" >/dev/null
else
	say "missing: ${missing[*]}"
	say "they are installed when this runs as root on Debian; without them the real lab and the test of the IPMI driver cannot run"
fi
command -v gcc >/dev/null || die "gcc is missing: SQLite is built with it"
