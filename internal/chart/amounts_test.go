package chart_test

import (
	"bytes"
	"testing"

	"vjob/internal/chart"
	"vjob/tests/golden"
)

func TestAmounts(t *testing.T) {
	var out bytes.Buffer
	err := chart.WriteAmounts(&out, &chart.Amounts{
		Title: "Energy by owner", Subtitle: "a week", Unit: "kWh",
		Amounts: []chart.Amount{
			{Name: "ann", Value: 12.5, Text: "12.5 kWh"},
			{Name: `<script>alert("bob")</script> and a name that is long`, Value: 3, Text: "3 kWh"},
			{Name: "(no vjob)", Value: 20, Text: "20 kWh", Secondary: true},
			{Name: "nothing"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, "amounts", out.Bytes())
	golden.Same(t, "testdata/amounts.svg", out.String())
	out.Reset()
	if err := chart.WriteAmounts(&out, &chart.Amounts{}); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, "no amounts", out.Bytes())
}
