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
	{Head: ">ID", Of: "id", Cell: func(j *entry) any { return j.ID }},
	{Head: "NAME", Of: "name", Cell: func(j *entry) any { return j.Name }},
	{Head: "OWNER", Of: "owner", Cell: func(j *entry) any { return j.Owner }},
	{Head: "PROJECT", Of: "project", Level: display.Wide, Cell: func(j *entry) any { return j.Project }},
	{Head: "QUEUE", Of: "queue", Level: display.Wide, Cell: func(j *entry) any { return j.Queue }},
	{Head: "POOL", Of: "pool", Level: display.OnOrder, Cell: func(j *entry) any { return j.Pool }},
	{Head: "STATE", Of: "state", Cell: func(j *entry) any { return j.State }},
	{Head: ">VMS", Of: "vm_count", Cell: func(j *entry) any { return j.VMCount }},
	{Head: ">CPU", Of: "cpu_milli", Cell: func(j *entry) any { return cluster.MilliCPU(j.CPUMilli) }},
	{Head: ">MEMORY", Of: "memory_mib", Cell: func(j *entry) any { return cluster.MiB(j.MemoryMiB) }},
	{Head: ">RAN", Of: "ran_seconds", Cell: ranCell},
	{Head: ">WALLTIME", Of: "walltime_seconds", Level: display.Roomy, Cell: func(j *entry) any { return display.Some(display.Clock(j.WalltimeSeconds)) }},
	{Head: ">PRIORITY", Of: "priority", Level: display.Roomy, Cell: func(j *entry) any { return j.Priority }},
	{Head: ">POINTS", Of: "rank", Level: display.OnOrder, Cell: pointsCell},
	{Head: "PARTS", Of: "rank", Level: display.OnOrder, Cell: partsCell},
	{Head: ">PLACE", Of: "queue_place", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(j.QueuePlace) }},
	{Head: ">POWER", Of: "power_watts", Level: display.OnOrder, Cell: func(j *entry) any { return energy.Watts(j.PowerWatts) }},
	{Head: "SUBMITTED", Of: "submitted", Level: display.Wide, Cell: func(j *entry) any { return j.Submitted }},
	{Head: "STARTED", Of: "started", Level: display.Wide, Cell: func(j *entry) any { return j.Started }},
	{Head: "ENDED", Of: "ended", Level: display.Wide, Cell: func(j *entry) any { return j.Ended }},
	{Head: "SINCE", Of: "since", Level: display.OnOrder, Cell: func(j *entry) any { return j.Since }},
	{Head: "STARTS_BY", Of: "estimated_start", Level: display.OnOrder, Cell: func(j *entry) any { return j.EstimatedStart }},
	{Head: ">ARRAY", Of: "array", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(int(j.Array)) }},
	{Head: ">INDEX", Of: "index", Level: display.OnOrder, Cell: func(j *entry) any { return display.Some(j.Index) }},
	{Head: "PARAMETER", Of: "parameter", Level: display.OnOrder, Cell: func(j *entry) any { return j.Parameter }},
	{Head: "LABELS", Of: "labels", Level: display.OnOrder, Cell: func(j *entry) any { return display.Labels(j.Labels) }},
	{Head: "COMMENT", Of: "comment", Level: display.OnOrder, Cell: func(j *entry) any { return j.Comment }},
	{Head: "OUTCOME", Of: "outcome", If: func(j *entry) bool { return j.Outcome != "" && j.Members == nil }, Cell: outcomeCell},
	{Head: "EXIT", Of: "exit_status", If: func(j *entry) bool { return j.ExitStatus != "" && j.Members == nil }, Cell: func(j *entry) any { return j.ExitStatus }},
	{Head: "WHY", Of: "reason,held,state", Cell: func(j *entry) any { return display.Why(j) }},
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

// folding are the fields that say of each entry whether it is an array, and what makes it one line.
const folding = "id,array,name,members"

// Folded is the entry of an array as it is shown in one line.
func Folded(j *entry) entry {
	array := *j
	array.ID, array.Name, array.Reason = j.Array, cluster.ArrayName(j.Name), display.Members(j.Members)
	array.State, array.Outcome, array.QueuePlace, array.Index, array.Parameter = "array", "", 0, 0, ""
	array.Started, array.Ended, array.Since, array.EstimatedStart = nil, nil, nil, nil
	return array
}
