package multifactor

// Hysteresis keeps the factor of an account constant until it has moved by Leap. Otherwise two users with
// nearly equal use would overtake each other every second. It belongs to one goroutine. The zero value
// passes all changes.
type Hysteresis struct {
	// Leap is the least change that is passed, from 0 to 1.
	Leap float64
	held map[string]float64
}

// Update returns the factor for priorities, given the current one.
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

// Forget drops the accounts that keep refuses.
func (c *Hysteresis) Forget(keep func(account string) bool) {
	for account := range c.held {
		if !keep(account) {
			delete(c.held, account)
		}
	}
}
