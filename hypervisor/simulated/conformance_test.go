package simulated_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/simulated"
	"vjob/tests/conformance"
)

// harness wraps a driver that runs a hundred times as fast as the lab.
func harness(t *testing.T, locks bool) conformance.Harness {
	t.Helper()
	s := simulated.Settings{Speed: 100, Config: simulated.Config{Profile: simulated.Lab, Seed: 1, Locks: locks}}
	for _, id := range []cluster.NodeID{"n1", "n2", "n3"} {
		s.Nodes = append(s.Nodes, simulated.Node{ID: id, Capacity: cluster.Resources{CPU: 4000, Memory: 4096}})
	}
	s.Nodes[1].Unmanaged = []string{"zoe", "adam"}
	modern := []hypervisor.Platform{{
		Type: "kvm", Arch: "x86_64", CPUModel: "Skylake-Server", Features: []string{"avx2", "avx512f"}, MachineTypes: []string{"pc-q35-7.2", "pc-q35-8.2"},
	}}
	for i := range s.Nodes {
		s.Nodes[i].Platforms = modern
	}
	s.Nodes = append(s.Nodes, simulated.Node{ID: "old", Capacity: cluster.Resources{CPU: 4000, Memory: 4096}, Platforms: []hypervisor.Platform{{
		Type: "kvm", Arch: "x86_64", CPUModel: "Broadwell", Features: []string{"avx2"}, MachineTypes: []string{"pc-q35-7.2", "pc-q35-8.2"},
	}}})
	d := open(t, s)
	t.Cleanup(func() { closing(t, d) })
	return conformance.Harness{
		Driver: counting{d}, Nodes: []cluster.NodeID{"n1", "n2", "n3"}, Machine: guest, Memory: 512, Huge: 64 * cluster.GiB,
		Life: 5 * time.Second, Counter: newestCount, Locks: locks, Caps: true, Busy: 4 * cluster.CPU, Uses: 100, Converse: echoes,
		Unmanaged:   map[cluster.NodeID][]string{"n1": nil, "n2": {"adam", "zoe"}},
		Lacking:     "old",
		CallTimeout: 10 * time.Second, Patience: 10 * time.Second, Poll: time.Millisecond, Moment: 30 * time.Millisecond,
		Hooks: hooks(d),
	}
}

func guest(g conformance.Guest) *hypervisor.Machine {
	m := machine(g.Memory, g.Members)
	switch {
	case g.Lives > 0:
		m = machine(g.Memory, g.Members, cluster.Step{CPU: cluster.CPU, Duration: g.Lives})
		m.Payload.Program.Exit = g.Exit
	case g.Idle:
		m = machine(g.Memory, g.Members, cluster.Step{Duration: time.Hour})
	case g.Uses > 0:
		m = machine(g.Memory, g.Members, cluster.Step{CPU: cluster.CPU, Memory: g.Uses, Duration: time.Hour})
	case g.Busy:
		m = machine(g.Memory, g.Members, cluster.Step{CPU: 4 * cluster.CPU, Duration: time.Hour}) // all of a node
		m.Reserved.CPU = 6 * cluster.CPU
	}
	return m
}

// counting is a driver with guests that count the time for which they have run on their consoles.
type counting struct{ *simulated.Driver }

func (d counting) Console(ctx context.Context, vm cluster.VMID) (io.ReadCloser, error) {
	console, err := d.Driver.Console(ctx, vm)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(console)
	for _, c := range d.Truth().Copies {
		if c.VM == vm && c.State == hypervisor.CopyRunning {
			text = fmt.Appendf(text, "[%12.6f]\n", c.Ran.Seconds())
		}
	}
	return io.NopCloser(bytes.NewReader(text)), errors.Join(err, console.Close())
}

var clock = regexp.MustCompile(`^\[ *(\d+)\.(\d{6})\]`)

// newestCount is the guest's own clock in microseconds.
func newestCount(console []byte) (int64, bool) {
	lines := strings.Split(strings.TrimSpace(string(console)), "\n")
	m := clock.FindStringSubmatch(lines[len(lines)-1])
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	return n, err == nil
}

// echoes types a word and waits until the guest echoes it.
func echoes(line io.ReadWriter) error {
	typed := make(chan error, 1)
	go func() { // the console has no buffer: each key is answered at once
		_, err := io.WriteString(line, "hallo\r")
		typed <- err
	}()
	var seen strings.Builder
	for strings.Count(seen.String(), "hallo") < 2 { // as it is typed, and as the answer
		piece := make([]byte, 256)
		n, err := line.Read(piece)
		seen.Write(piece[:n])
		if err != nil {
			return fmt.Errorf("after %q: %w", seen.String(), err)
		}
	}
	return <-typed
}

func hooks(d *simulated.Driver) conformance.Hooks {
	begin := func(k simulated.FaultKind, lasts time.Duration) func(cluster.NodeID) error {
		return func(n cluster.NodeID) error { return d.Inject(simulated.Fault{Kind: k, Node: n, For: lasts}) }
	}
	end := func(k simulated.FaultKind) func(cluster.NodeID) error {
		return func(n cluster.NodeID) error { d.EndFault(n, k); return nil }
	}
	rot := func(id hypervisor.ImageID) error {
		return d.Inject(simulated.Fault{Kind: simulated.ImageRot, Image: id})
	}
	migration := func(k simulated.FaultKind) func(cluster.VMID, cluster.NodeID, cluster.NodeID) error {
		return func(id cluster.VMID, from, _ cluster.NodeID) error {
			return d.Inject(simulated.Fault{Kind: k, VM: id, Node: from})
		}
	}
	killDaemon := begin(simulated.DaemonKilled, time.Second)
	return conformance.Hooks{
		KillNode: begin(simulated.PowerLoss, 0), ReviveNode: end(simulated.PowerLoss),
		FreezeNode: begin(simulated.Freeze, 0), ThawNode: end(simulated.Freeze),
		CutNode: begin(simulated.Partition, 0), JoinNode: end(simulated.Partition),
		KillDaemon: func(n cluster.NodeID) error {
			for _, c := range d.Truth().Copies {
				if c.Node == n && c.Job == hypervisor.JobRestoring {
					return errors.Join(d.Inject(simulated.Fault{Kind: simulated.HalfLeft, Node: n}), killDaemon(n))
				}
			}
			return killDaemon(n)
		},
		FillDisk: begin(simulated.DiskFull, 0), EmptyDisk: end(simulated.DiskFull),
		SlowStore: begin(simulated.StoreSlow, 0), FastStore: end(simulated.StoreSlow),
		FailStore: begin(simulated.StoreFails, 0), RepairStore: end(simulated.StoreFails),
		LoseStore: begin(simulated.StoreForeign, 0), RestoreStore: end(simulated.StoreForeign),
		RefuseLoads: begin(simulated.LoadRefused, 0), AcceptLoads: end(simulated.LoadRefused),
		HideJobs: begin(simulated.JobsHidden, 0), ShowJobs: end(simulated.JobsHidden),
		FlipImage: rot, TruncateImage: rot,
		KillGuest: func(id cluster.VMID, n cluster.NodeID) error {
			return d.Inject(simulated.Fault{Kind: simulated.GuestCrashed, VM: id, Node: n})
		},
		CutMigration: migration(simulated.MigrateCut), LoseFinish: migration(simulated.MigrateSplit),
	}
}

func TestConformance(t *testing.T) {
	t.Run("without_locks", func(t *testing.T) { conformance.Run(t, harness(t, false)) })
	t.Run("with_locks", func(t *testing.T) { conformance.Run(t, harness(t, true)) })
}
