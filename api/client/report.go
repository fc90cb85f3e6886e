package client

import (
	"context"
	"net/url"
	"strings"
	"time"

	"vjob/api/wire"
)

// ReportQuery chooses what a report adds up. Empty fields are the defaults of the server.
type ReportQuery struct {
	Since, Until         *time.Time
	By                   []string // user, project, queue, node, outcome; day, week or month
	User, Project, Queue string
	Zone                 string // in which days, weeks and months begin
}

// Report returns what vjobs have used in a time, and how they have fared.
func (c *historyClient) Report(ctx context.Context, q ReportQuery) (wire.Report, error) {
	query := url.Values{}
	for key, at := range map[string]*time.Time{"since": q.Since, "until": q.Until} {
		if at != nil {
			query.Set(key, at.UTC().Format(time.RFC3339))
		}
	}
	setText(query, "by", strings.Join(q.By, ","))
	setText(query, "user", q.User)
	setText(query, "project", q.Project)
	setText(query, "queue", q.Queue)
	setText(query, "zone", q.Zone)
	return get[wire.Report](ctx, c.connection, "/v1/report", query)
}
