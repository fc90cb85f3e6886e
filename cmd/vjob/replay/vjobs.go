package replay

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/daemon/settings"
	"vjob/hypervisor/simulated"
	"vjob/internal/chart"
	"vjob/queue"
	"vjob/scheduler/admission"
	"vjob/scheduler/decide"
	"vjob/sim/replay"
	"vjob/sim/swf"
	"vjob/sim/workload"
)

// replayedWorkload is vjobs that are to be run, and where they come from.
type replayedWorkload struct {
	name     string
	workload *workload.Workload
	log      *swf.Log // the source of the vjobs; nil for a workload file
}

// replayTargets are the output files; each may be nil.
type replayTargets struct{ svg, starts *cli.Target }

// replayWorkload runs vjobs in each way that is asked for, and prints what came of them.
func replayWorkload(ctx context.Context, a *cli.App, f *replayFlags, given func(string) bool, in *replayedWorkload, t replayTargets) error {
	w := in.workload
	if f.noWalltimes {
		w.DropWalltimes()
	}
	if 0 < f.jobs && f.jobs < len(w.Jobs) {
		w.Jobs = w.Jobs[:f.jobs]
	}
	power, err := parseWatts(f.watts)
	if err != nil {
		return err
	}
	ways, err := ways(a, f, given, w)
	if err != nil {
		return err
	}
	if f.starts != "" && len(ways) != 1 {
		return cluster.Fault("--starts", "requires a single --policy or --settings: each has its own starts")
	}
	collectRarely()
	results := make([]*replay.Result, len(ways))
	for i := range ways {
		bar := progress(a, ways[i].Title, "vjobs")
		ways[i].Progress = bar.show
		results[i], err = replay.Run(ctx, w, ways[i])
		bar.end()
		if err != nil {
			return fmt.Errorf("replay %s with %s: %w", in.name, ways[i].Title, err)
		}
	}
	title := w.Title
	if title == "" || title == in.name {
		title = filepath.Base(in.name)
	}
	if err := t.svg.Write(func(w io.Writer) error { return chart.Write(w, replay.Figure(title, results)) }); err != nil {
		return err
	}
	if err := t.starts.Write(results[0].WriteStarts); err != nil {
		return err
	}
	if a.Structured() {
		return a.Print(replayJSON(title, results, power))
	}
	return showReplay(a, &replayedText{title: title, log: in.log, results: results, power: power, all: f.all})
}

// garbage is how much of it, in percent of what is alive, may gather before it is collected, unless GOGC says otherwise:
// a replay keeps some tens of MiB, and of a long log hundreds, and leaves as much in a few seconds.
const garbage = 200

// collectRarely lets more garbage gather than other commands do.
func collectRarely() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}

// ways are how the vjobs are run: under each settings file, under each policy.
func ways(a *cli.App, f *replayFlags, given func(string) bool, w *workload.Workload) (ways []replay.Options, err error) {
	common, err := f.common(a)
	if err != nil {
		return nil, err
	}
	files, policies := f.settings, f.policies
	if len(files) == 0 {
		files = []string{""}
	} else if !given("policy") {
		policies = []string{""} // their own
	}
	for _, file := range files {
		for _, policy := range policies {
			way := common
			if file == "" {
				err = f.plain(&way, policy)
			} else {
				err = under(a, f, given, &way, file, policy)
				if len(w.Nodes) > 0 || common.Nodes != nil {
					way.Nodes = common.Nodes // beside which those of the settings count for nothing
				}
			}
			if err != nil {
				return nil, err
			}
			if len(way.Nodes) == 0 && len(w.Nodes) == 0 {
				return nil, cluster.Fault("--cluster", "required, such as 50x2x3686MiB: the file does not say what the nodes are")
			}
			ways = append(ways, way)
		}
	}
	return ways, nil
}

// common is what all ways have in common.
func (f *replayFlags) common(a *cli.App) (o replay.Options, err error) {
	o = replay.Options{Locks: !f.noLocks, Seed: f.seed, Transfers: f.transfers, Learn: f.learn}
	if o.Profile, err = simulated.ProfileNamed(f.profile); err != nil {
		return o, cluster.Renamed("--profile", err)
	}
	if f.start != "" {
		if o.Start, err = cli.ParseMoment("--start", f.start, a.Now()); err != nil {
			return o, err
		}
	}
	for _, p := range parameters() {
		if text := *f.parameters[p.Name]; text != "" {
			if _, err := p.Parse(text); err != nil {
				return o, cluster.Renamed("--"+flagOf(p.Name), err)
			}
		}
	}
	if f.cluster != "" {
		o.Nodes, err = parseCluster(f.cluster)
	}
	return o, err
}

// parameters returns the parameters of policies that have a flag.
func parameters() []queue.Parameter {
	return slices.DeleteFunc(queue.Parameters(), func(p queue.Parameter) bool { return p.Usage == "" })
}

func parameterFlags() (flags []string) {
	for _, p := range parameters() {
		flags = append(flags, flagOf(p.Name))
	}
	return flags
}

// flagOf returns the flag of a parameter: "min-run" for "min_run".
func flagOf(parameter string) string { return strings.ReplaceAll(parameter, "_", "-") }

// plain is a way without settings.
func (f *replayFlags) plain(o *replay.Options, policy string) (err error) {
	values := queue.Values{}
	for name, text := range f.parameters {
		values[name] = *text
	}
	if o.Policy, err = queue.NewPublished(policy, values); err != nil {
		return cluster.Renamed("--policy", err)
	}
	o.Title = policy
	o.Suspend, err = decide.ParseSuspension(f.suspend, o.Policy)
	return cluster.Renamed("--suspend", err)
}

// under is a way under settings. A policy that is given takes the place of policy.name.
func under(a *cli.App, f *replayFlags, given func(string) bool, o *replay.Options, file, policy string) error {
	s, err := settings.Read(file, a.Getenv)
	if err != nil {
		return err
	}
	if policy != "" {
		if _, err := queue.New(policy, nil); err != nil {
			return cluster.Renamed("--policy", err)
		}
		s.Policy.Name = policy
	}
	if given("suspend") {
		s.Policy.Suspend = f.suspend
	}
	for name, text := range f.parameters {
		if given(flagOf(name)) {
			s.Policy.Parameters[name] = *text
		}
	}
	if err := s.Validate(); err != nil {
		return fmt.Errorf("%s with the policy %s: %w", file, policy, err)
	}
	core, err := s.Scheduler()
	if err != nil {
		return err
	}
	o.Base, o.Limits = &core, admission.Limits{VMs: s.Limits.VMsPerVJob, Array: s.Limits.VJobsPerArray}
	o.Nodes = s.ClusterNodes()
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), ".yml")
	o.Title = strings.TrimSpace(name + " " + policy)
	return nil
}
