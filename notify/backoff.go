package notify

import "time"

// The pauses between attempts.
const (
	firstPause = 10 * time.Second
	maxPause   = time.Hour
)

// maxAge bounds the time in which delivery is attempted.
const maxAge = 24 * time.Hour

// Pause returns the pause after so many failed attempts, from 1: ten seconds, doubled each time,
// at most an hour.
func Pause(tries int) time.Duration {
	pause := firstPause
	for range tries - 1 {
		if pause = min(2*pause, maxPause); pause == maxPause {
			break
		}
	}
	return pause
}
