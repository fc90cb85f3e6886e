package api

import (
	"fmt"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
)

// A submission may be much longer than any other request: an array has a line of parameters for
// each of its vjobs. The server reads few of them at a time, which bounds their memory.

// errLargeBodies refuses a long body above the limit.
var errLargeBodies = fmt.Errorf("body: the server is reading its limit of long submissions: try again in a second: %w", cluster.ErrUnavailable)

// maxLargeBodies is the number of long bodies that are read at a time.
const maxLargeBodies = 4

// limitBody bounds the body of a request. end releases its slot, if it holds one.
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

// largeBody is a body that takes a slot once it exceeds the usual length.
type largeBody struct {
	io.ReadCloser
	left      int64 // bytes that it may still read without a slot
	slots     chan struct{}
	holdsSlot bool
}

// Read fails with errBulk if no slot is free.
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
