package wire

import "time"

// Prices are what energy costs over time, in money or in carbon.
type Prices struct {
	Unit        string     `json:"unit,omitempty"` // EUR/MWh, gCO2/kWh; "" is that there are none
	From        *time.Time `json:"from,omitempty"`
	Until       *time.Time `json:"until,omitempty"` // nothing is known from then on
	StepSeconds int64      `json:"step_seconds,omitempty"`
	Values      []float64  `json:"values"`              // step by step
	Now         *float64   `json:"now,omitempty"`       // the present one, if it is known
	StatedBy    string     `json:"stated_by,omitempty"` // "" is the settings
	StatedAt    *time.Time `json:"stated_at,omitempty"`
}

// PricesChange replaces the prices that were stated.
type PricesChange struct {
	CSV   string `json:"csv"`             // a line "time,EUR/MWh", then a line for each step; "" is none
	Check bool   `json:"check,omitempty"` // only say what is wrong with them, and change nothing
}

// EnergyAccount is who has drawn how much energy in the hours that begin in a time.
type EnergyAccount struct {
	From   time.Time    `json:"from"`
	Until  time.Time    `json:"until"`
	By     string       `json:"by"`               // owner, project, queue, vjob or node
	Unit   string       `json:"unit,omitempty"`   // of the costs: EUR, gCO2; "" is that there are no prices
	Lines  []EnergyLine `json:"lines"`            // the largest first
	Unused *EnergyLine  `json:"unused,omitempty"` // drawn for no vjob; not by nodes, which are on the lines with that
	Total  EnergyLine   `json:"total"`
}

// EnergyLine is the energy of one name. Costs are by the mean prices of hours.
type EnergyLine struct {
	Name           string   `json:"name"`
	Joules         float64  `json:"joules"`
	UnpricedJoules float64  `json:"unpriced_joules,omitempty"` // of these, without a price that is known
	Cost           *float64 `json:"cost,omitempty"`            // of the others
	// CostAtOnce is what they would have cost if nobody had waited for a lower price.
	CostAtOnce *float64 `json:"cost_at_once,omitempty"`
}
