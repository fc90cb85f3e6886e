package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"vjob/oar"
)

// YAML converts JSON to YAML. Keys keep their order.
func YAML(data []byte) (string, error) {
	d := dumper{tokens: json.NewDecoder(bytes.NewReader(data))}
	d.tokens.UseNumber()
	d.out.WriteString("---")
	err := d.yaml(0)
	return d.out.String(), err
}

// Perl converts JSON to a value of Perl, as OAR's commands print for -D.
func Perl(data []byte) (string, error) {
	d := dumper{tokens: json.NewDecoder(bytes.NewReader(data))}
	d.tokens.UseNumber()
	err := d.perl()
	return d.out.String(), err
}

type dumper struct {
	tokens *json.Decoder
	out    strings.Builder
}

// yaml writes the next value after the current line's text, and ends the line.
func (d *dumper) yaml(depth int) error {
	token, err := d.tokens.Token()
	if err != nil {
		return err
	}
	open, composite := token.(json.Delim)
	if !composite {
		d.out.WriteString(" " + scalar(token, bare, `""`, "~") + "\n")
		return nil
	}
	empty := true
	for ; d.tokens.More(); empty = false {
		if empty {
			d.out.WriteByte('\n')
		}
		d.out.WriteString(strings.Repeat("  ", depth))
		if open == '[' {
			d.out.WriteByte('-')
		} else {
			key, err := d.tokens.Token()
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
		d.out.WriteString(map[json.Delim]string{'[': " []\n", '{': " {}\n"}[open])
	}
	_, err = d.tokens.Token()
	return err
}

// perl writes the next value.
func (d *dumper) perl() error {
	token, err := d.tokens.Token()
	if err != nil {
		return err
	}
	open, composite := token.(json.Delim)
	if !composite {
		d.out.WriteString(scalar(token, nil, "''", "undef"))
		return nil
	}
	d.out.WriteString(open.String())
	for first := true; d.tokens.More(); first = false {
		if !first {
			d.out.WriteByte(',')
		}
		if open == '{' {
			key, err := d.tokens.Token()
			if err != nil {
				return err
			}
			d.out.WriteString(scalar(key, nil, "''", "undef") + " => ")
		}
		if err := d.perl(); err != nil {
			return err
		}
	}
	end, err := d.tokens.Token()
	if err == nil {
		fmt.Fprint(&d.out, end)
	}
	return err
}

// scalar quotes a value unless it is bare, a number, a truth value or null.
func scalar(token json.Token, bare func(string) bool, quotes, null string) string {
	switch v := token.(type) {
	case nil:
		return null
	case string:
		switch {
		case bare != nil && bare(v):
			return v
		case quotes == "''":
			return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(oar.Printable(v)) + "'"
		}
		var b bytes.Buffer
		_ = encode(&b, v) // strings always encode
		return b.String()
	}
	return fmt.Sprint(token)
}
