package availability

import "time"

// Used returns how much is in use at an instant.
func (c *Limit) Used(t time.Time) int64 { return plenty - c.used.Free(c.seconds(t)) }
