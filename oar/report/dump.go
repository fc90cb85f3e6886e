package report

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"vjob/oar"
)

// YAML converts JSON to YAML. Keys keep their order.
func YAML(data []byte) (string, error) {
	d := dumper{tokens: jsontext.NewDecoder(bytes.NewBuffer(data))}
	d.out.WriteString("---")
	err := d.yaml(0)
	return d.out.String(), err
}

// Perl converts JSON to a value of Perl, as OAR's commands print for -D.
func Perl(data []byte) (string, error) {
	d := dumper{tokens: jsontext.NewDecoder(bytes.NewBuffer(data))}
	err := d.perl()
	return d.out.String(), err
}

type dumper struct {
	tokens *jsontext.Decoder
	out    strings.Builder
}

// yaml writes the next value after the current line's text, and ends the line.
func (d *dumper) yaml(depth int) error {
	token, err := d.tokens.ReadToken()
	if err != nil {
		return err
	}
	open := token.Kind()
	if open != '{' && open != '[' {
		d.out.WriteString(" " + scalar(token, bare, `""`, "~") + "\n")
		return nil
	}
	empty := true
	for ; d.more(); empty = false {
		if empty {
			d.out.WriteByte('\n')
		}
		d.out.WriteString(strings.Repeat("  ", depth))
		if open == '[' {
			d.out.WriteByte('-')
		} else {
			key, err := d.tokens.ReadToken()
			if err != nil {
				return err
			}
			d.out.WriteString(scalar(key, bare, `""`, "~") + ":")
		}
		if err := d.yaml(depth + 1); err != nil {
			return err
		}
	}
	if empty {
		d.out.WriteString(map[jsontext.Kind]string{'[': " []\n", '{': " {}\n"}[open])
	}
	_, err = d.tokens.ReadToken()
	return err
}

// perl writes the next value.
func (d *dumper) perl() error {
	token, err := d.tokens.ReadToken()
	if err != nil {
		return err
	}
	open := token.Kind()
	if open != '{' && open != '[' {
		d.out.WriteString(scalar(token, nil, "''", "undef"))
		return nil
	}
	d.out.WriteString(token.String())
	for first := true; d.more(); first = false {
		if !first {
			d.out.WriteByte(',')
		}
		if open == '{' {
			key, err := d.tokens.ReadToken()
			if err != nil {
				return err
			}
			d.out.WriteString(scalar(key, nil, "''", "undef") + " => ")
		}
		if err := d.perl(); err != nil {
			return err
		}
	}
	end, err := d.tokens.ReadToken()
	d.out.WriteString(end.String())
	return err
}

// more reports whether another value or key of the list or object follows.
func (d *dumper) more() bool {
	kind := d.tokens.PeekKind()
	return kind != '}' && kind != ']' && kind != 0
}

// scalar quotes a value unless it is bare, a number, a truth value or null.
func scalar(token jsontext.Token, bare func(string) bool, quotes, null string) string {
	text := token.String()
	switch {
	case token.Kind() == 'n':
		return null
	case token.Kind() != '"' || bare != nil && bare(text):
		return text
	case quotes == "''":
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(oar.Printable(text)) + "'"
	}
	var b bytes.Buffer
	_ = encode(&b, text) // strings always encode
	return b.String()
}
