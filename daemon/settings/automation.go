package settings

import (
	"cmp"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler/improve"
)

// Automation says which changes wait for the approval of an administrator. A kind without a mode of its own
// has the default.
type Automation struct {
	Default     string   `json:"default"` // automatic, partial, manual
	Start       string   `json:"start"`   // automatic, manual
	Balance     string   `json:"balance"` // the same of the others
	Consolidate string   `json:"consolidate"`
	Drain       string   `json:"drain"`
	Power       string   `json:"power"`
	Expires     Duration `json:"expires"`
}

// The modes of automation.
const (
	modeAutomatic = "automatic"
	modePartial   = "partial" // vjobs start without approval, other changes need it
	modeManual    = "manual"
)

// modes returns the mode of each kind, as stated.
func (a *Automation) modes() map[journal.RecommendationKind]string {
	return map[journal.RecommendationKind]string{
		journal.RecommendStart: a.Start, journal.RecommendBalance: a.Balance, journal.RecommendConsolidate: a.Consolidate,
		journal.RecommendDrain: a.Drain, journal.RecommendPower: a.Power,
	}
}

func (a *Automation) validate() error {
	if err := (choice{"automation.default", a.Default, modeAutomatic + " " + modePartial + " " + modeManual}).check(); err != nil {
		return err
	}
	modes := a.modes()
	for _, kind := range journal.RecommendationKinds {
		if err := (choice{"automation." + string(kind), cmp.Or(modes[kind], modeAutomatic), modeAutomatic + " " + modeManual}).check(); err != nil {
			return err
		}
	}
	if a.Expires.Duration < time.Minute || a.Expires.Duration > 30*24*time.Hour {
		return cluster.BadField("automation.expires", a.Expires, "between 1m and 720h")
	}
	return nil
}

// automation returns the kinds of changes that wait for approval.
func (a *Automation) automation() improve.Automation {
	out := improve.Automation{Manual: map[journal.RecommendationKind]bool{}, Life: a.Expires.Duration}
	for kind, mode := range a.modes() {
		byDefault := a.Default == modeManual || a.Default == modePartial && kind != journal.RecommendStart
		out.Manual[kind] = mode == modeManual || mode == "" && byDefault
	}
	return out
}
