package display

import (
	"fmt"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
)

// Why is the reason, with what is marked beside the state.
func Why(j *wire.VJob) string {
	reason := strings.TrimPrefix(Reason(j.Reason), j.State+": ")
	if j.Held && !strings.Contains(reason, "held") {
		reason = "held; " + reason
	}
	return reason
}

// Reason is a reason as it stands beside a state, which it does not repeat: "needs 2 CPU more; 1st in line" of a vjob
// that waits, "" of one that runs for no other reason.
func Reason(text string) string {
	if text == "runs" || text == "waits" {
		return ""
	}
	text = strings.TrimPrefix(strings.TrimPrefix(text, "waits: "), "runs: ")
	return strings.ReplaceAll(text, "; waits: ", "; ")
}

// StateClause continues a sentence about a vjob in a state, given by its name: "is waiting", "has failed".
func StateClause(name string) string {
	state, err := cluster.ParseState(name)
	if err != nil { // a newer daemon
		return "is " + Clean(name)
	}
	return state.Clause()
}

// Walltime prints the limit of running time.
func Walltime(s int64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Outcome is how a vjob has ended, with the exit status of its work: "failed, exit status 3:0".
func Outcome(j *wire.VJob) string {
	if j.ExitStatus == "" {
		return j.Outcome
	}
	return j.Outcome + ", exit status " + j.ExitStatus
}
