package api_test

import (
	"net/http"
	"strings"
	"testing"

	"vjob/api/wire"
)

// GET / and GET /v1 say where to begin: to anyone, to browsers as a page.
func TestIndex(t *testing.T) {
	b := newFixture(t)
	for _, path := range []string{"/", "/v1"} {
		got := read[wire.Index](t, b.as("", "GET", path, ""), http.StatusOK)
		if got.Version != "1" || got.OpenAPI != "/v1/openapi.json" || !strings.Contains(got.Login, "Bearer") || !strings.Contains(got.Documentation, "use-the-rest-api.md") {
			t.Errorf("%s: %+v", path, got)
		}
		for _, first := range append(got.First, got.OpenAPI) {
			if res := b.as("root", "GET", first, ""); res.Code != http.StatusOK {
				t.Errorf("%s names %s, which answers %d", path, first, res.Code)
			}
		}
		page := b.as("", "GET", path, "", "Accept", "text/html,application/xhtml+xml")
		if page.Header().Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(page.Body.String(), `<a href="/v1/openapi.json">`) {
			t.Errorf("%s for a browser: %v %s", path, page.Header(), page.Body)
		}
		if res := b.as("", "GET", path+"?x=1", ""); res.Code != http.StatusBadRequest {
			t.Errorf("%s with an unknown parameter: %d", path, res.Code)
		}
	}
}
