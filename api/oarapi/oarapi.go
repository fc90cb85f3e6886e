// Package oarapi is the REST API in OAR's dialect, under /oarapi: the calls of OAR's users' scripts,
// and those of vjob-oar.
//
// Calls go through the authentication, roles and limits of package api. [Translate] turns a
// submission into a vjob: it reads the options of oarsub, applies the rules of admission, and
// translates resources, types, dates and names into VMs, placement rules and terms.
package oarapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar"
	"vjob/oar/admission"
)

// Config is what an administrator has set.
type Config struct {
	Site   admission.Site
	Queues []oar.Queue // as oarqueue shows them
	// Suspenders lets users suspend and resume their own jobs that run.
	Suspenders bool
	Version    string
}

// Dialect is the language. It is safe for concurrent use.
type Dialect struct {
	Config
	service *api.Service
	turns   submissionQueues
}

var _ api.Dialect = (*Dialect)(nil)

// New makes the dialect of a site.
func New(c Config) *Dialect { return &Dialect{Config: c} }

const root = "/oarapi"

// Path takes the suffix away by which OAR's clients ask for JSON.
func (d *Dialect) Path(path string) string {
	if strings.HasPrefix(path, root+"/") {
		return strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".json")
	}
	return path
}

// Operations are all that can be asked for.
func (d *Dialect) Operations(s *api.Service) []api.Operation {
	d.service = s
	list := append(d.jobOperations(), d.orderOperations()...)
	list = append(list, d.siteOperations()...)
	for i := range list {
		o := &list[i]
		o.Path, o.Fail, o.Failure = root+o.Path, fail, oar.Failure{}
		if o.Status == 0 {
			o.Status = http.StatusOK
		}
		if o.Verb == "" {
			o.Verb = api.Read
		}
	}
	return list
}

// fail tells an error in OAR's shape, with our own beside it.
func fail(c *gin.Context, status int, body wire.ErrorBody, cause error) {
	f := oar.Failure{Code: status, Title: http.StatusText(status), Message: body.Message, Exit: int(exitCodeOf(cause))}
	if f.Exit == int(oar.ExitRefused) {
		_, f.Message, _ = strings.Cut(f.Message, "\n") // the first line is OAR's, and stands in the output
	}
	f.Error.Code, f.Error.Message, f.Error.Field = body.Code, body.Message, body.Field
	if said, ok := errors.AsType[*refusedAfterOutput](cause); ok {
		f.Output = joinLines(said.said)
	}
	c.AbortWithStatusJSON(status, f)
}

// exitCodeOf is what OAR's command would exit with.
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

// refusedAfterOutput is an error before which rules of admission had something to say.
type refusedAfterOutput struct {
	error
	said []string
}

// Unwrap is the error itself.
func (r *refusedAfterOutput) Unwrap() error { return r.error }

// joinLines ends each with a new line.
func joinLines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// now is the present in seconds.
func (d *Dialect) now() int64 { return d.service.Now().Unix() }

// jobLinks point to a job and to what belongs to it.
func jobLinks(id string) []oar.Link {
	self := root + "/jobs/" + id
	return []oar.Link{
		{Rel: "self", Href: self},
		{Rel: "collection", Title: "resources", Href: self + "/resources"},
		{Rel: "collection", Title: "nodes", Href: self + "/nodes"},
	}
}

// notFound is what there is not, or the caller may not see.
func notFound(what, name string) error {
	return fmt.Errorf("%s %.80q: %w", what, name, cluster.ErrNotFound)
}
