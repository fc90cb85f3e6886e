package wire

import "time"

// Prices are the prices of energy over time, in money or in carbon.
type Prices struct {
	Unit        string     `json:"unit,omitempty"`         // EUR/MWh, gCO2/kWh; "" without prices
	From        *time.Time `json:"from,omitempty"`         // when the first step begins
	Until       *time.Time `json:"until,omitempty"`        // the end of the known prices
	StepSeconds int64      `json:"step_seconds,omitempty"` // the length of a step
	Values      []float64  `json:"values"`                 // step by step
	Now         *float64   `json:"now,omitempty"`          // the present one, if it is known
	StatedBy    string     `json:"stated_by,omitempty"`    // "" is the settings
	StatedAt    *time.Time `json:"stated_at,omitempty"`    // when they were stated
}

// PricesChange replaces the prices that were stated.
type PricesChange struct {
	CSV   string `json:"csv"`             // a line "time,EUR/MWh", then a line for each step; "" removes the prices
	Check bool   `json:"check,omitempty"` // only check them
}

// EnergyAccount is the energy drawn in the hours that begin in a period, with its cost.
type EnergyAccount struct {
	From   time.Time    `json:"from"`             // the beginning of the period
	Until  time.Time    `json:"until"`            // the end of the period
	By     string       `json:"by"`               // owner, project, queue, vjob or node
	Unit   string       `json:"unit,omitempty"`   // of the costs: EUR, gCO2; "" without prices
	Lines  []EnergyLine `json:"lines"`            // the largest first
	Unused *EnergyLine  `json:"unused,omitempty"` // drawn for no vjob; absent for by=node: its lines include it
	Total  EnergyLine   `json:"total"`            // the sum of all
}

// EnergyLine is the energy of one name. Costs are by the mean prices of hours.
type EnergyLine struct {
	Name           string   `json:"name"`                      // of the owner, project, queue, vjob or node
	Joules         float64  `json:"joules"`                    // energy drawn
	UnpricedJoules float64  `json:"unpriced_joules,omitempty"` // of these, without a price that is known
	Cost           *float64 `json:"cost,omitempty"`            // of the others
	// CostAtOnce is the cost if no vjob had waited for a lower price.
	CostAtOnce *float64 `json:"cost_at_once,omitempty"`
}
