package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/internal/revision"
	"vjob/scheduler"
)

// shownEvents is how many of the latest events a detail view has.
const shownEvents = 20

// vjobService is the part of the scheduler that changes vjobs.
type vjobService interface {
	orderService
	// OrderArray gives an order to every vjob of an array to which it applies. After an error that
	// is neither ErrNotFound nor ErrConflict some may have followed.
	OrderArray(ctx context.Context, array cluster.VJobID, order scheduler.Order, by string) error
	// Restore goes back to kept images of a vjob, of the newest generation if it is 0; it is
	// durable on return, and carried out later.
	Restore(ctx context.Context, id cluster.VJobID, generation int, by string) error
	// MoveVJob moves a vjob to another pool; it is durable on return.
	MoveVJob(ctx context.Context, m scheduler.PoolMove) error
	// SetMoves changes whether the VMs of a vjob move to improve the cluster; it is durable on return.
	SetMoves(ctx context.Context, m scheduler.MoveModeChange) error
	// SetWalltime gives a vjob another walltime; it is durable on return.
	SetWalltime(ctx context.Context, s scheduler.WalltimeChange) error
}

// orderService gives orders to vjobs.
type orderService interface {
	// Order gives an order to a vjob on behalf of a user; it is durable on return, and carried
	// out later.
	Order(ctx context.Context, id cluster.VJobID, order scheduler.Order, by string) error
}

// vjobHandler answers requests for vjobs.
type vjobHandler struct {
	vjobFinder
	scheduler   vjobService
	events      eventReader
	submissions *submitter
	streaming   *streaming
	snapshot    func() *scheduler.Snapshot
	clockSpeed  float64 // of guests; 0: that of the daemon
}

// submit answers POST /v1/vjobs.
func (h *vjobHandler) submit(c *gin.Context, caller Subject) error {
	job, created, err := h.submissions.accept(c, caller)
	h.submissions.metrics.submission(created, err)
	if err != nil {
		return err
	}
	c.Header("Location", "/v1/vjobs/"+job.ID.String())
	row := journal.Row{VJob: job, Size: len(job.VMs), Reserved: job.Reserved()}
	status := http.StatusCreated
	if !created {
		status = http.StatusOK
		if kept, err := h.vjobs.VJob(c.Request.Context(), job.ID); err == nil {
			row = kept.Row
		}
	}
	w := wireVJob(&row, h.snapshot(), caller.Viewer())
	w.Notes, w.OutputFiles = h.submissions.notes(row.VJob), outputFiles(h.submissions.outputs, row.VJob)
	return answerTagged(c, status, revision.OfVJob(row.VJob), w)
}

// show answers GET /v1/vjobs/{id}.
func (h *vjobHandler) show(c *gin.Context, caller Subject) error {
	kept, err := h.inPath(c, caller, Read)
	if err != nil {
		return err
	}
	events, err := h.events.Events(c.Request.Context(), journal.EventFilter{
		Owner: caller.Viewer(), VJob: kept.ID, Limit: shownEvents, Latest: true,
	})
	if err != nil {
		return err
	}
	detail := wireDetail(&kept, events, h.snapshot(), caller.Viewer())
	detail.ClockSpeed, detail.OutputFiles = h.clockSpeed, outputFiles(h.submissions.outputs, kept.VJob)
	return answerTagged(c, http.StatusOK, revision.OfVJob(kept.VJob), detail)
}

// change answers PATCH /v1/vjobs/{id}.
func (h *vjobHandler) change(c *gin.Context, caller Subject) error {
	kept, err := h.liveInPath(c, caller)
	if err != nil {
		return err
	}
	var body wire.VJobChange
	if err := readBody(c, &body); err != nil {
		return err
	}
	if err := h.apply(c.Request.Context(), caller, kept.ID, &body); err != nil {
		return h.endedMeanwhile(c.Request.Context(), caller, kept.ID, err)
	}
	// It is changed; that it cannot be read back is no reason to fail it.
	if fresh, err := h.vjobs.VJob(c.Request.Context(), kept.ID); err == nil {
		kept = fresh
	}
	return answerTagged(c, http.StatusOK, revision.OfVJob(kept.VJob), wireVJob(&kept.Row, h.snapshot(), caller.Viewer()))
}

// apply makes one change to a vjob.
func (h *vjobHandler) apply(ctx context.Context, caller Subject, id cluster.VJobID, body *wire.VJobChange) error {
	var fields []string
	for name, given := range map[string]bool{"walltime_seconds": body.WalltimeSeconds != nil, "pool": body.Pool != nil, "moves": body.Moves != nil} {
		if given {
			fields = append(fields, name)
		}
	}
	slices.Sort(fields)
	switch {
	case len(fields) == 0:
		return cluster.BadField("walltime_seconds", "null", "the new walltime, or 0 for no limit; or another pool, or moves")
	case len(fields) > 1:
		return cluster.Fault(fields[0], "given beside %s, want one change at a time", fields[1])
	case body.Pool != nil:
		return h.scheduler.MoveVJob(ctx, scheduler.PoolMove{VJob: id, Pool: *body.Pool, By: caller.Name})
	case body.Moves != nil:
		return h.scheduler.SetMoves(ctx, scheduler.MoveModeChange{VJob: id, Moves: *body.Moves, By: caller.Name})
	}
	if err := inRange("walltime_seconds", *body.WalltimeSeconds, 0, maxWalltime); err != nil {
		return err
	}
	return h.scheduler.SetWalltime(ctx, scheduler.WalltimeChange{
		VJob: id, Walltime: time.Duration(*body.WalltimeSeconds) * time.Second, By: caller.Name, Admin: caller.Role == journal.RoleAdmin,
	})
}

