package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/ctxswitch/journal"
	"vjob/energy/price"
)

// writeEnergy has what alice has drawn in two hours before the present of the bench.
func (b *fixture) writeEnergy(from time.Time) {
	b.tb.Helper()
	vjob := func(hour int, owner string, kwh int64) journal.VJobHour {
		return journal.VJobHour{
			Hour: from.Add(time.Duration(hour) * time.Hour), VJob: 1, Owner: owner, Queue: "q", Millijoules: kwh * 3.6e9,
		}
	}
	b.must(b.scheduler.Commit(b.tb.Context(), journal.Step{
		NodeHours: []journal.NodeHour{
			{Hour: from, Node: "n1", Millijoules: 10 * 3.6e9, Unused: 3 * 3.6e9},
			{Hour: from.Add(time.Hour), Node: "n1", Millijoules: 2 * 3.6e9},
		},
		VJobHours: []journal.VJobHour{vjob(0, "alice", 7), vjob(1, "alice", 2)},
	}))
}

// The energy of all owners adds up to that of all nodes; users see their own.
func TestEnergyAccount(t *testing.T) {
	b := newFixture(t)
	from := time.Now().UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	b.writeEnergy(from)
	text := "time,EUR/kWh\n"
	for i := range 3 {
		text += fmt.Sprintf("%s,%d\n", from.Add(time.Duration(i)*time.Hour).Format(time.RFC3339), i+1)
	}
	series, err := price.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b.scheduler.snap.Prices.Series = series
	all := read[wire.EnergyAccount](t, b.as("root", "GET", "/v1/energy", ""), http.StatusOK)
	if len(all.Lines) != 1 || all.Lines[0].Joules != 9*3.6e6 || all.Unused == nil || all.Unused.Joules != 3*3.6e6 || all.Total.Joules != 12*3.6e6 {
		t.Errorf("root sees %+v", all)
	}
	if all.Unit != "EUR" || *all.Lines[0].Cost != 11 || *all.Total.Cost != 14 || all.Until.Sub(all.From) != 7*24*time.Hour {
		t.Errorf("for root it costs %v of %v %s", *all.Lines[0].Cost, *all.Total.Cost, all.Unit)
	}
	if nodes := read[wire.EnergyAccount](t, b.as("root", "GET", "/v1/energy?by=node", ""), http.StatusOK); nodes.Unused != nil || nodes.Total.Joules != 12*3.6e6 || nodes.Lines[0].Name != "n1" {
		t.Errorf("by node it is %+v", nodes)
	}
	for caller, want := range map[string]float64{"alice": 9 * 3.6e6, "bob": 0} {
		if own := read[wire.EnergyAccount](t, b.as(caller, "GET", "/v1/energy?by=queue", ""), http.StatusOK); own.Total.Joules != want || own.Unused != nil {
			t.Errorf("%s sees %+v", caller, own)
		}
	}
	first := "/v1/energy?" + url.Values{"from": {from.Format(time.RFC3339)}, "to": {from.Add(time.Hour).Format(time.RFC3339)}}.Encode()
	if hour := read[wire.EnergyAccount](t, b.as("root", "GET", first, ""), http.StatusOK); hour.Total.Joules != 10*3.6e6 {
		t.Errorf("in the first hour it is %+v", hour)
	}
}

func TestBadEnergyQueries(t *testing.T) {
	b := newFixture(t)
	for _, c := range []struct {
		caller, query string
		status        int
		field         string
	}{
		{"root", "by=horse", http.StatusBadRequest, "by"},
		{"root", "by=", http.StatusBadRequest, "by"},
		{"root", "by=owner&by=queue", http.StatusBadRequest, "by"},
		{"alice", "by=node", http.StatusForbidden, ""},
		{"root", "from=yesterday", http.StatusBadRequest, "from"},
		{"root", "to=2026-11-31T00:00:00Z", http.StatusBadRequest, "to"},
		{"root", "to=0001-01-01T00:00:00Z", http.StatusBadRequest, "to"},
		{"root", "to=9999-01-01T00:00:00Z", http.StatusBadRequest, "to"},
		{"root", "from=2026-11-22T00:00:00Z&to=2026-11-22T00:00:00Z", http.StatusBadRequest, "from"},
		{"root", "from=2020-01-01T00:00:00Z&to=2026-11-22T00:00:00Z", http.StatusBadRequest, "from"},
		{"root", "by=vjob&from=2026-01-01T00:00:00Z&to=2026-11-22T00:00:00Z", http.StatusBadRequest, "from"},
		{"root", "of=me", http.StatusBadRequest, "of"},
	} {
		if e := read[wire.Error](t, b.as(c.caller, "GET", "/v1/energy?"+c.query, ""), c.status); e.Error.Field != c.field {
			t.Errorf("%s %s: %+v", c.caller, c.query, e.Error)
		}
	}
}

func TestPrices(t *testing.T) {
	b := newFixture(t)
	if none := read[wire.Prices](t, b.as("alice", "GET", "/v1/prices", ""), http.StatusOK); none.Unit != "" || none.Values == nil || none.Now != nil {
		t.Errorf("without prices: %+v", none)
	}
	const text = `time,EUR/MWh\n2026-11-22T00:00Z,1\n2026-11-22T01:00Z,2`
	b.as("root", "PUT", "/v1/prices", `{"csv":"`+text+`","check":true}`)
	if done := b.scheduler.recorded(); len(done) != 0 {
		t.Errorf("a check did %v", done)
	}
	if r := b.as("root", "PUT", "/v1/prices", `{"csv":"`+text+`"}`); r.Code != http.StatusNoContent {
		t.Errorf("%d %s", r.Code, r.Body)
	}
	if done := b.scheduler.recorded(); len(done) != 1 || !strings.HasPrefix(done[0], "prices ") || !strings.HasSuffix(done[0], " by root") {
		t.Errorf("it did %v", done)
	}
	for _, c := range []struct{ body, field string }{
		{`{"csv":"` + text + `\n2026-11-22T05:00Z,2"}`, "line 4, time"},
		{`{"csv":"` + text + `\n2026-11-22T02:00Z,NaN"}`, "line 4, price"},
		{`{"csv":"price"}`, "line 1"},
		{`{"csv":1}`, "csv"},
		{`{"prices":[]}`, "prices"},
	} {
		for _, check := range []string{"", `"check":true,`} {
			body := "{" + check + c.body[1:]
			if e := read[wire.Error](t, b.as("root", "PUT", "/v1/prices", body), http.StatusBadRequest); !strings.HasSuffix(e.Error.Field, c.field) {
				t.Errorf("%s: %+v", body, e.Error)
			}
		}
	}
	if done := b.scheduler.recorded(); len(done) != 1 {
		t.Errorf("what is wrong did %v", done[1:])
	}
}
