package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// shownEvents is how many of the latest events a detail view has.
const shownEvents = 20

// listVJobs answers GET /v1/vjobs.
func (s *Server) listVJobs(c *gin.Context, caller Subject) error {
	filter, err := vjobFilter(c, caller)
	if err != nil {
		return err
	}
	rows, total, err := s.reader.VJobs(c.Request.Context(), filter)
	if err != nil {
		return err
	}
	list := wire.VJobList{VJobs: make([]wire.VJob, len(rows)), Total: total}
	now := s.snapshot()
	for i := range rows {
		list.VJobs[i] = wireVJob(&rows[i], now, caller.Viewer())
	}
	if end := filter.Offset + len(rows); end < total && len(rows) > 0 {
		list.Next = end
	}
	return answer(c, http.StatusOK, list)
}

// vjobFilter reads the query; a user's list is always that of the user.
func vjobFilter(c *gin.Context, caller Subject) (f journal.Filter, err error) {
	f.Owner, f.Name, f.Terms = c.Query("owner"), c.Query("name"), true
	for _, text := range c.QueryArray("state") {
		state, err := cluster.ParseState(text)
		if err != nil {
			return f, err
		}
		f.States = append(f.States, state)
	}
	var offset, limit, array int64
	steps := []func() error{
		func() (err error) { f.Fold, err = queryTrue(c, "fold"); return err },
		func() (err error) { array, err = queryNumber(c, "array", 1, 1<<62, 0); return err },
		func() (err error) { f.Live, err = queryTrue(c, "live"); return err },
		func() (err error) { f.Newest, err = queryTrue(c, "newest"); return err },
		func() (err error) { offset, err = queryNumber(c, "offset", 0, 1<<31, 0); return err },
		func() (err error) { limit, err = queryNumber(c, "limit", 1, maxPage, defaultPage); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return f, err
		}
	}
	f.Offset, f.Limit, f.Array = int(offset), int(limit), cluster.VJobID(array)
	if own := caller.Viewer(); own != "" {
		if f.Owner != "" && f.Owner != own {
			return f, fmt.Errorf("owner: %s may not list the vjobs of others: %w", own, cluster.ErrForbidden)
		}
		f.Owner = own
	}
	return f, nil
}

// submit answers POST /v1/vjobs.
func (s *Server) submit(c *gin.Context, caller Subject) error {
	job, created, err := s.accept(c, caller)
	s.metrics.submission(created, err)
	if err != nil {
		return err
	}
	c.Header("Location", "/v1/vjobs/"+job.ID.String())
	row := journal.Row{VJob: job, Size: len(job.VMs), Reserved: job.Reserved()}
	status := http.StatusCreated
	if !created {
		status = http.StatusOK
		if kept, err := s.reader.VJob(c.Request.Context(), job.ID); err == nil {
			row = kept.Row
		}
	}
	return answer(c, status, wireVJob(&row, s.snapshot(), caller.Viewer()))
}

// Admission has a submission follow rules, which may change or refuse it, and hands it to
// then, which checks and stores it.
type Admission func(ctx context.Context, caller Subject, body *wire.Submission, then func(context.Context) error) error

func (s *Server) accept(c *gin.Context, caller Subject) (*cluster.VJob, bool, error) {
	if err := authorise(caller, Create, Object{Kind: KindVJob, Owner: caller.Name}); err != nil {
		return nil, false, err
	}
	key := c.GetHeader(wire.KeyHeader)
	if err := checkKey(key); err != nil {
		return nil, false, err
	}
	var body wire.Submission
	if err := s.readBody(c, &body); err != nil {
		return nil, false, err
	}
	lacks := s.rights.missing(caller)
	if s.admission == nil {
		return s.submitChecked(c.Request.Context(), caller, key, &body, lacks)
	}
	var job *cluster.VJob
	var created bool
	err := s.admission(c.Request.Context(), caller, &body, func(ctx context.Context) (err error) {
		job, created, err = s.submitChecked(ctx, caller, key, &body, lacks)
		return err
	})
	return job, created, err
}

// submitChecked checks a submission and hands it to the loop.
func (s *Server) submitChecked(ctx context.Context, caller Subject, key string, body *wire.Submission, lacks admission.Rights) (*cluster.VJob, bool, error) {
	sub, err := Submission(body, s.limits.VMsPerVJob)
	if err != nil {
		return nil, false, err
	}
	if err := s.checkImages(ctx, caller, sub.VMs); err != nil {
		return nil, false, err
	}
	if err := s.checkNotifiable(sub.Notify); err != nil {
		return nil, false, err
	}
	if sub.Array, err = parameters(body, s.limits.VJobsPerArray); err != nil {
		return nil, false, err
	}
	sub.Key, sub.Owner, sub.At, sub.Lacks = key, caller.Name, s.now().UTC(), lacks
	job, created, err := s.scheduler.Submit(ctx, sub)
	if err != nil {
		return nil, false, asSubmitted(body, redactError(err, caller.Viewer(), s.snapshot()))
	}
	return job, created, nil
}

