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

// orderHandler answers requests that give orders to jobs.
type orderHandler struct {
	*jobHandler
	suspenders bool // users may suspend and resume their running jobs
}

// order gives an order to a job.
type order func(ctx context.Context, caller api.Subject, kept *journal.Kept) (reply, error)

// reply is the output and exit code of a command.
type reply struct {
	status, output, errors string
	exit                   int
}

// handle gives an order to the job of the path. If the state of the job forbids it, the call succeeds
// and the exit status tells.
func (h *orderHandler) handle(give order) api.Handler {
	return func(c *gin.Context, caller api.Subject) error {
		kept, err := h.find(c, caller, api.Change)
		if err != nil {
			return err
		}
		r, err := give(c.Request.Context(), caller, &kept)
		if err != nil {
			return err
		}
		c.JSON(http.StatusOK, h.done(kept.ID, r))
		return nil
	}
}

func (h *orderHandler) done(id cluster.VJobID, r reply) oar.Done {
	return oar.Done{ID: int64(id), Status: r.status, Output: r.output, Errors: r.errors, Exit: r.exit, Timestamp: h.now(), Links: jobLinks(id.String())}
}

// handleArray gives an order to each live job of an array.
func (h *orderHandler) handleArray(give order) api.Handler {
	return func(c *gin.Context, caller api.Subject) error {
		id, err := cluster.ParseVJobID(c.Param("id"))
		if err != nil {
			return err
		}
		ctx := c.Request.Context()
		rows, err := h.List(ctx, caller, journal.Filter{Array: id, Live: true})
		if err != nil {
			return err
		}
		page := oar.Page[oar.Done]{Timestamp: h.now(), Items: []oar.Done{}, Links: selfLink(c), Total: len(rows)}
		for i := range rows {
			kept, err := h.Find(ctx, caller, rows[i].ID, api.Change)
			if errors.Is(err, cluster.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			r, err := give(ctx, caller, &kept)
			if err != nil {
				return err
			}
			page.Items = append(page.Items, h.done(kept.ID, r))
		}
		c.JSON(http.StatusOK, page)
		return nil
	}
}

// method answers POST /jobs/{id}.
func (h *orderHandler) method(c *gin.Context, caller api.Subject) error {
	data, err := h.Body(c)
	if err != nil {
		return err
	}
	var body oar.Method
	if err := json.Unmarshal(data, &body); err != nil || body.Method != "delete" {
		return cluster.BadField("method", body.Method, "delete")
	}
	return h.handle(h.remove)(c, caller)
}

// stateOf returns the state of a job in OAR's terms.
func (s *service) stateOf(kept *journal.Kept) oar.State {
	v := jobView(&kept.Row, s.Snapshot(), "")
	return v.State()
}

func (h *orderHandler) remove(ctx context.Context, caller api.Subject, kept *journal.Kept) (reply, error) {
	text := fmt.Sprintf("Deleting the job = %s ...", kept.ID)
	err := h.Order(ctx, caller, kept.ID, scheduler.OrderDelete)
	if kept.State.Terminal() || errors.Is(err, cluster.ErrConflict) {
		return reply{"Job already killed", text + "ERROR.\n", fmt.Sprintf("Cannot frag %s ; This job was already killed.\n", kept.ID), 6}, nil
	}
	return reply{"Delete request registered", fmt.Sprintf("%sREGISTERED.\nThe job(s) [ %s ] will be deleted in the near future.\n", text, kept.ID), "", 0}, err
}

func (h *orderHandler) hold(ctx context.Context, caller api.Subject, kept *journal.Kept) (reply, error) {
	if h.stateOf(kept) == oar.StateHold {
		return held(kept.ID), nil
	}
	if h.stateOf(kept) != oar.StateWaiting && h.stateOf(kept) != oar.StateToLaunch {
		return cannot("hold", kept.ID, "the job is not in the right state (try '-r' option)."), nil
	}
	err := h.Order(ctx, caller, kept.ID, scheduler.OrderHold)
	if errors.Is(err, cluster.ErrConflict) {
		return cannot("hold", kept.ID, "the job is not in the right state (try '-r' option)."), nil
	}
	return held(kept.ID), err
}

func held(id cluster.VJobID) reply {
	return reply{"Hold request registered", fmt.Sprintf("[%s] Hold request was sent to the OAR server.\n", id), "", 0}
}

func (h *orderHandler) suspend(ctx context.Context, caller api.Subject, kept *journal.Kept) (reply, error) {
	if !h.maySuspend(caller) {
		return cannot("hold", kept.ID, "only oar or root users can use '-r' option."), nil
	}
	r, _ := oar.RecordOf(kept.Labels)
	for _, t := range []string{"cosystem", "deploy"} {
		if oar.HasJobType(r.Types, t) {
			return reply{"Cannot hold", "", "This job is of the " + t + " type. We cannot suspend this kind of jobs.\n", 2}, nil
		}
	}
	if s := h.stateOf(kept); s == oar.StateWaiting || s == oar.StateToLaunch || s == oar.StateHold {
		return h.hold(ctx, caller, kept)
	}
	// A job stays suspended if its resumption has not begun. It may begin between the two orders.
	for _, given := range []scheduler.Order{scheduler.OrderSuspend, scheduler.OrderHold, scheduler.OrderSuspend} {
		err := h.Order(ctx, caller, kept.ID, given)
		if !errors.Is(err, cluster.ErrConflict) {
			return held(kept.ID), err
		}
	}
	return cannot("hold", kept.ID, "the job is not in the right state."), nil
}

func (h *orderHandler) resume(ctx context.Context, caller api.Subject, kept *journal.Kept) (reply, error) {
	given := scheduler.OrderRelease
	switch h.stateOf(kept) {
	case oar.StateHold:
	case oar.StateSuspended:
		given = scheduler.OrderResume
		if !h.maySuspend(caller) {
			return cannot("resume", kept.ID, "only oar or root user can resume Suspended jobs."), nil
		}
	default:
		return cannot("resume", kept.ID, "the job is not in the Hold or Suspended state."), nil
	}
	err := h.Order(ctx, caller, kept.ID, given)
	if errors.Is(err, cluster.ErrConflict) {
		return cannot("resume", kept.ID, "the job is not in the Hold or Suspended state."), nil
	}
	return reply{"Resume request registered", fmt.Sprintf("[%s] Resume request was sent to the OAR server.\n", kept.ID), "", 0}, err
}

// checkpoint answers that signals do not reach VMs; if the job does not run, as OAR does.
func (h *orderHandler) checkpoint(_ context.Context, _ api.Subject, kept *journal.Kept) (reply, error) {
	return h.notOffered(kept, fmt.Sprintf("Checkpointing the job %s ...ERROR.\n", kept.ID), "checkpoint"), nil
}

// signal answers like checkpoint.
func (h *orderHandler) signal(c *gin.Context, caller api.Subject) error {
	number := oar.Printable(c.Param("signal"))
	return h.handle(func(_ context.Context, _ api.Subject, kept *journal.Kept) (reply, error) {
		return h.notOffered(kept, fmt.Sprintf("Signaling the job %s with %s signal.\nERROR.\n", kept.ID, number), "signal"), nil
	})(c, caller)
}

func (h *orderHandler) notOffered(kept *journal.Kept, output, what string) reply {
	r, _ := oar.RecordOf(kept.Labels)
	switch s := h.stateOf(kept); {
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
func (h *orderHandler) maySuspend(caller api.Subject) bool {
	return h.suspenders || caller.Role == "admin"
}
