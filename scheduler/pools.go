package scheduler

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/execute"
	"vjob/ctxswitch/journal"
	"vjob/internal/pattern"
	"vjob/internal/suggest"
	"vjob/queue/ordering"
	"vjob/queue/pool"
	"vjob/scheduler/decide"
)

// Pools are the pools of the cluster: those of the settings, and beside them those stated through the API.
type Pools struct {
	settings *Settings
	exec     *execute.Executor
	retry    func(time.Time)
	out      *journal.Step

	ofSettings []pool.Pool
	stated     journal.Pools
	list       []pool.PoolStatement // the stated ones
	ignored    string               // why those of the journal do not hold; "" if they do
	all        []pool.Pool          // those of the settings first
	kept       *pool.Hierarchy      // of all, on the present capacity; nil before it is asked for
	capacity   cluster.Resources    // of kept
}

// newPools restores the pools of the journal. If they no longer hold beside those of the settings, it raises an
// alarm, and only the pools of the settings count.
func newPools(s *Settings, stated journal.Pools, exec *execute.Executor, retry func(time.Time), out *journal.Step, now time.Time) *Pools {
	p := &Pools{settings: s, exec: exec, retry: retry, out: out, ofSettings: s.Pools, stated: stated, all: s.Pools}
	if err := p.restore(); err != nil {
		p.ignored = err.Error()
		p.out.Events = append(p.out.Events, journal.Event{
			At: now, Kind: journal.EventAlarm, Text: "the pools that were stated do not hold beside those of the settings: " + err.Error(),
		})
	}
	return p
}

func (p *Pools) restore() error {
	if p.stated.Text == "" {
		return nil
	}
	var list []pool.PoolStatement
	if err := json.Unmarshal([]byte(p.stated.Text), &list); err != nil {
		return err
	}
	read, err := pool.ReadPools(list)
	if err != nil {
		return err
	}
	all := slices.Concat(p.ofSettings, read)
	if _, err := pool.KeptHierarchy(cluster.Resources{}, all); err != nil {
		return err
	}
	p.list, p.all = list, all
	return nil
}

// hierarchy returns the pools without VMs, on the capacity of all nodes.
func (p *Pools) hierarchy() *pool.Hierarchy {
	if total := p.exec.Capacity(); p.kept == nil || p.capacity != total {
		h, err := pool.KeptHierarchy(total, p.all)
		if err != nil {
			panic(fmt.Sprintf("scheduler: broken invariant: %v", err)) // the pools were checked
		}
		p.kept, p.capacity = h, total
	}
	return p.kept
}

// fixed reports whether a pool is one of the settings.
func (p *Pools) fixed(name string) bool {
	return slices.ContainsFunc(p.ofSettings, func(o pool.Pool) bool { return o.Name == name })
}

// find returns the index of a stated pool, or -1.
func (p *Pools) find(name string) int {
	return slices.IndexFunc(p.list, func(o pool.PoolStatement) bool { return o.Name == name })
}

// changeable returns an error for a pool that cannot be stated.
func (p *Pools) changeable(name string) error {
	switch {
	case name == pool.Root || !cluster.IsName(name):
		return cluster.BadField("name", name, "a name other than that of the whole cluster, which is "+pool.Root)
	case p.fixed(name):
		return fmt.Errorf("pool %s is one of the daemon's settings: change it there and reload them (vjob admin reload): %w", name, cluster.ErrConflict)
	}
	return nil
}

// wanted returns the pools if there are any, or a vjob has shares, a reservation or a limit of its own; otherwise nil.
func (p *Pools) wanted(vjobs []execute.Report) *pool.Hierarchy {
	if len(p.all) == 0 && !slices.ContainsFunc(vjobs, hasControls) {
		return nil
	}
	return p.hierarchy()
}

// limit reports whether pools, or controls of its own, may keep a vjob that comes from starting.
func (p *Pools) limit(job *cluster.VJob) bool {
	return len(p.all) > 0 || hasControls(execute.Report{Job: job})
}

// hasControls reports whether a vjob has shares, a reservation or a limit of its own.
func hasControls(r execute.Report) bool {
	return r.Job.Shares != "" || r.Job.CPUReservation > 0 || r.Job.CPULimit > 0
}

