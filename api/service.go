package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
	"vjob/scheduler/admission"
)

// Operation is an operation beside /v1, of [Config.Operations]. It has the same authentication,
// roles and limits as the endpoints of /v1, and does its work through [Service].
type Operation struct {
	Method, Path string
	Name         string // operationId of OpenAPI
	Summary      string
	Reserved     bool // for administrators
	Verb         Verb
	Query        []Parameter
	Body, Result any   // zero values; nil for none
	Also         []any // zero values of other results, by the query
	Bulky        bool  // its body may have the length of a submission
	Status       int   // of success
	Handle       func(c *gin.Context, caller Subject) error
	Fail         Fail // nil: the shape of /v1
	Failure      any  // zero value of what Fail answers
}

// Parameter is one key of a query string.
type Parameter struct {
	Name, Kind, Meaning string // Kind is OpenAPI's: string, integer or boolean
}

// Fail answers with an error in a shape of its own.
type Fail func(c *gin.Context, status int, body wire.ErrorBody, cause error)

// failKey is where the context of a request keeps its [Fail].
const failKey = "fail"

// operationEndpoints returns the endpoints of operations.
func operationEndpoints(operations []Operation) (table []endpoint) {
	for _, o := range operations {
		e := endpoint{
			method: o.Method, path: o.Path, operation: o.Name, summary: o.Summary, access: authenticated, verb: o.Verb,
			body: o.Body, largeBody: o.Bulky, status: o.Status, result: o.Result, also: o.Also, fail: o.Fail, failure: o.Failure,
			handle: func(_ *Server, c *gin.Context, caller Subject) error { return o.Handle(c, caller) },
		}
		if o.Reserved {
			e.access = administrator
		}
		for _, p := range o.Query {
			e.query = append(e.query, param{name: p.Name, kind: p.Kind, what: p.Meaning})
		}
		table = append(table, e)
	}
	return table
}

// withCanonicalPaths replaces the path of each request by its canonical one. canonical may be nil.
func withCanonicalPaths(next http.Handler, canonical func(path string) string) http.Handler {
	if canonical == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = canonical(r.URL.Path)
		next.ServeHTTP(w, r)
	})
}

// Service is the API of the daemon for [Operation] handlers, on behalf of a caller. Vjobs that the
// caller may not see are cluster.ErrNotFound.
type Service struct{ server *Server }

// Now is the present.
func (v *Service) Now() time.Time { return v.server.now() }

// Snapshot is the latest state of the loop.
func (v *Service) Snapshot() *scheduler.Snapshot { return v.server.snapshot() }

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
	job, created, err := v.server.submitChecked(ctx, caller, key, body, admission.Rights{})
	v.server.metrics.submission(created, err)
	return job, err
}

// Find is a vjob with all its parts, if the subject may do this to it.
func (v *Service) Find(ctx context.Context, caller Subject, id cluster.VJobID, verb Verb) (journal.Kept, error) {
	return v.server.find(ctx, caller, id, verb)
}

// List lists the vjobs of the filter that the subject may see.
func (v *Service) List(ctx context.Context, caller Subject, f journal.Filter) ([]journal.Row, error) {
	if own := caller.Viewer(); own != "" {
		if f.Owner != "" && f.Owner != own {
			return nil, nil
		}
		f.Owner = own
	}
	rows, _, err := v.server.reader.VJobs(ctx, f)
	return rows, err
}

// Events are the latest events of a vjob that the subject may see.
func (v *Service) Events(ctx context.Context, caller Subject, id cluster.VJobID) ([]journal.Event, error) {
	return v.server.reader.Events(ctx, journal.EventFilter{Owner: caller.Viewer(), VJob: id, Limit: shownEvents, Latest: true})
}

// Redact is a text about vjobs as the subject may read it.
func (v *Service) Redact(caller Subject, text string) string {
	return Shown(text, caller.Viewer(), v.server.snapshot())
}

// ConsoleOutput returns the end of the console output of a VM; nil without output.
func (v *Service) ConsoleOutput(ctx context.Context, vm cluster.VMID) ([]byte, error) {
	if v.server.console == nil {
		return nil, nil
	}
	text, err := v.server.console.Console(ctx, vm)
	if errors.Is(err, cluster.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return lastBytes(text, consoleTailBytes)
}

// Order asks something of a vjob that the subject may change.
func (v *Service) Order(ctx context.Context, caller Subject, id cluster.VJobID, order scheduler.Order) error {
	if _, err := v.server.find(ctx, caller, id, Change); err != nil {
		return err
	}
	return v.server.scheduler.Order(ctx, id, order, caller.Name)
}

// Groups returns the groups of the caller; known is false if neither the system nor the account knows them.
func (v *Service) Groups(ctx context.Context, caller Subject) (list []string, known bool, err error) {
	return v.server.groups(ctx, caller)
}

// SetNode sets the state of a node, for administrators.
func (v *Service) SetNode(ctx context.Context, caller Subject, node cluster.NodeID, state cluster.NodeState) error {
	if !Can(caller, Change, Object{Kind: KindAccount}) {
		return authorise(caller, Change, Object{Kind: KindAccount})
	}
	return v.server.setNodeStates(ctx, caller, []cluster.NodeID{node}, state)
}

// Body reads the body of a request within the limits.
func (v *Service) Body(c *gin.Context) ([]byte, error) { return body(c) }
