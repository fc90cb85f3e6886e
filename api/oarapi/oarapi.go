// Package oarapi is the REST API in OAR's dialect, under /oarapi. Scripts of users call it, and
// vjob-oar does.
//
// Calls go through the authentication, roles and limits of package api. [Translate] turns a
// submission into a vjob: it reads the options of oarsub, applies the rules of admission, and
// translates resources, types, dates and names into VMs, placement rules and terms.
package oarapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
)

// Config is the configuration of the dialect.
type Config struct {
	Site   admission.Site
	Queues []oar.Queue // for oarqueue
	// Suspenders: users may suspend and resume their running jobs.
	Suspenders bool
	Version    string
}

// Dialect implements OAR's REST API. It is safe for concurrent use.
type Dialect struct {
	Config
	submissions *submitter // nil before Endpoints
}

// New creates a dialect.
func New(c Config) *Dialect { return &Dialect{Config: c} }

const root = "/oarapi"

// Path removes the suffix by which OAR's clients request JSON.
func (d *Dialect) Path(path string) string {
	if strings.HasPrefix(path, root+"/") {
		return strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".json")
	}
	return path
}

// Endpoints returns the endpoints of the API.
func (d *Dialect) Endpoints(s *api.Service) []api.Endpoint {
	list := d.endpoints(s)
	for i := range list {
		e := &list[i]
		e.Path, e.Errors = root+e.Path, &api.ErrorShape{Name: "OAR", Show: failure}
		e.Status = cmp.Or(e.Status, http.StatusOK)
		e.Verb = cmp.Or(e.Verb, api.Read)
	}
	return list
}

// service is what handlers use of the daemon.
type service struct{ *api.Service }

// now returns the time in seconds since 1970.
func (s *service) now() int64 { return s.Now().Unix() }

// failure returns an error in OAR's shape, which includes the native one.
func failure(status int, body wire.ErrorBody, cause error) any {
	f := oar.Failure{Code: status, Title: http.StatusText(status), Message: body.Message, Exit: int(exitCodeOf(cause))}
	if f.Exit == int(oar.ExitRefused) {
		_, f.Message, _ = strings.Cut(f.Message, "\n") // the output has OAR's line already
	}
	f.Error.Code, f.Error.Message, f.Error.Field = body.Code, body.Message, body.Field
	for _, bad := range body.Fields {
		f.Error.Fields = append(f.Error.Fields, oar.Wrong(bad))
	}
	if said, ok := errors.AsType[*outputError](cause); ok {
		f.Output = joinLines(said.output)
	}
	return f
}

// exitCodeOf returns the exit code of OAR's command for an error.
func exitCodeOf(err error) oar.Exit {
	code, ok := oar.ExitOf(err)
	switch {
	case ok:
		return code
	case errors.Is(err, cluster.ErrForbidden):
		return oar.ExitAdmission
	case errors.Is(err, cluster.ErrInvalid):
		return oar.ExitResources
	}
	return 1
}

// outputError is an error with the output of rules of admission before it.
type outputError struct {
	error
	output []string
}

// Unwrap returns the error itself.
func (r *outputError) Unwrap() error { return r.error }

// joinLines ends each line with a newline.
func joinLines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// jobLinks returns the links of a job to itself and its parts.
func jobLinks(id string) []oar.Link {
	self := root + "/jobs/" + id
	return []oar.Link{
		{Rel: "self", Href: self},
		{Rel: "collection", Title: "resources", Href: self + "/resources"},
		{Rel: "collection", Title: "nodes", Href: self + "/nodes"},
	}
}

// notFound is the error for things that do not exist or that the caller may not see.
func notFound(what, name string) error {
	return fmt.Errorf("%s %.80q: %w", what, name, cluster.ErrNotFound)
}
