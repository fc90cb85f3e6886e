package pools

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"vjob/internal/chart"
	"vjob/sim/day"
)

// balancedDay is the result of a file in each way.
type balancedDay struct {
	Name      string        `json:"name"`
	VMs       int           `json:"vms"`
	Hours     float64       `json:"hours"`
	Nodes     string        `json:"nodes"` // as --nodes reads them
	NodeCount int           `json:"node_count"`
	Clipped   int           `json:"clipped_values"` // above the size of their VM
	Ways      []balancedWay `json:"ways"`
	results   []*day.Result
}

// balancedWay is the result of one way.
type balancedWay struct {
	Way           string        `json:"way"`
	VMHours       float64       `json:"vm_hours"`
	HappyHours    float64       `json:"happy_vm_hours"`
	Happy         float64       `json:"happy_percent"`
	Payload       float64       `json:"payload_percent"`
	Delivered     float64       `json:"delivered_percent"` // of what is demanded
	Moves         int           `json:"moves"`
	Returns       int           `json:"moves_back_within_an_hour"`
	Imbalance     float64       `json:"mean_imbalance"`
	MostImbalance float64       `json:"highest_imbalance"`
	KWh           float64       `json:"energy_kwh"`
	NodesOn       float64       `json:"mean_nodes_on"`
	NodesUsed     float64       `json:"mean_nodes_used"`
	Off           int           `json:"switched_off"`
	On            int           `json:"switched_on"`
	CrowdedHours  float64       `json:"crowded_node_hours"`
	MostMemory    float64       `json:"highest_memory_percent"` // of a node
	Samples       []balancedNow `json:"samples"`
}

// balancedNow is the cluster in five minutes.
type balancedNow struct {
	At        float64 `json:"at_s"`
	Happy     float64 `json:"happy_percent"`
	Imbalance float64 `json:"imbalance"`
	Demand    float64 `json:"demand_processors"`
	NodesOn   int     `json:"nodes_on"`
	NodesUsed int     `json:"nodes_used"`
	Watts     float64 `json:"power_w"`
	Moves     int     `json:"moves"`
}

func newBalancedDay(file string, t *day.Trace, nodes []day.Node) *balancedDay {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".csv")
	return &balancedDay{
		Name: name, VMs: len(t.VMs), Hours: (time.Duration(t.Steps) * day.Step).Hours(), Nodes: day.FormatNodes(nodes), NodeCount: len(nodes), Clipped: t.Clipped,
	}
}

func (d *balancedDay) add(r *day.Result) {
	w := balancedWay{
		Way: r.Way.Name, VMHours: r.VMHours, HappyHours: r.HappyHours, Happy: 100 * r.HappyHours / max(1, r.VMHours), Payload: 100 * r.Payload,
		Delivered: 100 * r.Delivered / max(1e-9, r.Demand), Moves: r.Moves, Returns: r.Returns, Imbalance: r.MeanImbalance,
		MostImbalance: r.MostImbalance, KWh: r.Energy.KWh(), NodesOn: r.NodesOn, NodesUsed: r.NodesUsed, Off: r.Offs, On: r.Ons,
		CrowdedHours: r.CrowdedHours, MostMemory: 100 * r.MostMemory,
	}
	for _, s := range r.Samples {
		w.Samples = append(w.Samples, balancedNow{
			s.At.Seconds(), 100 * s.Happy, s.Imbalance, s.Demand, s.On, s.Used, float64(s.Power), s.Moves,
		})
	}
	d.Ways, d.results = append(d.Ways, w), append(d.results, r)
}

// dayFigure draws the ways side by side.
func dayFigure(d *balancedDay) *chart.Figure {
	f := &chart.Figure{Title: "Balance of " + d.Name, Subtitle: fmt.Sprintf("%d VMs on %d nodes, %s", d.VMs, d.NodeCount, d.Nodes)}
	for _, r := range d.results {
		list := []chart.Series{
			{Name: "happy VMs", Unit: "%"},
			{Name: "imbalance"},
			{Name: "nodes with VMs", Unit: "nodes", Capacity: float64(d.NodeCount)},
			{Name: "power", Unit: "kW"},
			{Name: "moves", Unit: "in 5 min"},
			{Name: "CPU demanded", Unit: "processors"},
		}
		for _, s := range r.Samples {
			for k, v := range []float64{100 * s.Happy, s.Imbalance, float64(s.Used), float64(s.Power) / 1000, float64(s.Moves), s.Demand} {
				list[k].Points = append(list[k].Points, chart.Point{At: s.At, Value: v})
			}
		}
		f.Runs = append(f.Runs, chart.Run{
			Title: r.Way.Name, Note: fmt.Sprintf("%d moves, %.1f kWh", r.Moves, r.Energy.KWh()),
			End: time.Duration(len(r.Samples)) * day.Step, Series: list,
		})
	}
	return f
}
