package cluster

import "time"

// Later returns the later one of two instants.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Clock formats an instant in the zone of now, with its date if that is another day.
func Clock(at, now time.Time) string {
	at = at.In(now.Location())
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}
