package notify

import "time"

// The pauses between attempts.
const (
	firstPause = 10 * time.Second
	maxPause   = time.Hour
)

// MaxAge is for how long a message is tried.
const MaxAge = 24 * time.Hour

// Pause is how long to wait after so many attempts that failed, from 1: ten seconds,
// then twice as long each time, an hour at most.
func Pause(tries int) time.Duration {
	pause := firstPause
	for range tries - 1 {
		if pause = min(2*pause, maxPause); pause == maxPause {
			break
		}
	}
	return pause
}
