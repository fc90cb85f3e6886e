//go:build libvirt_dlopen

package endtoend

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vjob/api/client"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/tests/lab"
)

// patience is for machines that are busy with other things; nothing here is
// expected to take so long.
const patience = 3 * time.Minute

// systemTest is a lab with a daemon and a watcher, and short words for what tests do
// with them.
type systemTest struct {
	*testing.T
	lab  *lab.Lab
	d    *vjobd
	eyes *watcher
}

// setUp builds all of it and starts the daemon.
func setUp(t *testing.T, opts lab.Options) systemTest {
	t.Helper()
	l := lab.Start(t, opts)
	d := newDaemon(t, l)
	eyes := watch(t, l)
	d.start()
	return systemTest{t, l, d, eyes}
}

// run runs a part of a test on the same systemTest, and ends every vjob after it. It
// says how long the part took. After a part that failed no other is run.
func (b systemTest) run(name string, part func(b systemTest)) {
	if b.Failed() {
		return
	}
	b.Run(name, func(t *testing.T) {
		b := b
		b.T, b.d.t = t, t
		begun := time.Now()
		defer func() {
			t.Logf("took %s", time.Since(begun).Round(100*time.Millisecond))
			if t.Failed() {
				t.Logf("vjobd:\n%s", b.d.tail())
				return
			}
			b.clear()
		}()
		part(b)
	})
}

// clear ends every vjob, opens every node and waits until nothing is left.
func (b systemTest) clear() {
	b.Helper()
	for _, node := range b.lab.Hosts() {
		b.must(b.d.client.Online(b.Context(), string(node)))
	}
	live, err := b.d.client.VJobs(b.Context(), client.VJobQuery{Live: true})
	b.must(err)
	for i := range live.VJobs {
		job := &live.VJobs[i]
		_, _ = b.d.client.Delete(b.Context(), job.ID) // it may have ended meanwhile
		b.until(fmt.Sprintf("vjob %d ends", job.ID), func() bool { return b.job(job.ID).Ended != nil })
		b.nowhere(job.ID)
	}
}

func (b systemTest) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// until polls a condition.
func (b systemTest) until(what string, cond func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// gang describes a vjob of equal guests.
type gang struct {
	name     string
	vms      int
	mib      int64
	priority int
	words    string // of the guests' command line, beside tick=100
	rules    string
}

func (b systemTest) submit(g gang) int64 {
	b.Helper()
	job, created, err := b.d.client.Submit(b.Context(), wire.Submission{
		Name: g.name, Priority: g.priority, Count: g.vms, Rules: g.rules,
		Template: &wire.VMSpec{CPUMilli: 1000, MemoryMiB: g.mib, Command: strings.Fields("tick=100 " + g.words)},
	}, "")
	b.must(err)
	if !created {
		b.Fatalf("vjob %d was there before", job.ID)
	}
	return job.ID
}

// started submits a vjob and waits until all its guests count.
func (b systemTest) started(g gang) int64 {
	b.Helper()
	id := b.submit(g)
	b.state(id, "running")
	b.more(id, 3)
	return id
}

func (b systemTest) job(id int64) wire.VJobDetail {
	b.Helper()
	job, err := b.d.client.VJob(b.Context(), id)
	b.must(err)
	return job
}

// state waits until a vjob is in a state.
func (b systemTest) state(id int64, want string) wire.VJobDetail {
	b.Helper()
	var job wire.VJobDetail
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if job = b.job(id); job.State == want {
			return job
		}
		if time.Now().After(deadline) || job.Ended != nil {
			b.Fatalf("vjob %d is %s (%s), not %s\n%s", id, job.State, job.Reason, want, story(job))
		}
	}
}

// story is what happened to a vjob, for failed tests.
func story(job wire.VJobDetail) string {
	var text strings.Builder
	for _, e := range job.Events {
		fmt.Fprintf(&text, "  %s %s: %s\n", e.At.Format("15:04:05.000"), e.Kind, e.Text)
	}
	return text.String()
}

func vm(id int64, rank int) cluster.VMID { return cluster.VMID{VJob: cluster.VJobID(id), Rank: rank} }

// console is what a guest has printed, as its owner gets it.
func (b systemTest) console(id int64, rank int) []byte {
	b.Helper()
	r, err := b.d.client.Logs(b.Context(), id, client.LogQuery{Rank: rank})
	b.must(err)
	defer r.Close()
	text, err := io.ReadAll(r)
	b.must(err)
	return text
}

// counts is how far each guest of a vjob has counted since its first boot.
func (b systemTest) counts(id int64) [][]lab.Count {
	b.Helper()
	all := make([][]lab.Count, len(b.job(id).VMs))
	for rank := range all {
		all[rank] = b.lab.Counters(vm(id, rank))
	}
	return all
}

