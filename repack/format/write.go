package format

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"vjob/repack"
	"vjob/repack/rule"
)

// writer writes JSON as people would: one element a line. The same value gives the
// same bytes. The first error stays in the buffer.
type writer struct{ *bufio.Writer }

func (w writer) put(parts ...string) {
	for _, p := range parts {
		_, _ = w.WriteString(p)
	}
}

// key begins a member of an object, after a comma.
func (w writer) key(name string) { w.put(`,"`, name, `":`) }

func (w writer) number(n int64) {
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), n, 10))
}

// member writes a whole member of an object.
func (w writer) member(name string, n int64) {
	w.key(name)
	w.number(n)
}

// value writes anything; text stays as it is where JSON allows.
func (w writer) value(v any) {
	e := json.NewEncoder(trimmed{w.Writer})
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the values are numbers, strings and lists of them
}

// trimmed leaves out the end of the line that an encoder writes.
type trimmed struct{ to io.Writer }

func (t trimmed) Write(p []byte) (int, error) {
	n, err := t.to.Write(p[:len(p)-1])
	return n + 1, err
}

// WritePlan writes a plan for an instance, one action a line.
func WritePlan(out io.Writer, of *repack.Instance, p *PlanFile) error {
	w := writer{bufio.NewWriterSize(out, 1<<16)}
	w.put(`{"format":"`, PlanFormat, `","instance":`)
	w.value(p.Instance)
	w.key("solver")
	w.value(p.Solver)
	w.put(",\n\"actions\":[")
	for i := range p.Plan.Actions {
		w.separate(i)
		w.action(of, &p.Plan.Actions[i])
	}
	w.put("\n]\n}\n")
	return w.end()
}

// separate goes to the next line of a list.
func (w writer) separate(i int) {
	if i > 0 {
		w.put(",")
	}
	w.put("\n")
}

func (w writer) end() error {
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	return nil
}

func (w writer) action(of *repack.Instance, a *repack.Action) {
	w.put(`{"type":"`, a.Kind.String(), `"`)
	switch {
	case a.Kind.OnNode():
		w.member("node", int64(a.To))
	case a.Kind == repack.Allocate:
		w.allocate(of, a)
	default:
		w.member("vm", int64(a.VM))
		if a.From != repack.Nowhere {
			w.member("from", int64(a.From))
		}
		if a.To != repack.Nowhere && a.Kind != repack.Suspend && a.Kind != repack.Shutdown {
			w.member("to", int64(a.To))
		}
	}
	w.member("start", int64(a.Start))
	w.member("end", int64(a.End))
	if a.Rate > 0 {
		w.member("rate", a.Rate)
	}
	if len(a.After) > 0 {
		w.key("after")
		w.value(a.After)
	}
	w.put("}")
}

// allocate tells what changes.
func (w writer) allocate(of *repack.Instance, a *repack.Action) {
	w.member("vm", int64(a.VM))
	if a.To != repack.Nowhere {
		w.member("node", int64(a.To))
	}
	v := &of.VMs[a.VM]
	for d, name := range of.Dims {
		if v.Next[d] != v.Now[d] {
			w.member(name, v.Next[d])
		}
	}
}

// WriteInstance writes a problem, one node, VM and constraint a line. What the
// format cannot say is an error.
func WriteInstance(out io.Writer, p *Problem) error {
	in := p.Instance
	if len(p.Constraints) != len(in.Rules) {
		return fmt.Errorf("write the instance: it has %d rules, and %d constraints to write", len(in.Rules), len(p.Constraints))
	}
	if len(in.Dims) < 2 || in.Dims[0] != "cpu" || in.Dims[1] != "mem" {
		return fmt.Errorf("write the instance: its resources are %q; the format wants cpu and mem first", in.Dims)
	}
	w := writer{bufio.NewWriterSize(out, 1<<16)}
	w.put(`{"format":"`, InstanceFormat, `","name":`)
	w.value(in.Name)
	top := commonDurations(in)
	w.put(",\n\"durations\":{", `"node_off":`)
	w.number(int64(in.NodeOff))
	w.member("node_on", int64(in.NodeOn))
	for _, key := range vmDurations {
		w.member(key, int64(*duration(&top, key)))
	}
	w.put("}")
	if len(in.Dims) > 2 {
		w.put(",\n\"resources\":")
		w.value(in.Dims[2:])
	}
	w.network(in)
	w.put(",\n\"nodes\":[")
	for i := range in.Nodes {
		w.separate(i)
		w.node(in, i)
	}
	w.put("\n],\n\"vms\":[")
	for i := range in.VMs {
		w.separate(i)
		w.vm(in, i, &top)
	}
	w.put("\n],\n\"constraints\":[")
	for i := range p.Constraints {
		w.separate(i)
		w.constraint(in, &p.Constraints[i])
	}
	w.put("\n]")
	if len(in.Gangs) > 0 {
		w.put(",\n\"gangs\":")
		w.value(in.Gangs)
	}
	w.put("\n}\n")
	return w.end()
}

