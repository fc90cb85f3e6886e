package request

import (
	"errors"
	"fmt"
	"strings"

	"vjob/oar"
)

// fail returns the error for a span; line is what OAR prints.
func (p *parser) fail(at oar.Span, line, format string, args ...any) error {
	return &oar.Error{Exit: oar.ExitRequest, OAR: line, Position: p.src.At(at), Text: fmt.Sprintf(format, args...)}
}

// failLevel refuses the level that begins at a byte, because of the current token.
func (p *parser) failLevel(from int, format string, args ...any) error {
	return p.fail(p.tok.span, p.levelLine(from), format, args...)
}

// quotedToken returns the current token for a message.
func (p *parser) quotedToken() string {
	if p.tok.class == end {
		return "nothing"
	}
	return oar.Quoted(p.src.Text[p.tok.span.Off:p.tok.span.End])
}

// levelLine is OAR's line for a bad level. OAR cuts the text at each /, + and comma, even between
// quotes.
func (p *parser) levelLine(from int) string {
	text := p.src.Text[from:]
	if i := strings.IndexAny(text, "/+,"); i >= 0 {
		text = text[:i]
	}
	return "# Error: cannot recognize the resource description: " + text
}

// resourceLine is OAR's line for a bad group.
func (p *parser) resourceLine(from int) string {
	const most = 300 // keeps the end of the line
	text := p.src.Text[from:]
	if len(text) > most {
		text = text[:most] + "…"
	}
	return "# Error: cannot recognize -- " + text + " -- resource"
}

// asRequestError gives the error of a property the exit code of its request.
func asRequestError(err error) error {
	if e, ok := errors.AsType[*oar.Error](err); ok {
		of := *e
		of.Exit = oar.ExitRequest
		return &of
	}
	return err
}