// Set states a pool: a new one, or other controls and another parent of a stated one. It is refused if the
// cluster or a pool cannot honour the reservations then, also those of vjobs that run. On an error nothing changes.
func (p *Pools) Set(now time.Time, s pool.PoolStatement, by string) error {
	if err := p.changeable(s.Name); err != nil {
		return err
	}
	if s.Parent == pool.Root {
		s.Parent = ""
	}
	list := slices.Clone(p.list)
	at := p.find(s.Name)
	if at >= 0 && list[at] == s {
		p.retry(now)
		return nil
	}
	if at >= 0 {
		list = slices.Delete(list, at, at+1)
	}
	if err := p.replace(now, append(list, s), s.Name, by); err != nil {
		return err
	}
	p.ignored = ""
	p.changed(now, fmt.Sprintf("pool %s is stated by %s: %s", s.Name, by, s.String()))
	return nil
}

// Delete removes a stated pool. It is refused while vjobs use it, or pools are in it.
func (p *Pools) Delete(now time.Time, name, by string) error {
	at := p.find(name)
	if at < 0 {
		if p.fixed(name) {
			return p.changeable(name)
		}
		return fmt.Errorf("pool %s: %w", name, cluster.ErrNotFound)
	}
	if err := p.unused(name); err != nil {
		return err
	}
	if err := p.replace(now, slices.Delete(slices.Clone(p.list), at, at+1), name, by); err != nil {
		return err
	}
	p.ignored = ""
	p.changed(now, fmt.Sprintf("pool %s is deleted by %s", name, by))
	return nil
}

// unused returns an error if pools or vjobs are in a pool.
func (p *Pools) unused(name string) error {
	var inside, users []string
	for _, p := range p.all {
		if p.Parent == name {
			inside = append(inside, p.Name)
		}
	}
	if len(inside) > 0 {
		return fmt.Errorf("pool %s: pools are in it: %s: delete or move them first: %w", name, strings.Join(inside, ", "), cluster.ErrConflict)
	}
	h := p.hierarchy()
	for _, r := range p.exec.Jobs() {
		if r.Job.Pool == name || p.in(r.Job, h) == name {
			users = append(users, r.Job.ID.String())
		}
	}
	if n := len(users); n > 0 {
		const named = 5
		listed := strings.Join(users[:min(n, named)], ", ")
		if n > named {
			listed += fmt.Sprintf(" and %d more", n-named)
		}
		return fmt.Errorf("pool %s: used by %s (%s): move them (vjob pools move) or wait until they end: %w",
			name, cluster.Count(n, "live vjob"), listed, cluster.ErrConflict)
	}
	return nil
}

// replace replaces the stated pools after a change of one of them.
func (p *Pools) replace(now time.Time, list []pool.PoolStatement, changed, by string) error {
	read, err := pool.ReadPools(list)
	if err != nil {
		return poolError(err, changed, func(i int) string { return list[i].Name })
	}
	all := slices.Concat(p.ofSettings, read)
	h, err := pool.NewHierarchy(p.exec.Capacity(), all)
	if err != nil {
		return poolError(err, changed, func(i int) string { return all[i].Name })
	}
	if err := p.honoursRunning(h); err != nil {
		return err
	}
	text := ""
	if len(list) > 0 {
		raw, err := json.Marshal(list)
		if err != nil {
			return err
		}
		text = string(raw)
	}
	p.list, p.all, p.kept = list, all, nil
	p.stated = journal.Pools{Text: text, By: by, At: now}
	p.out.Pools = &p.stated
	return nil
}

// changed records a change of the pools, and asks for a decision.
func (p *Pools) changed(now time.Time, text string) {
	p.out.Events = append(p.out.Events, journal.Event{At: now, Kind: journal.EventPools, Text: text})
	p.retry(now)
}

var poolPath = pattern.New(`^pools\[(\d+)\]\.`)

// poolError returns an error about one of several pools: that about the changed pool has the field of its
// controls, and one about another pool names it. nameOf returns the name of a pool by index.
func poolError(err error, changed string, nameOf func(i int) string) error {
	bad, ok := errors.AsType[*cluster.FieldError](err)
	if !ok {
		return err
	}
	path := poolPath().FindStringSubmatch(bad.Field)
	if path == nil {
		return err
	}
	own := cluster.Renamed(strings.TrimPrefix(bad.Field, path[0]), bad)
	if i, _ := strconv.Atoi(path[1]); nameOf(i) != changed {
		return cluster.Fault("pool "+nameOf(i), "%s", own.Error())
	}
	return own
}

