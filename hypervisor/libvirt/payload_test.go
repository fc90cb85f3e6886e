package libvirt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kdomanski/iso9660"

	"vjob/cluster"
	"vjob/hypervisor"
)

func TestKernelLine(t *testing.T) {
	vm := cluster.VMID{VJob: 12, Rank: 3}
	image := CatalogueImage{ID: "counter", Kind: KindKernel, Arguments: "quiet  tick=100"}
	tests := []struct {
		name    string
		payload cluster.Payload
		want    string // "" when it is refused
	}{
		{"nothing", cluster.Payload{}, "name=vjob-12-3 quiet tick=100"},
		{"words", cluster.Payload{Command: []string{"run=30", `a,b;"c"`}}, `name=vjob-12-3 quiet tick=100 -- run=30 a,b;"c"`},
		{"environment", cluster.Payload{Env: map[string]string{"B": "2", "A": "1"}}, "name=vjob-12-3 quiet tick=100 -- A=1 B=2"},
		{"init", cluster.Payload{Command: []string{"init=/evil", "--"}, Env: map[string]string{"rdinit": "/evil"}}, "name=vjob-12-3 quiet tick=100 -- rdinit=/evil init=/evil --"},
		{"script", cluster.Payload{Script: "true"}, ""},
		{"space", cluster.Payload{Command: []string{"a b"}}, ""},
		{"newline", cluster.Payload{Command: []string{"a\nb"}}, ""},
		{"NUL", cluster.Payload{Command: []string{"a\x00b"}}, ""},
		{"empty word", cluster.Payload{Command: []string{""}}, ""},
		{"not ASCII", cluster.Payload{Command: []string{"é"}}, ""},
		{"space in a value", cluster.Payload{Env: map[string]string{"A": "1 init=/bin/sh"}}, ""},
		{"bad name", cluster.Payload{Env: map[string]string{"1A": "x"}}, ""},
		{
			"a longest line",
			cluster.Payload{Command: []string{strings.Repeat("x", maxKernelCommandLine-len("name=vjob-12-3 quiet tick=100 -- "))}},
			"name=vjob-12-3 quiet tick=100 -- " + strings.Repeat("x", maxKernelCommandLine-len("name=vjob-12-3 quiet tick=100 -- ")),
		},
		{"one more", cluster.Payload{Command: []string{strings.Repeat("x", maxKernelCommandLine-len("name=vjob-12-3 quiet tick=100 -- ")+1)}}, ""},
		{"the first and the last of ASCII", cluster.Payload{Command: []string{"!", "~"}}, "name=vjob-12-3 quiet tick=100 -- ! ~"},
		{"what follows the last", cluster.Payload{Command: []string{"a\x7f"}}, ""},
		{"too long", cluster.Payload{Command: []string{strings.Repeat("x", maxKernelCommandLine)}}, ""},
	}
	for _, tt := range tests {
		got, err := kernelCommandLine(vm, image, tt.payload)
		if got != tt.want || (err != nil) != (tt.want == "") || (err != nil && !errors.Is(err, cluster.ErrInvalid)) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		var wrong *cluster.FieldError
		if inWord := len(tt.payload.Command) > 0 && len(got) == 0 && len(tt.payload.Command[0]) < 10; inWord &&
			(!errors.As(err, &wrong) || wrong.Field != "command[0]") {
			t.Errorf("%s: %v, want a fault of command[0]", tt.name, err)
		}
	}
}

// Words of the catalogue are checked as those of users are.
func TestKernelLineOfABadCatalogue(t *testing.T) {
	vm := cluster.VMID{VJob: 12}
	for _, arguments := range []string{"caf\u00e9", "quiet caf\u00e9"} {
		image := CatalogueImage{ID: "counter", Kind: KindKernel, Arguments: arguments}
		if line, err := kernelCommandLine(vm, image, cluster.Payload{}); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%q: %q, %v", arguments, line, err)
		}
	}
}

// What is written on the way to a seed does not stay.
func TestSeedLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := seed{[]byte("user"), []byte("meta")}
	if text, err := s.iso(); err != nil || len(text) == 0 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// Arguments of an image that contain a -- get no second one.
