package report

import (
	"fmt"
	"strings"
	"time"

	"vjob/oar"
)

// Full formats all that is known of jobs, in blocks. Times that are not known yet are left out.
func Full(jobs []oar.Job, now time.Time) string {
	var b strings.Builder
	for i := range jobs {
		full(&b, &jobs[i], now)
		b.WriteByte('\n')
	}
	return b.String()
}

// unless are the keys of lines that are left out if empty.
var unless = map[string]bool{"exit_code": true, "startTime": true, "stopTime": true}

func full(b *strings.Builder, j *oar.Job, now time.Time) {
	fmt.Fprintf(b, "Job_Id: %d\n", j.ID)
	name, exit, start := "", "", "no prediction"
	if j.Name != nil {
		name = *j.Name
	}
	if j.ExitCode != nil {
		exit = fmt.Sprintf("%d (%d,%d,%d)", *j.ExitCode, *j.ExitCode>>8, *j.ExitCode&127, *j.ExitCode&128)
	}
	if j.Scheduled != 0 {
		start = date(j.Scheduled, now)
	}
	for _, line := range [][2]string{
		{"array_id", fmt.Sprint(j.ArrayID)},
		{"array_index", fmt.Sprint(j.ArrayIndex)},
		{"name", name},
		{"project", j.Project},
		{"owner", j.Owner},
		{"job_user", j.User},
		{"state", j.State},
		{"wanted_resources", j.Wanted},
		{"types", strings.Join(j.Types, ", ")},
		{"dependencies", join(j.Dependencies, " ")},
		{"assigned_resources", join(j.Resources, "+")},
		{"assigned_network_address", strings.Join(j.Nodes, "+")},
		{"queue", j.Queue},
		{"command", j.Command},
		{"exit_code", exit},
		{"launchingDirectory", j.Directory},
		{"stdout_file", j.Stdout},
		{"stderr_file", j.Stderr},
		{"jobType", j.Type},
		{"properties", j.Properties},
		{"reservation", j.Reservation},
		{"walltime", oar.FormatWalltime(time.Duration(j.Walltime) * time.Second)},
		{"submissionTime", date(j.Submitted, now)},
		{"startTime", date(j.Started, now)},
		{"stopTime", date(j.Stopped, now)},
		{"cpuset_name", j.CPUSet},
		{"initial_request", j.InitialRequest},
		{"message", j.Message},
		{"scheduledStart", start},
		{"resubmit_job_id", fmt.Sprint(j.Resubmits)},
		{"events", ""},
	} {
		if line[1] != "" || !unless[line[0]] {
			fmt.Fprintf(b, "    %s = %s\n", line[0], oar.Printable(line[1]))
		}
	}
	for _, e := range j.Events {
		fmt.Fprintf(b, "%s> %s: %s\n", date(e.At, now), e.Type, oar.Printable(e.Text))
	}
}

func join[T any](list []T, between string) string {
	words := make([]string, len(list))
	for i, x := range list {
		words[i] = fmt.Sprint(x)
	}
	return strings.Join(words, between)
}
