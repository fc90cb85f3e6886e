package day

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/internal/fileio"
)

// Step is the time between two values of a VM.
const Step = 5 * time.Minute

// Trace is the demand of VMs over time. Each VM has the same number of values.
type Trace struct {
	VMs   []VM
	Steps int
	// Clipped counts the values above the size of their VM, which are read as that size.
	Clipped int
}

// VM is the size of a VM and its demand in each step.
type VM struct {
	Name   string
	CPU    cluster.MilliCPU // the processors of the VM
	Memory cluster.MiB      // the memory of the VM
	// Demand is the CPU that it would use; before its first sample absent, which counts for nothing.
	Demand []cluster.MilliCPU
	// Used is the memory that it uses; nil stands for all of it.
	Used []cluster.MiB
}

// absent is the demand of a VM before its first sample.
const absent = -1

// limits of the input.
const (
	mostLine  = 16 << 20
	mostVMs   = 100_000
	mostSteps = 100_000
)

// row is one line of a file.
type row struct {
	line   int
	name   string
	values []string
}

// table is a file: its first line, if that is a comment, and its rows.
type table struct {
	file    string
	comment string
	rows    []row
}

// at returns an error for a row of a file.
func (t *table) at(r *row, format string, args ...any) error {
	return cluster.Fault(fmt.Sprintf("%s:%d", t.file, r.line), format, args...)
}

// read reads a file of VMs, plain or compressed by gzip.
func read(file string, in io.Reader) (*table, error) {
	t := &table{file: file}
	content, err := fileio.Open(in)
	if err != nil {
		return nil, cluster.Fault(file, "%v", err)
	}
	lines := bufio.NewScanner(content)
	lines.Buffer(make([]byte, 64<<10), mostLine)
	first := map[string]int{}
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			continue
		}
		if comment, is := strings.CutPrefix(text, "#"); is {
			t.comment = cmp.Or(t.comment, strings.TrimSpace(comment))
			continue
		}
		cells := strings.Split(text, ",")
		r := row{n, strings.TrimSpace(cells[0]), cells[1:]}
		switch before, twice := first[r.name]; {
		case r.name == "":
			return nil, t.at(&r, "the name of the VM is missing, want NAME,VALUE,…")
		case twice:
			return nil, t.at(&r, "VM %s is in line %d already", shown(r.name), before)
		case len(t.rows) == mostVMs:
			return nil, t.at(&r, "more than %d VMs", mostVMs)
		}
		first[r.name] = n
		t.rows = append(t.rows, r)
	}
	switch err := lines.Err(); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, cluster.Fault(file, "the file ends in the middle of its compressed data: copy it again")
	case errors.Is(err, bufio.ErrTooLong):
		return nil, cluster.Fault(file, "a line has more than %d bytes, want one VM per line", mostLine)
	case err != nil:
		return nil, cluster.Fault(file, "%v", err)
	case len(t.rows) == 0:
		return nil, cluster.Fault(file, "no VM, want lines of NAME,VALUE,…")
	}
	return t, nil
}

// shown returns a name as errors show it.
func shown(name string) string { return strconv.Quote(cluster.Shortened(name, 40)) }

// width checks that all rows have as many values as the first.
func (t *table) width() (int, error) {
	n := len(t.rows[0].values)
	if n == 0 || n > mostSteps {
		return 0, t.at(&t.rows[0], "%d values, want one for each five minutes, at most %d", n, mostSteps)
	}
	for i := range t.rows {
		if r := &t.rows[i]; len(r.values) != n {
			return 0, t.at(r, "%d values, want %d as in line %d", len(r.values), n, t.rows[0].line)
		}
	}
	return n, nil
}

// numbers returns the values of a row, each at most the given one unless that is 0. An empty value repeats the one
// before, and is absent at the beginning.
func (t *table) numbers(r *row, most float64, unit string) ([]float64, error) {
	list, last := make([]float64, len(r.values)), float64(absent)
	for i, text := range r.values {
		text = strings.TrimSpace(text)
		if text == "" {
			list[i] = last
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
			return nil, t.at(r, "value %d: %s is not a number", i+1, shown(text))
		case v < 0:
			return nil, t.at(r, "value %d: %s is negative, want %s", i+1, text, unit)
		case most > 0 && v > most:
			return nil, t.at(r, "value %d: %s is more than %g, want %s", i+1, text, most, unit)
		case v > 1e9:
			return nil, t.at(r, "value %d: %s is too large, want %s", i+1, text, unit)
		}
		list[i], last = v, v
	}
	return list, nil
}

// memorySizes are those of VMs of a file without memory.
var memorySizes = []cluster.MiB{512, 1024, 1536, 2048}

// ReadPercent reads a day of PlanetLab: in each line the name of a VM and its CPU in percent of one processor, every
// five minutes. The file has no memory: each VM gets 512, 1024, 1536 or 2048 MiB, drawn by the seed.
func ReadPercent(file string, in io.Reader, seed uint64) (*Trace, error) {
	t, err := read(file, in)
	if err != nil {
		return nil, err
	}
	if strings.Contains(strings.ToLower(t.comment), "mhz") {
		return nil, cluster.Fault(file, "its values are MHz, so it requires --meta FILE with the sizes of the VMs")
	}
	out := &Trace{}
	if out.Steps, err = t.width(); err != nil {
		return nil, err
	}
	chance := rand.New(rand.NewPCG(seed, 0xda1))
	for i := range t.rows {
		values, err := t.numbers(&t.rows[i], 100, "percent of one processor")
		if err != nil {
			return nil, err
		}
		vm := VM{Name: t.rows[i].name, CPU: cluster.CPU, Memory: memorySizes[chance.IntN(len(memorySizes))], Demand: make([]cluster.MilliCPU, len(values))}
		for k, v := range values {
			vm.Demand[k] = cluster.MilliCPU(math.Round(v * 10))
			if v == absent {
				vm.Demand[k] = absent
			}
		}
		out.VMs = append(out.VMs, vm)
	}
	return out, nil
}