// honoursRunning returns an error if pools cannot honour what runs now, though the present ones can.
func (p *Pools) honoursRunning(h *pool.Hierarchy) error {
	present := p.hierarchy()
	before, after := present.Ledger(), h.Ledger()
	for _, r := range p.exec.Jobs() {
		if r.Bound != cluster.VMRunning && r.Job.State.Ready() || r.Job.Inner != 0 {
			continue
		}
		was, is, need := p.in(r.Job, present), p.in(r.Job, h), decide.PoolReservation(r.Job)
		refused, why := before.Refuses(was, need), after.Refuses(is, need)
		if why != "" && refused == "" {
			return fmt.Errorf("vjob %s runs and could not be honoured: %s: %w", r.Job.ID, why, cluster.ErrConflict)
		}
		before.Count(was, need)
		after.Count(is, need)
	}
	return nil
}

// in returns the pool of a vjob; "" is the cluster.
func (p *Pools) in(job *cluster.VJob, h *pool.Hierarchy) string {
	return poolOf(p.settings.Ordering, job, h)
}

func poolOf(settings *ordering.Settings, job *cluster.VJob, h *pool.Hierarchy) string {
	if len(h.Members()) == 1 {
		return "" // there are no pools
	}
	return settings.Pool(job, known(h))
}

// known returns a function that reports whether a pool exists.
func known(h *pool.Hierarchy) func(name string) bool {
	return func(name string) bool {
		_, known := h.Pool(name)
		return known
	}
}

// PoolMove moves a vjob to another pool.
type PoolMove struct {
	VJob cluster.VJobID
	Pool string // "cluster" is in no pool, "" that of its project or queue
	By   string
}

// Move moves a vjob to another pool. It fails with ErrNotFound, with a *cluster.FieldError for an unknown pool or
// one that can never hold it, and with ErrConflict if it runs and the pool cannot hold it beside what runs there.
func (p *Pools) Move(now time.Time, m PoolMove) error {
	r, ok := p.exec.Job(m.VJob)
	if !ok {
		return fmt.Errorf("vjob %s: %w", m.VJob, cluster.ErrNotFound)
	}
	h := p.hierarchy()
	moved := r.Job.Clone()
	moved.OwnTerms().Pool = m.Pool
	if err := p.settings.admitPool(moved, h); err != nil {
		return err
	}
	if r.Bound == cluster.VMRunning || !r.Job.State.Ready() {
		ledger := h.Ledger()
		for _, o := range p.exec.Jobs() {
			if o.Job.ID != m.VJob && o.Job.Inner == 0 && (o.Bound == cluster.VMRunning || !o.Job.State.Ready()) {
				ledger.Count(p.in(o.Job, h), decide.PoolReservation(o.Job))
			}
		}
		if why := ledger.Refuses(p.in(moved, h), decide.PoolReservation(moved)); why != "" {
			return fmt.Errorf("vjob %s %s: %s: %w", m.VJob, r.Job.State.Clause(), why, cluster.ErrConflict)
		}
	}
	if r.Job.Pool == m.Pool {
		return nil
	}
	name := m.Pool
	if name == "" {
		name = "that of its project or queue"
	}
	return p.exec.SetPool(now, m.VJob, m.Pool, fmt.Sprintf("vjob %s: its pool is %s now, by %s", m.VJob, name, m.By))
}

// admitPool returns an error if a vjob names an unknown pool, or one that could not honour its reservation even if
// nothing ran.
func (s *Settings) admitPool(job *cluster.VJob, h *pool.Hierarchy) error {
	if h == nil || job.Inner != 0 {
		return nil
	}
	if _, exists := h.Pool(job.Pool); !exists && job.Pool != pool.Root {
		names := poolNames(h)
		if near := suggest.Nearest(job.Pool, names); near != "" {
			names = []string{near}
		}
		return cluster.BadField("pool", job.Pool, "a pool, such as "+strings.Join(names[:min(len(names), 5)], ", "))
	}
	if len(h.Members()) == 1 && job.CPUReservation == 0 || h.Members()[0].Memory.Limit == 0 {
		return nil // there are no pools, or no node is known yet
	}
	name := s.OrderingRules().Pool(job, known(h))
	bad, refused := errors.AsType[*cluster.FieldError](h.Honours(name, decide.PoolReservation(job)))
	if !refused {
		return nil
	}
	field := "vms"
	if strings.HasPrefix(bad.Field, "cpu.") {
		field = "cpu_reservation_milli"
	}
	whose := "the cluster"
	if name != "" {
		whose = "pool " + name
	}
	return cluster.Fault(field, "%s cannot hold it: %s", whose, strings.TrimPrefix(bad.Error(), bad.Field+": "))
}

// poolNames lists the names of the pools, with that of the cluster first.
func poolNames(h *pool.Hierarchy) (names []string) {
	for _, m := range h.Members() {
		names = append(names, m.Name)
	}
	return names
}