var memberPath = regexp.MustCompile(`^vms\[\d+\]`)

// asSubmitted makes an error of the loop name the field that the user wrote: the
// loop knows members only, not the template that they were made from.
func asSubmitted(w *wire.Submission, err error) error {
	var bad *cluster.FieldError
	if w.Template == nil || !errors.As(err, &bad) || !memberPath.MatchString(bad.Field) {
		return err
	}
	return cluster.Renamed(memberPath.ReplaceAllLiteralString(bad.Field, "template"), bad)
}

// pathVJob is the number of a vjob, or of an array, in the path.
func pathVJob(c *gin.Context) (cluster.VJobID, error) {
	id, err := pathNumber(c, "id")
	return cluster.VJobID(id), err
}

// vjob resolves the path's vjob and authorises the subject on it.
func (s *Server) vjob(c *gin.Context, caller Subject, verb Verb) (journal.Kept, error) {
	id, err := pathVJob(c)
	if err != nil {
		return journal.Kept{}, err
	}
	return s.find(c.Request.Context(), caller, id, verb)
}

// find is a vjob that the subject may touch.
func (s *Server) find(ctx context.Context, caller Subject, id cluster.VJobID, verb Verb) (journal.Kept, error) {
	kept, err := s.reader.VJob(ctx, id)
	if errors.Is(err, cluster.ErrNotFound) || err == nil && !Can(caller, verb, Object{Kind: KindVJob, Owner: kept.Owner}) {
		// The same error for a vjob of another user and for one that does not exist.
		return journal.Kept{}, fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	return kept, err
}

// showVJob answers GET /v1/vjobs/{id}.
func (s *Server) showVJob(c *gin.Context, caller Subject) error {
	kept, err := s.vjob(c, caller, Read)
	if err != nil {
		return err
	}
	events, err := s.reader.Events(c.Request.Context(), journal.EventFilter{
		Owner: caller.Viewer(), VJob: kept.ID, Limit: shownEvents, Latest: true,
	})
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, wireDetail(&kept, events, s.snapshot(), caller.Viewer()))
}

// orderer makes the handler that gives one order.
func orderer(order scheduler.Order) func(*Server, *gin.Context, Subject) error {
	return func(s *Server, c *gin.Context, caller Subject) error {
		switch array, err := queryTrue(c, "array"); {
		case err != nil:
			return err
		case array:
			return s.orderArray(c, caller, order)
		}
		kept, err := s.vjob(c, caller, Change)
		if err != nil {
			return err
		}
		if err := s.scheduler.Order(c.Request.Context(), kept.ID, order, caller.Name); err != nil {
			return err
		}
		// The order is given; that it cannot be read back is no reason to fail it.
		if fresh, err := s.reader.VJob(c.Request.Context(), kept.ID); err == nil {
			kept = fresh
		}
		return answer(c, http.StatusAccepted, wireVJob(&kept.Row, s.snapshot(), caller.Viewer()))
	}
}

// ownLive is the set of live vjobs that a user owns; nil for an administrator,
// since administrators see all.
func (s *Server) ownLive(ctx context.Context, caller Subject) (map[cluster.VJobID]bool, error) {
	owner := caller.Viewer()
	if owner == "" {
		return nil, nil
	}
	rows, _, err := s.reader.VJobs(ctx, journal.Filter{Owner: owner, Live: true})
	if err != nil {
		return nil, err
	}
	own := make(map[cluster.VJobID]bool, len(rows))
	for i := range rows {
		own[rows[i].ID] = true
	}
	return own, nil
}

