//go:build libvirt_dlopen

package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// linuxPackages are the Debian packages that make the disk of a Linux, beside its kernel.
var linuxPackages = []needed{
	{"busybox", "busybox-static"},
	{"cpio", "cpio"},
	{"mformat", "mtools"},
	{"syslinux", "syslinux"},
}

// kernelPackage names the newest kernel for guests.
const kernelPackage = "linux-image-cloud-amd64"

// modules are what that kernel needs to read a CD, in the order in which they are loaded.
var modules = []string{
	"drivers/scsi/scsi_common", "drivers/scsi/scsi_mod", "drivers/ata/libata", "drivers/ata/ata_piix",
	"drivers/cdrom/cdrom", "drivers/scsi/sr_mod", "fs/isofs/isofs",
}

// boot is the configuration of the boot loader. What it says beside the console saves time
// where machines are emulated.
const boot = `DEFAULT linux
LABEL linux
 KERNEL vmlinuz
 INITRD initrd
 APPEND console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check cryptomgr.notests
`

// LinuxMiB is the memory that a guest of the disk of [Lab.LinuxDisk] needs.
const LinuxMiB = 112

// LinuxDisk makes a disk from which a small Linux boots, the kernel of Debian and busybox,
// that does with a seed what cloud-init does: see guest/linux/init. It returns its path.
func (l *Lab) LinuxDisk() string {
	l.t.Helper()
	l.must(install(linuxPackages))
	dir := l.path("linux")
	l.must(os.Mkdir(dir, 0o755))
	l.must(fetchKernel(dir))
	l.must(collect(dir))
	disk := filepath.Join(dir, "disk.img")
	l.must(os.WriteFile(filepath.Join(dir, "syslinux.cfg"), []byte(boot), 0o600))
	l.must(os.WriteFile(disk, nil, 0o644))
	l.must(os.Truncate(disk, 24<<20))
	for _, c := range [][]string{
		{"sh", "-c", "cd root && find . | cpio -o -H newc --quiet | gzip >../initrd"},
		{"mformat", "-i", disk, "::"},
		{"mcopy", "-i", disk, "vmlinuz", "initrd", "syslinux.cfg", "::"},
		{"syslinux", "--install", disk},
	} {
		l.must(within(dir, c))
	}
	return disk
}

// fetchKernel unpacks the kernel into kernel. It is not installed: this machine keeps its own.
func fetchKernel(dir string) error {
	fetch := "apt-get -qq download $(apt-cache depends " + kernelPackage + " | awk '/Depends: linux-image/ {print $2; exit}')"
	err := within(dir, []string{"sh", "-c", fetch})
	if err != nil { // the lists of packages are missing, or too old
		if err = within(dir, []string{"apt-get", "-qq", "update"}); err == nil {
			err = within(dir, []string{"sh", "-c", fetch})
		}
	}
	if err != nil {
		return err
	}
	return within(dir, []string{"sh", "-c", "dpkg -x linux-image-*.deb kernel && cp kernel/boot/vmlinuz-* vmlinuz"})
}

// collect puts together what the first process finds in memory.
func collect(dir string) error {
	files := map[string]string{"bin/busybox": tool("busybox")}
	names := make([]string, len(modules))
	for i, m := range modules {
		names[i] = filepath.Base(m)
		found, err := filepath.Glob(filepath.Join(dir, "kernel/lib/modules/*/kernel", m+".ko"))
		if err != nil || len(found) != 1 {
			return fmt.Errorf("module %s of the kernel: found %v: %w", m, found, errors.Join(err, fs.ErrNotExist))
		}
		files["modules/"+names[i]+".ko"] = found[0]
	}
	for name, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := put(filepath.Join(dir, "root", name), data); err != nil {
			return err
		}
	}
	first, err := sources.ReadFile("guest/linux/init")
	if err != nil {
		return err
	}
	return errors.Join(
		put(filepath.Join(dir, "root/init"), first),
		put(filepath.Join(dir, "root/modules/order"), []byte(strings.Join(names, "\n")+"\n")),
	)
}

// put writes a file that can be run.
func put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o755) //nolint:gosec // it is run in a guest
}

// within runs a tool in a directory.
func within(dir string, words []string) error {
	cmd := command(words[0], words[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), err, out)
	}
	return nil
}
