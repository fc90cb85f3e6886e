package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/price"
)

// PricesStatus is the energy prices in use.
type PricesStatus struct {
	Series *price.Series // nil without prices
	By     string        // the user; "" is the settings
	At     time.Time
}

// SetPrices replaces the energy prices stated through the API; "" removes them. On an error, a
// *cluster.FieldError, nothing changes.
func (c *Core) SetPrices(now time.Time, text, by string) error {
	c.now = now
	series, err := readPrices(text)
	if err != nil {
		return err
	}
	if text == c.prices.Text {
		return nil
	}
	c.prices, c.series = journal.Prices{Text: text, By: by, At: now}, series
	c.out.Prices = &c.prices
	c.out.Events = append(c.out.Events, journal.Event{
		At: now, Kind: journal.EventPrices, Text: fmt.Sprintf("the prices of energy are changed: by %s", by),
	})
	c.next.retry(now)
	return nil
}

// readPrices parses stated prices.
func readPrices(text string) (*price.Series, error) {
	if text == "" {
		return nil, nil
	}
	series, err := price.Parse(text)
	if err != nil {
		return nil, cluster.WithPath("csv", err)
	}
	return series, nil
}

// restorePrices restores the prices of the journal. Prices that no longer parse raise an alarm and
// are ignored.
func (c *Core) restorePrices(kept journal.Prices) {
	var err error
	c.prices = kept
	if c.series, err = readPrices(kept.Text); err != nil {
		c.alarm(0, "the prices of energy that were stated do not count: "+err.Error())
	}
}

// pricesStatus returns the prices in use: the stated ones, or those of the settings.
func (c *Core) pricesStatus() PricesStatus {
	if c.series == nil {
		return PricesStatus{Series: c.settings.Prices}
	}
	return PricesStatus{Series: c.series, By: c.prices.By, At: c.prices.At}
}