// wireVJob shows a vjob as it is kept, with what the loop knows beyond that as
// long as both speak of the same state. The viewer is a user, or "" for administrators.
func wireVJob(row *journal.Row, now *scheduler.Snapshot, viewer string) wire.VJob {
	size, reserved := row.Size, row.Reserved
	if len(row.VMs) > 0 {
		size, reserved = len(row.VMs), row.VJob.Reserved()
	}
	w := wire.VJob{
		ID: int64(row.ID), Name: row.Name, Owner: row.Owner, State: row.State.String(), Held: row.Held,
		Reason: row.Cause.For(viewer).Why(row.State), Cause: wireCause(row.Cause.For(viewer), viewer, now), Priority: row.Priority, VMCount: size,
		CPUMilli: int64(reserved.CPU), MemoryMiB: int64(reserved.Memory),
		WalltimeSeconds: int64(row.Walltime / time.Second), RanSeconds: (row.Account.Running - row.Account.Crowded).Seconds(),
		Submitted: row.Submitted.UTC(), Started: instant(row.Started), Ended: instant(row.Ended),
		Queue: row.Queue, Project: row.Project, Comment: row.Comment,
		Array: int64(row.Array), Index: row.Index, Parameter: row.Parameter, Replaces: int64(row.Replaces), Attempts: row.Attempts,
		Members: wireMembers(row.Fold),
	}
	if row.Outcome != cluster.Open {
		w.Outcome = row.Outcome.String()
	}
	if status, ok := now.VJobs[row.ID]; ok && status.State == row.State {
		w.QueuePlace, w.EstimatedStart = status.Place, instant(status.Start)
		w.Rank = wireRank(&status.Rank)
		w.RanSeconds = max(w.RanSeconds, status.Ran.Seconds())
		w.PowerWatts = watts(status.Watts)
		w.Reason, w.Since = status.Why(viewer, now.At), instant(status.Gang.Since)
	}
	w.Reason = Shown(w.Reason, viewer, now)
	w.Late = late(row, &w, now.At)
	return w
}

// late says whether a vjob misses its deadline, by when it is estimated to start, or may.
func late(row *journal.Row, w *wire.VJob, now time.Time) string {
	from := now
	if row.Submitted.After(from) { // it has just come
		from = row.Submitted
	}
	if row.State.Ready() {
		for _, at := range []*time.Time{w.EstimatedStart, instant(row.NotBefore), instant(row.Reservation)} {
			if at != nil && at.After(from) {
				from = *at
			}
		}
	}
	return row.DeadlineWarning(from, time.Duration(w.RanSeconds*float64(time.Second)))
}

func wireDetail(kept *journal.Kept, events []journal.Event, now *scheduler.Snapshot, viewer string) wire.VJobDetail {
	d := wire.VJobDetail{
		VJob: wireVJob(&kept.Row, now, viewer), Version: kept.Version,
		Phase: kept.Gang.Phase.String(), Generation: kept.Gang.Generation,
		VMs: make([]wire.VM, len(kept.VMs)), Rules: kept.Rules, Terms: wireTerms(&kept.Terms),
		CrowdedSeconds: kept.Account.Crowded.Seconds(), CPUSeconds: kept.Account.CPU.Seconds(), CPUWantedSeconds: kept.Account.Wanted.Seconds(),
		MemoryMiBSeconds: kept.Account.MemorySec, EnergyJoules: kept.Account.Joules,
		Events: wireEvents(events, now, viewer),
	}
	if status, live := now.VJobs[kept.ID]; live {
		d.CrowdedSeconds = max(d.CrowdedSeconds, status.Crowded.Seconds())
		for _, r := range status.Refusals {
			d.Refusals = append(d.Refusals, wire.Refusal{VM: r.VM.String(), Node: string(r.Node), At: r.At.UTC(), Why: r.Why})
		}
	}
	for i, vm := range kept.VMs {
		d.VMs[i] = wire.VM{
			ID: vm.ID.String(), CPUMilli: int64(vm.Reserved.CPU), MemoryMiB: int64(vm.Reserved.Memory), Image: vm.Payload.Image,
		}
		if i < len(kept.Gang.Members) {
			m := kept.Gang.Members[i]
			d.VMs[i].Node, d.VMs[i].NextNode, d.VMs[i].Ended = string(m.Node), string(m.Next), m.Ended
		}
	}
	return d
}

// instant is a time for JSON: nil when it has not come.
func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// logs answers GET /v1/vjobs/{id}/logs.
func (s *Server) logs(c *gin.Context, caller Subject) error {
	kept, err := s.vjob(c, caller, Read)
	if err != nil {
		return err
	}
	rank, err := queryNumber(c, "rank", 0, int64(max(len(kept.VMs)-1, 0)), 0)
	if err != nil {
		return err
	}
	tail, err := queryNumber(c, "tail", 1, maxTail, 0)
	if err != nil {
		return err
	}
	vm := cluster.VMID{VJob: kept.ID, Rank: int(rank)}
	if s.console == nil {
		return notFound("console of VM", vm.String())
	}
	text, err := s.console.Console(c.Request.Context(), vm)
	if err != nil {
		return err
	}
	defer text.Close()
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("Content-Disposition", `inline; filename="vjob-`+strconv.FormatInt(int64(vm.VJob), 10)+`-`+strconv.Itoa(vm.Rank)+`.log"`)
	return s.copyLog(c, caller, text, int(tail))
}
