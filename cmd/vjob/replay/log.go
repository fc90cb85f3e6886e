package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/internal/chart"
	"vjob/papers/jobs/backfill"
	"vjob/sim/swf"
)

// checkLog says which flag is wrong for a log.
func (f *replayFlags) checkLog() error {
	switch {
	case f.processors < 0:
		return cluster.BadField("--processors", f.processors, "1 or more, or 0 for what the log says")
	case f.starts != "" && len(f.policies) != 1:
		return cluster.Fault("--starts", "requires a single --policy: each has its own starts")
	}
	for _, policy := range f.policies {
		if !slices.Contains(backfill.Names(), policy) {
			return cluster.BadField("--policy", policy, "one of "+strings.Join(backfill.Names(), ", "))
		}
	}
	return nil
}

// replayLog runs a log on one pool of processors.
func replayLog(ctx context.Context, a *cli.App, f *replayFlags, in io.Reader, name string, svg, starts *cli.Target) error {
	if err := f.checkLog(); err != nil {
		return err
	}
	log, err := swf.Read(in, f.processors)
	var field *cluster.FieldError
	switch {
	case errors.As(err, &field) && field.Field == "processors":
		return fmt.Errorf("%s: %w", name, cluster.Renamed("--processors", err))
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	if 0 < f.jobs && f.jobs < len(log.Jobs) {
		log.Jobs = log.Jobs[:f.jobs]
	}
	var results []*backfill.Result
	for _, policy := range f.policies {
		bar := progress(a, policy, "jobs")
		r, err := backfill.Run(ctx, log, policy, func(started, all int, at backfill.Time) { bar.show(started, all, backfill.Duration(at)) })
		bar.end()
		if err != nil {
			return fmt.Errorf("replay %s with %s: %w", name, policy, err)
		}
		results = append(results, r)
	}
	title := filepath.Base(name)
	err = errors.Join(
		svg.Write(func(w io.Writer) error { return chart.Write(w, backfill.Figure(title, results)) }),
		starts.Write(results[0].WriteStarts),
	)
	if err != nil {
		return err
	}
	l := replayedLog{title: title, log: log, given: f.processors > 0, results: results}
	if a.Structured() {
		return a.Print(l.json())
	}
	return l.table(a.Out)
}
