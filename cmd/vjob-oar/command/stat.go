package command

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"vjob/oar"
	"vjob/oar/report"
	"vjob/oar/script"
)

var statOptions = withFormats(
	script.OptionSpec{Name: "job", Letter: "j", Argument: script.OptionalArgument, Meaning: "only this job; without a number that of OAR_JOB_ID"},
	script.OptionSpec{Name: "full", Letter: "f", Meaning: "all that is known"},
	script.OptionSpec{Name: "state", Letter: "s", Meaning: "only the states, with -j"},
	script.OptionSpec{Name: "user", Letter: "u", Argument: script.OptionalArgument, Meaning: "only jobs of a user, without a name of yourself"},
	script.OptionSpec{Name: "array", Argument: script.OptionalArgument, Meaning: "the places in arrays; with a number only this array"},
	script.OptionSpec{Name: "compact", Letter: "c", Meaning: "a line for each array"},
	script.OptionSpec{Name: "gantt", Letter: "g", Argument: script.TextArgument, Meaning: "which job has which nodes between \"YYYY-MM-DD hh:mm:ss, YYYY-MM-DD hh:mm:ss\", as JSON"},
	script.OptionSpec{Name: "events", Letter: "e", Meaning: "the events of jobs, with -j"},
	script.OptionSpec{Name: "properties", Letter: "p", Meaning: "the processors of jobs with their properties, with -j: the input of oarprint"},
	script.OptionSpec{Name: "accounting", Argument: script.TextArgument, Meaning: "what was used between \"YYYY-MM-DD, YYYY-MM-DD\""},
	script.OptionSpec{Name: "format", Argument: script.NumberArgument, Meaning: "1, 2 or 3; also OAR_OARSTAT_OUTPUT_FORMAT"},
	script.OptionSpec{Name: "sql", Argument: script.TextArgument, Meaning: "jobs, also ended ones, for which a condition holds, such as \"project = 'p1' AND state = 'Waiting'\""},
)

