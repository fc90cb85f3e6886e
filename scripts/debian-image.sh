#!/usr/bin/env bash
# Builds a disk image of Debian for vjob: debian-image.sh FILE [PACKAGE…]
# With systemd and cloud-init, so that it takes what vjobd hands to a VM, and with more
# packages if they are named. It boots by BIOS, and its root has SIZE (2G). As root on
# Debian; wants mmdebstrap, mtools, syslinux, e2fsprogs and fdisk. Nothing is mounted.
# Where official cloud images can be fetched, take those instead: they do the same.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,6s/^# //p' "$0"; exit 1; }
out=$1
shift
suite=${SUITE:-bookworm} size=${SIZE:-2G}
packages=systemd-sysv,udev,dbus,kmod,cloud-init,linux-image-cloud-amd64,iproute2,ifupdown,isc-dhcp-client,procps,openssh-server
for package in "$@"; do packages+=,$package; done
for tool in mmdebstrap mformat syslinux mke2fs sfdisk; do
	PATH=$PATH:/sbin:/usr/sbin command -v $tool >/dev/null || { echo "debian-image: $tool is missing" >&2; exit 1; }
done
export PATH=$PATH:/sbin:/usr/sbin

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$dir/root"
echo '/dev/vda2 / ext4 defaults 0 1' >"$dir/root/etc/fstab"
rm -f "$dir"/root/etc/ssh/ssh_host_* # each VM makes its own

# The first partition: the boot loader, the kernel and its first files.
boot=$dir/boot.img boot_mib=96
truncate -s ${boot_mib}M "$boot"
mformat -i "$boot" -F ::
cp "$dir"/root/boot/vmlinuz-* "$dir/vmlinuz"
cp "$dir"/root/boot/initrd.img-* "$dir/initrd"
cat >"$dir/syslinux.cfg" <<END
DEFAULT linux
LABEL linux
 KERNEL vmlinuz
 INITRD initrd
 APPEND root=/dev/vda2 ro console=ttyS0 quiet
END
mcopy -i "$boot" "$dir/vmlinuz" "$dir/initrd" "$dir/syslinux.cfg" ::
syslinux --install "$boot"

# The second: the root. Then both behind a table of partitions.
root=$dir/root.img
truncate -s "$size" "$root"
mke2fs -q -t ext4 -d "$dir/root" "$root"
root_mib=$(($(stat -c %s "$root") >> 20))
rm -f "$out"
truncate -s $((1 + boot_mib + root_mib))M "$out"
sfdisk -q "$out" <<END
label: dos
start=1MiB, size=${boot_mib}MiB, type=c, bootable
start=$((1 + boot_mib))MiB, size=${root_mib}MiB, type=83
END
part() { dd if="$1" of="$out" bs=1M seek="$2" conv=notrunc,sparse status=none; }
part "$boot" 1
part "$root" $((1 + boot_mib))
dd if=/usr/lib/syslinux/mbr/mbr.bin of="$out" bs=440 count=1 conv=notrunc status=none
echo "$out: Debian $suite for an entry like {id: debian, kind: disk, disk: $out, format: raw}"
