//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"libvirt.org/go/libvirt"
	"libvirt.org/go/libvirtxml"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A machine that hangs hides no other, is asked again only when it has answered, and its
// late answer counts for nothing. Questions outlive their look. A cap is queried where
// there may be one.
func TestJobsOfMachinesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &node{driver: &Driver{}, cache: newCache()}
		h.cache.recordListed(&listedMachine{uuid: "tuned", id: 7, identity: ourMachine, copy: hypervisor.Copy{}}, time.Now())
		h.cache.markTuned("tuned")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		hang := make(chan struct{})
		most := tuning{500, 300}
		look := func() string {
			var list []*listedMachine
			for _, uuid := range []string{"hangs", "saves", "fails", "gone", "capped", "weighted", "tuned", "free", "stuck"} {
				f := &listedMachine{uuid: uuid, state: libvirt.DOMAIN_RUNNING, job: hypervisor.JobUnknown}
				switch uuid {
				case "capped":
					f.copy.Cap = 300
				case "weighted":
					f.copy.Weight = 100
				}
				list = append(list, f)
			}
			began := time.Now()
			h.queryJobs(ended, list, func(ctx context.Context, q question) (jobAnswer, error) {
				if ctx.Err() != nil {
					t.Errorf("the query to %s ends with its look", q.uuid)
				}
				switch q.uuid {
				case "hangs", "stuck":
					<-hang
					return jobAnswer{job: hypervisor.JobOutgoing}, nil
				case "saves":
					return jobAnswer{job: hypervisor.JobSaving}, nil
				case "fails":
					return jobAnswer{job: hypervisor.JobOutgoing}, errors.New("no monitor")
				case "gone":
					return jobAnswer{gone: true}, nil
				}
				if q.tuning {
					return jobAnswer{job: hypervisor.JobNone, tuning: &most}, nil
				}
				return jobAnswer{job: hypervisor.JobNone}, nil
			})
			var told []string
			for _, f := range list {
				told = append(told, fmt.Sprintf("%s %s %t %d", f.uuid, f.job, f.gone, int(f.copy.Cap)+f.copy.Weight))
			}
			return fmt.Sprintf("%s: %s", time.Since(began), strings.Join(told, ", "))
		}
		slow := "1s: hangs unknown false 0, saves saving false 0, fails unknown false 0, gone none true 0, " +
			"capped none false 800, weighted none false 800, tuned none false 800, free none false 0, stuck unknown false 0"
		if got := look(); got != slow {
			t.Errorf("the first look took %s\nwant %s", got, slow)
		}
		// It is not asked again, so nothing is waited for.
		quick := "0s" + strings.TrimPrefix(slow, "1s")
		if got := look(); got != quick {
			t.Errorf("the second look took %s\nwant %s", got, quick)
		}
		close(hang)
		synctest.Wait()
		mended := strings.NewReplacer("hangs unknown", "hangs outgoing", "stuck unknown", "stuck outgoing").Replace(quick)
		if got := look(); got != mended {
			t.Errorf("the look after it took %s\nwant %s", got, mended)
		}
		h.driver.running.Wait()
	})
}

// Of machines that are incomplete one is asked at a time: libvirt answers when it is.
func TestJobsOfMachinesThatLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &node{driver: &Driver{}, cache: newCache()}
		hang := make(chan struct{})
		asked := make(chan string, 10)
		look := func() {
			var list []*listedMachine
			for _, uuid := range []string{"a", "b"} {
				list = append(list, &listedMachine{
					uuid: uuid, state: libvirt.DOMAIN_PAUSED, reason: libvirt.DOMAIN_PAUSED_STARTING_UP, job: hypervisor.JobUnknown,
				})
			}
			h.queryJobs(t.Context(), list, func(_ context.Context, q question) (jobAnswer, error) {
				asked <- q.uuid
				<-hang
				return jobAnswer{}, nil
			})
		}
		look()
		look()
		if first := <-asked; first != "a" || len(asked) != 0 {
			t.Errorf("%s was asked, and %d more", first, len(asked))
		}
		close(hang)
		synctest.Wait()
		look()
		if len(asked) != 1 && len(asked) != 2 {
			t.Errorf("%d are asked after it", len(asked))
		}
		h.driver.running.Wait()
	})
}

