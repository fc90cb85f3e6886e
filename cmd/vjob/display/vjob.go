package display

import (
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
)

// Why is the reason, with what is marked beside the state.
func Why(j *wire.VJob) string {
	reason := j.Reason
	if j.Held && !strings.Contains(reason, "held") {
		reason = "held; " + reason
	}
	return reason
}

// Walltime prints the limit of running time.
func Walltime(s int64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Members is an array in short: "[1-100] 37 waiting 60 running 3 ended".
func Members(m *wire.Members) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%d-%d]", m.First, m.Last)
	ended := 0
	for state := cluster.Waiting; state <= cluster.Failed; state++ {
		n := m.States[state.String()]
		switch {
		case state.Terminal():
			ended += n
		case n > 0:
			fmt.Fprintf(&b, " %d %s", n, state)
		}
	}
	if ended > 0 {
		fmt.Fprintf(&b, " %d ended", ended)
	}
	return b.String()
}
