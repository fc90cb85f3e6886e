// Package jobtype reads the types of a job of OAR, the values of oarsub -t:
// besteffort, container=night, timesharing=user,*, deadline=2037-01-01 10:00.
//
// It refuses to know what a type makes of a job.
package jobtype

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vjob/internal/suggest"
	"vjob/oar/date"
	"vjob/oar/message"
)

// Type is a type with its value.
type Type struct {
	Name  string // besteffort, timesharing, token
	Value string // behind the first = ; "" is none
	Token string // X of token:X=N
}

// String is the type as it is written.
func (t Type) String() string {
	text := t.Name
	if t.Token != "" {
		text += ":" + t.Token
	}
	if t.Value != "" {
		text += "=" + t.Value
	}
	return text
}

// form says which values a type may have; what it wants is for the message.
type form struct {
	want string
	fits func(value string) bool
}

// MaxText is the most bytes of a type.
const MaxText = 200

var (
	bare    = form{"no value", func(v string) bool { return v == "" }}
	standby = form{"no value, or standby", func(v string) bool { return v == "" || v == "standby" }}
	maybe   = form{"no value, or a name of letters, digits, _ and -", func(v string) bool { return v == "" || named(v) }}
	name    = form{"a name of letters, digits, _ and -", named}
	sharing = form{"two of *, user and name, such as user,*", shares}
	number  = form{"a number", func(v string) bool { return v != "" && strings.Trim(v, "0123456789") == "" }}
	moment  = form{"YYYY-MM-DD, or YYYY-MM-DD hh:mm:ss", dated}
	permit  = form{"permissive", func(v string) bool { return v == "permissive" }}
	ofKnown = map[string]form{
		"besteffort": bare, "idempotent": bare, "desktop_computing": bare,
		"deploy": standby, "cosystem": standby, "noop": standby,
		"container": maybe, "inner": name, "placeholder": name, "allowed": name,
		"timesharing": sharing, "token": number, "state": permit,
		"postpone": moment, "deadline": moment, "expire": moment,
	}
)

func named(v string) bool {
	return v != "" && !strings.ContainsFunc(v, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
}

// shares takes (* or user) and (* or name) in either order.
func shares(v string) bool {
	a, b, ok := strings.Cut(v, ",")
	if a == "name" || b == "user" {
		a, b = b, a
	}
	return ok && (a == "*" || a == "user") && (b == "*" || b == "name")
}

func dated(v string) bool {
	_, _, err := date.Parse(v, time.UTC) // which of two such hours, and whether there is one, the zone tells later
	return err == nil
}

// Names are the types that OAR knows by itself.
func Names() []string {
	return []string{
		"allowed", "besteffort", "container", "cosystem", "deadline", "deploy", "desktop_computing", "expire", "idempotent",
		"inner", "noop", "placeholder", "postpone", "state", "timesharing", "token",
	}
}

// Split cuts a type into its parts, whatever they are.
func Split(text string) Type {
	name, value, _ := strings.Cut(text, "=")
	name, token, _ := strings.Cut(name, ":")
	return Type{Name: name, Value: value, Token: token}
}

// Has reports whether a job with these types has one of a name, whatever its value.
func Has(types []string, name string) bool {
	return slices.ContainsFunc(types, func(text string) bool { return Split(text).Name == name })
}

// Parse reads a type that OAR knows. The error is a [*message.Error] with the exit
// code of an admission rule, which is what refuses it in OAR.
func Parse(text string) (Type, error) {
	t := Split(text)
	f, ok := ofKnown[t.Name]
	switch {
	case len(text) > MaxText:
		return t, refuse(text, fmt.Sprintf("the type has %d bytes; %d are allowed", len(text), MaxText))
	case !ok && suggest.Nearest(t.Name, Names()) != "":
		return t, refuse(text, "there is no such type; did you mean "+suggest.Nearest(t.Name, Names())+"?")
	case !ok:
		return t, refuse(text, "there is no such type: want one of "+strings.Join(Names(), ", "))
	case (t.Token != "") != (t.Name == "token") || t.Token != "" && !named(t.Token):
		return t, refuse(text, "want token:NAME=NUMBER, and no : in other types")
	case !f.fits(t.Value) || strings.HasSuffix(text, "="):
		return t, refuse(text, t.Name+" takes "+f.want)
	}
	return t, nil
}

func refuse(text, why string) error {
	return &message.Error{
		Exit: message.ExitAdmission, OAR: "[ADMISSION RULE] Error: unknown job type: " + text,
		Place: message.Source{Name: "-t", Text: text}.At(message.Span{Off: 0, End: len(text)}), Text: why,
	}
}
