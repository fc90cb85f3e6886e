package script

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/repack"
	"vjob/repack/rule"
)

// arg turns the value of one argument into what its type says.
func (e *evaluator) arg(a Arg, p rule.Param, to *Posting) bool {
	want := anything
	switch p.Type {
	case rule.VMs, rule.VMSets, rule.VM:
		want = vms
	case rule.Nodes, rule.NodeSets:
		want = nodes
	default: // the others name no members
	}
	v := e.expr(a.Value, want)
	if want != anything {
		v = e.resolved(v, want)
	}
	if v.depth == unknown || !e.step(a.Pos, v.size()) {
		return false
	}
	resource, _ := to.Values["resource"].(string)
	got, err := e.convert(v, p.Type, want, resource)
	switch {
	case errors.Is(err, errNoVMs):
		to.idle = true
	case err != nil:
		e.explain(to.Kind, a.Value.At(), "%s of %s: %s", p.Name, to.Kind.Name, err)
		return false
	}
	to.Values[p.Name] = got
	return true
}

func (e *evaluator) convert(v value, t rule.Type, want things, resource string) (any, error) {
	if want != anything && v.of != want && v.of != anything {
		return nil, mismatch(t, v)
	}
	switch t {
	case rule.VMs, rule.Nodes:
		if v.depth == set1 && len(v.set) == 0 && want == vms && e.names.Sparse() {
			return nil, errNoVMs
		}
		return plain(v, t)
	case rule.VMSets, rule.NodeSets:
		if v.depth == list && want == vms && e.names.Sparse() {
			v.sets = slices.DeleteFunc(slices.Clone(v.sets), func(s []int) bool { return len(s) == 0 })
			if len(v.sets) == 0 {
				return nil, errNoVMs
			}
		}
		return disjoint(v, t)
	case rule.VM:
		if v.depth == list || len(v.set) != 1 {
			return nil, mismatch(t, v)
		}
		return v.set[0], nil
	case rule.Number:
		return whole(v)
	case rule.Amount:
		return e.amount(v, resource)
	case rule.Ratio:
		return ratio(v)
	case rule.Resource:
		return e.resource(v)
	case rule.Time:
		return e.time(v)
	default:
		return nil, fmt.Errorf("scripts cannot say %s yet", t)
	}
}

// errNoVMs is a set without VMs, where such sets may be.
var errNoVMs = errors.New("no VMs")

// mismatch says what was wanted and what came.
func mismatch(t rule.Type, v value) error { return fmt.Errorf("want %s, and this is %s", t, v) }

func plain(v value, t rule.Type) (any, error) {
	switch {
	case v.depth == list:
		return nil, fmt.Errorf("want %s, and this is %s; go through it: for $x in …", t, v)
	case len(v.set) == 0:
		return nil, mismatch(t, v)
	}
	return slices.Clone(v.set), nil
}

func disjoint(v value, t rule.Type) (any, error) {
	if v.depth != list {
		return nil, fmt.Errorf("want %s, and this is %s; a list is {$a, $b} or {{a, b}, {c}}", t, v)
	}
	if len(v.sets) == 0 {
		return nil, mismatch(t, v)
	}
	in := map[int]int{}
	sets := make([][]int, len(v.sets))
	for i, s := range v.sets {
		if len(s) == 0 {
			return nil, fmt.Errorf("set %d of the list is empty", i+1)
		}
		for _, m := range s {
			if j, ok := in[m]; ok {
				return nil, fmt.Errorf("sets %d and %d of the list have a %s in common", j+1, i+1, v.of.one())
			}
			in[m] = i
		}
		sets[i] = slices.Clone(s)
	}
	return sets, nil
}

// whole is a number from 0 on.
func whole(v value) (any, error) {
	if v.depth != text1 || !number(v.word.Text) {
		return nil, mismatch(rule.Number, v)
	}
	n, err := largest(v.word.Text)
	if err != nil {
		return nil, fmt.Errorf("%w, and this is %s", err, v)
	}
	return n, nil
}

// largest reads digits, of which there may be too many.
func largest(digits string) (int64, error) {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the largest number is %d", int64(math.MaxInt64))
	}
	return n, nil
}

// amount is so much of a resource, in units that suit it.
func (e *evaluator) amount(v value, resource string) (any, error) {
	switch {
	case v.depth != text1:
		return nil, mismatch(rule.Amount, v)
	case resource == "":
		return nil, errors.New("the resource is to be named before how much of it")
	}
	n, err := e.names.Amount(resource, v.word.Text)
	if err != nil {
		return nil, fmt.Errorf("%w, and this is %s", err, v)
	}
	return n, nil
}

// ratio is a number above 0: 1.5 or 150%.
func ratio(v value) (any, error) {
	if v.depth != text1 {
		return nil, mismatch(rule.Ratio, v)
	}
	text, percent := strings.CutSuffix(v.word.Text, "%")
	before, after, _ := strings.Cut(text, ".")
	f, err := strconv.ParseFloat(text, 64)
	if percent {
		f /= 100
	}
	if err != nil || !number(before) || !number(after+"0") || f <= 0 {
		return nil, fmt.Errorf("want %s such as 1.5 or 150%%, and this is %s", rule.Ratio, v)
	}
	return f, nil
}

func (e *evaluator) resource(v value) (any, error) {
	if v.depth == text1 && slices.Contains(e.names.Resources(), v.word.Text) {
		return v.word.Text, nil
	}
	more := "; the resources are " + strings.Join(e.names.Resources(), ", ")
	if v.depth == text1 {
		return nil, fmt.Errorf("there is no resource %s%s", v, more)
	}
	return nil, errors.New(mismatch(rule.Resource, v).Error() + more)
}

// time is a duration with its unit, as ticks.
func (e *evaluator) time(v value) (any, error) {
	const units = "want a time from 0 on such as 90s, 5m or 1h30m"
	if v.depth != text1 {
		return nil, fmt.Errorf("%s, and this is %s", units, v)
	}
	d, err := time.ParseDuration(v.word.Text)
	tick := e.names.Tick()
	switch {
	case number(v.word.Text) && err != nil:
		return nil, fmt.Errorf("%s: %s lacks its unit", units, v)
	case err != nil || d < 0:
		return nil, fmt.Errorf("%s, and this is %s", units, v)
	case d%tick != 0:
		return nil, fmt.Errorf("%s is not a multiple of %s, the unit of times here", v, tick)
	}
	return repack.Ticks(d / tick), nil
}