func TestKernelLineDashes(t *testing.T) {
	image := CatalogueImage{ID: "counter", Kind: KindKernel, Arguments: "quiet -- mode=batch"}
	got, err := kernelCommandLine(cluster.VMID{VJob: 1}, image, cluster.Payload{Command: []string{"init=/evil"}})
	if want := "name=vjob-1-0 quiet -- mode=batch init=/evil"; got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// read opens a seed as a guest would.
func read(t *testing.T, s seed) map[string]string {
	t.Helper()
	text, err := s.iso()
	if err != nil {
		t.Fatal(err)
	}
	image, err := iso9660.OpenImage(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if label, err := image.Label(); err != nil || label != "cidata" {
		t.Errorf("label %q, %v", label, err)
	}
	root, err := image.RootDir()
	if err != nil {
		t.Fatal(err)
	}
	files, err := root.GetChildren()
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, f := range files {
		b, err := io.ReadAll(f.Reader())
		if err != nil {
			t.Fatal(err)
		}
		content[f.Name()] = string(b)
	}
	return content
}

func TestSeed(t *testing.T) {
	vm := cluster.VMID{VJob: 12, Rank: 3}
	hostile := "]]>\"'\n#cloud-config\nruncmd: [evil]"
	s, err := makeSeed(vm, hypervisor.Stamp{Incarnation: 2}, cluster.Payload{
		Command: []string{"echo", hostile, "$(reboot)"}, Env: map[string]string{"B": "2 x", "A": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	content := read(t, s)
	if len(content) != 2 {
		t.Errorf("files: %v", content)
	}
	var meta map[string]string
	if err := json.Unmarshal([]byte(content["meta-data"]), &meta); err != nil || meta["instance-id"] != "vjob-12-3-i2" {
		t.Errorf("meta-data %q: %v", content["meta-data"], err)
	}
	rest, ok := strings.CutPrefix(content["user-data"], "#cloud-config\n")
	var data userData
	if err := json.Unmarshal([]byte(rest), &data); !ok || err != nil {
		t.Fatalf("user-data %q: %v", content["user-data"], err)
	}
	want := []string{"/var/lib/vjob/run", "env", "A=1", "B=2 x", "echo", hostile, "$(reboot)"}
	if len(data.RunCmd) != 1 || strings.Join(data.RunCmd[0], "|") != strings.Join(want, "|") {
		t.Errorf("runcmd %q", data.RunCmd)
	}
	if data.PowerState == nil || data.PowerState.Mode != "poweroff" {
		t.Error("the guest does not end with its command")
	}
	if strings.Count(rest, "\n") != 0 {
		t.Errorf("user text has changed the structure: %q", rest)
	}
}

func TestSeedScript(t *testing.T) {
	script := "#!/bin/sh\necho \xff\x00 binary\n"
	s, err := makeSeed(cluster.VMID{}, hypervisor.Stamp{}, cluster.Payload{Script: script})
	if err != nil {
		t.Fatal(err)
	}
	var data userData
	if err := json.Unmarshal([]byte(strings.TrimPrefix(read(t, s)["user-data"], "#cloud-config\n")), &data); err != nil {
		t.Fatal(err)
	}
	got, err := base64.StdEncoding.DecodeString(data.WriteFiles[0].Content)
	if err != nil || string(got) != script || data.RunCmd[0][1] != data.WriteFiles[0].Path {
		t.Errorf("script %q in %+v, %v", got, data, err)
	}
}

func TestSeedRefuses(t *testing.T) {
	for name, p := range map[string]cluster.Payload{
		"both":        {Command: []string{"a"}, Script: "b"},
		"NUL":         {Command: []string{"a\x00"}},
		"NUL behind":  {Command: []string{"a", "b\x00"}},
		"not UTF-8":   {Command: []string{"\xff"}},
		"bad name":    {Command: []string{"a"}, Env: map[string]string{"A=B": "c"}},
		"empty name":  {Env: map[string]string{"": "c"}},
		"NUL in text": {Env: map[string]string{"A": "\x00"}},
	} {
		if _, err := makeSeed(cluster.VMID{}, hypervisor.Stamp{}, p); !errors.Is(err, cluster.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A seed needs room for temporary files.
func TestSeedWithoutRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	if text, err := (seed{}).iso(); err == nil {
		t.Errorf("a seed of %d bytes", len(text))
	}
}

// fakePacker fails in one of its calls.
type fakePacker struct{ calls, fails int }

var errFull = errors.New("no room")

func (p *fakePacker) call() error {
	if p.calls++; p.calls == p.fails {
		return errFull
	}
	return nil
}

func (p *fakePacker) AddFile(io.Reader, string) error { return p.call() }

func (p *fakePacker) WriteTo(io.Writer, string) error { return p.call() }

// A seed is complete, or an error.
func TestSeedThatCannotBePacked(t *testing.T) {
	for fails, want := range []error{nil, errFull, errFull, errFull} {
		if text, err := (seed{}).pack(&fakePacker{fails: fails}); !errors.Is(err, want) || err != nil && text != nil {
			t.Errorf("with a fault in call %d: %q, %v", fails, text, err)
		}
	}
}

// The names of variables are those of a shell.
func TestNamesOfVariables(t *testing.T) {
	for name, want := range map[string]bool{
		"A": true, "Z": true, "a": true, "z": true, "_": true, "A0": true, "A9": true, "_1": true, "aZ_9": true,
		"": false, "0": false, "9A": false, "@": false, "[": false, "`": false, "{": false, "A/": false, "A:": false, "A-B": false, "É": false,
	} {
		if err := checkEnv(name, "text"); err == nil != want {
			t.Errorf("%q: %v", name, err)
		}
	}
	for value, want := range map[string]bool{"": true, "é\n": true, "\x00": false, "\xff": false} {
		if err := checkEnv("A", value); err == nil != want {
			t.Errorf("value %q: %v", value, err)
		}
	}
}

// The whole text for cloud-init.
func TestSeedText(t *testing.T) {
	run := `{"path":"/var/lib/vjob/run","permissions":"0700","encoding":"b64","content":"` + base64.StdEncoding.EncodeToString([]byte(runScript(""))) + `"}`
	const end = `"output":{"all":"| tee -a /var/log/cloud-init-output.log >/dev/ttyS0"},"power_state":{"mode":"poweroff","timeout":30}}`
	for name, tt := range map[string]struct {
		payload cluster.Payload
		want    string
	}{
		"command":                {cluster.Payload{Command: []string{"a", ""}}, `{"write_files":[` + run + `],"runcmd":[["/var/lib/vjob/run","a",""]],` + end},
		"command and variables":  {cluster.Payload{Command: []string{"a"}, Env: map[string]string{"B": "1"}}, `{"write_files":[` + run + `],"runcmd":[["/var/lib/vjob/run","env","B=1","a"]],` + end},
		"variables alone":        {cluster.Payload{Env: map[string]string{"B": "1"}}, `{}`},
		"script":                 {cluster.Payload{Script: "a"}, `{"write_files":[{"path":"/var/lib/vjob/script","permissions":"0700","encoding":"b64","content":"YQ=="},` + run + `],"runcmd":[["/var/lib/vjob/run","/var/lib/vjob/script"]],` + end},
		"script, with variables": {cluster.Payload{Script: "a", Env: map[string]string{"B": "1"}}, `{"write_files":[{"path":"/var/lib/vjob/script","permissions":"0700","encoding":"b64","content":"YQ=="},` + run + `],"runcmd":[["/var/lib/vjob/run","env","B=1","/var/lib/vjob/script"]],` + end},
	} {
		s, err := makeSeed(first.VM, hypervisor.Stamp{Incarnation: 2}, tt.payload)
		if got := string(s.userData); err != nil || got != "#cloud-config\n"+tt.want {
			t.Errorf("%s: %s, %v; want %s", name, got, err, tt.want)
		}
		if got, want := string(s.metaData), `{"instance-id":"vjob-12-3-i2","local-hostname":"vjob-12-3"}`; got != want {
			t.Errorf("%s: meta-data %s, want %s", name, got, want)
		}
	}
}

// With errors apart, what the work writes to standard error goes to another line; the marks do not.
func TestRunScriptKeepsErrorsApart(t *testing.T) {
	dir := t.TempDir()
	path, errs := filepath.Join(dir, "run"), filepath.Join(dir, "errors")
	text := strings.ReplaceAll(runScript(errorsApart), "/dev/ttyS0", "/nonexistent")
	text = strings.ReplaceAll(text, "[ ! -c /dev/ttyS2 ]", "false")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "/dev/ttyS2", errs)), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, "sh", "-c", "echo out; echo err >&2").Output()
	failed, err2 := os.ReadFile(errs)
	if want := cluster.OutputMark + "\nout\n" + cluster.ExitMark + "0\n"; err != nil || err2 != nil || string(out) != want || string(failed) != "err\n" {
		t.Errorf("output %q, errors %q (%v, %v)", out, failed, err, err2)
	}
	s, err := makeSeed(first.VM, hypervisor.Stamp{}, cluster.Payload{Command: []string{"a"}, ErrorsApart: true})
	if want := base64.StdEncoding.EncodeToString([]byte(runScript(errorsApart))); err != nil || !strings.Contains(string(s.userData), want) {
		t.Errorf("user-data %s, %v", s.userData, err)
	}
}

func TestSeedWithoutWorkLeavesTheGuestAlone(t *testing.T) {
	s, err := makeSeed(cluster.VMID{}, hypervisor.Stamp{}, cluster.Payload{})
	if err != nil || string(s.userData) != "#cloud-config\n{}" {
		t.Errorf("user-data %q, %v", s.userData, err)
	}
}

// What runs in the guest: the output stands between the marks, and the status is that of the command.
func TestRunScript(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(runScript(""), "/dev/ttyS0", "/nonexistent")), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		words []string
		out   string
		code  int
	}{
		{[]string{"env", "A=1 2", "sh", "-c", `echo "$A"; exit 3`}, "1 2\n", 3},
		{[]string{"sh", "-c", "printf end"}, "end", 0},
		{[]string{"sh", "-c", "kill -9 $$"}, "", 137},
		{[]string{"/no such command"}, "", 127},
	} {
		out, err := exec.CommandContext(t.Context(), path, tt.words...).Output()
		code := 0
		if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
			code = failed.ExitCode()
		}
		want := fmt.Sprintf("%s\n%s%s%d\n", cluster.OutputMark, tt.out, cluster.ExitMark, tt.code)
		if string(out) != want || code != tt.code || cluster.ReadExit(out).Value() != tt.code {
			t.Errorf("%q: %d and %q, want %d and %q", tt.words, code, out, tt.code, want)
		}
	}
}
