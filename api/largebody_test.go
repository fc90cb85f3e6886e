package api_test

import (
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// slowBody is a body of which some is there at once, and the rest when the door opens.
type slowBody struct {
	io.Reader
	left   int           // bytes until it waits
	waits  chan struct{} // closed when it does
	door   chan struct{}
	before sync.Once
}

func (s *slowBody) Read(p []byte) (int, error) {
	if s.left <= 0 {
		s.before.Do(func() { close(s.waits) })
		<-s.door
	}
	n, err := s.Reader.Read(p)
	s.left -= n
	return n, err
}

// Few long submissions are read at a time; others get 503, and requests of the usual length
// are not affected.
func TestFewLongSubmissionsAtATime(t *testing.T) {
	b := newFixture(t)
	b.populate()
	const places = 4
	door := make(chan struct{})
	var ended sync.WaitGroup
	for range places {
		body := &slowBody{Reader: strings.NewReader(strings.Repeat(" ", 3<<20)), left: 2 << 20, waits: make(chan struct{}), door: door}
		ended.Go(func() {
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/v1/vjobs", body)
			req.Header.Set("Authorization", "Bearer "+b.tokens["alice"])
			res := httptest.NewRecorder()
			b.Handler().ServeHTTP(res, req)
			if res.Code != 400 {
				t.Errorf("blanks: %d %s", res.Code, res.Body)
			}
		})
		<-body.waits
	}
	long := strings.Repeat(" ", 2<<20)
	if res := b.as("alice", "POST", "/v1/vjobs", long); res.Code != 503 {
		t.Errorf("one more: %d %s", res.Code, res.Body)
	}
	if res := b.as("alice", "POST", "/v1/vjobs", anonymous); res.Code != 201 {
		t.Errorf("a short one beside them: %d %s", res.Code, res.Body)
	}
	close(door)
	ended.Wait()
	for range places + 1 { // each gives its place back
		if res := b.as("alice", "POST", "/v1/vjobs", long); res.Code != 400 {
			t.Errorf("afterwards: %d %s", res.Code, res.Body)
		}
	}
}
