package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"vjob/api/wire"
)

// Budgets are the power budgets (administrators).
func (c *energyClient) Budgets(ctx context.Context) (wire.Budgets, error) {
	return get[wire.Budgets](ctx, c.connection, "/v1/budgets", nil)
}

// ChangeBudgets replaces the stated budgets with what change makes of them (administrators). It is called again if other
// clients change them meanwhile.
func (c *energyClient) ChangeBudgets(ctx context.Context, change func(stated []wire.Budget) (wire.BudgetsChange, error)) error {
	return update(ctx, c.connection, "/v1/budgets", func(now wire.Budgets) (wire.BudgetsChange, error) { return change(now.Stated) })
}

// Consolidation is what has come of looks for places where VMs draw less (administrators).
func (c *energyClient) Consolidation(ctx context.Context) (wire.Consolidation, error) {
	return get[wire.Consolidation](ctx, c.connection, "/v1/energy/consolidation", nil)
}

// Prices are what energy costs.
func (c *energyClient) Prices(ctx context.Context) (wire.Prices, error) {
	return get[wire.Prices](ctx, c.connection, "/v1/prices", nil)
}

// SetPrices replaces or checks them (administrators).
func (c *energyClient) SetPrices(ctx context.Context, change wire.PricesChange) error {
	_, err := c.call(ctx, request{method: http.MethodPut, path: "/v1/prices", body: change, repeatable: true}, nil)
	return err
}

// Energy returns the energy drawn in a period; from and to may be nil: a week before its end, and now.
func (c *energyClient) Energy(ctx context.Context, from, to *time.Time, by string) (wire.EnergyAccount, error) {
	query := url.Values{"by": {by}}
	for key, at := range map[string]*time.Time{"from": from, "to": to} {
		if at != nil {
			query.Set(key, at.UTC().Format(time.RFC3339))
		}
	}
	return get[wire.EnergyAccount](ctx, c.connection, "/v1/energy", query)
}
