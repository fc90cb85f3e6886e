package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vjob/repack"
	"vjob/repack/rule"
)

// Constraint is a rule as a file has it: the name of a rule of the catalogue and
// its arguments, of the types that [rule.Type] names.
type Constraint struct {
	Type       string
	Continuous bool
	Penalty    int64 // 0: no plan may break it
	Args       map[string]any
}

// Post makes the rule.
func (c *Constraint) Post(in *repack.Instance) (repack.Posted, error) {
	kind, err := rule.Find(c.Type)
	if err != nil {
		return repack.Posted{}, err
	}
	made, err := kind.New(rule.Args{Instance: in, Continuous: c.Continuous, Values: c.Args})
	return repack.Posted{Rule: made, Penalty: c.Penalty}, err
}

// posted is a constraint as it was read. Which types its arguments must have is
// known when its name is, which may come last.
type posted struct {
	at         Place
	typeAt     Place
	kind       string
	continuous bool
	penalty    int64
	args       []argument
}

// argument is a value of any kind that some rule takes: a list of ids, a list of
// such lists, a string, or a number as it is written.
type argument struct {
	name  string
	at    Place
	value any
}

// numeral is a number as it is written.
type numeral string

// constraint reads one constraint.
func (d *document) constraint(i int) {
	if i == maxElements {
		d.fail("more than a million constraints")
		return
	}
	p := posted{at: d.place()}
	keys := d.object(func(key string) {
		switch key {
		case "type":
			p.kind = d.string("the name of a rule")
			p.typeAt = d.from
		case "continuous":
			p.continuous = d.boolean()
		case "penalty":
			p.penalty = d.integer(1, maxPenalty, "")
		default:
			value := d.argument()
			p.args = append(p.args, argument{key, d.from, value})
		}
	})
	d.need(p.at, keys, "type")
	d.posted = append(d.posted, p)
}

// argument reads a value of any kind that some rule takes.
func (r *reader) argument() any {
	if r.peek() == '[' {
		at := r.place()
		value := r.lists()
		r.from = at
		return value
	}
	t, ok := r.token("a list of ids, a list of such lists, a string or a number", '"', '0')
	switch {
	case !ok:
		return nil
	case t.Kind() == '"':
		return t.String()
	}
	return numeral(t.String())
}

// lists reads a list of ids, or of lists of ids.
func (r *reader) lists() any {
	flat, sets := []int{}, [][]int{}
	r.list(func(i int) {
		switch nested := r.peek() == '['; {
		case i == maxElements:
			r.fail("a list of more than a million")
		case nested && len(flat) == 0:
			sets = append(sets, r.indexes())
		default:
			flat = append(flat, int(r.integer(0, maxElements, "")))
			if len(sets) > 0 && r.err == nil {
				r.wrong(strconv.Itoa(flat[0]), "a list of ids, as before")
			}
		}
	})
	if len(sets) > 0 {
		return sets
	}
	return flat
}

// post makes the rules of the instance.
func (d *document) post(p *Problem) error {
	m := maker{in: p.Instance, file: d.file}
	for i := range d.posted {
		c, posted, err := m.make(i, &d.posted[i])
		if err != nil {
			return err
		}
		p.Constraints = append(p.Constraints, c)
		p.Instance.Rules = append(p.Instance.Rules, posted)
	}
	if err := m.sums(p.Constraints, d.posted); err != nil {
		return err
	}
	return m.order(p.Constraints, d.posted)
}

// sums checks that what all nodes have together fits into 64 bits, even if a rule
// has them pretend to have more.
func (m *maker) sums(list []Constraint, at []posted) error {
	whole := make([]float64, len(m.in.Dims))
	for i := range m.in.Nodes {
		for d, amount := range m.in.Nodes[i].Capacity {
			whole[d] += float64(amount)
		}
	}
	for i := range list {
		for name, v := range list[i].Args {
			if ratio, ok := v.(float64); ok && ratio*slices.Max(whole) > maxSum {
				return &Error{
					File: m.file, Place: at[i].at, Path: fmt.Sprintf("constraints[%d].%s", i, name),
					Text: "so large that sums over the nodes overflow",
				}
			}
		}
	}
	return nil
}

// maker makes rules of constraints.
type maker struct {
	in   *repack.Instance
	file string
	// Sets that all constraints share that name all.
	vms, nodes []int
}

