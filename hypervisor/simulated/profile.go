package simulated

import (
	"math"
	"time"

	"vjob/cluster"
)

// Profile is the durations of the verbs.
type Profile struct {
	Name     string        `json:"name"`
	Control  time.Duration `json:"control_ns"`  // refusals and small calls: shutdown's request, revoke, discard, abort
	Boot     time.Duration `json:"boot_ns"`     // from the call until the guest works
	Shutdown time.Duration `json:"shutdown_ns"` // of a guest that shuts itself down
	Destroy  time.Duration `json:"destroy_ns"`
	Pause    time.Duration `json:"pause_ns"`
	Unpause  time.Duration `json:"unpause_ns"`

	Save          Transfer `json:"save"`
	Seal          Transfer `json:"seal"`
	Restore       Transfer `json:"restore"`        // the image lies on the node
	RestoreRemote Transfer `json:"restore_remote"` // it lies on another one
	Migrate       Transfer `json:"migrate"`        // of a paused copy
	MigrateLive   Transfer `json:"migrate_live"`

	// Jitter varies every duration uniformly by ± this share.
	Jitter float64 `json:"jitter"`
}

// Transfer is a duration that grows with memory.
type Transfer struct {
	Base   time.Duration `json:"base_ns"`
	PerGiB time.Duration `json:"per_gib_ns"`
}

// Of is the duration for an amount of memory.
func (t Transfer) Of(memory cluster.MiB) time.Duration {
	perMiB := float64(t.PerGiB) / float64(cluster.GiB)
	return t.Base + time.Duration(math.Round(perMiB*float64(memory)))
}

// Thesis has the durations of the thesis: boot 6 s, clean stop 25 s and hard
// stop under a second are from its §10.2; the transfers, proportional to memory,
// are the rough guesses of the NASGrid workload: suspend 50 s, local resume 45 s
// and migration 12 s for each GiB, remote resume three times a local one.
// A suspension is pause, save and seal together.
var Thesis = Profile{
	Name:          "thesis",
	Control:       10 * time.Millisecond,
	Boot:          6 * time.Second,
	Shutdown:      25 * time.Second,
	Destroy:       500 * time.Millisecond,
	Pause:         10 * time.Millisecond,
	Unpause:       10 * time.Millisecond,
	Save:          Transfer{PerGiB: 48 * time.Second},
	Seal:          Transfer{PerGiB: 2 * time.Second},
	Restore:       Transfer{PerGiB: 45 * time.Second},
	RestoreRemote: Transfer{PerGiB: 135 * time.Second},
	Migrate:       Transfer{PerGiB: 12 * time.Second},
	MigrateLive:   Transfer{PerGiB: 12 * time.Second},
}

// BinRepacking has the durations of the bin repacking paper (2011), §5: launch
// 1 s, stop 2 s, suspend 4 s, resume 5 s on the same server and 6 s on another,
// migration 1 s per gigabyte.
var BinRepacking = Profile{
	Name:          "bin-repacking",
	Control:       10 * time.Millisecond,
	Boot:          time.Second,
	Shutdown:      2 * time.Second,
	Destroy:       500 * time.Millisecond,
	Pause:         10 * time.Millisecond,
	Unpause:       10 * time.Millisecond,
	Save:          Transfer{Base: 3900 * time.Millisecond},
	Seal:          Transfer{Base: 80 * time.Millisecond},
	Restore:       Transfer{Base: 5 * time.Second},
	RestoreRemote: Transfer{Base: 6 * time.Second},
	Migrate:       Transfer{PerGiB: time.Second},
	MigrateLive:   Transfer{PerGiB: time.Second},
}

// Lab has the medians of lab §4: tiny guests under TCG on a busy machine.
var Lab = Profile{
	Name:          "lab",
	Control:       5 * time.Millisecond,
	Boot:          500 * time.Millisecond,
	Shutdown:      230 * time.Millisecond,
	Destroy:       230 * time.Millisecond,
	Pause:         14 * time.Millisecond,
	Unpause:       12 * time.Millisecond,
	Save:          Transfer{Base: 340 * time.Millisecond, PerGiB: 1100 * time.Millisecond},
	Seal:          Transfer{Base: 20 * time.Millisecond, PerGiB: 500 * time.Millisecond},
	Restore:       Transfer{Base: 600 * time.Millisecond, PerGiB: 1400 * time.Millisecond},
	RestoreRemote: Transfer{Base: 600 * time.Millisecond, PerGiB: 1400 * time.Millisecond},
	Migrate:       Transfer{Base: 650 * time.Millisecond, PerGiB: 2700 * time.Millisecond},
	MigrateLive:   Transfer{Base: 850 * time.Millisecond, PerGiB: 6000 * time.Millisecond},
	Jitter:        0.3,
}

// profiles are the profiles that settings can name.
var profiles = []Profile{Thesis, BinRepacking, Lab}

// ProfileNamed returns the profile with a name; the error lists the valid names.
func ProfileNamed(name string) (Profile, error) {
	for _, p := range profiles {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, cluster.BadField("profile", name, "one of bin-repacking, lab, thesis")
}
