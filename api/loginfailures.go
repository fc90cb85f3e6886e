package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/time/rate"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
)

// Rates of the failed logins that are recorded: per address, and in total, a second.
const (
	failuresPerAddress = 1.0 / 60
	failuresInTotal    = 1.0
	failureBurst       = 30
)

// failureTime bounds the time to record a failed login.
const failureTime = time.Second

// loginFailures limits unauthenticated requests, and records refused credentials in the audit list.
type loginFailures struct {
	audit    *auditLog
	requests *buckets      // unauthenticated requests, by address
	recorded *buckets      // failed logins that are recorded, by address
	total    *rate.Limiter // failed logins of all addresses that are recorded
	now      func() time.Time
}

func newLoginFailures(audit *auditLog, perSecond float64, now func() time.Time) *loginFailures {
	return &loginFailures{
		audit: audit, requests: newBuckets(perSecond, 20), now: now,
		recorded: newBuckets(failuresPerAddress, 1), total: rate.NewLimiter(failuresInTotal, failureBurst),
	}
}

// refuse counts an unauthenticated request against its address and records refused
// credentials. It returns the error for the caller.
func (f *loginFailures) refuse(r *http.Request, err error) error {
	from := origin(r)
	if !f.requests.allow(peerOf(r), f.now()) {
		return errRate
	}
	switch {
	case errors.Is(err, cluster.ErrForbidden):
		f.record(r.Context(), from, err.Error())
	case len(r.Header.Values("Authorization")) > 0:
		f.record(r.Context(), from, "a token that is not valid")
	}
	return err
}

// record records refused credentials, within the rates.
func (f *loginFailures) record(ctx context.Context, from, why string) {
	if now := f.now(); !f.recorded.allow(from, now) || !f.total.AllowN(now, 1) {
		return
	}
	a := f.audit.entry(Subject{From: from}, journal.AuditLoginFailed, "", why)
	late, cancel := context.WithTimeout(ctx, failureTime)
	defer cancel()
	if err := f.audit.store.WriteAudit(late, a); err != nil {
		f.audit.log.LogAttrs(ctx, slog.LevelWarn, "cannot record a failed login", slog.Any("error", err))
	}
	f.audit.logged(ctx, &a)
}
