package simulated_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
)

// script is a machine that runs a script.
func script(text string, members int) *hypervisor.Machine {
	m := machine(cluster.GiB, members)
	m.Payload.Script = text
	return m
}

// output returns what guests of a VM have printed between their marks.
func (b *manualCluster) output(id cluster.VMID) string {
	b.t.Helper()
	text, err := b.Console(b.now, id)
	if err != nil {
		b.t.Fatal(err)
	}
	var out strings.Builder
	for _, part := range strings.Split(string(text), cluster.OutputMark+"\n")[1:] {
		part, _, _ = strings.Cut(part, cluster.ExitMark)
		out.WriteString(part)
	}
	return out.String()
}

// exit returns the exit status of a guest that has ended on a node.
func (b *manualCluster) exit(id cluster.VMID, node cluster.NodeID) (cluster.ExitStatus, bool) {
	b.t.Helper()
	view, err := b.Look(b.now, node)
	if err != nil {
		b.t.Fatal(err)
	}
	at := slices.IndexFunc(view.Endings, func(e hypervisor.Ending) bool { return e.VM == id })
	if at < 0 {
		return 0, false
	}
	return view.Endings[at].Exit, true
}

func TestGuestRunsItsCommand(t *testing.T) {
	b := newManualCluster(t, nil)
	m := machine(cluster.GiB, 1)
	m.Payload.Command = []string{"echo", "hello"}
	b.boot(vm(1, 0), "n1", m)
	b.wait(time.Minute)
	if got := b.output(vm(1, 0)); got != "hello\n" {
		t.Errorf("output %q", got)
	}
	if exit, _ := b.exit(vm(1, 0), "n1"); exit != cluster.Exited(0) {
		t.Errorf("exit status %q", exit)
	}
	text, _ := b.Console(b.now, vm(1, 0))
	if got := cluster.ReadExit(text); got != cluster.Exited(0) || !bytes.Contains(text, []byte("\n"+cluster.OutputMark+"\nhello\n"+cluster.ExitMark+"0\n")) {
		t.Errorf("console tells %q:\n%s", got, text)
	}
}

// Output appears when its time has come, and the work continues where it stood after a suspension, on another node,
// and after a restart of the simulation.
func TestGuestSleepsInSimulatedTime(t *testing.T) {
	b := newManualCluster(t, nil)
	id := vm(1, 0)
	b.boot(id, "n1", script("#!/bin/sh\necho a\nsleep 100\necho b\nexit 3\n", 1))
	b.wait(50 * time.Second)
	if view, _ := b.Look(b.now, "n1"); len(view.Copies) != 1 || view.Copies[0].CPU != cluster.CPU {
		t.Errorf("copies %+v: a guest that sleeps computes", view.Copies)
	}
	b.do(hypervisor.Call{Verb: hypervisor.Pause, VM: id, Node: "n1"}, nil)
	b.do(hypervisor.Call{Verb: hypervisor.Save, VM: id, Node: "n1"}, nil)
	sealed := b.do(hypervisor.Call{Verb: hypervisor.Seal, VM: id, Node: "n1"}, nil)
	b.restart()
	b.wait(time.Hour)
	b.do(hypervisor.Call{Verb: hypervisor.Restore, VM: id, Node: "n2", Checksum: sealed.Receipt.Checksum, Attempt: 1}, nil)
	b.do(hypervisor.Call{Verb: hypervisor.Unpause, VM: id, Node: "n2"}, nil)
	b.wait(40 * time.Second)
	if got := b.output(id); got != "a\n" {
		t.Errorf("after 90 of 100 seconds: output %q", got)
	}
	b.wait(time.Minute)
	if exit, _ := b.exit(id, "n2"); b.output(id) != "a\nb\n" || exit != cluster.Exited(3) {
		t.Errorf("output %q, exit status %q", b.output(id), exit)
	}
}

// restart continues from a snapshot.
func (b *manualCluster) restart() {
	b.t.Helper()
	data, err := b.Snapshot()
	if err != nil {
		b.t.Fatal(err)
	}
	b.restore(data)
}

func (b *manualCluster) restore(data []byte) {
	b.t.Helper()
	cfg := simulated.Config{Start: begin, Profile: simulated.Thesis, Seed: 1}
	for _, n := range b.Nodes() {
		cfg.Nodes = append(cfg.Nodes, simulated.Node{ID: n.ID, Capacity: n.Capacity})
	}
	var err error
	if b.Cluster, err = simulated.Restore(cfg, data); err != nil {
		b.t.Fatal(err)
	}
}

// Each member ends with its own work, as VMs with a real shell do.
func TestCommandsOfMembersAreIndependent(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(1, 0), "n1", script("exit 1", 2))
	b.boot(vm(1, 1), "n2", script("sleep infinity", 2))
	b.wait(time.Minute)
	b.want(vm(1, 0), on())
	b.want(vm(1, 1), on("n2", "running"))
	if exit, _ := b.exit(vm(1, 0), "n1"); exit != cluster.Exited(1) {
		t.Errorf("exit status %q", exit)
	}
	b.wait(20 * 365 * 24 * time.Hour)
	b.want(vm(1, 1), on())
}

