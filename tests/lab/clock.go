//go:build libvirt_dlopen

package lab

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Clock is the wall clock of one process, which can be stepped. Its monotonic clock continues, as
// when an administrator or NTP steps the clock of a machine.
type Clock struct {
	pid    int
	offset int64 // where the process has its step
}

// steppedClock replaces clock_gettime in the vDSO of the process: it asks the kernel, and
// adds the step in the eight bytes behind it, in seconds, to CLOCK_REALTIME.
var steppedClock = []byte{
	0xb8, 0xe4, 0, 0, 0, // mov $228, %eax: clock_gettime
	0x0f, 0x05, // syscall
	0x85, 0xff, // test %edi, %edi
	0x75, 0x0a, // jne to the end
	0x48, 0x8b, 0x15, 6, 0, 0, 0, // mov step(%rip), %rdx
	0x48, 0x01, 0x16, // add %rdx, (%rsi)
	0xc3, // ret
	0, 0, // so that the step is aligned, and read whole
}

// OwnClock gives a process a clock of its own. The process must use the vDSO, as Go
// programs do.
func OwnClock(pid int) (*Clock, error) {
	start, size, err := vdso(pid)
	if err != nil {
		return nil, err
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer memory.Close() //nolint:errcheck // nothing is buffered
	image := make([]byte, size)
	if _, err := memory.ReadAt(image, start); err != nil {
		return nil, err
	}
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" && s.Size >= uint64(len(steppedClock)+8) && s.Value%8 == 0 {
			at := start + int64(s.Value)
			c := &Clock{pid, at + int64(len(steppedClock))}
			return c, c.install(memory, at)
		}
	}
	return nil, fmt.Errorf("process %d has no clock_gettime in its vDSO that can be replaced", pid)
}

// install writes the code while no thread runs.
func (c *Clock) install(memory *os.File, at int64) error {
	if err := syscall.Kill(c.pid, syscall.SIGSTOP); err != nil {
		return err
	}
	_, err := memory.WriteAt(append(bytes.Clone(steppedClock), make([]byte, 8)...), at)
	return errors.Join(err, syscall.Kill(c.pid, syscall.SIGCONT))
}

// Step sets how far the clock is from the machine's.
func (c *Clock) Step(by time.Duration) error {
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer memory.Close() //nolint:errcheck // nothing is buffered
	_, err = memory.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(int64(by/time.Second))), c.offset)
	return err
}

// vdso is where a process has its vDSO.
func vdso(pid int) (start, size int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		var end int64
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x ", &start, &end); err != nil {
			return 0, 0, err
		}
		return start, end - start, nil
	}
	return 0, 0, fmt.Errorf("process %d has no vDSO", pid)
}
