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

// errLargeBodies refuses a long body beyond those.
var errLargeBodies = fmt.Errorf("body: as many long submissions are under way as the server takes: try again in a second: %w", cluster.ErrUnavailable)

// maxLargeBodies are those that are under way beyond the usual length.
const maxLargeBodies = 4

// limitBody bounds the body of a request. end gives its place back, if it took one.
func (s *Server) limitBody(c *gin.Context, e *endpoint) (end func()) {
	most := s.limits.BodyBytes
	if e.largeBody {
		most = max(most, s.limits.SubmissionBytes)
	}
	b := &largeBody{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, most), left: s.limits.BodyBytes, slots: s.largeBodies}
	c.Request.Body = b
	return func() {
		if b.holdsSlot {
			<-s.largeBodies
		}
	}
}

// largeBody is a body that takes a place when it turns out to be longer than usual.
type largeBody struct {
	io.ReadCloser
	left      int64 // bytes that are still to come without a place
	slots     chan struct{}
	holdsSlot bool
}

// Read fails with errBulk when there is no place.
func (b *largeBody) Read(p []byte) (n int, err error) {
	if b.left < 0 && !b.holdsSlot {
		select {
		case b.slots <- struct{}{}:
			b.holdsSlot = true
		default:
			return 0, errLargeBodies
		}
	}
	n, err = b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
