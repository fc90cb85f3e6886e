package replay

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"vjob/cluster"
	"vjob/cmd/vjob/cli"
	"vjob/sim/swf"
	"vjob/sim/workload"
)

// fieldNames are the fields of a log that can be asked for.
var fieldNames = []string{"user", "group", "queue", "preceding", "think"}

// logFields reads which fields of a log count.
func (f *replayFlags) logFields() (l workload.LogFields, err error) {
	for _, name := range f.fields {
		if !slices.Contains(fieldNames, name) {
			return l, cluster.BadField("--fields", name, "one of "+strings.Join(fieldNames, ", "))
		}
	}
	has := func(name string) bool { return slices.Contains(f.fields, name) }
	return workload.LogFields{
		User: has("user"), Group: has("group"), Queue: has("queue"), Preceding: has("preceding"), Think: has("think"),
	}, nil
}

// replayLogged makes vjobs of the jobs of a log and runs them on nodes.
func replayLogged(ctx context.Context, a *cli.App, f *replayFlags, given func(string) bool, in io.Reader, name string, t replayTargets) error {
	m := workload.LogMapping{Phases: f.phases}
	var err error
	if m.Fields, err = f.logFields(); err != nil {
		return err
	}
	ways, err := ways(a, f, given, &workload.Workload{})
	if err != nil {
		return err
	}
	// All ways have the same vjobs: such as fit on the smallest of their clusters.
	processors := int64(math.MaxInt64)
	for i := range ways {
		have, share := capacity(ways[i].Nodes)
		processors = min(processors, have)
		if m.Share == 0 || share < m.Share {
			m.Share = share
		}
	}
	log, err := swf.Read(in, processors)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if 0 < f.jobs && f.jobs < len(log.Jobs) {
		log.Jobs = log.Jobs[:f.jobs]
	}
	w, err := workload.FromLog(log, m)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return replayWorkload(ctx, a, f, given, &replayedWorkload{name: name, workload: w, log: log}, t)
}

// capacity is how many VMs of one processor find places on nodes, and how much memory
// each can have.
func capacity(nodes []cluster.Node) (processors int64, share cluster.MiB) {
	for _, n := range nodes {
		whole := int64(n.Capacity.CPU / cluster.CPU)
		if whole == 0 {
			continue
		}
		processors += whole
		if own := n.Capacity.Memory / cluster.MiB(whole); share == 0 || own < share {
			share = own
		}
	}
	return processors, share
}
