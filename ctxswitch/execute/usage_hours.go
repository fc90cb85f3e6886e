package execute

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// usageHours is what one vjob has used of each node in each hour and is not yet written. The zero
// value is nothing.
type usageHours struct {
	rows  map[nodeHour]*nodeUse
	first time.Time // the earliest hour of the rows
}

// nodeUse is what one vjob has used of one node in one hour.
type nodeUse struct {
	reserved, memory float64 // milliseconds of one processor, MiB·s
	used             time.Duration
}

// at is the row of an hour and a node.
func (h *usageHours) at(hour time.Time, node cluster.NodeID) *nodeUse {
	if h.rows == nil {
		h.rows = map[nodeHour]*nodeUse{}
	}
	key := nodeHour{hour, node}
	if h.rows[key] == nil {
		if len(h.rows) == 0 || hour.Before(h.first) {
			h.first = hour
		}
		h.rows[key] = &nodeUse{}
	}
	return h.rows[key]
}

// add adds what the members had reserved from one instant to another, in a phase. An hour that ends in between gets
// its part.
func (h *usageHours) add(from, to time.Time, phase gang.Phase, job *cluster.VJob, rec *gang.Record) {
	if phase == gang.Absent || phase == gang.Saved {
		return
	}
	for from.Before(to) {
		hour := hourOf(from)
		end := sooner(hour.Add(time.Hour), to)
		h.addWithin(hour, end.Sub(from).Seconds(), phase, job, rec)
		from = end
	}
}

func (h *usageHours) addWithin(hour time.Time, seconds float64, phase gang.Phase, job *cluster.VJob, rec *gang.Record) {
	var row *nodeUse
	var of cluster.NodeID // node of the row
	for rank, m := range rec.Members {
		if m.Ended || m.Node == "" {
			continue
		}
		if row == nil || m.Node != of {
			row, of = h.at(hour, m.Node), m.Node
		}
		reserved := &job.VMs[rank].Reserved
		row.memory += float64(reserved.Memory) * seconds
		if phase == gang.Active {
			row.reserved += float64(reserved.CPU) * seconds
		}
	}
}

// observe adds CPU time that a member has got on a node.
func (h *usageHours) observe(now time.Time, node cluster.NodeID, used time.Duration) {
	if used > 0 {
		h.at(hourOf(now), node).used += used
	}
}

// due reports whether an hour is over that has something to write.
func (h *usageHours) due(now time.Time) bool { return len(h.rows) > 0 && h.first.Before(hourOf(now)) }

// take returns the rows in whole units, in order, and forgets them.
func (h *usageHours) take(id cluster.VJobID) (list []journal.UsageHour) {
	order := func(a, b nodeHour) int { return cmp.Or(a.hour.Compare(b.hour), cmp.Compare(a.node, b.node)) }
	for _, key := range slices.SortedFunc(maps.Keys(h.rows), order) {
		row := h.rows[key]
		use := journal.UsageHour{
			Hour: key.hour, VJob: id, Node: key.node,
			Reserved: int64(row.reserved), Used: row.used.Milliseconds(), MemoryTime: int64(row.memory),
		}
		// What is less than a unit waits for the next time, as long as the hour lasts.
		*row = nodeUse{reserved: row.reserved - float64(use.Reserved), memory: row.memory - float64(use.MemoryTime), used: row.used - time.Duration(use.Used)*time.Millisecond}
		if use.Reserved != 0 || use.Used != 0 || use.MemoryTime != 0 {
			list = append(list, use)
		}
	}
	newest := h.newest()
	maps.DeleteFunc(h.rows, func(key nodeHour, _ *nodeUse) bool { return key.hour.Before(newest) })
	h.first = newest
	return list
}

// newest is the latest hour of the rows.
func (h *usageHours) newest() (hour time.Time) {
	for key := range h.rows {
		if key.hour.After(hour) {
			hour = key.hour
		}
	}
	return hour
}
