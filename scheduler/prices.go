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
func (p *Power) SetPrices(now time.Time, text, by string) error {
	series, err := readPrices(text)
	if err != nil {
		return err
	}
	if text == p.prices.Text && p.ignored[journal.AlarmPrices] == "" {
		return nil
	}
	delete(p.ignored, journal.AlarmPrices)
	p.prices = statedPrices{journal.Prices{Text: text, By: by, At: now}, series}
	p.out.Prices = &p.prices.Prices
	p.out.Events = append(p.out.Events, journal.Event{
		At: now, Kind: journal.EventPrices, Text: fmt.Sprintf("the prices of energy are changed: by %s", by),
	})
	p.retry(now)
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

// statedPrices are the energy prices stated through the API, in place of those of the settings.
type statedPrices struct {
	journal.Prices
	series *price.Series // the same, read
}

// restorePrices restores the prices of the journal. Prices that no longer parse are ignored, with an
// error.
func restorePrices(kept journal.Prices) (p statedPrices, err error) {
	p.Prices = kept
	p.series, err = readPrices(kept.Text)
	return p, err
}

// pricesStatus returns the prices in use: the stated ones, or those of the settings.
func (p *Power) pricesStatus() PricesStatus {
	if p.prices.series == nil {
		return PricesStatus{Series: p.settings.Prices}
	}
	return PricesStatus{Series: p.prices.series, By: p.prices.By, At: p.prices.At}
}