// Input is an open file.
type Input struct {
	Name string
	io.Reader
}

// ReadMHz reads a trace of Bitbrains: CPU in MHz and, if given, memory in MB, every five minutes, and the sizes of the
// VMs: name, processors, MHz of all of them, memory in MB. A processor of a VM counts as one of a node.
func ReadMHz(cpu, meta Input, memory *Input) (*Trace, error) {
	t, err := read(cpu.Name, cpu)
	if err != nil {
		return nil, err
	}
	out := &Trace{}
	if out.Steps, err = t.width(); err != nil {
		return nil, err
	}
	sizes, err := readSizes(meta)
	if err != nil {
		return nil, err
	}
	used, err := readUsed(memory, out.Steps)
	if err != nil {
		return nil, err
	}
	for i := range t.rows {
		r := &t.rows[i]
		s, known := sizes[r.name]
		if !known {
			return nil, t.at(r, "VM %s is missing in %s", shown(r.name), meta.Name)
		}
		values, err := t.numbers(r, 0, "MHz")
		if err != nil {
			return nil, err
		}
		vm := VM{Name: r.name, CPU: s.cpu, Memory: s.memory, Demand: make([]cluster.MilliCPU, len(values))}
		for k, v := range values {
			vm.Demand[k] = absent
			if v != absent {
				vm.Demand[k] = cluster.MilliCPU(math.Round(v / s.mhz * float64(s.cpu)))
			}
			if vm.Demand[k] > vm.CPU {
				vm.Demand[k], out.Clipped = vm.CPU, out.Clipped+1
			}
		}
		if used != nil {
			list, known := used[r.name]
			if !known {
				return nil, t.at(r, "VM %s is missing in %s", shown(r.name), memory.Name)
			}
			vm.Used = make([]cluster.MiB, len(list))
			for k, v := range list {
				if vm.Used[k] = cluster.MiB(math.Round(max(0, v))); vm.Used[k] > vm.Memory {
					vm.Used[k], out.Clipped = vm.Memory, out.Clipped+1
				}
			}
		}
		out.VMs = append(out.VMs, vm)
	}
	return out, nil
}

// size is the size of a VM.
type size struct {
	cpu    cluster.MilliCPU
	mhz    float64
	memory cluster.MiB
}

// readSizes reads the sizes of VMs. A first line of column names is skipped.
func readSizes(in Input) (map[string]size, error) {
	t, err := read(in.Name, in)
	if err != nil {
		return nil, err
	}
	if len(t.rows) > 1 && len(t.rows[0].values) > 0 {
		if _, err := strconv.ParseFloat(t.rows[0].values[0], 64); err != nil {
			t.rows = t.rows[1:]
		}
	}
	list := map[string]size{}
	for i := range t.rows {
		r := &t.rows[i]
		if len(r.values) < 3 {
			return nil, t.at(r, "%d columns, want VM,PROCESSORS,MHZ,MEMORY_MB", 1+len(r.values))
		}
		v, err := t.numbers(&row{r.line, r.name, r.values[:3]}, 0, "a size")
		if err != nil {
			return nil, err
		}
		if v[0] < 1 || v[0] > 4096 || v[1] <= 0 || v[2] < 1 || slices.Contains(v, absent) {
			return nil, t.at(r, "%s is not a size, want PROCESSORS from 1 to 4096, MHZ and MEMORY_MB above 0", shown(strings.Join(r.values[:3], ",")))
		}
		list[r.name] = size{cluster.MilliCPU(v[0] * 1000), v[1], cluster.MiB(v[2])}
	}
	return list, nil
}

// readUsed reads the memory that VMs use; nil without a file.
func readUsed(in *Input, steps int) (map[string][]float64, error) {
	if in == nil {
		return nil, nil //nolint:nilnil // there is no file
	}
	t, err := read(in.Name, in)
	if err != nil {
		return nil, err
	}
	n, err := t.width()
	if err != nil {
		return nil, err
	}
	if n != steps {
		return nil, t.at(&t.rows[0], "%d values, want %d as in the file of the CPU", n, steps)
	}
	list := map[string][]float64{}
	for i := range t.rows {
		if list[t.rows[i].name], err = t.numbers(&t.rows[i], 0, "MB"); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Cut shortens a trace to its first steps.
func (t *Trace) Cut(steps int) {
	t.Steps = min(t.Steps, steps)
	for i := range t.VMs {
		v := &t.VMs[i]
		v.Demand = v.Demand[:t.Steps]
		if v.Used != nil {
			v.Used = v.Used[:t.Steps]
		}
	}
}

// demands returns the CPU that all VMs demand together, by step.
func (t *Trace) demands() []cluster.MilliCPU {
	sum := make([]cluster.MilliCPU, t.Steps)
	for i := range t.VMs {
		for k, d := range t.VMs[i].Demand {
			sum[k] += max(0, d)
		}
	}
	return sum
}
