package rule_test

import (
	"fmt"
	"slices"
	"strings"

	"vjob/repack"
	"vjob/repack/rule"
)

// instanceOf returns an instance with some nodes, and a VM for each word: "2" runs on node 2, "z2"
// sleeps there, "-" is ready. All are to run; "2!" is to stop, "2z" to sleep. Demands are 10 of 100.
func instanceOf(nodes int, vms string) *repack.Instance {
	in := &repack.Instance{Dims: []string{"cpu"}}
	for range nodes {
		in.Nodes = append(in.Nodes, repack.Node{Capacity: []int64{100}})
	}
	for word := range strings.FieldsSeq(vms) {
		v := repack.VM{Want: repack.Running, Host: repack.Nowhere, Now: []int64{10}, Next: []int64{10}, Weight: 1}
		if strings.HasSuffix(word, "!") {
			v.Want = repack.Ready
		} else if strings.HasSuffix(word, "z") {
			v.Want = repack.Sleeping
		}
		word = strings.TrimRight(word, "!z")
		switch {
		case word == "-":
		case word[0] == 'z':
			v.State, v.Host = repack.Sleeping, int(word[1]-'0')
		default:
			v.State, v.Host = repack.Running, int(word[0]-'0')
		}
		in.VMs = append(in.VMs, v)
	}
	return in
}

// plan reads actions such as "migrate 0 1>2 0-8", "boot 0 >2 0-1", "node_off 3 0-1"
// and "allocate 0 5-5", one a line.
func plan(t fatal, text string) *repack.Plan {
	t.Helper()
	p := &repack.Plan{}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		a := repack.Action{VM: repack.Nowhere, From: repack.Nowhere, To: repack.Nowhere}
		for k, word := range repack.Kinds {
			if word == words[0] {
				a.Kind = repack.Kind(k)
			}
		}
		var err error
		if a.Kind.OnNode() {
			_, err = fmt.Sscan(words[1], &a.To)
		} else {
			_, err = fmt.Sscan(words[1], &a.VM)
		}
		if err == nil {
			_, err = fmt.Sscanf(words[len(words)-1], "%d-%d", &a.Start, &a.End)
		}
		if err == nil && len(words) == 4 {
			from, to, _ := strings.Cut(words[2], ">")
			_, _ = fmt.Sscan(from, &a.From)
			_, _ = fmt.Sscan(to, &a.To)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// fatal is what tests and properties have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// made makes a rule.
func made(t fatal, in *repack.Instance, name string, continuous bool, values map[string]any) repack.Rule {
	t.Helper()
	k, err := rule.Find(name)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := k.New(rule.Args{Instance: in, Continuous: continuous, Values: values})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// postings records what rules post.
type postings struct {
	in       *repack.Instance
	forbid   map[[2]int]bool // and whether always
	confine  []confined
	limit    []string
	root     map[int]bool
	guards   []guarded
	watches  []watched
	gates    []gated
	together []string
	due      map[int][2]repack.Ticks
}

type confined struct {
	vms, nodes []int
	always     bool
}

type guarded struct {
	repack.Guard
	repack.Scope
}

type watched struct {
	repack.Watch
	repack.Scope
}

type gated struct {
	repack.Gate
	vms []int
}

func newPostings(in *repack.Instance) *postings {
	return &postings{in: in, forbid: map[[2]int]bool{}, root: map[int]bool{}, due: map[int][2]repack.Ticks{}}
}

var _ repack.ConstraintStore = (*postings)(nil)

func (b *postings) Instance() *repack.Instance { return b.in }
func (b *postings) Forbid(vm, node int, always bool) {
	b.forbid[[2]int{vm, node}] = always
}

func (b *postings) Confine(vms, nodes []int, always bool) {
	b.confine = append(b.confine, confined{vms, nodes, always})
}

func (b *postings) Limit(nodes []int, most int, always bool) {
	b.limit = append(b.limit, fmt.Sprint(nodes, most, always))
}
func (b *postings) Root(vm int)                          { b.root[vm] = true }
func (b *postings) Guard(g repack.Guard, s repack.Scope) { b.guards = append(b.guards, guarded{g, s}) }

func (b *postings) Watch(w repack.Watch, s repack.Scope) {
	b.watches = append(b.watches, watched{w, s})
}
func (b *postings) Gate(g repack.Gate, vms []int) { b.gates = append(b.gates, gated{g, vms}) }
func (b *postings) Together(vms []int, atEnd bool) {
	b.together = append(b.together, fmt.Sprint(vms, atEnd))
}
func (b *postings) Due(vm int, start, end repack.Ticks) { b.due[vm] = [2]repack.Ticks{start, end} }
func (b *postings) String() string {
	return fmt.Sprintf("%d guards, %d watches, %d gates", len(b.guards), len(b.watches), len(b.gates))
}

// bars reports whether the board keeps a VM from a node; in passing, if always.
func (b *postings) bars(vm, node int, always bool) bool {
	if at, ok := b.forbid[[2]int{vm, node}]; ok && (at || !always) {
		return true
	}
	for _, c := range b.confine {
		if (c.always || !always) && slices.Contains(c.vms, vm) && !slices.Contains(c.nodes, node) {
			return true
		}
	}
	return false
}

// concerns reports whether a move is in the scope.
func concerns(s repack.Scope, vm, from, to int) bool {
	return (s.VMs == nil || slices.Contains(s.VMs, vm)) && (s.Nodes == nil || slices.Contains(s.Nodes, from) || slices.Contains(s.Nodes, to))
}

// count is how many breaches there are, of the final configuration and of others.
func count(list []repack.Breach) (final, passing int) {
	for _, b := range list {
		if b.At == repack.Forever {
			final += 1 + b.More
		} else {
			passing += 1 + b.More
		}
	}
	return final, passing
}
