package journal

import (
	"vjob/cluster"
	"vjob/ctxswitch/duration"
	"vjob/ctxswitch/gang"
	"vjob/energy/power/cycle"
)

// Step is everything that one step of the scheduler writes, in one transaction.
type Step struct {
	Reshape []Reshape // before what follows
	VJobs   []VJobChange
	Gangs   []gang.Record
	Nodes   []cluster.Node
	Removed []cluster.NodeID // nodes that are deleted; ErrConflict if a live vjob holds one
	Power   []cycle.Record
	Rules   *Rules   // in place of those before; nil: as they were
	Budgets *Budgets // the same of budgets
	Prices  *Prices  // and of prices
	Pools   *Pools   // and of pools
	Plans   []Plan
	Closed  []PlanChange
	Actions []ActionChange
	Skews   []SkewChange
	Intents []Intent
	Results []Result
	Usage   []Usage
	// UsageHours are added to what there is.
	UsageHours []UsageHour
	Discarded  []DiscardedRun // up to and with the use of this step
	Capacity   []NodeCapacity
	Meters     []Meter      // in place of those before
	Drawn      []NodeEnergy // added to what there is
	// NodeHours and VJobHours are added as well.
	NodeHours []NodeHour
	VJobHours []VJobHour
	Charges   []Charge
	Events    []Event
	Freed     []cluster.VJobID // that wait for no others any more
	Again     []Attempt
	Spans     []WalltimeChange
	Moved     []PoolChange
	MoveModes []MoveModeChange
	// Recommendations are written as they are now, new ones and changed ones.
	Recommendations []Recommendation
	Alarms          []Alarm // as they are now, new ones and changed ones
	Audit           []Audit // a store without accounts keeps none
	Learned         []duration.Observation
}

// Empty reports whether there is nothing to commit.
func (s *Step) Empty() bool {
	rows := len(s.Reshape) + len(s.VJobs) + len(s.Gangs) + len(s.Nodes) + len(s.Removed) + len(s.Power) +
		len(s.Plans) + len(s.Closed) + len(s.Actions) + len(s.Skews) + len(s.Intents) + len(s.Results) +
		len(s.Usage) + len(s.UsageHours) + len(s.Meters) + len(s.Discarded) + len(s.Capacity) + len(s.Drawn) + len(s.NodeHours) + len(s.VJobHours) + len(s.Charges) +
		len(s.Events) + len(s.Freed) + len(s.Again) + len(s.Spans) + len(s.Moved) + len(s.MoveModes) + len(s.Audit) + len(s.Recommendations) + len(s.Alarms) + len(s.Learned)
	return rows == 0 && s.Rules == nil && s.Budgets == nil && s.Prices == nil && s.Pools == nil
}

// Append adds what a later step writes, so that both are one transaction.
func (s *Step) Append(later *Step) {
	s.Reshape = append(s.Reshape, later.Reshape...)
	s.VJobs = append(s.VJobs, later.VJobs...)
	s.Gangs = append(s.Gangs, later.Gangs...)
	s.Nodes = append(s.Nodes, later.Nodes...)
	s.Removed = append(s.Removed, later.Removed...)
	s.Power = append(s.Power, later.Power...)
	if later.Rules != nil {
		s.Rules = later.Rules
	}
	if later.Budgets != nil {
		s.Budgets = later.Budgets
	}
	if later.Prices != nil {
		s.Prices = later.Prices
	}
	if later.Pools != nil {
		s.Pools = later.Pools
	}
	s.Plans = append(s.Plans, later.Plans...)
	s.Closed = append(s.Closed, later.Closed...)
	s.Actions = append(s.Actions, later.Actions...)
	s.Skews = append(s.Skews, later.Skews...)
	s.Intents = append(s.Intents, later.Intents...)
	s.Results = append(s.Results, later.Results...)
	s.Usage = append(s.Usage, later.Usage...)
	s.UsageHours = append(s.UsageHours, later.UsageHours...)
	s.Discarded = append(s.Discarded, later.Discarded...)
	s.Capacity = append(s.Capacity, later.Capacity...)
	s.Meters = append(s.Meters, later.Meters...)
	s.Drawn = append(s.Drawn, later.Drawn...)
	s.NodeHours = append(s.NodeHours, later.NodeHours...)
	s.VJobHours = append(s.VJobHours, later.VJobHours...)
	s.Charges = append(s.Charges, later.Charges...)
	s.Events = append(s.Events, later.Events...)
	s.Freed = append(s.Freed, later.Freed...)
	s.Again = append(s.Again, later.Again...)
	s.Spans = append(s.Spans, later.Spans...)
	s.Moved = append(s.Moved, later.Moved...)
	s.MoveModes = append(s.MoveModes, later.MoveModes...)
	s.Audit = append(s.Audit, later.Audit...)
	s.Recommendations = append(s.Recommendations, later.Recommendations...)
	s.Alarms = append(s.Alarms, later.Alarms...)
	s.Learned = append(s.Learned, later.Learned...)
}
