package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"golang.org/x/time/rate"

	"vjob/cluster"
)

// errRate refuses what comes too fast.
var errRate = fmt.Errorf("the rate of requests exceeds the limit: send fewer per second: %w", cluster.ErrTooMany)

// maxBuckets bounds the memory that callers can take by having many names.
const maxBuckets = 10_000

// buckets is a token bucket per name.
type buckets struct {
	perSecond rate.Limit
	burst     int

	mu     sync.Mutex
	byName map[string]*rate.Limiter
}

func newBuckets(perSecond float64, burst int) *buckets {
	return &buckets{perSecond: rate.Limit(perSecond), burst: burst, byName: map[string]*rate.Limiter{}}
}

// allow takes one token of the name's bucket.
func (b *buckets) allow(name string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	bucket, ok := b.byName[name]
	if !ok {
		if len(b.byName) >= maxBuckets {
			b.sweep(now)
		}
		bucket = rate.NewLimiter(b.perSecond, b.burst)
		b.byName[name] = bucket
	}
	return bucket.AllowN(now, 1)
}

// sweep removes full buckets, which equal new ones; without full ones it removes all.
func (b *buckets) sweep(now time.Time) {
	for name, bucket := range b.byName {
		if bucket.TokensAt(now) >= float64(b.burst) {
			delete(b.byName, name)
		}
	}
	if len(b.byName) >= maxBuckets {
		clear(b.byName)
	}
}

// record counts and logs every request once it has ended.
func (s *Server) record(c *gin.Context) {
	began := s.now()
	c.Header("X-Content-Type-Options", "nosniff")
	c.Header("Cache-Control", "no-store")
	c.Next()
	took := s.now().Sub(began)
	s.metrics.request(c.FullPath(), c.Request.Method, c.Writer.Status(), took)
	s.log.LogAttrs(c.Request.Context(), slog.LevelDebug, "request",
		slog.String("method", c.Request.Method), slog.String("path", c.Request.URL.Path),
		slog.Int("status", c.Writer.Status()), slog.Int("bytes", c.Writer.Size()),
		slog.Duration("took", took), slog.String("remote", c.Request.RemoteAddr))
}

// recover turns a panic into an answer; one that means to break the connection
// goes on.
func (s *Server) recover(c *gin.Context) {
	defer func() {
		what := recover()
		if what == nil {
			return
		}
		if what == http.ErrAbortHandler { //nolint:errorlint // net/http compares the same way
			panic(what)
		}
		s.log.LogAttrs(c.Request.Context(), slog.LevelError, "handler panicked",
			slog.Any("panic", what), slog.String("stack", string(debug.Stack())))
		s.fail(c, fmt.Errorf("panic: %v", what))
	}()
	c.Next()
}
