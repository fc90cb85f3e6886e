//go:build libvirt_dlopen

package lab

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"vjob/cluster"
)

//go:embed guest preload
var sources embed.FS

// forkLock is the library that libvirtd is started with.
const forkLock = "forklock.so"

// compile makes the guests and the library for libvirtd in a directory.
func compile(dir string) error {
	for _, name := range []string{"guest/guest.c", "guest/guest.ld", "guest/disk.S", "preload/forklock.c", "preload/slowread.c", "preload/qemu-wrap"} {
		text, err := sources.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o755); err != nil {
			return err
		}
	}
	commands := [][]string{
		{
			"gcc", "-m32", "-O2", "-ffreestanding", "-fno-pic", "-fno-pie", "-no-pie", "-nostdlib", "-static",
			"-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-Wl,-T,guest.ld", "-Wl,--build-id=none",
			"-Wl,-z,noexecstack", "-Wl,--no-warn-rwx-segments", "-o", "guest.elf", "guest.c",
		},
		{"gcc", "-m32", "-c", "-o", "disk.o", "disk.S"},
		{"ld", "-m", "elf_i386", "--oformat", "binary", "-Ttext", "0", "-o", "disk.img", "disk.o"},
		{"gcc", "-O2", "-shared", "-fPIC", "-o", forkLock, "forklock.c"},
		{"gcc", "-O2", "-shared", "-fPIC", "-o", "slowread.so", "slowread.c", "-ldl"},
	}
	for _, c := range commands {
		if err := within(dir, c); err != nil {
			return fmt.Errorf("compile: %w", err)
		}
	}
	return os.Truncate(filepath.Join(dir, "disk.img"), 1<<20)
}

// Count is one line of a guest that counts.
type Count struct {
	N    int
	Boot string // drawn once per boot
	Sum  string // of the guest's memory
}

var countLine = regexp.MustCompile(`CNT [^ ]+ ([0-9]+) ([0-9a-f]{8}) ([0-9a-f]{8})\r?\n`)

// Counters reads what a guest has counted up to now, on whatever hosts. A line
// that is being written is left out.
func (l *Lab) Counters(vm cluster.VMID) []Count {
	l.t.Helper()
	text, err := os.ReadFile(ConsolePath(l.Config(), vm))
	if os.IsNotExist(err) {
		return nil
	}
	l.must(err)
	return ParseCounts(text)
}

// ParseCounts reads the counts on a console.
func ParseCounts(console []byte) []Count {
	var list []Count
	for _, m := range countLine.FindAllSubmatch(console, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err != nil {
			continue // two copies print at once
		}
		list = append(list, Count{n, string(m[2]), string(m[3])})
	}
	return list
}

// Broken returns the first fault of a sequence of counts: another boot, a changed memory, or a
// missing or repeated number. It returns "" if there is no fault.
func Broken(counts []Count) string {
	for i, c := range counts {
		if i == 0 {
			if c.N != 0 {
				return fmt.Sprintf("the first count is %d", c.N)
			}
			continue
		}
		before := counts[i-1]
		switch {
		case c.Boot != before.Boot:
			return fmt.Sprintf("booted again at count %d after %d", c.N, before.N)
		case c.Sum != before.Sum:
			return fmt.Sprintf("memory changed at count %d", c.N)
		case c.N != before.N+1:
			return fmt.Sprintf("count %d after %d", c.N, before.N)
		}
	}
	return ""
}
