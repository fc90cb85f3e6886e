package api

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Service is the API of the daemon for the handlers of [Config.Endpoints], on behalf of a caller. Vjobs
// that the caller may not see are cluster.ErrNotFound.
type Service struct {
	submissions *submitter
	finder      vjobFinder
	events      eventReader
	orders      orderService
	nodes       *nodeHandler
	consoles    *consoleHandler
	groups      *userGroups
	snapshot    func() *scheduler.Snapshot
	now         func() time.Time
}

// Now returns the present.
func (v *Service) Now() time.Time { return v.now() }

// Snapshot returns the latest state of the loop.
func (v *Service) Snapshot() *scheduler.Snapshot { return v.snapshot() }

// Submit checks and accepts a vjob of the subject; it is durable on return. The same
// key again returns the vjob that it created; it may be empty. Rights are not checked: priority
// and rules come from the operation, not from the caller.
func (v *Service) Submit(ctx context.Context, caller Subject, key string, body *wire.Submission) (*cluster.VJob, error) {
	if err := authorise(caller, Create, Object{Kind: KindVJob, Owner: caller.Name}); err != nil {
		return nil, err
	}
	if err := checkKey(key); err != nil {
		return nil, err
	}
	job, created, err := v.submissions.submit(ctx, caller, key, body, admission.Rights{})
	v.submissions.metrics.submission(created, err)
	return job, err
}

// Find returns a vjob with all its parts, if the subject may do this to it.
func (v *Service) Find(ctx context.Context, caller Subject, id cluster.VJobID, verb Verb) (journal.Kept, error) {
	return v.finder.find(ctx, caller, id, verb)
}

// List lists the vjobs of the filter that the subject may see.
func (v *Service) List(ctx context.Context, caller Subject, f journal.Filter) ([]journal.Row, error) {
	if own := caller.Viewer(); own != "" {
		if f.Owner != "" && f.Owner != own {
			return nil, nil
		}
		f.Owner = own
	}
	rows, _, err := v.finder.vjobs.VJobs(ctx, f)
	return rows, err
}

// Events returns the latest events of a vjob that the subject may see.
func (v *Service) Events(ctx context.Context, caller Subject, id cluster.VJobID) ([]journal.Event, error) {
	return v.events.Events(ctx, journal.EventFilter{Owner: caller.Viewer(), VJob: id, Limit: shownEvents, Latest: true})
}

// Notes returns sentences for the owner of a vjob that was just submitted: what will become of it where users may expect
// something else.
func (v *Service) Notes(job *cluster.VJob) []string { return v.submissions.notes(job) }

// OutputFolder returns the folder with the output files of the caller, or an error that says why none can be written.
func (v *Service) OutputFolder(ctx context.Context, caller Subject) (string, error) {
	return outputFolder(ctx, v.submissions.outputs, caller.Name)
}

// FolderOf returns the folder with the output files of an owner; "" if the site keeps none.
func (v *Service) FolderOf(owner string) string {
	if v.submissions.outputs == nil {
		return ""
	}
	return v.submissions.outputs.Folder(owner)
}

// Redact returns a text about vjobs as the subject may read it.
func (v *Service) Redact(caller Subject, text string) string {
	return Shown(text, caller.Viewer(), v.snapshot())
}

// Order gives an order to a vjob that the subject may change.
func (v *Service) Order(ctx context.Context, caller Subject, id cluster.VJobID, order scheduler.Order) error {
	if _, err := v.finder.find(ctx, caller, id, Change); err != nil {
		return err
	}
	return v.orders.Order(ctx, id, order, caller.Name)
}

// Groups returns the groups of the caller; known is false if neither the system nor the account knows them.
func (v *Service) Groups(ctx context.Context, caller Subject) (list []string, known bool, err error) {
	return v.groups.of(ctx, caller)
}

// SetNode sets the state of a node, for administrators.
func (v *Service) SetNode(ctx context.Context, caller Subject, node cluster.NodeID, state cluster.NodeState) error {
	if !Can(caller, Change, Object{Kind: KindAccount}) {
		return authorise(caller, Change, Object{Kind: KindAccount})
	}
	return v.nodes.setStates(ctx, caller, []cluster.NodeID{node}, state)
}

// Body reads the body of a request within the limits.
func (v *Service) Body(c *gin.Context) ([]byte, error) { return body(c) }
