package request

import (
	"errors"
	"fmt"
	"strings"

	"vjob/oar"
)

// fail refuses the request for what stands at a place; line is what OAR prints.
func (p *parser) fail(at oar.Span, line, format string, args ...any) error {
	return &oar.Error{Exit: oar.ExitRequest, OAR: line, Position: p.src.At(at), Text: fmt.Sprintf(format, args...)}
}

// failLevel refuses the level that begins at a byte, for what stands at the present token.
func (p *parser) failLevel(from int, format string, args ...any) error {
	return p.fail(p.tok.span, p.levelLine(from), format, args...)
}

// quotedToken is the present token in a message.
func (p *parser) quotedToken() string {
	if p.tok.class == end {
		return "nothing"
	}
	return oar.Quoted(p.src.Text[p.tok.span.Off:p.tok.span.End])
}

// levelLine is OAR's line for a level that it cannot read: it cuts the text at each
// / + and comma, also between quotes.
func (p *parser) levelLine(from int) string {
	text := p.src.Text[from:]
	if i := strings.IndexAny(text, "/+,"); i >= 0 {
		text = text[:i]
	}
	return "# Error: cannot recognize the resource description: " + text
}

// resourceLine is OAR's line for what it cannot make a group of.
func (p *parser) resourceLine(from int) string {
	const most = 300 // so that the end of the line is not cut off
	text := p.src.Text[from:]
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "# Error: cannot recognize -- " + text + " -- resource"
}

// asRequestError makes an error of a property one of the request that it stands in.
func asRequestError(err error) error {
	if e, ok := errors.AsType[*oar.Error](err); ok {
		of := *e
		of.Exit = oar.ExitRequest
		return &of
	}
	return err
}
