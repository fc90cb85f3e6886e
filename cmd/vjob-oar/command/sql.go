package command

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"vjob/oar"
	"vjob/oar/property"
)

// jobColumns are the columns of OAR's table of jobs that a condition may name, as far as jobs have them here.
var jobColumns = map[string]func(*oar.Job) string{
	"job_id":              func(j *oar.Job) string { return strconv.FormatInt(j.ID, 10) },
	"array_id":            func(j *oar.Job) string { return strconv.FormatInt(j.ArrayID, 10) },
	"array_index":         func(j *oar.Job) string { return strconv.Itoa(j.ArrayIndex) },
	"job_name":            jobName,
	"job_user":            func(j *oar.Job) string { return j.Owner },
	"job_type":            func(j *oar.Job) string { return j.Type },
	"state":               func(j *oar.Job) string { return j.State },
	"queue_name":          func(j *oar.Job) string { return j.Queue },
	"project":             func(j *oar.Job) string { return j.Project },
	"command":             func(j *oar.Job) string { return j.Command },
	"launching_directory": func(j *oar.Job) string { return j.Directory },
	"properties":          func(j *oar.Job) string { return j.Properties },
	"reservation":         func(j *oar.Job) string { return j.Reservation },
	"message":             func(j *oar.Job) string { return j.Message },
	"submission_time":     func(j *oar.Job) string { return strconv.FormatInt(j.Submitted, 10) },
	"start_time":          func(j *oar.Job) string { return strconv.FormatInt(j.Started, 10) },
	"stop_time":           func(j *oar.Job) string { return strconv.FormatInt(j.Stopped, 10) },
	"exit_code":           exitCode,
}

func jobName(j *oar.Job) string {
	if j.Name == nil {
		return ""
	}
	return *j.Name
}

func exitCode(j *oar.Job) string {
	if j.ExitCode == nil {
		return ""
	}
	return strconv.Itoa(*j.ExitCode)
}

// jobProperties returns the columns of a job. Texts that are not set are NULL, as in OAR.
func jobProperties(j *oar.Job) property.Properties {
	return func(name string) (string, bool) {
		of, ok := jobColumns[name]
		if !ok {
			return "", false
		}
		value := of(j)
		return value, value != ""
	}
}

// nodeProperties returns the properties of a node.
func nodeProperties(n *oar.Resource) property.Properties {
	own := map[string]string{
		"resource_id": strconv.Itoa(n.ID), "network_address": n.Node, "host": n.Node, "state": n.State, "drain": n.Draining,
		"cpu_milli": strconv.FormatInt(n.CPUMilli, 10), "memory_mib": strconv.FormatInt(n.MemoryMiB, 10),
	}
	return func(name string) (string, bool) {
		if value, ok := own[name]; ok {
			return value, true
		}
		value, ok := n.Labels[name]
		return value, ok
	}
}

// where parses the condition of --sql. It is evaluated here, and never reaches a database.
func (r *commandRun) where(names []string) (property.Filter, error) {
	f, err := property.Parse("--sql", r.value("sql"))
	if err == nil && names != nil {
		err = f.Check(names)
	}
	if bad, ok := errors.AsType[*oar.Error](err); ok {
		return f, &oar.Error{Exit: oar.ExitOption, OAR: "Bad condition for --sql", Position: bad.Position, Text: bad.Text}
	}
	return f, err
}

// whereJobs returns the jobs for which the condition of --sql holds. live leaves out those that have ended.
func (r *commandRun) whereJobs(ctx context.Context, query url.Values, live bool) ([]oar.Job, error) {
	names := make([]string, 0, len(jobColumns))
	for name := range jobColumns {
		names = append(names, name)
	}
	slices.Sort(names)
	f, err := r.where(names)
	if err != nil {
		return nil, err
	}
	c, err := r.client()
	if err != nil {
		return nil, err
	}
	if !live && query.Get("ids") == "" {
		query.Set("from", "1") // also those that have ended
	}
	query.Set("limit", maxJobs)
	var page oar.Page[oar.Job]
	if err := c.Get(ctx, "/oarapi/jobs/details", query, &page); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(page.Items, func(j oar.Job) bool {
		return live && !oar.State(j.State).Active() || !f.Matches(jobProperties(&j))
	}), nil
}

// jobsToOrder returns the live jobs for which the condition of --sql holds.
func (r *commandRun) jobsToOrder(ctx context.Context) (ids []int64, err error) {
	if len(r.arguments) > 0 || r.has("array") {
		return nil, usageError(1, "--sql names the jobs: want neither numbers nor --array beside it")
	}
	jobs, err := r.whereJobs(ctx, url.Values{}, true)
	for i := range jobs {
		ids = append(ids, jobs[i].ID)
	}
	if err == nil && len(ids) == 0 {
		r.printError(fmt.Sprintf("# Warning: no job matches %s.", oar.Quoted(r.value("sql"))))
	}
	return ids, err
}

// maxJobs is the limit of lists of jobs.
const maxJobs = "100000"
