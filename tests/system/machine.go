package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// machine is the state of the machine on which was measured.
type machine struct {
	Time       time.Time     `json:"time"`
	Processors int           `json:"processors"`
	Model      string        `json:"model"`
	Kernel     string        `json:"kernel"`
	Go         string        `json:"go"`
	Load       string        `json:"load"` // of the last 1, 5 and 15 minutes
	Sync       time.Duration `json:"sync_ns"`
}

// lookAtMachine returns the state of the machine, with the time of a sync in a folder.
func lookAtMachine(folder string) machine {
	return machine{
		Time: time.Now().UTC().Truncate(time.Second), Processors: runtime.NumCPU(), Model: processor(), Kernel: firstLine("/proc/sys/kernel/osrelease"),
		Go: runtime.Version(), Load: strings.Join(strings.Fields(firstLine("/proc/loadavg"))[:3], " "), Sync: syncTime(folder),
	}
}

func (m machine) describe() string {
	return fmt.Sprintf("%s, %d processors (%s), Linux %s, %s, a sync takes %s", m.Time.Format("2006-01-02 15:04 MST"), m.Processors, m.Model, m.Kernel, m.Go, short(m.Sync))
}

func firstLine(file string) string {
	text, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// syncTime returns the median time of appending a page to a file and syncing it.
func syncTime(folder string) time.Duration {
	f, err := os.Create(filepath.Join(folder, "sync"))
	if err != nil {
		return 0
	}
	defer func() {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}()
	var all latencies
	for range 50 {
		began := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil || f.Sync() != nil {
			return 0
		}
		all = append(all, time.Since(began))
	}
	return all.quantile(0.5)
}

// ownCPU returns the CPU time that this process has used: what the client takes from the daemon on a machine with few
// processors.
func ownCPU() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
