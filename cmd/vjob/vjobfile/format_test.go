package vjobfile_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/cmd/vjob/vjobfile"
)

// texts are values that YAML could take for something else.
var texts = []string{
	"plain", "", "010", "1.50", "true", "no", "null", "~", "1:00:00", "2026-12-01", "- a", "a: b", "#x", "a #b", "'", `"`, `\`, "[a]", "{a}", "&a", "*a", "!a", "|", ">", "%", "@",
	" lead", "trail ", "two  spaces", "a\tb", "é ü 漢字", "a\nb", "a\n\n\nb", "\nfirst line is empty", "a\n", "a\n\n", "  indented\nb\n", "a\r\nb\r\n", "#!/bin/sh\nset -e\n\techo \"$1\" 'x'\n",
	"line ends with a blank \nb", "\t\n", "0x1f", "1e3", ".inf", "<<", "=", "?", ": ", "---", "...", "$VAR ${X}", strings.Repeat("long ", 100),
}

// What is written is read as the same submission, whatever the texts.
func TestFormat(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	text := func() string { return texts[random.IntN(len(texts))] }
	for range 2000 {
		want := wire.Submission{Name: text(), Priority: random.IntN(3) - 1, WalltimeSeconds: random.Int64N(2) * random.Int64N(1e6), Rules: strings.TrimSpace(text())}
		vm := wire.VMSpec{CPUMilli: 1 + random.Int64N(5000), MemoryMiB: 1 + random.Int64N(5000), Image: text()}
		switch random.IntN(4) {
		case 0:
			vm.Command = []string{text(), text(), text()}
		case 1:
			vm.Script = text()
		case 2:
			code := random.IntN(256)
			vm.Steps, vm.ExitCode = []wire.Step{{CPUMilli: 500, MemoryMiB: 7, Seconds: 1.5, NetworkMbit: 0.25}, {Seconds: 3}}, &code
		}
		if random.IntN(2) == 0 {
			vm.Env = map[string]string{"A": text(), "no": text(), "B_2": text()}
		}
		if random.IntN(2) == 0 {
			want.Count, want.Template = 1+random.IntN(5), &vm
		} else {
			want.VMs = []wire.VMSpec{vm, {CPUMilli: 250, MemoryMiB: 2048}}
		}
		want.Comment, want.Labels = text(), map[string]string{"x": text(), "yes": text()}
		want.After = []cluster.Dependency{{On: 12, When: cluster.AfterNotOK, Array: true}}
		want.Success, want.MinRun, want.CPULimit = cluster.Success(random.IntN(3)), cluster.Seconds(90*time.Second), 700
		want.NotBefore = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
		if random.IntN(2) == 0 {
			want.Shapes = []wire.Shape{{Count: 2, Template: &wire.VMSpec{CPUMilli: 4000, MemoryMiB: 1024}, WalltimeSeconds: 7325, Rules: "spread($VMS);"}}
			want.Array, want.Parameters = 2, []string{text(), text()}
		}
		file, err := vjobfile.Format(&want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vjobfile.Parse("f", file)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%v\n%s\nis read as\n%+v\nwant\n%+v", err, file, got, want)
		}
	}
}

func TestFormatReads(t *testing.T) {
	s := wire.Submission{
		Name: "sim-run", Count: 4, WalltimeSeconds: 5400,
		Template: &wire.VMSpec{CPUMilli: 1500, MemoryMiB: 2048, Script: "#!/bin/sh\necho hello\n"},
	}
	const want = `name: sim-run
walltime: 1:30:00
count: 4
template:
  cpu: 1.5
  memory: 2GiB
  script: |
    #!/bin/sh
    echo hello
`
	if file, err := vjobfile.Format(&s); err != nil || string(file) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, file, want)
	}
}