// A look that finds a broken connection tries the others, and then a new one. A node that refuses
// or is given up is not asked again.
func TestLookTriesEachLine(t *testing.T) {
	broken, refused := fmt.Errorf("%w: broken pipe", hypervisor.ErrUnreachable), hypervisor.ErrRefused
	for _, c := range []struct {
		name    string
		answers []error // the last one again and again
		asked   int
	}{
		{"it answers", []error{nil}, 1},
		{"one line is broken", []error{broken, nil}, 2},
		{"all lines are broken", []error{broken, broken, nil}, 1 + listConns},
		{"the host is down", []error{broken}, 1 + listConns},
		{"it refuses", []error{refused}, 1},
		{"it refuses on the second line", []error{broken, refused}, 2},
		{"it is given up", []error{errLost}, 1},
	} {
		asked := 0
		var last error
		_, err := retryList(func() (hypervisor.View, error) {
			last = c.answers[min(asked, len(c.answers)-1)]
			asked++
			return hypervisor.View{}, last
		})
		if asked != c.asked || !errors.Is(err, last) || (err == nil) != (last == nil) {
			t.Errorf("%s: asked %d times, %v; want %d times, %v", c.name, asked, err, c.asked, last)
		}
	}
	b := newBuiltin(t)
	h := b.quiet()
	h.listPool.close()
	if _, err := h.look(t.Context()); !errors.Is(err, hypervisor.ErrUnreachable) {
		t.Errorf("a look without a connection: %v", err)
	}
}

// fakeLister is a connection with that listing.
type fakeLister struct {
	*testing.T
	stats []libvirt.DomainStats
	fault error
}

func (r fakeLister) GetAllDomainStats(doms []*libvirt.Domain, kinds libvirt.DomainStatsTypes, flags libvirt.ConnectGetAllDomainStatsFlags) ([]libvirt.DomainStats, error) {
	r.Helper()
	if doms != nil || kinds != libvirt.DOMAIN_STATS_STATE|libvirt.DOMAIN_STATS_CPU_TOTAL|libvirt.DOMAIN_STATS_INTERFACE || flags != libvirt.CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT {
		r.Errorf("asked for %v, %b, flags %b", doms, kinds, flags)
	}
	return r.stats, r.fault
}

// A node that does not list is not one without machines.
func TestLookAtAHostThatDoesNotList(t *testing.T) {
	h := newBuiltin(t).quiet()
	fault := libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "cannot acquire state change lock"}
	if view, err := h.list(t.Context(), fakeLister{T: t, fault: fault}); !errors.Is(err, fault) {
		t.Errorf("%+v, %v; want %v", view, err, fault)
	}
	nothing := libvirt.DomainStats{Domain: &libvirt.Domain{}} // libvirt knows nothing of it
	if view, err := h.list(t.Context(), fakeLister{T: t, stats: []libvirt.DomainStats{nothing}}); err == nil {
		t.Errorf("a machine of which nothing can be told: %+v", view)
	}
}

// listing is what the host lists now.
func (b *builtin) listing() []libvirt.DomainStats {
	b.Helper()
	stats, err := b.conn.GetAllDomainStats(nil, libvirt.DOMAIN_STATS_STATE, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		for _, s := range stats {
			_ = s.Domain.Free()
		}
	})
	return stats
}

