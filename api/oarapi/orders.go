package oarapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/oar"
	"vjob/scheduler"
)

// order is an order to a job.
type order struct {
	path, name, summary string
	run                 func(d *Dialect, ctx context.Context, who api.Subject, kept *journal.Kept) (reply, error)
}

// reply is the output and exit code of a command.
type reply struct {
	status, output, errors string
	exit                   int
}

func orders() []order {
	return []order{
		{"deletions", "Delete", "End a job", (*Dialect).remove},
		{"holds", "Hold", "Hold a waiting job", (*Dialect).hold},
		{"rholds", "HoldRunning", "Suspend a running job, and hold it", (*Dialect).suspend},
		{"resumptions", "Resume", "Release a held job, or resume a suspended one", (*Dialect).resume},
		{"checkpoints", "Checkpoint", "Not offered: a preempted job is suspended with its memory", (*Dialect).checkpoint},
	}
}

func (d *Dialect) orderOperations() []api.Operation {
	list := []api.Operation{
		{Method: "DELETE", Path: "/jobs/:id", Name: "oarDelete", Summary: "End a job", Verb: api.Change, Result: oar.Done{}, Handle: d.handleOrder((*Dialect).remove)},
		{Method: "POST", Path: "/jobs/:id", Name: "oarDo", Summary: "End a job, with the method delete", Verb: api.Change, Body: oar.Method{}, Result: oar.Done{}, Handle: d.method},
		{
			Method: "POST", Path: "/jobs/:id/resubmissions/new", Name: "oarResubmit", Summary: "Submit an ended job again", Verb: api.Create,
			Result: oar.Accepted{}, Handle: d.resubmit,
		},
	}
	for _, o := range orders() {
		list = append(list,
			api.Operation{Method: "POST", Path: "/jobs/:id/" + o.path + "/new", Name: "oar" + o.name + "Job", Summary: o.summary, Verb: api.Change, Result: oar.Done{}, Handle: d.handleOrder(o.run)},
			api.Operation{Method: "POST", Path: "/jobs/array/:id/" + o.path + "/new", Name: "oar" + o.name + "Array", Summary: o.summary + ": each of an array", Verb: api.Change, Result: oar.Page[oar.Done]{}, Handle: d.handleArrayOrder(o.run)},
		)
	}
	for _, path := range []string{"signals", "signal"} {
		list = append(list, api.Operation{
			Method: "POST", Path: "/jobs/:id/" + path + "/:signal", Name: "oar" + map[string]string{"signals": "Signal", "signal": "SignalJob"}[path],
			Summary: "Not offered: signals do not reach VMs", Verb: api.Change, Result: oar.Done{}, Handle: d.signal,
		})
	}
	return list
}

// handleOrder gives an order to the job of the path. If the state of the job forbids it, the call succeeds
// and the exit status tells.
func (d *Dialect) handleOrder(give func(*Dialect, context.Context, api.Subject, *journal.Kept) (reply, error)) func(*gin.Context, api.Subject) error {
	return func(c *gin.Context, who api.Subject) error {
		kept, err := d.findJob(c, who, api.Change)
		if err != nil {
			return err
		}
		r, err := give(d, c.Request.Context(), who, &kept)
		if err != nil {
			return err
		}
		c.JSON(http.StatusOK, d.done(kept.ID, r))
		return nil
	}
}

func (d *Dialect) done(id cluster.VJobID, r reply) oar.Done {
	return oar.Done{ID: int64(id), Status: r.status, Output: r.output, Errors: r.errors, Exit: r.exit, Timestamp: d.now(), Links: jobLinks(id.String())}
}