func TestPowerOffTellsNoStatus(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(1, 0), "n1", script("echo bye; poweroff", 1))
	b.wait(time.Minute)
	exit, ended := b.exit(vm(1, 0), "n1")
	text, _ := b.Console(b.now, vm(1, 0))
	if !ended || exit != cluster.UnknownExit || cluster.ReadExit(text) != cluster.UnknownExit || b.output(vm(1, 0)) != "bye\n" {
		t.Errorf("ended %v with %q:\n%s", ended, exit, text)
	}
}

// What a guest says of its shutdown does not stand in the output of work that is interrupted.
func TestInterruptedOutput(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(1, 0), "n1", script("echo begun; sleep 1000; echo done", 1))
	b.wait(time.Minute)
	b.do(hypervisor.Call{Verb: hypervisor.Shutdown, VM: vm(1, 0), Node: "n1"}, nil)
	b.wait(time.Minute)
	if _, ended := b.exit(vm(1, 0), "n1"); !ended || b.output(vm(1, 0)) != "begun\n" {
		t.Errorf("ended %v, output %q", ended, b.output(vm(1, 0)))
	}
}

// Steps take precedence over a command, and a guest without either runs on.
func TestStepsInPlaceOfACommand(t *testing.T) {
	b := newManualCluster(t, nil)
	m := machine(cluster.GiB, 1, cluster.Step{CPU: 1000, Duration: 10 * time.Second})
	m.Payload.Command, m.Payload.Program.Exit = []string{"false"}, 7
	b.boot(vm(1, 0), "n1", m)
	b.boot(vm(2, 0), "n2", machine(cluster.GiB, 1))
	b.wait(time.Hour)
	if exit, _ := b.exit(vm(1, 0), "n1"); exit != cluster.Exited(7) {
		t.Errorf("exit status %q", exit)
	}
	b.want(vm(2, 0), on("n2", "running"))
}

// A state file from before commands were interpreted has guests without a program: they run on.
func TestOldStateRunsOn(t *testing.T) {
	b := newManualCluster(t, nil)
	b.boot(vm(1, 0), "n1", script("sleep 60", 1))
	b.wait(10 * time.Second)
	data, err := b.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]any
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	mem := state["machines"].([]any)[0].(map[string]any)["mem"].(map[string]any)
	if mem["program"] == nil {
		t.Fatal("the program is not in the state")
	}
	delete(mem, "program")
	if data, err = json.Marshal(state); err != nil {
		t.Fatal(err)
	}
	b.restore(data)
	b.wait(time.Hour)
	b.want(vm(1, 0), on("n1", "running"))
}

func TestNotes(t *testing.T) {
	d, err := simulated.Open(simulated.Settings{Config: simulated.Config{Nodes: []simulated.Node{{ID: "n1", Capacity: cluster.Resources{CPU: 1000, Memory: 1024}}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	steps := &cluster.Program{Steps: []cluster.Step{{Duration: 1}}}
	for name, c := range map[string]struct {
		job  cluster.VJob
		want []string
	}{
		"command":   {cluster.VJob{VMs: []cluster.VM{{Payload: &cluster.Payload{Command: []string{"echo", "a"}}}}, Terms: &cluster.Terms{}}, nil},
		"unknown":   {cluster.VJob{VMs: []cluster.VM{{Payload: &cluster.Payload{Command: []string{"./run.sh"}}}, {Payload: &cluster.Payload{Command: []string{"./run.sh"}}}}, Terms: &cluster.Terms{}}, []string{"simulated guests interpret the command: ./run.sh is not found and ends with 127; give it work with --steps 2m@1, or sleep 60"}},
		"script":    {cluster.VJob{VMs: []cluster.VM{{Payload: &cluster.Payload{Script: "a | b"}}}, Terms: &cluster.Terms{}}, []string{"simulated guests interpret the script: a pipe (|): not supported, ends with 127; give it work with --steps 2m@1, or sleep 60"}},
		"steps":     {cluster.VJob{VMs: []cluster.VM{{Payload: &cluster.Payload{Command: []string{"./run.sh"}, Program: steps}}}, Terms: &cluster.Terms{}}, nil},
		"none":      {cluster.VJob{ID: 7, VMs: make([]cluster.VM, 2), Terms: &cluster.Terms{}}, []string{"simulated guests without a command or steps run until they are stopped: vjob delete 7"}},
		"walltime":  {cluster.VJob{ID: 7, Walltime: time.Hour, VMs: make([]cluster.VM, 1), Terms: &cluster.Terms{}}, []string{"simulated guests without a command or steps run until their walltime ends, or until they are stopped: vjob delete 7"}},
		"reserved":  {cluster.VJob{Walltime: time.Hour, VMs: make([]cluster.VM, 1), Terms: &cluster.Terms{Reservation: begin}}, nil},
		"container": {cluster.VJob{VMs: make([]cluster.VM, 1), Terms: &cluster.Terms{Container: true}}, nil},
	} {
		if got := d.Notes(&c.job); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
