package display

import (
	"fmt"
	"strings"

	"vjob/api/wire"
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
