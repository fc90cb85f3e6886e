package cluster_test

import (
	"slices"
	"strings"
	"testing"

	"vjob/cluster"
)

func TestWords(t *testing.T) {
	cases := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"  ", nil},
		{"0.5", []string{"0.5"}},
		{" a  b\tc ", []string{"a", "b", "c"}},
		{`100 "low pressure"`, []string{"100", "low pressure"}},
		{`'it is' ''`, []string{"it is", ""}},
		{`a"b c"d`, []string{"ab cd"}},
		{`a\ b \" "\"x\" \n"`, []string{"a b", `"`, `"x" \n`}},
		{`'\'`, []string{`\`}},
		{"$HOME *", []string{"$HOME", "*"}},
	}
	for _, c := range cases {
		got, err := cluster.Words(c.text)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{`"`, `a 'b`, `\`, `"a\"`} {
		if words, err := cluster.Words(text); err == nil {
			t.Errorf("%q: got %q and no error", text, words)
		}
	}
}

// Words that were quoted come back, whatever is in them.
func FuzzWords(f *testing.F) {
	f.Add("a b", `"`, `\`)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		want := []string{a, b, c}
		quoted := make([]string, len(want))
		for i, w := range want {
			want[i] = strings.ToValidUTF8(w, "?")
			quoted[i] = "'" + strings.ReplaceAll(want[i], "'", `'\''`) + "'"
		}
		if got, err := cluster.Words(strings.Join(quoted, " ")); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
}

// A member of an array knows which it is, and its neighbours do not hear of it.
func TestPayloadOfArray(t *testing.T) {
	env := map[string]string{"A": "b"}
	words := []string{"./run", "--fast"}
	job := cluster.VJob{
		ID: 9, Array: 7, Index: 3, Parameter: `0.5 "low pressure"`,
		VMs: []cluster.VM{{Payload: &cluster.Payload{Command: words[:1:2], Env: env}}}, Terms: &cluster.Terms{},
	}
	p := job.Payload(0)
	if want := []string{"./run", "0.5", "low pressure"}; !slices.Equal(p.Command, want) {
		t.Errorf("command: got %q, want %q", p.Command, want)
	}
	for name, want := range map[string]string{
		"A": "b", "VJOB_ARRAY_ID": "7", "VJOB_ARRAY_INDEX": "3", "VJOB_PARAMETER": `0.5 "low pressure"`,
	} {
		if p.Env[name] != want {
			t.Errorf("%s: got %q, want %q", name, p.Env[name], want)
		}
	}
	if len(env) != 1 || words[1] != "--fast" {
		t.Errorf("what all members share was changed: %v, %q", env, words)
	}
	job.Array = 0
	if p := job.Payload(0); len(p.Command) != 1 || p.Env["VJOB_ID"] != "9" || p.Env["VJOB_RANK"] != "0" || p.Env["VJOB_VMS"] != "1" || len(p.Env) != 4 {
		t.Errorf("a vjob of no array got %+v", p)
	}
	job.VMs[0].Payload = &cluster.Payload{Env: env}
	if p := job.Payload(0); len(p.Env) != 1 {
		t.Errorf("a guest without a command has the environment %v", p.Env)
	}
}

func TestNamesOfMembers(t *testing.T) {
	if got := cluster.MemberName("sweep", 7); got != "sweep[7]" || cluster.ArrayName(got) != "sweep" {
		t.Errorf("got %q, of array %q", got, cluster.ArrayName(got))
	}
	if got := cluster.MemberName("", 7) + cluster.ArrayName("plain"); got != "plain" {
		t.Errorf("got %q", got)
	}
}

// Words that were joined are split into the same ones.
func TestJoinWords(t *testing.T) {
	for want, words := range map[string][]string{
		"":                       nil,
		"./run.sh --fast x=1":    {"./run.sh", "--fast", "x=1"},
		`sh -c 'exit 3' '' '$A'`: {"sh", "-c", "exit 3", "", "$A"},
		`'it'\''s' 'a"b' '\'`:    {"it's", `a"b`, `\`},
	} {
		got := cluster.JoinWords(words)
		back, err := cluster.Words(got)
		if got != want || err != nil || !slices.Equal(back, words) {
			t.Errorf("%q: %s, want %s; read as %q, %v", words, got, want, back, err)
		}
	}
}
