package display

import (
	"fmt"

	"vjob/api/wire"
	"vjob/cluster"
)

// PlanFields are the columns of context switches.
var PlanFields = []Field[wire.Plan]{
	{Head: ">PLAN", Cell: func(p *wire.Plan) any { return p.ID }},
	{Head: "BEGAN", Cell: func(p *wire.Plan) any { return p.Began }},
	{Head: "ENDED", Level: Wide, Cell: func(p *wire.Plan) any { return p.Ended }},
	{Head: "STATE", Cell: func(p *wire.Plan) any { return p.State }},
	{Head: "POLICY", Cell: func(p *wire.Plan) any { return p.Policy }},
	{Head: ">ACTIONS", Cell: func(p *wire.Plan) any { return p.ActionCount }},
	{Head: ">COST", Cell: func(p *wire.Plan) any { return cluster.MiB(p.CostMiB) }},
	{Head: ">ESTIMATED", Cell: func(p *wire.Plan) any { return Seconds(p.MakespanSeconds) }},
	{Head: ">TOOK", Cell: func(p *wire.Plan) any { return Shown{Text: Took(p), Value: Some(p.TookSeconds)} }},
	{Head: ">RATIO", Cell: func(p *wire.Plan) any { return Shown{Text: Ratio(p), Value: Some(p.Ratio)} }},
	{Head: "NOTE", Cell: func(p *wire.Plan) any { return p.Note }},
}

// Took is how long a plan took; "-" while it is under way.
func Took(p *wire.Plan) string {
	if p.Ended == nil {
		return "-"
	}
	return Span(Seconds(p.TookSeconds))
}

// Ratio is how long a plan took, in parts of its estimate.
func Ratio(p *wire.Plan) string {
	if p.Ratio == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", p.Ratio)
}
