package settings

import (
	"fmt"
	"strings"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch"
)

// Durations are the estimates of how long actions take, where nothing was learned, and whether that
// is learned. Parts that are not set have the estimates of the driver.
type Durations struct {
	Learn        bool          `json:"learn"`
	Boot         ActionTime    `json:"boot"`
	Stop         ActionTime    `json:"stop"`
	Suspend      ActionTime    `json:"suspend"`
	Resume       ActionTime    `json:"resume"`
	Migrate      ActionTime    `json:"migrate"`
	RemoteFactor *RemoteFactor `json:"remote_factor,omitempty"`
}

// ActionTime is a duration that grows with the memory of the VM.
type ActionTime struct {
	Constant *Duration `json:"constant,omitempty"`
	PerGiB   *Duration `json:"per_gib,omitempty"`
}

// RemoteFactor is how many times as long as a local resume a remote one takes.
type RemoteFactor float64

// longestAction is the maximum of each part of an estimate.
const longestAction = 24 * time.Hour

// parts returns the parts of an estimate by their names.
func (d *Durations) parts() map[string]*ActionTime {
	return map[string]*ActionTime{
		"boot": &d.Boot, "stop": &d.Stop, "suspend": &d.Suspend, "resume": &d.Resume, "migrate": &d.Migrate,
	}
}

func (d *Durations) validate() error {
	parts := d.parts()
	for name := range strings.FieldsSeq("boot stop suspend resume migrate") {
		for field, value := range map[string]*Duration{"constant": parts[name].Constant, "per_gib": parts[name].PerGiB} {
			if value != nil && value.Duration > longestAction {
				return cluster.BadField("durations."+name+"."+field, value, fmt.Sprintf("at most %s", longestAction))
			}
		}
	}
	if f := d.RemoteFactor; f != nil && !(*f >= 1 && *f <= 1000) {
		return cluster.BadField("durations.remote_factor", *f, "between 1 and 1000")
	}
	return nil
}

// over returns the estimates of a driver with those that are set in place of them.
func (d *Durations) over(c ctxswitch.Costs) ctxswitch.Costs {
	set := func(value *Duration, to *time.Duration) {
		if value != nil {
			*to = value.Duration
		}
	}
	for _, p := range []struct {
		part             *ActionTime
		constant, perGiB *time.Duration
	}{
		{&d.Boot, &c.Boot, &c.BootPer},
		{&d.Stop, &c.Stop, &c.StopPer},
		{&d.Suspend, &c.Suspend, &c.SuspendPer},
		{&d.Resume, &c.Resume, &c.ResumePer},
		{&d.Migrate, &c.Migrate, &c.MigratePer},
	} {
		set(p.part.Constant, p.constant)
		set(p.part.PerGiB, p.perGiB)
	}
	if d.RemoteFactor != nil {
		c.RemoteFactor = float64(*d.RemoteFactor)
	}
	return c
}
