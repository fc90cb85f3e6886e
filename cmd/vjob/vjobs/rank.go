package vjobs

import (
	"fmt"
	"strconv"
	"strings"

	"vjob/api/wire"
)

// parts is the sum that makes a rank: "250 queue + 200 age - 30 as submitted".
func parts(r *wire.Rank) string {
	var b strings.Builder
	for i, p := range r.Parts {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "%d %s", p.Points, p.Name)
		case p.Points < 0:
			fmt.Fprintf(&b, " - %d %s", -p.Points, p.Name)
		default:
			fmt.Fprintf(&b, " + %d %s", p.Points, p.Name)
		}
	}
	return b.String()
}

// rankLine is the priority as submitted, or the rank that is made of it and of more.
func rankLine(j *wire.VJob) string {
	submitted := strconv.Itoa(j.Priority)
	if j.Rank == nil || strconv.FormatInt(j.Rank.Points, 10) == submitted {
		return submitted
	}
	return strings.TrimSuffix(fmt.Sprintf("%d = %s", j.Rank.Points, parts(j.Rank)), " = ")
}