// A look shows what was listed, with what the machines say themselves. What has ended
// since is left out, and what was not listed for long is forgotten.
func TestLookShowsWhatIsListed(t *testing.T) {
	b := newBuiltin(t)
	job := cluster.VJobID(7)
	disk := func(d *libvirtxml.Domain) {
		d.Devices = &libvirtxml.DomainDeviceList{Disks: []libvirtxml.DomainDisk{{
			Device: "disk", Source: fileSource("/nowhere"), Target: &libvirtxml.DomainDiskTarget{Dev: "vda"},
		}}}
	}
	for rank, change := range []func(*libvirtxml.Domain){disk, nil, nil} {
		b.create(cluster.VMID{VJob: job, Rank: rank}, change)
	}
	dead := cluster.VMID{VJob: job, Rank: 3}
	b.define(dead, nil)
	stats := b.listing()
	slices.SortFunc(stats, func(x, y libvirt.DomainStats) int { // the last first
		first, _ := x.Domain.GetName()
		second, _ := y.Domain.GetName()
		return strings.Compare(second, first)
	})
	for i := range stats {
		switch name, _ := stats[i].Domain.GetName(); name {
		case "vjob-7-0":
			stats[i].Cpu = &libvirt.DomainStatsCPU{Time: uint64(5 * time.Second)}
			stats[i].Net = []libvirt.DomainStatsNet{
				{RxBytesSet: true, RxBytes: 1000, TxBytesSet: true, TxBytes: 200},
				{NameSet: true, Name: "user"}, // its counters are unknown
				{RxBytesSet: true, RxBytes: 30, TxBytesSet: true, TxBytes: 4},
			}
		case "vjob-7-1":
			stats[i].State = nil // libvirt is free to leave it out
		}
	}
	most := tuning{500, 300}
	answers := map[string]jobAnswer{
		machineUUID(b.cfg.Cluster, cluster.VMID{VJob: job, Rank: 0}): {job: hypervisor.JobSaving, tuning: &most},
		machineUUID(b.cfg.Cluster, cluster.VMID{VJob: job, Rank: 2}): {gone: true},
		machineUUID(b.cfg.Cluster, dead):                             {gone: true},
	}
	ask := func(_ context.Context, q question) (jobAnswer, error) {
		if a, ok := answers[q.uuid]; ok {
			return a, nil
		}
		return jobAnswer{}, errors.New("no monitor")
	}
	h := b.quiet()
	h.cache.recordListed(&listedMachine{uuid: "old", id: 7, identity: ourMachine, copy: hypervisor.Copy{}}, time.Now().Add(-2*keepUnlisted))
	view, err := h.view(t.Context(), stats, ask)
	if err != nil {
		t.Fatal(err)
	}
	want := hypervisor.Copy{
		VM: cluster.VMID{VJob: job}, Stamp: hypervisor.Stamp{Incarnation: 3, Epoch: 5}, State: hypervisor.CopyRunning,
		Job: hypervisor.JobSaving, Size: cluster.Resources{CPU: 2000, Memory: 64}, CPU: 2000, CPUTime: 5 * time.Second, Traffic: hypervisor.Traffic{Received: 1030, Sent: 204},
		Cap: most.cap, Weight: most.weight, Lock: true,
	}
	unknown := want
	unknown.Traffic = hypervisor.Traffic{}
	unknown.VM.Rank, unknown.Job, unknown.CPUTime, unknown.Cap, unknown.Weight, unknown.Lock = 1, hypervisor.JobUnknown, 0, 0, 0, false
	stopped := unknown
	stopped.VM, stopped.State, stopped.Job = dead, hypervisor.CopyDead, hypervisor.JobNone
	for i, c := range view.Copies {
		if c.Hardware == nil || c.Hardware.Type != "test" || c.Hardware.Arch != "i686" {
			t.Errorf("hardware of %s: %+v", c.VM, c.Hardware)
		}
		view.Copies[i].Hardware = nil
	}
	if list := []hypervisor.Copy{want, unknown, stopped}; !reflect.DeepEqual(view.Copies, list) {
		t.Errorf("copies\n%+v\nwant\n%+v", view.Copies, list)
	}
	if _, ours := h.cache.lookup("old", 7); ours {
		t.Error("a machine that was not listed for long is remembered")
	}
}

// A machine that ends during a look is left out, unless it is known: then the listing
// says enough.
func TestMachinesThatEndDuringALook(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	dom := b.create(vm, nil)
	stats := b.listing()
	ask := func(context.Context, question) (jobAnswer, error) { return jobAnswer{}, nil }
	look := func(h *node) hypervisor.View {
		t.Helper()
		view, err := h.view(t.Context(), stats, ask)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(view.Unmanaged, " "); got != "test" {
			t.Errorf("unmanaged machines %q, want that of the host", got)
		}
		return view
	}
	knows, fresh := b.quiet(), b.quiet()
	look(knows)
	if err := dom.Destroy(); err != nil {
		t.Fatal(err)
	}
	if view := look(fresh); len(view.Copies) != 0 {
		t.Errorf("shown is what has ended: %+v", view.Copies)
	}
	if view := look(knows); len(view.Copies) != 1 || view.Copies[0].VM != vm {
		t.Errorf("shown is %+v, although the machine was known", view.Copies)
	}
}

// define leaves a machine on the host that does not run, as an administrator may do.
func (b *builtin) define(vm cluster.VMID, change func(*libvirtxml.Domain)) {
	b.Helper()
	dom, err := b.conn.DomainDefineXML(b.describe(vm, change))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = dom.Undefine()
		_ = dom.Free()
	})
}

