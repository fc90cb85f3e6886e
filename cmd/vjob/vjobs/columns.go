package vjobs

import (
	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/display"
	"vjob/energy"
)

// entry is a vjob in a list, or an array in one line.
type entry = wire.VJob

// Columns returns the columns of `vjob list`.
func Columns() []display.Field[wire.VJob] { return columns }

// columns are those of `vjob list`.
var columns = []display.Field[entry]{
	{Head: ">ID", Cell: func(j *entry) any { return j.ID }},
	{Head: "NAME", Cell: func(j *entry) any { return j.Name }},
	{Head: "OWNER", Cell: func(j *entry) any { return j.Owner }},
	{Head: "PROJECT", Level: display.Wide, Cell: func(j *entry) any { return j.Project }},
	{Head: "QUEUE", Level: display.Wide, Cell: func(j *entry) any { return j.Queue }},
	{Head: "POOL", Level: display.OnOrder, Cell: func(j *entry) any { return j.Pool }},
	{Head: "STATE", Cell: func(j *entry) any { return j.State }},
	{Head: ">VMS", Cell: func(j *entry) any { return j.VMCount }},
	{Head: ">CPU", Cell: func(j *entry) any { return cluster.MilliCPU(j.CPUMilli) }},
	{Head: ">MEMORY", Cell: func(j *entry) any { return cluster.MiB(j.MemoryMiB) }},
	{Head: ">RAN", Cell: ranCell},
	{Head: ">WALLTIME", Level: display.Roomy, Cell: func(j *entry) any { return display.Some(display.Clock(j.WalltimeSeconds)) }},
	{Head: ">PRIORITY", Level: display.Roomy, Cell: func(j *entry) any { return j.Priority }},
	{Head: ">POINTS", Level: display.OnOrder, Cell: pointsCell},
	{Head: "PARTS", Level: display.OnOrder, Cell: partsCell},
	{Head: ">PLACE", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(j.QueuePlace) }},
	{Head: ">POWER", Level: display.OnOrder, Cell: func(j *entry) any { return energy.Watts(j.PowerWatts) }},
	{Head: "SUBMITTED", Level: display.Wide, Cell: func(j *entry) any { return j.Submitted }},
	{Head: "STARTED", Level: display.Wide, Cell: func(j *entry) any { return j.Started }},
	{Head: "ENDED", Level: display.Wide, Cell: func(j *entry) any { return j.Ended }},
	{Head: "SINCE", Level: display.OnOrder, Cell: func(j *entry) any { return j.Since }},
	{Head: "STARTS_BY", Level: display.OnOrder, Cell: func(j *entry) any { return j.EstimatedStart }},
	{Head: ">ARRAY", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(int(j.Array)) }},
	{Head: ">INDEX", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(j.Index) }},
	{Head: "PARAMETER", Level: display.OnOrder, Cell: func(j *entry) any { return j.Parameter }},
	{Head: "LABELS", Level: display.OnOrder, Cell: func(j *entry) any { return display.Labels(j.Labels) }},
	{Head: "COMMENT", Level: display.OnOrder, Cell: func(j *entry) any { return j.Comment }},
	{Head: "OUTCOME", If: func(j *entry) bool { return j.Outcome != "" && j.Members == nil }, Cell: outcomeCell},
	{Head: "EXIT", If: func(j *entry) bool { return j.ExitStatus != "" && j.Members == nil }, Cell: func(j *entry) any { return j.ExitStatus }},
	{Head: "WHY", Cell: func(j *entry) any { return display.Why(j) }},
}

// estimateColumns are those of `vjob list --estimate`, rankColumns those of --priority.
var (
	estimateColumns = []string{"id", "name", "owner", "state", "vms", "cpu", "memory", "ran", "walltime", "priority", "starts-by", "why"}
	rankColumns     = []string{"id", "name", "owner", "project", "queue", "state", "points", "parts"}
)

// ranCell is the running time; of the many of an array none.
func ranCell(j *entry) any {
	if j.Members != nil {
		return nil
	}
	return display.Seconds(j.RanSeconds)
}

func outcomeCell(j *entry) any {
	if j.Members != nil {
		return nil
	}
	return j.Outcome
}

func pointsCell(j *entry) any {
	if j.Rank == nil {
		return nil
	}
	return j.Rank.Points
}

func partsCell(j *entry) any {
	if j.Rank == nil {
		return nil
	}
	return parts(j.Rank)
}

// Folded is the entry of an array as it is shown in one line.
func Folded(j *entry) entry {
	array := *j
	array.ID, array.Name, array.Reason = j.Array, cluster.ArrayName(j.Name), display.Members(j.Members)
	array.State, array.Outcome, array.QueuePlace, array.Index, array.Parameter = "array", "", 0, 0, ""
	array.Started, array.Ended, array.Since, array.EstimatedStart = nil, nil, nil, nil
	return array
}
