package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"vjob/energy"
)

// WriteAllocations writes an allocations file, one line for each.
func WriteAllocations(w io.Writer, solver string, list []Allocation) error {
	var b bytes.Buffer
	b.WriteString(`{"format":"` + version + `","solver":` + compact(solver) + `,"allocations":[`)
	for i, a := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + `{"id":` + compact(a.ID))
		if a.Allocation == nil {
			b.WriteString(`,"status":"fail","why":` + compact(a.Why) + `}`)
			continue
		}
		b.WriteString(`,"status":"ok","assign":` + compact(a.At))
		if a.CPU != nil {
			b.WriteString(`,"cpu":` + compact(a.CPU))
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]}\n")
	return put(w, b.Bytes(), "allocations")
}

// WriteInstances writes an instances file, one host or job to a line.
func WriteInstances(w io.Writer, list []*energy.Problem) error {
	var b bytes.Buffer
	b.WriteString(`{"format":"` + version + `","instances":[`)
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n" + `{"id":` + compact(p.ID) + `,"problem":"` + p.Objective.String() + `"`)
		b.WriteString(goal(p))
		if len(p.Resources) > 1 {
			b.WriteString(`,"resources":` + compact(p.Resources[1:]))
		}
		b.WriteString(`,"hosts":[`)
		for n := range p.Nodes {
			b.WriteString(comma(n) + host(p, &p.Nodes[n]))
		}
		b.WriteString("\n" + `],"jobs":[`)
		for j := range p.Jobs {
			b.WriteString(comma(j) + `{"cpu":` + compact(p.Jobs[j].CPU) + amounts(p, p.Jobs[j].Need) + `}`)
		}
		b.WriteString("\n]}")
	}
	b.WriteString("\n]}\n")
	return put(w, b.Bytes(), "instances")
}

func goal(p *energy.Problem) string {
	switch p.Objective {
	case energy.BoundedYield:
		return `,"ybound":` + compact(p.Floor)
	case energy.BoundedPower:
		return `,"ebound":` + compact(p.Budget) + `,"ymin":` + compact(p.Floor)
	default:
		return `,"lambda":` + compact(p.Lambda) + `,"emax":` + compact(p.EMax) + `,"ymin":` + compact(p.Floor)
	}
}

func host(p *energy.Problem, n *energy.Node) string {
	text := `{"cpu":` + compact(n.CPU) + amounts(p, n.Capacity) + `,"cmin":` + compact(n.Power.Idle) + `,"cmax":` + compact(n.Power.Full)
	if n.Power.Standby > 0 {
		text += `,"coff":` + compact(n.Power.Standby)
	}
	if len(n.Power.Measured) > 0 {
		points := make([][2]float64, len(n.Power.Measured))
		for i, m := range n.Power.Measured {
			points[i] = [2]float64{m.Load, float64(m.Power)}
		}
		text += `,"points":` + compact(points)
	}
	return text + `}`
}

func amounts(p *energy.Problem, list []float64) (text string) {
	for i, name := range p.Resources {
		text += `,` + compact(name) + `:` + compact(list[i])
	}
	return text
}

func comma(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

// compact is a value as JSON. All that is written here can be.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // a problem that was not validated
	}
	return string(text)
}

func put(w io.Writer, text []byte, what string) error {
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}
