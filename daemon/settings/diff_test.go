package settings_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"vjob/daemon/settings"
)

// valid reads settings that are right.
func valid(t *testing.T, text string) settings.Settings {
	t.Helper()
	s, err := read(t, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A change of the settings says what it is, and when it takes effect.
func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, before, after string
		want                []string
	}{
		{"nothing", "", "", nil},
		{"a range is as good as its nodes", "nodes: [{name: 'n[1-2]', cpu: 4, memory: 8GiB}]", "nodes: [{name: n1, cpu: 4, memory: 8GiB}, {name: n2, cpu: 4000m, memory: 8192MiB}]", nil},
		{
			"nodes", "nodes: [{name: 'n[1-2]', cpu: 4, memory: 8GiB}]", "nodes: [{name: 'n[2-3]', cpu: 2, memory: 8GiB, labels: {rack: r1}}]",
			[]string{
				"- nodes.n1 {cpu: 4, memory: 8GiB} live", "nodes.n2.cpu: 4 → 2 live", "+ nodes.n2.labels.rack r1 live",
				"+ nodes.n3 {cpu: 2, labels: {rack: r1}, memory: 8GiB} live",
			},
		},
		{
			"queues", "default_queue: day\nqueues: [{name: day}, {name: night, priority: 5}]", "default_queue: night\nqueues: [{name: night, priority: 10, limits: {vms: 3}}, {name: day}]",
			[]string{"default_queue: day → night live", "queues: day, night → night, day live", "queues.night.limits.vms: 0 → 3 live", "queues.night.priority: 5 → 10 live"},
		},
		{
			"values without names", "rights: {whole_nodes: [ann, bob]}", "rights: {whole_nodes: [bob, eve]}",
			[]string{"- rights.whole_nodes ann live", "+ rights.whole_nodes eve live"},
		},
		{"an unlimited quota", "quotas: [{name: q, limits: {vms: 3}}]", "quotas: [{name: q, limits: {cpu: 3}}]", []string{"quotas.q.limits.cpu: none → 3 live", "quotas.q.limits.vms: 3 → none live"}},
		{"a map", "fair_share: {shares: {ann: 2}}", "fair_share: {shares: {ann: 3, bob: 1}}", []string{"fair_share.shares.ann: 2 → 3 live", "+ fair_share.shares.bob 1 live"}},
		{
			"what needs a restart", "", "listen: {mode: '0660'}\nlog: {level: debug, format: json}\nsimulated: {seed: 5}",
			[]string{`listen.mode: 0666 → 0660 restart`, "log.format: text → json restart", "log.level: info → debug live", "simulated.seed: 1 → 5 restart"},
		},
		{
			"a script line by line", "rules: |\n  capacity(n1, 5);\n", "rules: |\n  capacity(n1, 5);\n  capacity(n2, 6);\n",
			[]string{`+ rules "capacity(n2, 6);" live`},
		},
		{"a parameter of a policy", "policy: {name: timeslices}", "policy: {name: timeslices, quantum: 2h}", []string{"policy.quantum: 1h0m0s → 2h0m0s live"}},
	} {
		before, after := valid(t, c.before), valid(t, c.after)
		changes, err := settings.Diff(&before, &after)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		var got []string
		for _, ch := range changes {
			got = append(got, ch.String()+" "+string(ch.Class))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n  %s\nwant\n  %s", c.name, strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
		}
	}
}

// Each setting has a class, and each class a setting: a new setting must say whether a reload applies it.
func TestEachSettingHasAClass(t *testing.T) {
	keys := append(leaves(reflect.TypeFor[settings.Settings](), ""), "policy.*")
	slices.Sort(keys)
	if classified := settings.Keys(); !slices.Equal(keys, classified) {
		for _, key := range keys {
			if !slices.Contains(classified, key) {
				t.Errorf("%s has no class: add it to liveKeys or restartKeys", key)
			}
		}
		for i, key := range classified {
			if !slices.Contains(keys, key) || i > 0 && classified[i-1] == key {
				t.Errorf("%s has a class, and is no setting or has two", key)
			}
		}
	}
}

// After a reload only what needs a restart differs from the file, whatever has changed.
func TestInEffect(t *testing.T) {
	before := valid(t, "")
	after := before
	n := 0
	vary(reflect.ValueOf(&after).Elem(), &n)
	all, err := settings.Diff(&before, &after)
	if err != nil || len(all) < 100 {
		t.Fatalf("%d changes, %v", len(all), err)
	}
	is := before.InEffect(&after)
	left, err := settings.Diff(&is, &after)
	if err != nil {
		t.Fatal(err)
	}
	pending := slices.DeleteFunc(all, func(c settings.Change) bool { return c.Class == settings.Live })
	if !slices.Equal(left, pending) {
		t.Errorf("left are\n%v\nwant\n%v", left, pending)
	}
	if done, err := settings.Diff(&before, &is); err != nil || slices.ContainsFunc(done, func(c settings.Change) bool { return c.Class == settings.Restart }) {
		t.Errorf("in effect are %v, %v", done, err)
	}
}

// vary changes each number, text and flag of settings; lists get an entry.
func vary(v reflect.Value, n *int) {
	switch v.Kind() { //nolint:exhaustive // settings have no others
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				vary(field, n)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		vary(v.Index(0), n)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		*n++
		v.SetInt(v.Int() + int64(*n)<<20)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 7)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.5)
	case reflect.String:
		*n++
		v.SetString("x" + strings.Repeat("y", *n%5))
	}
}
