package multifactor

// Hysteresis keeps fair-share factors still until they have moved by a leap. Two users who use
// about the same would otherwise overtake each other with every second that is counted.
// It belongs to one goroutine. The zero value lets all through.
type Hysteresis struct {
	// Leap is by how much a factor must have moved to be believed, from 0 to 1.
	Leap float64
	held map[string]float64
}

// Update is the factor of an account as ranks should have it, given what it is now.
func (c *Hysteresis) Update(account string, factor float64) float64 {
	held, seen := c.held[account]
	if seen && held-factor < c.Leap && factor-held < c.Leap {
		return held
	}
	if c.held == nil {
		c.held = map[string]float64{}
	}
	c.held[account] = factor
	return factor
}

// Forget drops the accounts that are not kept, so that the memory of them does not grow.
func (c *Hysteresis) Forget(keep func(account string) bool) {
	for account := range c.held {
		if !keep(account) {
			delete(c.held, account)
		}
	}
}
