package sim

import "time"

// reload replaces the settings of the scheduler between two steps: the least time between two decisions, and the back-off.
// It is refused while the scheduler is down, and may not be written.
func (r *run) reload() {
	r.reloads++
	next := r.settings
	next.Rest += time.Duration(r.reloads%3) * 50 * time.Millisecond
	next.Backoff += time.Duration(r.reloads%2) * time.Second
	_ = r.shell.ChangeSettings(next, r.cluster.Nodes(), "settings reloaded")
}