// handleArrayOrder gives an order to each live job of an array.
func (d *Dialect) handleArrayOrder(give func(*Dialect, context.Context, api.Subject, *journal.Kept) (reply, error)) func(*gin.Context, api.Subject) error {
	return func(c *gin.Context, who api.Subject) error {
		id, err := cluster.ParseVJobID(c.Param("id"))
		if err != nil {
			return err
		}
		ctx := c.Request.Context()
		rows, err := d.service.List(ctx, who, journal.Filter{Array: id, Live: true})
		if err != nil {
			return err
		}
		page := oar.Page[oar.Done]{Timestamp: d.now(), Items: []oar.Done{}, Links: selfLink(c), Total: len(rows)}
		for i := range rows {
			kept, err := d.service.Find(ctx, who, rows[i].ID, api.Change)
			if errors.Is(err, cluster.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			r, err := give(d, ctx, who, &kept)
			if err != nil {
				return err
			}
			page.Items = append(page.Items, d.done(kept.ID, r))
		}
		c.JSON(http.StatusOK, page)
		return nil
	}
}

// method answers POST /jobs/{id}.
func (d *Dialect) method(c *gin.Context, who api.Subject) error {
	data, err := d.service.Body(c)
	if err != nil {
		return err
	}
	var body oar.Method
	if err := json.Unmarshal(data, &body); err != nil || body.Method != "delete" {
		return cluster.BadField("method", body.Method, "delete")
	}
	return d.handleOrder((*Dialect).remove)(c, who)
}

func (d *Dialect) resubmit(c *gin.Context, who api.Subject) error {
	id, err := cluster.ParseVJobID(c.Param("id"))
	if err != nil {
		return err
	}
	if _, err := d.service.Find(c.Request.Context(), who, id, api.Change); err != nil {
		return err
	}
	answer, err := d.accept(c.Request.Context(), who, c.GetHeader("Idempotency-Key"), &oar.Submission{Resubmit: oar.Number(id)})
	if err == nil {
		c.JSON(http.StatusOK, answer)
	}
	return err
}

// stateOf returns the state of a job in OAR's terms.
func (d *Dialect) stateOf(kept *journal.Kept) oar.State {
	v := jobView(&kept.Row, d.service.Snapshot(), "")
	return v.State()
}

func (d *Dialect) remove(ctx context.Context, who api.Subject, kept *journal.Kept) (reply, error) {
	text := fmt.Sprintf("Deleting the job = %s ...", kept.ID)
	err := d.service.Order(ctx, who, kept.ID, scheduler.OrderDelete)
	if kept.State.Terminal() || errors.Is(err, cluster.ErrConflict) {
		return reply{"Job already killed", text + "ERROR.\n", fmt.Sprintf("Cannot frag %s ; This job was already killed.\n", kept.ID), 6}, nil
	}
	return reply{"Delete request registered", fmt.Sprintf("%sREGISTERED.\nThe job(s) [ %s ] will be deleted in the near future.\n", text, kept.ID), "", 0}, err
}

func (d *Dialect) hold(ctx context.Context, who api.Subject, kept *journal.Kept) (reply, error) {
	if d.stateOf(kept) == oar.StateHold {
		return held(kept.ID), nil
	}
	if d.stateOf(kept) != oar.StateWaiting && d.stateOf(kept) != oar.StateToLaunch {
		return cannot("hold", kept.ID, "the job is not in the right state (try '-r' option)."), nil
	}
	err := d.service.Order(ctx, who, kept.ID, scheduler.OrderHold)
	if errors.Is(err, cluster.ErrConflict) {
		return cannot("hold", kept.ID, "the job is not in the right state (try '-r' option)."), nil
	}
	return held(kept.ID), err
}

func held(id cluster.VJobID) reply {
	return reply{"Hold request registered", fmt.Sprintf("[%s] Hold request was sent to the OAR server.\n", id), "", 0}
}

func (d *Dialect) suspend(ctx context.Context, who api.Subject, kept *journal.Kept) (reply, error) {
	if !d.maySuspend(who) {
		return cannot("hold", kept.ID, "only oar or root users can use '-r' option."), nil
	}
	r, _ := oar.RecordOf(kept.Labels)
	for _, t := range []string{"cosystem", "deploy"} {
		if oar.HasJobType(r.Types, t) {
			return reply{"Cannot hold", "", "This job is of the " + t + " type. We cannot suspend this kind of jobs.\n", 2}, nil
		}
	}
	if s := d.stateOf(kept); s == oar.StateWaiting || s == oar.StateToLaunch || s == oar.StateHold {
		return d.hold(ctx, who, kept)
	}
	// A job stays suspended if its resumption has not begun. It may begin between the two orders.
	for _, given := range []scheduler.Order{scheduler.OrderSuspend, scheduler.OrderHold, scheduler.OrderSuspend} {
		err := d.service.Order(ctx, who, kept.ID, given)
		if !errors.Is(err, cluster.ErrConflict) {
			return held(kept.ID), err
		}
	}
	return cannot("hold", kept.ID, "the job is not in the right state."), nil
}

func (d *Dialect) resume(ctx context.Context, who api.Subject, kept *journal.Kept) (reply, error) {
	given := scheduler.OrderRelease
	switch d.stateOf(kept) {
	case oar.StateHold:
	case oar.StateSuspended:
		given = scheduler.OrderResume
		if !d.maySuspend(who) {
			return cannot("resume", kept.ID, "only oar or root user can resume Suspended jobs."), nil
		}
	default:
		return cannot("resume", kept.ID, "the job is not in the Hold or Suspended state."), nil
	}
	err := d.service.Order(ctx, who, kept.ID, given)
	if errors.Is(err, cluster.ErrConflict) {
		return cannot("resume", kept.ID, "the job is not in the Hold or Suspended state."), nil
	}
	return reply{"Resume request registered", fmt.Sprintf("[%s] Resume request was sent to the OAR server.\n", kept.ID), "", 0}, err
}

// checkpoint answers that signals do not reach VMs; if the job does not run, as OAR does.
func (d *Dialect) checkpoint(_ context.Context, _ api.Subject, kept *journal.Kept) (reply, error) {
	return d.notOffered(kept, fmt.Sprintf("Checkpointing the job %s ...ERROR.\n", kept.ID), "checkpoint"), nil
}

// signal answers like checkpoint.
func (d *Dialect) signal(c *gin.Context, who api.Subject) error {
	number := oar.Printable(c.Param("signal"))
	return d.handleOrder(func(d *Dialect, _ context.Context, _ api.Subject, kept *journal.Kept) (reply, error) {
		return d.notOffered(kept, fmt.Sprintf("Signaling the job %s with %s signal.\nERROR.\n", kept.ID, number), "signal"), nil
	})(c, who)
}

func (d *Dialect) notOffered(kept *journal.Kept, output, what string) reply {
	r, _ := oar.RecordOf(kept.Labels)
	switch s := d.stateOf(kept); {
	case s != oar.StateRunning:
		return reply{"Job not running", output, fmt.Sprintf("Cannot %s %s ; This job is not running.\n", what, kept.ID), 5}
	case r.Interactive:
		return reply{"Job interactive", output, fmt.Sprintf("Cannot %s %s ; The job is Interactive.\n", what, kept.ID), 7}
	}
	return reply{
		"Not offered", output, "Signals and checkpoints are not offered: they do not reach VMs. A preempted job is suspended with its memory and continues later.\n", 5,
	}
}

func cannot(what string, id cluster.VJobID, why string) reply {
	return reply{"Cannot " + what, "", "/!\\ Cannot " + what + " " + strconv.FormatInt(int64(id), 10) + ": " + why + "\n", 1}
}

// maySuspend reports whether the caller may suspend and resume running jobs.
func (d *Dialect) maySuspend(who api.Subject) bool { return d.Suspenders || who.Role == "admin" }
