package notify

import "time"

// The pauses between attempts.
const (
	first   = 10 * time.Second
	longest = time.Hour
)

// MaxTries is how often a message is tried: for a day.
const MaxTries = 33

// Pause is how long to wait after so many attempts that failed, from 1: ten seconds,
// then twice as long each time, an hour at most. ok is false when it is enough.
func Pause(tries int) (pause time.Duration, ok bool) {
	if tries >= MaxTries {
		return 0, false
	}
	pause = first
	for range tries - 1 {
		if pause = min(2*pause, longest); pause == longest {
			break
		}
	}
	return pause, true
}