// commonDurations are those of the first VM; the others tell how they differ.
func commonDurations(in *repack.Instance) repack.Durations {
	if len(in.VMs) == 0 {
		return repack.Durations{}
	}
	return in.VMs[0].Takes
}

// vmDurations are the durations of actions on VMs, but for the migration, which
// each VM has for itself.
var vmDurations = []string{"boot", "shutdown", "suspend", "resume_local", "resume_remote"}

func (w writer) node(in *repack.Instance, i int) {
	n := &in.Nodes[i]
	w.put(`{"id":`, strconv.Itoa(i))
	if n.Name != "" {
		w.key("name")
		w.value(n.Name)
	}
	for d, name := range in.Dims {
		w.member(name, n.Capacity[d])
	}
	w.put(`,"state":"`, n.State.String(), `","next":"`, n.Want.String(), `"`)
	if n.Rack != 0 {
		w.member("rack", int64(n.Rack))
	}
	if n.Transfers > 0 {
		w.member("transfers", int64(n.Transfers))
	}
	if len(n.Busy) > 0 {
		w.key("busy")
		w.value(n.Busy)
	}
	w.put("}")
}

func (w writer) vm(in *repack.Instance, i int, top *repack.Durations) {
	v := &in.VMs[i]
	w.put(`{"id":`, strconv.Itoa(i))
	if v.Name != "" {
		w.key("name")
		w.value(v.Name)
	}
	for d, name := range in.Dims {
		w.member(name, v.Now[d])
		if name == "cpu" || v.Next[d] != v.Now[d] {
			w.member(name+nextSuffix, v.Next[d])
		}
	}
	w.member("migrate", int64(v.Takes.Migrate))
	w.put(`,"state":"`, v.State.String(), `","host":`)
	if v.Host == repack.Nowhere {
		w.put("null")
	} else {
		w.number(int64(v.Host))
	}
	w.put(`,"next":"`, v.Want.String(), `"`)
	w.extensions(v, top)
	if v.Memory != image(in, v) {
		w.member("copy", v.Memory)
	}
	if v.Dirty > 0 {
		w.member("dirty", v.Dirty)
	}
	w.put("}")
}

// extensions are what the paper's VMs do not have.
func (w writer) extensions(v *repack.VM, top *repack.Durations) {
	own := v.Takes
	own.Migrate = top.Migrate
	if own != *top {
		w.put(`,"durations":{`)
		first := true
		for _, key := range vmDurations {
			if d := *duration(&own, key); d != *duration(top, key) {
				if !first {
					w.put(",")
				}
				first = false
				w.put(`"`, key, `":`)
				w.number(int64(d))
			}
		}
		w.put("}")
	}
	if v.Weight != 1 {
		w.member("weight", v.Weight)
	}
	for _, flag := range []struct {
		key string
		on  bool
	}{{"sleepable", v.Sleepable}, {"stays", v.Stays}, {"paused", v.Paused}} {
		if flag.on {
			w.put(`,"`, flag.key, `":true`)
		}
	}
}

func (w writer) constraint(in *repack.Instance, c *Constraint) {
	w.put(`{"type":`)
	w.value(c.Type)
	names := slices.Sorted(maps.Keys(c.Args))
	if kind, err := rule.Find(c.Type); err == nil {
		slices.SortStableFunc(names, func(a, b string) int { return place(kind, a) - place(kind, b) })
	}
	for _, name := range names {
		w.key(name)
		w.argument(in, c, name)
	}
	w.put(`,"continuous":`, strconv.FormatBool(c.Continuous))
	if c.Penalty > 0 {
		w.member("penalty", c.Penalty)
	}
	w.put("}")
}

// place is where an argument stands in the list of the rule's.
func place(kind rule.Kind, name string) int {
	return slices.IndexFunc(kind.Params, func(p rule.Param) bool { return p.Name == name })
}

// argument writes the value of an argument; a set of all is the word for it.
func (w writer) argument(in *repack.Instance, c *Constraint, name string) {
	v := c.Args[name]
	if list, ok := v.([]int); ok && len(list) > 1 {
		kind, _ := rule.Find(c.Type)
		size := len(in.VMs)
		if k := place(kind, name); k >= 0 && kind.Params[k].Type == rule.Nodes {
			size = len(in.Nodes)
		}
		if len(list) == size && isCount(list) {
			w.put(`"`, all, `"`)
			return
		}
	}
	w.value(v)
}

// isCount reports whether a list counts from 0 on.
func isCount(list []int) bool {
	for i, x := range list {
		if i != x {
			return false
		}
	}
	return true
}
