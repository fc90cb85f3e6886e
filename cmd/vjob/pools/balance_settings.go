package pools

import (
	"time"

	"vjob/cluster"
	"vjob/scheduler/balance"
)

// balanceSettings are the settings of a file. What is missing has its default.
type balanceSettings struct {
	Threshold   *float64 `json:"threshold"`
	MaxMoves    *int     `json:"max_moves"`
	MaxPerNode  *int     `json:"max_per_node"`
	Goodness    *float64 `json:"goodness"`
	CostBenefit *bool    `json:"cost_benefit"`
	HotNodes    *bool    `json:"hot_nodes"`
	Chains      *bool    `json:"chains"`
	Independent *bool    `json:"independent"`
	Weights     struct {
		CPU     *float64 `json:"cpu"`
		Memory  *float64 `json:"memory"`
		Network *float64 `json:"network"`
	} `json:"weights"`
	Contended    *float64 `json:"contended"`
	Stable       string   `json:"stable"`
	Horizon      string   `json:"horizon"`
	Variation    *float64 `json:"variation"`
	MigrateCPU   string   `json:"migrate_cpu"`
	Rate         string   `json:"rate"`
	Overload     *float64 `json:"overload"`
	Interference *float64 `json:"interference"`
	Return       string   `json:"return"`
}

func (b *balanceSettings) read() (s balance.Settings, err error) {
	s = balance.Default
	override(&s.Threshold, b.Threshold)
	override(&s.MaxMoves, b.MaxMoves)
	override(&s.MaxPerNode, b.MaxPerNode)
	override(&s.Goodness, b.Goodness)
	override(&s.CostBenefit, b.CostBenefit)
	override(&s.HotNodes, b.HotNodes)
	override(&s.Chains, b.Chains)
	override(&s.Independent, b.Independent)
	override(&s.Weights[balance.CPU], b.Weights.CPU)
	override(&s.Weights[balance.Memory], b.Weights.Memory)
	override(&s.Weights[balance.Network], b.Weights.Network)
	override(&s.Contended, b.Contended)
	override(&s.Variation, b.Variation)
	override(&s.Overload, b.Overload)
	override(&s.Interference, b.Interference)
	for _, of := range []struct {
		field, text string
		to          *time.Duration
	}{{"stable", b.Stable, &s.Stable}, {"horizon", b.Horizon, &s.Horizon}, {"return", b.Return, &s.Return}} {
		if of.text == "" {
			continue
		}
		if *of.to, err = duration(of.field, of.text); err != nil {
			return s, err
		}
	}
	if b.MigrateCPU != "" {
		if s.MigrateCPU, err = cluster.ParseCPU(b.MigrateCPU); err != nil {
			return s, cluster.Renamed("migrate_cpu", err)
		}
	}
	if b.Rate != "" {
		if s.Rate, err = bandwidth("rate", b.Rate); err != nil {
			return s, err
		}
		s.Rate >>= 20
	}
	return s, s.Check()
}

// override sets a value that a file has.
func override[T any](to, value *T) {
	if value != nil {
		*to = *value
	}
}
