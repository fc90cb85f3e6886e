package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/internal/revision"
)

// gate is the middleware in front of the handlers. It authenticates and authorises the caller, and
// applies the limits of rates, of requests in flight, and of bodies.
type gate struct {
	auth     *authenticator
	failures *loginFailures
	rates    *buckets // of callers
	pools    requestPools
	bodies   *bodyLimits
	errors   *errorWriter
	now      func() time.Time
}

// handler returns the handler of an endpoint behind the gate.
func (g *gate) handler(e *Endpoint) gin.HandlerFunc {
	return func(c *gin.Context) {
		if e.Errors != nil {
			c.Set(errorShapeKey, e.Errors)
		}
		caller, err := g.admit(c, e)
		if err == nil {
			err = checkQuery(c.Request.URL.Query(), e.Query)
		}
		var condition revision.Condition
		if err == nil {
			condition, err = e.condition(c.Request)
		}
		if err != nil {
			g.errors.write(c, err)
			return
		}
		leave, err := g.pools.enter(c.Request, e.classOf(c.Request), caller)
		if err != nil {
			if c.Request.ContentLength != 0 {
				c.Header("Connection", "close") // else its body would be waited for
			}
			g.errors.write(c, err)
			return
		}
		defer leave()
		defer g.bodies.limit(c, e.LargeBody)()
		if !condition.IsZero() {
			c.Request = c.Request.WithContext(revision.With(c.Request.Context(), condition))
		}
		if err := e.Handle(c, caller); err != nil {
			g.errors.write(c, err)
		}
	}
}

// admit authenticates the caller and checks the role and the rate.
func (g *gate) admit(c *gin.Context, e *Endpoint) (Subject, error) {
	if e.Access == Public {
		return Subject{}, nil
	}
	caller, err := g.auth.identify(c.Request)
	if err == nil && caller.Name == "" {
		err = errUnauthenticated
	}
	if errors.Is(err, errUnauthenticated) || errors.Is(err, cluster.ErrForbidden) {
		err = g.failures.refuse(c.Request, err)
	}
	if err != nil {
		return Subject{}, err
	}
	keepConnection(c.Writer, c.Request)
	if !g.rates.allow(caller.Name, g.now()) {
		return Subject{}, errRate
	}
	if !Can(caller, e.Verb, e.Access.object(caller)) {
		return Subject{}, authorise(caller, e.Verb, e.Access.object(caller))
	}
	return caller, nil
}

// router routes requests to the endpoints of a table.
func router(table []Endpoint, g *gate, log *requestLog) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.HandleMethodNotAllowed = true
	_ = engine.SetTrustedProxies(nil) // nil cannot be malformed
	engine.Use(log.record, log.recover)
	shapes := map[string]*ErrorShape{} // by the first part of the path
	for i := range table {
		e := &table[i]
		engine.Handle(e.Method, e.Path, g.handler(e))
		if e.Errors != nil {
			shapes[firstPart(e.Path)] = e.Errors
		}
	}
	lost := func(c *gin.Context, err error) {
		if shape, ok := shapes[firstPart(c.Request.URL.Path)]; ok {
			c.Set(errorShapeKey, shape)
		}
		g.errors.write(c, err)
	}
	engine.NoRoute(func(c *gin.Context) { lost(c, notFound("path", c.Request.URL.Path)) })
	engine.NoMethod(func(c *gin.Context) { lost(c, errNoMethod) })
	return engine
}

// firstPart returns the first part of a path.
func firstPart(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
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
