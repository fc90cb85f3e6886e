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

// bodyLimits bounds the bodies of requests.
type bodyLimits struct {
	bytes      int64         // of a body
	largeBytes int64         // of the body of a submission
	slots      chan struct{} // one token per long body under way
}

func newBodyLimits(l *Limits) *bodyLimits {
	return &bodyLimits{bytes: l.BodyBytes, largeBytes: max(l.BodyBytes, l.SubmissionBytes), slots: make(chan struct{}, maxLargeBodies)}
}

// limit bounds the body of a request. end releases its slot, if it holds one.
func (l *bodyLimits) limit(c *gin.Context, large bool) (end func()) {
	most := l.bytes
	if large {
		most = l.largeBytes
	}
	b := &largeBody{ReadCloser: http.MaxBytesReader(c.Writer, c.Request.Body, most), left: l.bytes, slots: l.slots}
	c.Request.Body = b
	return func() {
		if b.holdsSlot {
			<-l.slots
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

// Read fails with errLargeBodies if no slot is free.
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
