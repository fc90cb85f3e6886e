package strictjson_test

import (
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/internal/strictjson"
)

type inner struct {
	CPU  int64             `json:"cpu_milli"`
	Env  map[string]string `json:"env"`
	Mode cluster.MoveMode  `json:"mode"`
}

type outer struct {
	Name  string    `json:"name"`
	Count int       `json:"count"`
	Start time.Time `json:"start"`
	Inner *inner    `json:"inner"`
	List  []inner   `json:"list"`
}

// An error names all unknown fields and wrong types, in the order of the text; other faults stand alone.
func TestAllFaultsAreTold(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{`{"nam":"a","count":"3","inner":{"cpu":1,"env":{"A":7},"mode":"sometimes"},"list":[{"cpu_milli":true},{"x":null}],"start":"now"}`, []string{
			"nam: an unknown field, want probably name, or one of count, inner, list, name, start",
			`count: "3" is not a whole number`,
			"inner.cpu: an unknown field, want probably cpu_milli, or one of cpu_milli, env, mode",
			"inner.env.A: 7 is not text",
			`inner.mode: "sometimes" is not one of automatic, manual, never`,
			"list[0].cpu_milli: true is not a whole number",
			"list[1].x: an unknown field, want one of cpu_milli, env, mode",
			`start: "now" is not a date and a time such as 2026-12-01T08:00:00Z`,
		}},
		{`{"a":1,"b":2}`, []string{"a: an unknown field, want one of count, inner, list, name, start", "b: an unknown field, want one of count, inner, list, name, start"}},
		{`{"a":1,"list":{"b":2}}`, []string{"a: an unknown field, want one of count, inner, list, name, start", "list: an object is not a list"}},
		{`{"a":1,"count":"x"`, []string{"a: an unknown field, want one of count, inner, list, name, start", `count: "x" is not a whole number`}},
		{`[]`, []string{"body: a list is not an object"}},
		{`{"list":[null],"a":1}`, []string{"list[0]: null, want an object"}},
		{`{"name":null,"count":"x"}`, []string{`count: "x" is not a whole number`}},
	} {
		var into outer
		err := strictjson.New(strictjson.Bounds{}.Check()).Decode([]byte(c.text), &into)
		if got, want := err.Error(), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, want)
		}
	}
}

// An error has at most sixteen faults.
func TestFaultsAreBounded(t *testing.T) {
	var into struct {
		List []int `json:"list"`
	}
	err := strictjson.Decode([]byte(`{"list":[`+strings.Repeat(`"x",`, 99)+`1]}`), &into)
	if n := len(cluster.FieldErrors(err)); n != cluster.MaxFaults {
		t.Errorf("the error has %d faults", n)
	}
}
