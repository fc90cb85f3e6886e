package oar

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"vjob/cluster"
)

// JobView is a vjob with what its scheduler and journal know of it.
type JobView struct {
	*cluster.VJob
	Reserved       cluster.Resources // of all VMs
	Started, Ended time.Time
	Start          time.Time // the forecast start of a waiting vjob
	Planned        bool      // the current plan boots the vjob, but the boot has not begun
	Nodes          []cluster.NodeID
	Events         []Event
	OutputFolder   string // of the owner, with the output files of vjobs; "" if the site keeps none
	// Why says why the vjob is in its state, and what it waits for.
	Why string
}

// DefaultQueue is OAR's name for the queue of a job without one.
const DefaultQueue = "default"

// State returns the state of the job.
func (v *JobView) State() State {
	ended := v.Outcome == cluster.Completed || v.Outcome == cluster.Unsuccessful || v.Outcome == cluster.WalltimeExceeded
	ran := ended || !v.Started.IsZero() // short vjobs may end before they are seen running
	state := v.VJob.State
	if v.Outcome == cluster.Unsuccessful {
		state = cluster.Terminated // only the exit code tells that the command failed
	}
	return StateOf(VJobState{State: state, Held: v.Held, Started: ran, Planned: v.Planned})
}

// JobOf converts a vjob to a job of OAR. index has the number of each node.
func JobOf(v *JobView, index map[cluster.NodeID]int) Job {
	r, _ := RecordOf(v.Labels)
	name := cmp.Or(r.Name, v.Name)
	j := Job{
		ID: int64(v.ID), ArrayID: int64(cmp.Or(v.Array, v.ID)), ArrayIndex: max(v.Index, 1),
		Owner: v.Owner, User: v.Owner, State: string(v.State()),
		Queue: cmp.Or(r.Queue, v.Queue, DefaultQueue), Command: r.command(v.Parameter), Directory: r.Directory,
		Type: "PASSIVE", Properties: r.Properties, Reservation: "None", Walltime: int64(v.Walltime / time.Second),
		Submitted: unixSeconds(v.Submitted), Started: unixSeconds(v.Started), Stopped: unixSeconds(v.Ended), Scheduled: unixSeconds(v.Start),
		Message: r.message(v, name), Resubmits: cmp.Or(r.Resubmits, int64(v.Replaces)), Events: v.Events, Wanted: r.Wanted,
		Project: cmp.Or(v.Project, DefaultQueue), CPUSet: fmt.Sprintf("%s_%d", v.Owner, v.ID), Types: r.Types,
		Stdout: v.outputFile(v.Output), Stderr: v.outputFile(cmp.Or(v.Error, v.Output)), InitialRequest: r.InitialRequest,
		Resources: []int{}, Nodes: []string{}, Dependencies: []int64{},
	}
	if name != "" {
		j.Name = &name
	}
	if v.Exit.Known() {
		status := v.Exit.Value() << 8 // the encoding of wait(2)
		j.ExitCode = &status
	}
	if r.Interactive {
		j.Type = "INTERACTIVE"
	}
	if !v.Reservation.IsZero() {
		j.Reservation, j.Scheduled = "Scheduled", cmp.Or(unixSeconds(v.Started), unixSeconds(v.Reservation))
	}
	if j.Started != 0 {
		j.Scheduled = j.Started
	}
	for _, d := range v.Dependencies() {
		j.Dependencies = append(j.Dependencies, int64(d.On))
	}
	for _, id := range distinctNodes(v.Nodes) {
		j.Nodes, j.Resources = append(j.Nodes, string(id)), append(j.Resources, index[id])
	}
	if j.Types == nil {
		j.Types = []string{}
	}
	if j.Events == nil {
		j.Events = []Event{}
	}
	return j
}

// command returns the command, with the parameters of a sub-job.
func (r *Record) command(parameter string) string {
	if parameter == "" {
		return r.Command
	}
	return r.Command + " " + parameter
}

// message returns the line that oarstat shows: the request, and why a waiting job waits.
func (r *Record) message(v *JobView, name string) string {
	kind := "B"
	switch {
	case !v.Reservation.IsZero():
		kind = "R"
	case r.Interactive:
		kind = "I"
	}
	var b strings.Builder
	processors := v.Reserved.CPU * cluster.MilliCPU(Sharers(r.Types))
	fmt.Fprintf(&b, "R=%d,W=%s,J=%s", (processors+cluster.CPU-1)/cluster.CPU, FormatWalltime(v.Walltime), kind)
	for _, part := range []struct{ key, value string }{
		{"N", name}, {"Q", unlessUsual(r.Queue, DefaultQueue, "besteffort")}, {"P", unlessUsual(v.Project, DefaultQueue)}, {"T", strings.Join(r.Types, "|")},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, ",%s=%s", part.key, part.value)
		}
	}
	if why := v.Why; why != "" && (v.VJob.State.Ready() || v.VJob.State == cluster.Failed) {
		fmt.Fprintf(&b, " (%s)", why)
	}
	return b.String()
}

// unlessUsual returns the text, or "" if it is one of the usual values.
func unlessUsual(text string, usual ...string) string {
	if slices.Contains(usual, text) {
		return ""
	}
	return text
}

// OutputPattern returns the name of an output file of OAR as a pattern of a vjob: with %j for %jobid%, and for
// %jobname% the pattern name.
func OutputPattern(file, name string) string {
	if file == "" {
		return ""
	}
	return path.Clean(strings.NewReplacer("%jobid%", "%j", "%jobname%", name, "%", "%%").Replace(file))
}

// outputFile returns the file that keeps the output which goes to a pattern of the vjob; "" if none does.
func (v *JobView) outputFile(pattern string) string {
	if pattern == "" || v.OutputFolder == "" {
		return ""
	}
	return path.Join(v.OutputFolder, v.OutputName(pattern, 0))
}

func distinctNodes(nodes []cluster.NodeID) []cluster.NodeID {
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(id cluster.NodeID) bool { return id == "" })
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
