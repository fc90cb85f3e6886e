package request

import (
	"errors"
	"fmt"
	"strings"

	"vjob/oar/message"
)

// fail refuses the request for what stands at a place; oar is the line of OAR.
func (p *parser) fail(at message.Span, oar, format string, args ...any) error {
	return &message.Error{Exit: message.ExitRequest, OAR: oar, Place: p.src.At(at), Text: fmt.Sprintf(format, args...)}
}

// bad refuses the level that begins at a byte, for what stands at the present token.
func (p *parser) bad(from int, format string, args ...any) error {
	return p.fail(p.tok.span, p.level(from), format, args...)
}

// shown is the present token in a message.
func (p *parser) shown() string {
	if p.tok.class == end {
		return "nothing"
	}
	return message.Short(p.src.Text[p.tok.span.Off:p.tok.span.End])
}

// level is OAR's line for a level that it cannot read: it cuts the text at each
// / + and comma, also between quotes.
func (p *parser) level(from int) string {
	text := p.src.Text[from:]
	if i := strings.IndexAny(text, "/+,"); i >= 0 {
		text = text[:i]
	}
	return "# Error: cannot recognize the resource description: " + text
}

// rest is OAR's line for what it cannot make a group of.
func (p *parser) rest(from int) string {
	const most = 300 // so that the end of the line is not cut off
	text := p.src.Text[from:]
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "# Error: cannot recognize -- " + text + " -- resource"
}

// asRequest makes an error of a property one of the request that it stands in.
func asRequest(err error) error {
	if e, ok := errors.AsType[*message.Error](err); ok {
		of := *e
		of.Exit = message.ExitRequest
		return &of
	}
	return err
}
