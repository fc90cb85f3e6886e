package scheduler

import (
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/energy/price"
)

// PricesStatus is the prices of energy that count.
type PricesStatus struct {
	Series *price.Series // nil: there are none
	By     string        // who has stated them; "" is the settings
	At     time.Time
}

// SetPrices replaces the prices of energy that are stated through the API; "" is none. The
// error is a *cluster.FieldError, and nothing is changed then.
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
	c.retry(now)
	return nil
}

// readPrices reads what is stated.
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

// restorePrices goes on with the prices of the journal. Those that nobody understands any
// more are told, and do not count.
func (c *Core) restorePrices(kept journal.Prices) {
	var err error
	c.prices = kept
	if c.series, err = readPrices(kept.Text); err != nil {
		c.alarm(0, "the prices of energy that were stated do not count: "+err.Error())
	}
}

// pricesStatus is the prices that count: those that were stated, or those of the settings.
func (c *Core) pricesStatus() PricesStatus {
	if c.series == nil {
		return PricesStatus{Series: c.settings.Prices}
	}
	return PricesStatus{Series: c.series, By: c.prices.By, At: c.prices.At}
}
