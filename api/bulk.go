package api

import (
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
)

// A submission may be much longer than any other request: an array has a line of
// parameters for each of its vjobs. Few that are so long are taken at a time, so that
// nobody fills the memory with them.

// errBulk refuses a long body beyond those.
var errBulk = fmt.Errorf("body: as many long submissions are under way as the server takes: try again in a second: %w", cluster.ErrUnavailable)

// bulk are those that are under way beyond the usual length.
const bulk = 4

// limitBody bounds the body of a request. end gives its place back, if it took one.
func (s *Server) limitBody(c *gin.Context, e *endpoint) (end func()) {
	most := s.limits.BodyBytes
	if e.bulky {
		most = max(most, s.limits.SubmissionBytes)
	}
	b := &bulkyBody{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, most), usual: s.limits.BodyBytes, places: s.bulk}
	c.Request.Body = b
	return func() {
		if b.placed {
			<-s.bulk
		}
	}
}

// bulkyBody is a body that takes a place when it turns out to be longer than usual.
type bulkyBody struct {
	io.ReadCloser
	usual  int64 // bytes that are still to come without a place
	places chan struct{}
	placed bool
}

// Read fails with errBulk when there is no place.
func (b *bulkyBody) Read(p []byte) (n int, err error) {
	if b.usual < 0 && !b.placed {
		select {
		case b.places <- struct{}{}:
			b.placed = true
		default:
			return 0, errBulk
		}
	}
	n, err = b.ReadCloser.Read(p)
	b.usual -= int64(n)
	return n, err
}
