package settings

import (
	"errors"
	"os"

	"vjob/cluster"
	"vjob/energy/price"
)

// Series returns the energy prices of the file energy.prices, or nil without a file. The error
// names the setting, the file and the fault.
func (e *Energy) Series() (*price.Series, error) {
	if e.Prices == "" {
		return nil, nil
	}
	data, err := os.ReadFile(e.Prices)
	if err != nil {
		return nil, cluster.BadField("energy.prices", e.Prices, "a file with prices that can be read")
	}
	series, err := price.Parse(string(data))
	if bad, ok := errors.AsType[*cluster.FieldError](err); ok {
		return nil, cluster.Renamed("energy.prices: "+e.Prices+": "+bad.Field, bad)
	}
	return series, err
}

// validatePrices checks the settings of energy prices.
func (e *Energy) validatePrices() error {
	if v := e.ShiftSaves; !(v >= 0 && v <= 1) {
		return cluster.BadField("energy.shift_saves", v, "from 0 to 1")
	}
	_, err := e.Series()
	return err
}
