package display

import (
	"fmt"
	"strconv"
	"strings"

	"vjob/api/wire"
	"vjob/cluster"
)

// ActionHeads are the columns of an action that has not begun.
const ActionHeads = ">ACTION WHAT VM FROM TO AFTER >ESTIMATED >COST"

// ActionCells are the cells of an action below [ActionHeads].
func ActionCells(x *wire.Action) []string {
	after := make([]string, len(x.After))
	for k, id := range x.After {
		after[k] = strconv.Itoa(id)
	}
	what := x.Kind
	if x.Live {
		what = "live " + what
	}
	if x.BytesPerSecond > 0 {
		what += " at " + cluster.Rate(x.BytesPerSecond).String()
	}
	return []string{
		strconv.Itoa(x.ID), what, x.VM, Dash(x.From), Dash(x.To), Dash(strings.Join(after, ",")),
		fmt.Sprintf("%s…%s", Span(Seconds(x.StartSec)), Span(Seconds(x.EndSec))), MiB(x.CostMiB),
	}
}
