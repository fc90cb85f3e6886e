//go:build linux

package libvirt

import "golang.org/x/sys/unix"

const statNumber = unix.SYS_NEWFSTATAT