// more waits until every guest has counted n times from now on.
func (b systemTest) more(id int64, n int) {
	b.Helper()
	before := b.counts(id)
	b.until(fmt.Sprintf("the guests of vjob %d go on counting", id), func() bool {
		for rank := range before {
			if len(b.lab.Counters(vm(id, rank))) < len(before[rank])+n {
				return false
			}
		}
		return true
	})
}

// gapless demands that every guest has counted on exactly where it stood, always:
// one boot, one memory, every number once.
func (b systemTest) gapless(id int64) {
	b.Helper()
	for rank, counts := range b.counts(id) {
		if broken := lab.Broken(counts); broken != "" {
			b.Errorf("guest %d.%d: %s\n%s", id, rank, broken, story(b.job(id)))
		}
	}
}

// runsOn demands that every member has one copy, and that it runs on one of the nodes.
func (b systemTest) runsOn(id int64, nodes ...cluster.NodeID) {
	b.Helper()
	found, err := b.eyes.copies(b.Context(), cluster.VJobID(id))
	b.must(err)
	for rank := range b.job(id).VMs {
		copies := found[vm(id, rank)]
		if len(copies) != 1 {
			b.Errorf("guest %d.%d has the copies %v, want one", id, rank, copies)
		}
		for node, s := range copies {
			if s != "running" || !slices.Contains(nodes, node) {
				b.Errorf("guest %d.%d is %s on %s, want it to run on %v", id, rank, s, node, nodes)
			}
		}
	}
}

// nowhere demands that no host holds anything of a vjob.
func (b systemTest) nowhere(id int64) {
	b.Helper()
	found, err := b.eyes.copies(b.Context(), cluster.VJobID(id))
	b.must(err)
	if len(found) > 0 {
		b.Errorf("vjob %d has copies: %v", id, found)
	}
}

// imageFiles are the files of the saved members of a vjob.
func (b systemTest) imageFiles(id int64) []string {
	b.Helper()
	files, err := filepath.Glob(fmt.Sprintf("%s/*/%d.*", b.lab.Config().ImageDir, id))
	b.must(err)
	return slices.DeleteFunc(files, func(path string) bool {
		_, err := hypervisor.ParseImageID(filepath.Base(path))
		return err != nil // a note beside an image
	})
}

// images are the sums of the files of the saved members of a vjob.
func (b systemTest) images(id int64) map[string]string {
	b.Helper()
	found := map[string]string{}
	for _, path := range b.imageFiles(id) {
		f, err := os.Open(path)
		b.must(err)
		sum := sha256.New()
		_, err = io.Copy(sum, f)
		b.must(errors.Join(err, f.Close()))
		found[filepath.Base(path)] = hex.EncodeToString(sum.Sum(nil))
	}
	return found
}

// lives splits the counts of a guest by its boots.
func lives(counts []lab.Count) [][]lab.Count {
	var list [][]lab.Count
	for i, c := range counts {
		if i == 0 || c.Boot != counts[i-1].Boot {
			list = append(list, nil)
		}
		list[len(list)-1] = append(list[len(list)-1], c)
	}
	return list
}

// plan is the latest plan with an action of a kind on a vjob, in full.
func (b systemTest) plan(id int64, kind string) wire.Plan {
	b.Helper()
	list, err := b.d.client.Plans(b.Context(), 100)
	b.must(err)
	for _, p := range list.Plans {
		full, err := b.d.client.Plan(b.Context(), p.ID)
		b.must(err)
		if slices.ContainsFunc(full.Actions, func(a wire.Action) bool {
			return a.Kind == kind && strings.HasPrefix(a.VM, fmt.Sprintf("%d.", id))
		}) {
			return full
		}
	}
	b.Fatalf("no plan with a %s of vjob %d", kind, id)
	return wire.Plan{}
}

// skews are the skews of a plan by their kinds.
func skews(p wire.Plan, id int64) map[string]time.Duration {
	found := map[string]time.Duration{}
	for _, s := range p.Skews {
		if s.VJob == id {
			found[s.Kind] = time.Duration(s.Seconds * float64(time.Second))
		}
	}
	return found
}

func (b systemTest) drain(nodes ...cluster.NodeID) {
	b.Helper()
	for _, node := range nodes {
		b.must(b.d.client.Drain(b.Context(), string(node)))
	}
}

func (b systemTest) online(nodes ...cluster.NodeID) {
	b.Helper()
	for _, node := range nodes {
		b.must(b.d.client.Online(b.Context(), string(node)))
	}
}

// leaves waits until a vjob runs with no member on a node.
func (b systemTest) leaves(id int64, node cluster.NodeID) {
	b.Helper()
	b.until(fmt.Sprintf("vjob %d leaves %s", id, node), func() bool {
		job := b.job(id)
		return job.State == "running" && !slices.ContainsFunc(job.VMs, func(m wire.VM) bool {
			return m.Node == string(node) || m.NextNode != ""
		})
	})
}
