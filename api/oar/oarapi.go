// Package oar is the REST API in OAR's shape, under /oarapi: the calls that scripts
// of OAR's users make, and those of our own oarsub and its family. It turns them into
// the daemon's own, behind the same authentication, roles and limits.
//
// It refuses to decide anything that package api/oar/submission can.
package oar

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/api/oar/submission"
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/oar/message"
	"vjob/oar/rest"
)

// Config is what an administrator has set.
type Config struct {
	Site   submission.Site
	Queues []rest.Queue // as oarqueue shows them
	// Suspenders lets users suspend and resume their own jobs that run.
	Suspenders bool
	Version    string
}

// Dialect is the language. It is safe for concurrent use.
type Dialect struct {
	Config
	service *api.Service
	turns   turns
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
		o.Path, o.Fail, o.Failure = root+o.Path, fail, rest.Failure{}
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
	f := rest.Failure{Code: status, Title: http.StatusText(status), Message: body.Message, Exit: int(exitOf(cause))}
	if f.Exit == int(message.ExitRefused) {
		_, f.Message, _ = strings.Cut(f.Message, "\n") // the first line is OAR's, and stands in the output
	}
	f.Error.Code, f.Error.Message, f.Error.Field = body.Code, body.Message, body.Field
	if said, ok := errors.AsType[*refused](cause); ok {
		f.Output = lines(said.said)
	}
	c.AbortWithStatusJSON(status, f)
}

// exitOf is what OAR's command would exit with.
func exitOf(err error) message.Exit {
	code, ok := message.ExitOf(err)
	switch {
	case ok:
		return code
	case errors.Is(err, cluster.ErrForbidden):
		return message.ExitAdmission
	case errors.Is(err, cluster.ErrInvalid):
		return message.ExitResources
	}
	return 1
}

// refused is an error before which rules of admission had something to say.
type refused struct {
	error
	said []string
}

// Unwrap is the error itself.
func (r *refused) Unwrap() error { return r.error }

// lines ends each with a new line.
func lines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// now is the present in seconds.
func (d *Dialect) now() int64 { return d.service.Now().Unix() }

// links point to a job and to what belongs to it.
func links(id string) []rest.Link {
	self := root + "/jobs/" + id
	return []rest.Link{
		{Rel: "self", Href: self},
		{Rel: "collection", Title: "resources", Href: self + "/resources"},
		{Rel: "collection", Title: "nodes", Href: self + "/nodes"},
	}
}

// missing is what there is not, or the caller may not see.
func missing(what, name string) error {
	return fmt.Errorf("%s %.80q: %w", what, name, cluster.ErrNotFound)
}
