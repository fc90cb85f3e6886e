package rule_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"vjob/repack"
)

// verdicts has the other checker judge pairs of an instance and a plan, one a line.
const verdicts = `
import json, sys
sys.path.insert(0, sys.argv[1])
import check_plan
for line in sys.stdin:
    pair = json.loads(line)
    res, errors, _ = check_plan.check(pair["instance"], pair["plan"], False, 10000)
    print(json.dumps({"valid": res["valid"], "obj": res["obj_vm"], "all": res["obj_all"], "makespan": res["makespan"],
                      "migrations": res["migrations"], "errors": list(errors)}))
`

// The checker of the bench, which others wrote, and ours agree on instances and
// plans of all kinds, right and wrong. Where ours is meant to differ, it is not
// asked: overload and broken rules from the start, which ours tolerates as long as
// they only get less; actions that wait for others; gangs; VMs that may not be
// touched; gather at every instant.
func TestAgreesWithTheBench(t *testing.T) {
	folder := os.Getenv("VJOB_BRSP")
	if folder == "" {
		t.Skip("NOT COMPARED with the checker of the bench: VJOB_BRSP does not say in which folder check_plan.py is")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var input bytes.Buffer
	var ours []ourVerdict
	for range 4000 {
		in, constraints := randomInstance(t, rng)
		p := randomPlan(rng, in)
		report, err := repack.Check(in, p)
		if err != nil {
			t.Fatal(err)
		}
		ours = append(ours, ourVerdict{report, brokenRules(in, p, constraints)})
		line, err := json.Marshal(map[string]any{"instance": instanceJSON(in, constraints), "plan": planJSON(p)})
		if err != nil {
			t.Fatal(err)
		}
		input.Write(append(line, '\n'))
	}
	lines := strings.Split(input.String(), "\n")
	cmd := exec.CommandContext(t.Context(), "python3", "-c", verdicts, folder)
	cmd.Stdin, cmd.Env = &input, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	output, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	valid, kinds, scanner := 0, map[string]int{}, bufio.NewScanner(bytes.NewReader(output))
	for i := 0; scanner.Scan(); i++ {
		var theirs struct {
			Valid                          bool
			Obj, All, Makespan, Migrations int64
			Errors                         []string
		}
		if err := json.Unmarshal(scanner.Bytes(), &theirs); err != nil {
			t.Fatal(err)
		}
		f := ours[i].Figures
		broken, core := map[string]bool{}, false
		for _, text := range theirs.Errors {
			tag, _, _ := strings.Cut(text, ":")
			broken[tag] = true
			if !strings.Contains(tag, "#") {
				core = true
				delete(broken, tag)
			}
		}
		if core != ours[i].core() || !maps.Equal(broken, ours[i].broken) || theirs.Valid != ours[i].Valid() {
			t.Fatalf("pair %d:\n%s\nthey find %q\nwe find %q", i, lines[i], theirs.Errors, ours[i].Faults)
		}
		if theirs.Valid && (theirs.Obj != f.Objective || theirs.All != f.All || theirs.Makespan != int64(f.Makespan) || theirs.Migrations != int64(f.Migrations)) {
			t.Fatalf("pair %d:\n%s\nthey have %+v\nwe have %+v", i, lines[i], theirs, f)
		}
		if theirs.Valid {
			valid++
		}
		for _, text := range theirs.Errors {
			kinds[strings.Fields(text)[0]]++
		}
	}
	t.Logf("%d of %d plans are right; what the others have: %v", valid, len(ours), kinds)
	if valid < len(ours)/8 || valid > len(ours)*7/8 {
		t.Errorf("%d of %d plans are right: too one-sided to compare", valid, len(ours))
	}
	for _, name := range []string{"spread", "lonely", "capacity", "ban", "fence", "gather", "root", "vm", "server"} {
		if kinds[name] == 0 {
			t.Errorf("no plan was wrong about %s", name)
		}
	}
}

// ourVerdict is a report and the rules that are broken, as the others call them.
type ourVerdict struct {
	*repack.Report
	broken map[string]bool
}

// core reports whether something is wrong besides rules.
func (v ourVerdict) core() bool {
	return slices.ContainsFunc(v.Faults, func(text string) bool { return !strings.Contains(text, "}") })
}

func brokenRules(in *repack.Instance, p *repack.Plan, constraints []map[string]any) map[string]bool {
	broken := map[string]bool{}
	line, _ := repack.Trace(in, p)
	for i, r := range in.Rules {
		if len(r.Check(line)) > 0 {
			broken[fmt.Sprintf("%s #%d", constraints[i]["type"], i)] = true
		}
	}
	return broken
}

// randomInstance has no overload at first, and rules that hold then if they must at
// every instant.
func randomInstance(t *testing.T, rng *rand.Rand) (in *repack.Instance, constraints []map[string]any) {
	t.Helper()
	in = &repack.Instance{Dims: []string{"cpu", "mem"}, NodeOff: 1, NodeOn: 2}
	for n := range 2 + rng.IntN(3) {
		node := repack.Node{Capacity: []int64{0, 0}, Want: repack.NodeState(rng.IntN(3))}
		if n > 0 && rng.IntN(5) == 0 {
			node.State = repack.Offline
		} else if rng.IntN(3) > 0 {
			node.Want = repack.Online
		}
		in.Nodes = append(in.Nodes, node)
	}
	for range 1 + rng.IntN(6) {
		v := repack.VM{
			State: repack.VMState(rng.IntN(3)), Want: repack.Running, Host: repack.Nowhere, Weight: 1,
			Now:   []int64{1 + rng.Int64N(5), 1 + rng.Int64N(5)},
			Takes: repack.Durations{Boot: 1, Shutdown: 2, Suspend: 4, ResumeLocal: 5, ResumeRemote: 6, Migrate: repack.Ticks(2 + rng.IntN(6))},
		}
		v.Next = []int64{1 + rng.Int64N(7), v.Now[1]}
		if rng.IntN(2) == 0 {
			v.Next[0] = v.Now[0]
		}
		if rng.IntN(5) == 0 {
			v.Next[1] = 1 + rng.Int64N(5)
		}
		if v.State == repack.Running && rng.IntN(3) == 0 {
			v.Want = []repack.VMState{repack.Ready, repack.Sleeping}[rng.IntN(2)]
		}
		for v.State != repack.Ready && v.Host == repack.Nowhere {
			if n := rng.IntN(len(in.Nodes)); in.Nodes[n].State == repack.Online {
				v.Host = n
			}
		}
		in.VMs = append(in.VMs, v)
	}
	for n := range in.Nodes {
		for d := range in.Dims {
			for vm := range in.VMs {
				if v := &in.VMs[vm]; v.State == repack.Running && v.Host == n {
					in.Nodes[n].Capacity[d] += v.Now[d]
				}
			}
			in.Nodes[n].Capacity[d] += rng.Int64N(20)
		}
	}
	constraints = []map[string]any{}
	for range rng.IntN(3) {
		constraints = append(constraints, randomRule(t, rng, in))
	}
	return in, constraints
}

// randomRule adds a rule to the instance and returns its JSON.
func randomRule(t *testing.T, rng *rand.Rand, in *repack.Instance) map[string]any {
	t.Helper()
	name := []string{"spread", "lonely", "capacity", "ban", "fence", "gather", "root"}[rng.IntN(7)]
	values := map[string]any{}
	if name != "capacity" {
		values["vms"] = rng.Perm(len(in.VMs))[:1+rng.IntN(len(in.VMs))]
	}
	if name == "capacity" || name == "ban" || name == "fence" {
		values["nodes"] = rng.Perm(len(in.Nodes))[:1+rng.IntN(len(in.Nodes))]
	}
	if name == "capacity" {
		values["max"] = int64(rng.IntN(4))
	}
	if name == "ban" {
		values["nodes"] = values["nodes"].([]int)[:1]
	}
	holds := *in
	holds.VMs = nil
	for _, v := range in.VMs {
		v.Want, v.Next = v.State, v.Now
		holds.VMs = append(holds.VMs, v)
	}
	line, _ := repack.Trace(&holds, &repack.Plan{})
	continuous := name != "gather" && rng.IntN(2) == 0 && len(made(t, &holds, name, false, values).Check(line)) == 0
	in.Rules = append(in.Rules, repack.Posted{Rule: made(t, in, name, continuous, values)})
	c := map[string]any{"type": name, "continuous": continuous}
	maps.Copy(c, values)
	return c
}

// randomPlan leads where it should more often than not, and is bent a little.
func randomPlan(rng *rand.Rand, in *repack.Instance) *repack.Plan {
	p := &repack.Plan{}
	for vm := range in.VMs {
		v := &in.VMs[vm]
		n, start := rng.IntN(len(in.Nodes)), repack.Ticks(rng.IntN(12))
		add := func(kind repack.Kind, from, to int, takes repack.Ticks) {
			p.Actions = append(p.Actions, repack.Action{Kind: kind, VM: vm, From: from, To: to, Start: start, End: start + takes})
			start += takes + repack.Ticks(rng.IntN(2))
		}
		switch {
		case v.Keeps() && n != v.Host && rng.IntN(2) == 0:
			add(repack.Migrate, v.Host, n, v.Takes.Migrate)
			if m := rng.IntN(len(in.Nodes)); m != n && rng.IntN(4) == 0 {
				add(repack.Migrate, n, m, v.Takes.Migrate)
			}
		case v.Keeps() && rng.IntN(8) == 0:
			add(repack.Suspend, v.Host, repack.Nowhere, v.Takes.Suspend)
			add(repack.Resume, v.Host, n, v.Takes.ResumeRemote)
		case v.Keeps() && rng.IntN(4) == 0:
			add(repack.Allocate, repack.Nowhere, v.Host, 0)
		case v.State == repack.Ready && v.Want == repack.Running:
			add(repack.Boot, repack.Nowhere, n, v.Takes.Boot)
		case v.Comes():
			add(repack.Resume, v.Host, n, v.DurationTo(n))
		case v.State == repack.Running && v.Want == repack.Ready:
			add(repack.Shutdown, v.Host, repack.Nowhere, v.Takes.Shutdown)
		case v.State == repack.Running && v.Want == repack.Sleeping:
			add(repack.Suspend, v.Host, repack.Nowhere, v.Takes.Suspend)
		}
	}
	for n, node := range in.Nodes {
		a := repack.Action{Kind: repack.NodeOff, VM: repack.Nowhere, From: repack.Nowhere, To: n, Start: repack.Ticks(rng.IntN(24))}
		if node.State == repack.Offline {
			a.Kind, a.Start = repack.NodeOn, repack.Ticks(rng.IntN(4))
		}
		a.End = a.Start + 2
		if node.Want != node.State && (node.Want != repack.AnyState || rng.IntN(3) == 0) {
			p.Actions = append(p.Actions, a)
		}
	}
	if len(p.Actions) > 0 && rng.IntN(4) == 0 {
		bend(rng, in, p)
	}
	return p
}

// bend changes something about one action.
func bend(rng *rand.Rand, in *repack.Instance, p *repack.Plan) {
	i := rng.IntN(len(p.Actions))
	a := &p.Actions[i]
	switch rng.IntN(8) {
	case 0:
		a.End--
	case 1:
		a.End++
	case 2:
		a.Start--
	case 3:
		if !a.Kind.OnNode() {
			a.From = rng.IntN(len(in.Nodes))
		}
	case 4:
		a.To = rng.IntN(len(in.Nodes)+2) - 1
	case 5:
		p.Actions = append(p.Actions[:i], p.Actions[i+1:]...)
	case 6:
		p.Actions = append(p.Actions, *a)
	case 7:
		if !a.Kind.OnNode() {
			a.Kind = []repack.Kind{repack.Migrate, repack.Boot, repack.Shutdown, repack.Suspend, repack.Resume}[rng.IntN(5)]
		}
	}
}

func instanceJSON(in *repack.Instance, constraints []map[string]any) map[string]any {
	host := func(n int) any {
		if n == repack.Nowhere {
			return nil
		}
		return n
	}
	nodes, vms := []any{}, []any{}
	for n, node := range in.Nodes {
		nodes = append(nodes, map[string]any{
			"id": n, "cpu": node.Capacity[0], "mem": node.Capacity[1], "state": node.State.String(), "next": node.Want.String(),
		})
	}
	for vm, v := range in.VMs {
		vms = append(vms, map[string]any{
			"id": vm, "cpu": v.Now[0], "mem": v.Now[1], "cpu_next": v.Next[0], "mem_next": v.Next[1], "migrate": v.Takes.Migrate,
			"state": v.State.String(), "next": v.Want.String(), "host": host(v.Host),
		})
	}
	return map[string]any{
		"format": "brsp-instance/1", "name": "random", "nodes": nodes, "vms": vms, "constraints": constraints,
		"durations": map[string]any{
			"boot": 1, "shutdown": 2, "suspend": 4, "resume_local": 5, "resume_remote": 6, "node_off": in.NodeOff, "node_on": in.NodeOn,
		},
	}
}

func planJSON(p *repack.Plan) map[string]any {
	actions := []any{}
	for _, a := range p.Actions {
		x := map[string]any{"type": a.Kind.String(), "start": a.Start, "end": a.End}
		if a.Kind.OnNode() {
			x["node"] = a.To
		} else {
			x["vm"] = a.VM
			for key, n := range map[string]int{"from": a.From, "to": a.To} {
				if n != repack.Nowhere {
					x[key] = n
				}
			}
		}
		if a.Kind == repack.Allocate {
			x["node"] = a.To
		}
		actions = append(actions, x)
	}
	return map[string]any{"format": "brsp-plan/1", "solver": "random", "actions": actions}
}