func (m *maker) make(i int, p *posted) (Constraint, repack.Posted, error) {
	c := Constraint{Type: p.kind, Continuous: p.continuous, Penalty: p.penalty, Args: map[string]any{}}
	path := fmt.Sprintf("constraints[%d]", i)
	fail := func(at Place, path, text string) (Constraint, repack.Posted, error) {
		return c, repack.Posted{}, &Error{File: m.file, Place: at, Path: path, Text: text}
	}
	kind, err := rule.Find(c.Type)
	if err != nil {
		return fail(p.typeAt, path+".type", err.Error())
	}
	for _, a := range p.args {
		k := slices.IndexFunc(kind.Params, func(q rule.Param) bool { return q.Name == a.name })
		if k < 0 {
			return fail(a.at, path, fmt.Sprintf("%s does not take %s; it takes %s", kind.Name, quoted(a.name), takes(kind)))
		}
		value, at, want := m.value(kind.Params[k].Type, a.value)
		if want != "" {
			return c, repack.Posted{}, &Error{File: m.file, Place: a.at, Path: path + "." + a.name + at, Value: display(value), Want: want}
		}
		c.Args[a.name] = value
	}
	posted, err := c.Post(m.in)
	if err != nil {
		return fail(p.at, path, err.Error())
	}
	return c, posted, nil
}

func takes(kind rule.Kind) string {
	var list []string
	for _, p := range kind.Params {
		list = append(list, p.Name+" ("+p.Type.String()+")")
	}
	if kind.Modes&rule.Continuous != 0 {
		list = append(list, "continuous")
	}
	return strings.Join(append(list, "penalty"), ", ")
}

// all stands for every VM or every node.
const all = "all"

// value turns an argument into what a rule takes. Want says what would be right,
// if it is wrong, and at where in it.
func (m *maker) value(t rule.Type, v any) (value any, at, want string) {
	switch t {
	case rule.VMs:
		return members(v, &m.vms, len(m.in.VMs), t)
	case rule.Nodes:
		return members(v, &m.nodes, len(m.in.Nodes), t)
	case rule.VMSets:
		return sets(v, len(m.in.VMs), t)
	case rule.NodeSets:
		return sets(v, len(m.in.Nodes), t)
	case rule.Resource:
		if _, ok := v.(string); !ok {
			return v, "", t.String()
		}
		return v, "", ""
	default:
	}
	text, ok := v.(numeral)
	if !ok {
		return v, "", t.String()
	}
	return number(t, text, len(m.in.VMs))
}

// number turns a number into what a rule takes.
func number(t rule.Type, text numeral, vms int) (value any, at, want string) {
	if t == rule.Ratio {
		if f, err := strconv.ParseFloat(string(text), 64); err == nil && f > 0 && f <= maxRatio {
			return f, "", ""
		}
		return text, "", fmt.Sprintf("a number above 0, at most %d", maxRatio)
	}
	n, ok := whole(string(text))
	switch {
	case !ok || n < 0:
		return text, "", t.String()
	case t == rule.VM && n >= int64(vms):
		return text, "", inRange(vms, "VM")
	case t == rule.VM:
		return int(n), "", ""
	case t == rule.Time && n <= maxEnd:
		return repack.Ticks(n), "", ""
	case t == rule.Time || n > maxSum:
		return text, "", t.String() + ", and not so large"
	default:
		return n, "", ""
	}
}

// members turns a list of ids, or all, into a set.
func members(v any, every *[]int, size int, t rule.Type) (value any, at, want string) {
	if v == all {
		for i := len(*every); i < size; i++ {
			*every = append(*every, i)
		}
		return *every, "", ""
	}
	list, ok := v.([]int)
	if !ok {
		return v, "", t.String() + `: a list of ids, or "all"`
	}
	return known(list, size, t)
}

func sets(v any, size int, t rule.Type) (value any, at, want string) {
	list, ok := v.([][]int)
	if !ok {
		return v, "", t.String() + ": a list of lists of ids"
	}
	for i, set := range list {
		if wrong, at, want := known(set, size, t); want != "" {
			return wrong, "[" + strconv.Itoa(i) + "]" + at, want
		}
	}
	return list, "", ""
}

// known looks for ids that do not exist.
func known(list []int, size int, t rule.Type) (value any, at, want string) {
	what := "VM"
	if t == rule.Nodes || t == rule.NodeSets {
		what = "node"
	}
	for i, id := range list {
		if id >= size {
			return numeral(strconv.Itoa(id)), "[" + strconv.Itoa(i) + "]", inRange(size, what)
		}
	}
	return list, "", ""
}

func inRange(size int, what string) string {
	if size == 0 {
		return "nothing: there are no " + what + "s"
	}
	return fmt.Sprintf("a %s from 0 to %d", what, size-1)
}

// display shows a value that is wrong.
func display(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case numeral:
		return shortened(string(v))
	case []int:
		return "a list of ids"
	default:
		return "a list of lists"
	}
}