// stat is oarstat.
func stat(ctx context.Context, r *commandRun) error {
	query, err := buildQuery(ctx, r)
	if err != nil {
		return err
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	switch {
	case r.has("gantt"):
		return gantt(ctx, r, query)
	case r.has("accounting"):
		return accountingTable(ctx, r, query)
	}
	programs := r.has("json") || r.has("yaml") || r.has("dumper") || r.has("xml")
	if programs && !r.has("state") && !r.has("sql") {
		query.Set("structure", "oar")
		query.Set("format", strconv.Itoa(max(format(r), 2)))
		return copyJSON(ctx, r, "/oarapi/jobs/details", query)
	}
	var page oar.Page[oar.Job]
	if r.has("sql") {
		page.Items, err = r.whereJobs(ctx, query, false)
	} else {
		err = c.Get(ctx, "/oarapi/jobs/details", query, &page)
	}
	if err != nil {
		return err
	}
	jobs, now := page.Items, r.Now()
	switch {
	case r.has("sql") && programs && !r.has("state"):
		data, err := report.JSON(jobs, max(format(r), 2))
		if err != nil {
			return err
		}
		_, err = r.printStructured(data)
		return err
	case r.has("state") && programs:
		data, err := report.StatesJSON(jobs)
		if err != nil {
			return err
		}
		_, err = r.printStructured(data)
		return err
	case r.has("state"):
		r.print("%s", report.States(jobs))
	case len(jobs) == 0 && r.has("array") && (r.has("events") || r.has("properties")):
		return errNoJobs
	case r.has("events"):
		r.print("%s", report.Events(jobs, now))
	case r.has("properties"):
		if err := r.printJobResources(ctx, jobs); err != nil {
			return err
		}
	case r.has("full"):
		r.print("%s", report.Full(jobs, now))
	default:
		r.print("%s", report.Table(jobs, layout(r), now))
	}
	return checkVisible(query, len(jobs))
}

// checkVisible returns an error if none of the named jobs is visible. OAR prints nothing then, which scripts
// cannot detect.
func checkVisible(query url.Values, found int) error {
	if ids := query.Get("ids"); ids != "" && found == 0 {
		return exitError(1, "# Error: there is no job %s, or you may not see it.", strings.ReplaceAll(ids, ":", ", "))
	}
	return nil
}

func layout(r *commandRun) report.Layout {
	switch {
	case r.has("compact"):
		return report.Compact
	case r.has("array") && format(r) == 1:
		return report.ClassicArrays
	case r.has("array"):
		return report.Arrays
	case format(r) == 1:
		return report.Classic
	}
	return report.Short
}

func format(r *commandRun) int {
	n, _ := strconv.Atoi(cmp.Or(r.value("format"), r.Getenv("OAR_OARSTAT_OUTPUT_FORMAT"), "2"))
	return n
}

// errNoJobs: events and properties require named jobs.
var errNoJobs = exitError(1, "No job ids specified")

// buildQuery checks the options and converts them to a query.
func buildQuery(ctx context.Context, r *commandRun) (url.Values, error) {
	query := url.Values{"limit": {maxJobs}}
	array, arrayed := r.given.Value("array")
	exports := 0
	for _, f := range formats {
		if r.has(f.Name) {
			exports++
		}
	}
	switch {
	case r.has("sql") && r.has("properties"):
		return nil, exitError(1, "Options --sql and -p cannot be used together")
	case r.has("job") && arrayed:
		return nil, exitError(1, `/!\ ERROR: Conflicting Job IDs and Array IDs (--array and -j cannot be used together)`)
	case r.has("compact") && (exports > 0 || r.has("full")):
		return nil, exitError(1, "Compact view cannot be used with exports or full view")
	case exports > 1:
		return nil, exitError(2, "-J, -Y, -D and -X exclude each other")
	case r.has("state") && !r.has("job"):
		return nil, exitError(1, "--state can only be used with an id")
	case (r.has("events") || r.has("properties")) && !r.has("job") && array == "":
		return nil, errNoJobs
	case r.has("format") && (format(r) < 1 || format(r) > 3):
		return nil, exitError(1, "Value %q invalid for option format (1, 2 or 3 expected)", r.value("format"))
	case r.has("properties") && exports > 0:
		return nil, exitError(1, "-p prints text only: use GET /oarapi/jobs/ID/resources")
	case len(r.arguments) > 0:
		return nil, usageError(1, "")
	}
	if arrayed && array != "" {
		if _, ok := number(array); !ok {
			return nil, exitError(1, "Value %q invalid for option array (number expected)", array)
		}
		query.Set("array", array)
	}
	if name, given := r.given.Value("user"); given {
		if name == "" {
			who, err := r.whoami(ctx)
			if err != nil {
				return nil, err
			}
			name = who.Name
		}
		query.Set("user", name)
	}
	ids, err := jobNumbers(r)
	if err == nil && ids != "" {
		query.Set("ids", ids)
	}
	return query, err
}

// jobNumbers returns the job numbers of the command line, separated by colons.
func jobNumbers(r *commandRun) (string, error) {
	var ids []string
	for _, text := range r.given.Values("job") {
		if text == "" {
			text = r.environmentJob()
		}
		if text == "" {
			return "", exitError(255, "No job id provided in command line or environment variables")
		}
		if _, ok := number(text); !ok {
			return "", exitError(1, "Value %q invalid for option job (number expected)", text)
		}
		ids = append(ids, text)
	}
	return strings.Join(ids, ":"), nil
}

// copyJSON prints JSON as the daemon sends it, or converts it.
func copyJSON(ctx context.Context, r *commandRun, path string, query url.Values) error {
	c, err := r.client()
	if err != nil {
		return err
	}
	in, err := c.Open(ctx, path, query)
	if err != nil {
		return err
	}
	defer in.Close()
	if r.has("json") && query.Get("ids") == "" {
		_, err = io.Copy(r.Out, in)
		return err
	}
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if _, err = r.printStructured(data); err != nil {
		return err
	}
	return checkVisible(query, len(strings.Trim(string(data), "{}\n ")))
}

// parsePeriod parses two dates separated by a comma.
func parsePeriod(r *commandRun, option string) (from, to time.Time, err error) {
	first, second, two := strings.Cut(r.value(option), ",")
	bad := exitError(1, "Bad syntax for --%s", option)
	if !two {
		return from, to, bad
	}
	zone := r.Now().Location()
	var errs [2]error
	from, _, errs[0] = oar.ParseTime(strings.TrimSpace(first), zone)
	to, _, errs[1] = oar.ParseTime(strings.TrimSpace(second), zone)
	if errs[0] != nil || errs[1] != nil || to.Before(from) {
		return from, to, bad
	}
	return from, to, nil
}

func gantt(ctx context.Context, r *commandRun, query url.Values) error {
	from, to, err := parsePeriod(r, "gantt")
	if err != nil {
		return err
	}
	query.Set("from", strconv.FormatInt(from.Unix(), 10))
	query.Set("to", strconv.FormatInt(to.Unix(), 10))
	query.Del("limit")
	if !r.has("yaml") && !r.has("dumper") && !r.has("xml") {
		r.given = append(r.given, script.Option{Name: "json"}) // vjob draws no picture
	}
	return copyJSON(ctx, r, "/oarapi/gantt", query)
}

func accountingTable(ctx context.Context, r *commandRun, query url.Values) error {
	from, to, err := parsePeriod(r, "accounting")
	if err != nil {
		return err
	}
	query.Set("from", strconv.FormatInt(from.Unix(), 10))
	query.Set("to", strconv.FormatInt(to.AddDate(0, 0, 1).Unix()-1, 10)) // to the end of the last day
	query.Del("limit")
	if r.has("json") || r.has("yaml") || r.has("dumper") || r.has("xml") {
		return copyJSON(ctx, r, "/oarapi/accounting", query)
	}
	c, err := r.client()
	if err != nil {
		return err
	}
	var page oar.Page[oar.Usage]
	if err := c.Get(ctx, "/oarapi/accounting", query, &page); err != nil {
		return err
	}
	r.print("%s", report.Accounting(page.Items, r.Now()))
	return nil
}