// vjobReader reads vjobs from the store.
type vjobReader interface {
	// VJobs lists the vjobs of the filter and counts those of all pages on the first one.
	VJobs(ctx context.Context, f journal.Filter) (rows []journal.Row, total int, err error)
	VJob(ctx context.Context, id cluster.VJobID) (journal.Kept, error)
}

// vjobFinder finds vjobs that a caller may access.
type vjobFinder struct{ vjobs vjobReader }

// inPath finds the vjob of the path.
func (f vjobFinder) inPath(c *gin.Context, caller Subject, verb Verb) (journal.Kept, error) {
	id, err := f.vjobOf(c.Request.Context(), caller, "id", c.Param("id"))
	if err != nil {
		return journal.Kept{}, err
	}
	return f.find(c.Request.Context(), caller, id, verb)
}

// find finds a vjob that the subject may access. The error is the same for a vjob of another user and
// for one that does not exist.
func (f vjobFinder) find(ctx context.Context, caller Subject, id cluster.VJobID, verb Verb) (journal.Kept, error) {
	kept, err := f.vjobs.VJob(ctx, id)
	if errors.Is(err, cluster.ErrNotFound) || err == nil && !Can(caller, verb, Object{Kind: KindVJob, Owner: kept.Owner}) {
		return journal.Kept{}, fmt.Errorf("vjob %s: %w", id, cluster.ErrNotFound)
	}
	return kept, err
}

// named finds the vjob or the array of the subject with a name: a live one, or the last that ended.
func (f vjobFinder) named(ctx context.Context, caller Subject, name string, array bool) (cluster.VJobID, error) {
	if array {
		name = cluster.MemberName(name, 1)
	}
	for _, live := range []bool{true, false} {
		rows, _, err := f.vjobs.VJobs(ctx, journal.Filter{Owner: caller.Name, Name: name, Live: live, Newest: true, Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(rows) > 0 && array {
			return rows[0].Array, nil
		}
		if len(rows) > 0 {
			return rows[0].ID, nil
		}
	}
	return 0, fmt.Errorf("vjob %q: %w", name, cluster.ErrNotFound)
}

// resolve replaces the names of dependencies by numbers.
func (f vjobFinder) resolve(ctx context.Context, caller Subject, after []cluster.Dependency) error {
	var faults cluster.Faults
	for i := range after {
		d := &after[i]
		if d.Name == "" {
			continue
		}
		on, err := f.named(ctx, caller, d.Name, d.Array)
		if errors.Is(err, cluster.ErrNotFound) {
			what := "the name of a vjob of yours"
			if d.Array {
				what = "the name of an array of yours"
			}
			err = cluster.BadField(fmt.Sprintf("after[%d].name", i), d.Name, what)
		}
		faults.Add(err)
		d.On, d.Name = on, ""
	}
	return faults.Err()
}

// enter resolves the name of a container.
func (f vjobFinder) enter(ctx context.Context, caller Subject, name wire.VJobName, terms *cluster.Terms) (err error) {
	if name == "" {
		return nil
	}
	terms.Inner, err = f.vjobOf(ctx, caller, "inner", string(name))
	return unknownField("inner", string(name), err)
}

// array finds the row that stands for an array which the subject may access.
func (f vjobFinder) array(ctx context.Context, caller Subject, verb Verb, id cluster.VJobID) (journal.Row, error) {
	rows, _, err := f.vjobs.VJobs(ctx, journal.Filter{Array: id, Fold: true, Limit: 1})
	if err != nil {
		return journal.Row{}, err
	}
	if len(rows) == 0 || !Can(caller, verb, Object{Kind: KindVJob, Owner: rows[0].Owner}) {
		return journal.Row{}, fmt.Errorf("array %s: %w", id, cluster.ErrNotFound)
	}
	return rows[0], nil
}

// ownLive is the set of live vjobs that a user owns; nil for an administrator,
// since administrators see all.
func (f vjobFinder) ownLive(ctx context.Context, caller Subject) (map[cluster.VJobID]bool, error) {
	owner := caller.Viewer()
	if owner == "" {
		return nil, nil
	}
	rows, _, err := f.vjobs.VJobs(ctx, journal.Filter{Owner: owner, Live: true})
	if err != nil {
		return nil, err
	}
	own := make(map[cluster.VJobID]bool, len(rows))
	for i := range rows {
		own[rows[i].ID] = true
	}
	return own, nil
}
