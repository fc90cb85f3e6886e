// Package workload reads files of vjobs with the times of their submission: the
// experiments and traces that `vjob replay` runs in virtual time.
//
// [Read] detects one of two forms: one document with a cluster and vjobs made of components (graphs.go),
// or one line of JSON per vjob (trace.go). Either may be compressed by gzip. [FromLog] converts a log.
// docs/reference/workload-files.md shows both.
package workload

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/internal/document"
	"vjob/internal/fileio"
	"vjob/scheduler/admission"
)

// Workload is a list of submissions over time, and their cluster.
type Workload struct {
	Title string
	Start time.Time      // zero if the file has no start
	Nodes []cluster.Node // empty if the file has no nodes
	Jobs  []Job          // in order of submission
}

// Job is one submission: a vjob, or an array of them. Instants are after the start of the
// workload.
type Job struct {
	At         time.Duration
	Submission admission.Submission // without the parts that depend on the start; see [Workload.Submission]
	Deadline   *time.Duration       // optional
	Reserve    *time.Duration       // start of its reservation; optional
	NotBefore  *time.Duration       // optional
	NotAfter   *time.Duration       // optional
	After      []Link               // dependencies, all needed for its start
	Follows    *Following           // replaces At; optional
	Inner      *int                 // index of its container; optional
	Line       int                  // of the file, from 1; 0 if unknown

	waits  []string // After, as in the file
	inner  string   // Inner, as in the file
	source int      // its index in the file
}

// Following makes a job follow another one: its user submits it after the end of that job and
// a think time.
type Following struct {
	On    int // index of the other job
	Think time.Duration
}

// Owner is the default owner of the vjobs of a workload.
const Owner = "replay"

// Limits of one file, so that an invalid one fails early.
const (
	maxJobs      = 1_000_000
	maxMembers   = 100_000
	maxSeconds   = 1e9 // 31 years
	maxMemoryMiB = 1 << 30
)

// Read reads a workload file; "-" is the standard input.
func Read(path string) (*Workload, error) {
	data, err := document.Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a workload of either form. The name is for messages.
func Parse(name string, data []byte) (*Workload, error) {
	data, err := decompress(name, data)
	if err != nil {
		return nil, err
	}
	if isTrace(data) {
		return readTrace(name, bytes.NewReader(data))
	}
	return readGraphs(name, data)
}

// isTrace reports whether the data is lines of JSON and not one document: its first line is
// a complete object.
func isTrace(data []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimLeft(data, " \t\r\n"), []byte("\n"))
	first, rest = bytes.TrimSpace(first), bytes.TrimSpace(rest)
	whole := bytes.HasPrefix(first, []byte("{")) && bytes.HasSuffix(first, []byte("}"))
	if !whole {
		return false
	}
	return bytes.HasPrefix(rest, []byte("{")) || bytes.Contains(first, []byte(`"submit"`)) && !bytes.Contains(first, []byte(`"vjobs"`))
}

func decompress(name string, data []byte) ([]byte, error) {
	const limit = 1 << 30
	r, err := fileio.Open(bytes.NewReader(data))
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(r, limit+1))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: decompress: %w: %w", name, cluster.ErrInvalid, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s: more than %d MiB decompressed: %w", name, limit>>20, cluster.ErrInvalid)
	}
	return data, nil
}

// DropWalltimes removes the walltimes of all vjobs except moldable ones and reservations.
// Logged estimates are often barely longer than the run, and an overloaded cluster would end
// such vjobs early.
func (w *Workload) DropWalltimes() {
	for i := range w.Jobs {
		s := &w.Jobs[i].Submission
		if w.Jobs[i].Reserve == nil && len(s.Shapes) == 0 { // these need walltimes
			s.Walltime = 0
		}
	}
}

// sorted sorts the jobs by submission, in a stable way, and resolves their references.
func (w *Workload) sorted() *misplaced {
	for i := range w.Jobs {
		w.Jobs[i].source = i
	}
	slices.SortStableFunc(w.Jobs, func(a, b Job) int { return cmp.Compare(a.At, b.At) })
	return w.link()
}

// seconds converts seconds of a file to a duration.
func seconds(field string, s float64) (time.Duration, error) {
	if s < 0 || s > maxSeconds || math.IsNaN(s) {
		return 0, cluster.BadField(field, s, fmt.Sprintf("seconds, from 0 to %.0f", maxSeconds))
	}
	return time.Duration(math.Round(s * float64(time.Second))), nil
}

// resources checks the size of one VM.
func resources(path string, cpuField string, cpu, memoryMiB float64) (cluster.Resources, error) {
	if cpu < 0 || cpu > 1e6 || math.IsNaN(cpu) {
		return cluster.Resources{}, cluster.BadField(path+cpuField, cpu, "processors, 0 or more")
	}
	if memoryMiB < 1 || memoryMiB > maxMemoryMiB || memoryMiB != math.Trunc(memoryMiB) {
		return cluster.Resources{}, cluster.BadField(path+"memory_mb", memoryMiB, "whole MiB, 1 or more")
	}
	return cluster.Resources{CPU: cluster.MilliCPU(math.Round(cpu * float64(cluster.CPU))), Memory: cluster.MiB(memoryMiB)}, nil
}