// A machine that does not run is listed as dead, with its description of now.
func TestMachinesThatDoNotRun(t *testing.T) {
	b := newBuiltin(t)
	vm := cluster.VMID{VJob: 7}
	for _, memory := range []uint{64, 96} {
		b.define(vm, func(d *libvirtxml.Domain) { d.Memory.Value = memory })
		view := b.look()
		if c, _ := view.Copy(vm); c.State != hypervisor.CopyDead || c.Job != hypervisor.JobNone || c.Size.Memory != cluster.MiB(memory) {
			t.Errorf("%+v, want a dead copy of %d MiB", c, memory)
		}
	}
}

// A look gives back all that it has taken of libvirt.
func TestLooksHoldNothing(t *testing.T) {
	b := newBuiltin(t)
	b.create(cluster.VMID{VJob: 7}, nil)
	h := b.quiet()
	var conns []*libvirt.Connect // each with a reference of ours
	for _, r := range []*connPool{h.listPool, h.jobPool} {
		_, err := withConn(t.Context(), r, func(conn *libvirt.Connect) (int, error) {
			conns = append(conns, conn)
			return 0, conn.Ref()
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	h.driver.running.Wait() // those connections are the next to be taken
	if _, err := h.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.close()
	h.driver.running.Wait()
	for i, conn := range conns {
		if left, err := conn.Close(); left != 0 || err != nil {
			t.Errorf("connection %d is held: %d, %v", i, left, err)
		}
	}
}

// A query finds that its machine is gone, or fails.
func TestQueries(t *testing.T) {
	b := newBuiltin(t)
	h := b.quiet()
	vm := cluster.VMID{VJob: 7}
	uuid := machineUUID(b.cfg.Cluster, vm)
	if a, err := h.queryJob(t.Context(), question{uuid: uuid, tuning: true}); err != nil || !reflect.DeepEqual(a, jobAnswer{gone: true}) {
		t.Errorf("of a machine that is gone: %+v, %v", a, err)
	}
	if a, err := h.queryJob(t.Context(), question{uuid: "no UUID", tuning: true}); !errors.Is(err, hypervisor.ErrRefused) {
		t.Errorf("of a machine that there cannot be: %+v, %v", a, err)
	}
	b.create(vm, nil)
	if a, err := h.queryJob(t.Context(), question{uuid: uuid, tuning: true}); !errors.Is(err, hypervisor.ErrRefused) || a.gone {
		t.Errorf("this node knows no jobs: %+v, %v", a, err)
	}
}

// A machine that may have a cap is queried it with its job; without an answer that one
// counts which was known.
func TestAnswers(t *testing.T) {
	busy := moment{job: libvirt.DOMAIN_JOB_UNBOUNDED, op: libvirt.DOMAIN_JOB_OPERATION_MIGRATION_OUT}
	ended := moment{err: libvirt.Error{Code: libvirt.ERR_NO_DOMAIN, Message: "Domain not found"}}
	silent := moment{err: libvirt.Error{Code: libvirt.ERR_OPERATION_FAILED, Message: "cannot acquire state change lock"}}
	most := tuning{500, 300}
	noGroups := libvirt.Error{Code: libvirt.ERR_OPERATION_INVALID, Message: "Requested operation is not valid: cgroup CPU controller is not mounted"}
	for _, c := range []struct {
		name   string
		now    moment
		capped bool
		fault  error // of the query for the cap
		want   jobAnswer
		ok     bool
	}{
		{"a cap", busy, true, nil, jobAnswer{job: hypervisor.JobOutgoing, tuning: &most}, true},
		{"no cap", busy, false, nil, jobAnswer{job: hypervisor.JobOutgoing}, true},
		{"a cap that is not told", busy, true, errors.New("no control group"), jobAnswer{job: hypervisor.JobOutgoing}, true},
		{"a host without caps", busy, true, noGroups, jobAnswer{job: hypervisor.JobOutgoing, tuning: &tuning{}}, true},
		{"it has ended", ended, true, nil, jobAnswer{gone: true}, true},
		{"it does not answer", silent, true, nil, jobAnswer{}, false},
	} {
		caps := &fakeTunable{fault: c.fault, params: &libvirt.DomainSchedulerParameters{GlobalPeriod: 100_000, GlobalQuota: 50_000, CpuShares: 300}}
		got, err := answerOf(struct {
			*fakeMachine
			*fakeTunable
		}{&fakeMachine{moments: []moment{c.now}, at: 1}, caps}, c.capped)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != c.ok {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
		if asked := len(caps.flags) > 0; asked != (c.capped && c.now == busy) {
			t.Errorf("%s: asked for its cap: %t", c.name, asked)
		}
	}
}
