package oar_test

import (
	"strings"
	"testing"

	"vjob/oar"
)

func TestTypes(t *testing.T) {
	for _, text := range []string{
		"besteffort", "idempotent", "desktop_computing", "deploy", "deploy=standby", "cosystem", "cosystem=standby", "noop", "noop=standby",
		"container", "container=night", "inner=12", "inner=night", "placeholder=a-b", "allowed=a_b", "timesharing=user,name", "timesharing=name,user",
		"timesharing=*,*", "timesharing=user,*", "timesharing=*,user", "timesharing=*,name", "token:fluent=12", "postpone=2037-01-01 10:00", "deadline=2037-01-01",
		"expire=2037-01-01 10:00:30", "state=permissive",
	} {
		got, err := oar.ParseJobType(text)
		if err != nil || got.String() != text || got != oar.SplitJobType(text) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                       "there is no such type: want one of allowed, besteffort,",
		"bestefort":              "did you mean besteffort?",
		"checkpoint":             "there is no such type",
		"besteffort=1":           "besteffort takes no value",
		"besteffort=":            "besteffort takes no value",
		"timesharing":            "timesharing takes two of",
		"timesharing=user":       "timesharing takes two of",
		"timesharing=user,user":  "timesharing takes two of",
		"timesharing=name,name":  "timesharing takes two of",
		"timesharing=a,b":        "timesharing takes two of",
		"cosystem=bug":           "cosystem takes no value, or standby",
		"expire=tomorrow":        "expire takes YYYY-MM-DD",
		"deadline=2037-02-30":    "deadline takes YYYY-MM-DD",
		"inner":                  "inner takes a name",
		"inner=a b":              "inner takes a name",
		"inner=a;b":              "inner takes a name",
		"token=12":               "want token:NAME=NUMBER",
		"token:a=b":              "token takes a number",
		"token:a b=1":            "want token:NAME=NUMBER",
		"besteffort:x":           "and no : in other types",
		"state=strict":           "state takes permissive",
		strings.Repeat("x", 201): "the type has 201 bytes; 200 are allowed",
	} {
		_, err := oar.ParseJobType(text)
		if code, _ := oar.ExitOf(err); code != oar.ExitAdmission || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), strings.TrimSpace("[ADMISSION RULE] Error: unknown job type: "+text[:min(len(text), 100)])) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// ParseJobType knows each name.
func TestNames(t *testing.T) {
	for _, n := range oar.JobTypeNames() {
		_, err := oar.ParseJobType(n)
		if err != nil && strings.Contains(err.Error(), "there is no such type") {
			t.Error(err)
		}
	}
}

// A type that is parsed is formatted as it was.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"token:a=1", "timesharing=name,*", "expire=2037-01-01 1:2", "container", "inner=", "::=="} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := oar.ParseJobType(text)
		if err == nil && got.String() != text {
			t.Errorf("%q is written %q", text, got)
		}
		if code, ok := oar.ExitOf(err); err != nil && (!ok || code != oar.ExitAdmission) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
