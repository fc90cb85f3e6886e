package pool

import "vjob/cluster"

// Settings are the controls of a pool or a VM for both resources: CPU in thousandths of a processor, memory
// in MiB.
type Settings struct{ CPU, Memory Controls }

// Check returns a [cluster.FieldError] for settings that nothing can meet, with fields such as cpu.limit.
func (s Settings) Check() error {
	for _, r := range resources {
		c := r.of(&s)
		if c.Reservation > c.Limit {
			return cluster.Fault(r.name+".reservation", "%s reserved, the limit is %s", r.text(c.Reservation), r.text(c.Limit))
		}
		if err := c.Check(); err != nil {
			return cluster.WithPath(r.name, err)
		}
	}
	return nil
}

// Statement is settings as people write them.
type Statement struct {
	CPU    Stated `json:"cpu,omitzero"`
	Memory Stated `json:"memory,omitzero"`
}

// Stated are controls as people write them. Each may be missing: nothing reserved, no limit, normal shares.
type Stated struct {
	Reservation string `json:"reservation,omitempty"`
	Limit       string `json:"limit,omitempty"`
	Shares      string `json:"shares,omitempty"`
}

// Read returns the settings. Its errors are [cluster.FieldError] with fields such as cpu.limit.
func (s *Statement) Read() (Settings, error) {
	var out Settings
	var faults cluster.Faults
	for k, stated := range []*Stated{&s.CPU, &s.Memory} {
		r := &resources[k]
		c, err := stated.read(r)
		faults.Add(cluster.WithPath(r.name, err))
		*r.of(&out) = c
	}
	if err := faults.Err(); err != nil {
		return out, err
	}
	return out, out.Check()
}

func (s *Stated) read(r *resource) (c Controls, err error) {
	var faults cluster.Faults
	c.Limit = Unlimited
	for _, part := range []struct {
		field, text string
		to          *int64
	}{{"reservation", s.Reservation, &c.Reservation}, {"limit", s.Limit, &c.Limit}} {
		if part.text == "" {
			continue
		}
		*part.to, err = r.parse(part.text)
		faults.Add(cluster.Renamed(part.field, err))
	}
	c.Shares, err = cluster.ParseShares(s.Shares)
	faults.Add(err)
	return c, faults.Err()
}

// resource is one of the two resources that are divided.
type resource struct {
	name   string
	of     func(s *Settings) *Controls
	amount func(r *cluster.Resources) *int64
	parse  func(text string) (int64, error)
	text   func(n int64) string
}

var resources = [...]resource{
	{
		name: "cpu", of: func(s *Settings) *Controls { return &s.CPU },
		amount: func(r *cluster.Resources) *int64 { return (*int64)(&r.CPU) },
		parse:  func(text string) (int64, error) { n, err := cluster.ParseCPU(text); return int64(n), err },
		text:   func(n int64) string { return cluster.MilliCPU(n).String() + " CPU" },
	},
	{
		name: "memory", of: func(s *Settings) *Controls { return &s.Memory },
		amount: func(r *cluster.Resources) *int64 { return (*int64)(&r.Memory) },
		parse:  func(text string) (int64, error) { n, err := cluster.ParseMiB(text); return int64(n), err },
		text:   func(n int64) string { return cluster.MiB(n).String() },
	},
}
