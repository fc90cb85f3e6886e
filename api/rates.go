package api

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"vjob/cluster"
)

// errRate refuses requests above a rate.
var errRate = fmt.Errorf("the rate of requests exceeds the limit: send fewer per second: %w", cluster.ErrTooMany)

// maxBuckets bounds the memory that callers can take by having many names.
const maxBuckets = 10_000

// buckets is a token bucket per name. It is safe for concurrent use.
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
