package client_test

import (
	"io"
	"net/http"
	"testing"

	"vjob/api/wire"
)

// An update that another client forestalls begins again, with what is there then.
func TestUpdateBeginsAgain(t *testing.T) {
	tagged := func(tag, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", tag)
			_, _ = io.WriteString(w, body)
		}
	}
	var sent []string
	put := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			sent = append(sent, r.Header.Get("If-Match")+r.Header.Get("If-None-Match")+" "+string(body))
			say(status, `{"error":{"code":"changed","message":"read it again"}}`)(w, r)
		}
	}
	c, calls := script(t,
		say(404, `{"error":{"code":"not_found","message":"pool a"}}`), put(412),
		tagged(`"1.a"`, `{"name":"a","parent":"b"}`), put(412),
		tagged(`"2.a"`, `{"name":"a","parent":"c"}`), put(204))
	err := c.ChangePool(t.Context(), "a", func(p wire.Pool) (wire.PoolChange, error) { return wire.PoolChange{Parent: p.Parent + "x"}, nil })
	want := []string{`* {"parent":"x"}`, `"1.a" {"parent":"bx"}`, `"2.a" {"parent":"cx"}`}
	if err != nil || calls.Load() != 6 || len(sent) != 3 {
		t.Fatalf("%v after %d calls: %q", err, calls.Load(), sent)
	}
	for i := range want {
		if sent[i] != want[i] {
			t.Errorf("request %d: %s, want %s", i, sent[i], want[i])
		}
	}
}
