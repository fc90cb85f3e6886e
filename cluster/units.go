package cluster

import (
	"fmt"
	"strconv"
	"strings"
)

// MilliCPU is an amount of CPU in thousandths of one processor.
type MilliCPU int64

// CPU is one whole processor.
const CPU MilliCPU = 1000

// String is the number of processors without trailing zeros: 1500 is "1.5".
func (c MilliCPU) String() string {
	return strconv.FormatFloat(float64(c)/float64(CPU), 'f', -1, 64)
}

// ParseCPU reads "2", "0.5" (processors) or "250m" (thousandths).
func ParseCPU(s string) (MilliCPU, error) {
	text, unit := strings.TrimSpace(s), float64(CPU)
	if t, ok := strings.CutSuffix(text, "m"); ok {
		text, unit = t, 1
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f*unit > 1e12 || f != f {
		return 0, BadField("cpu", s, `a number of processors, such as "2", "0.5" or "250m"`)
	}
	return MilliCPU(f*unit + 0.5), nil
}

// MiB is an amount of memory or disk in mebibytes.
type MiB int64

// Larger units of memory.
const (
	GiB MiB = 1024
	TiB MiB = 1024 * GiB
)

// String uses the largest unit that gives a short number: 1536 is "1.5 GiB".
func (m MiB) String() string {
	switch {
	case m >= TiB || m <= -TiB:
		return trim(float64(m)/float64(TiB)) + " TiB"
	case m >= GiB || m <= -GiB:
		return trim(float64(m)/float64(GiB)) + " GiB"
	default:
		return strconv.FormatInt(int64(m), 10) + " MiB"
	}
}

func trim(f float64) string {
	s := strconv.FormatFloat(f, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0")
}

// ParseMiB reads "512MiB", "2 GiB", "1TiB" or a bare number of MiB.
func ParseMiB(s string) (MiB, error) {
	text := strings.TrimSpace(s)
	unit := MiB(1)
	for _, u := range []struct {
		suffix string
		size   MiB
	}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", 1}, {"T", TiB}, {"G", GiB}, {"M", 1}} {
		if t, ok := strings.CutSuffix(text, u.suffix); ok {
			text, unit = strings.TrimSpace(t), u.size
			break
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f*float64(unit) > 1e12 || f != f {
		return 0, BadField("memory", s, `a size, such as "512MiB" or "2GiB"`)
	}
	return MiB(f*float64(unit) + 0.5), nil
}

// Resources is what a VM needs or a node offers, one field per dimension.
type Resources struct {
	CPU    MilliCPU
	Memory MiB
}

// Plus adds each dimension.
func (r Resources) Plus(o Resources) Resources {
	return Resources{r.CPU + o.CPU, r.Memory + o.Memory}
}

// Minus subtracts each dimension; the result may be negative.
func (r Resources) Minus(o Resources) Resources {
	return Resources{r.CPU - o.CPU, r.Memory - o.Memory}
}

// Times multiplies each dimension by n.
func (r Resources) Times(n int) Resources {
	return Resources{r.CPU * MilliCPU(n), r.Memory * MiB(n)}
}

// Paused is what a VM that needs r uses while it is paused in memory: no CPU.
func (r Resources) Paused() Resources { return Resources{Memory: r.Memory} }

// Fits reports whether r is at most o in every dimension.
func (r Resources) Fits(o Resources) bool {
	return r.CPU <= o.CPU && r.Memory <= o.Memory
}

// IsZero reports whether all dimensions are 0.
func (r Resources) IsZero() bool { return r == Resources{} }

// String shows both dimensions: "2 CPU, 1.5 GiB".
func (r Resources) String() string {
	return fmt.Sprintf("%s CPU, %s", r.CPU, r.Memory)
}

// Count is "1 VM", "2 VMs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
