package libvirt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kdomanski/iso9660"

	"vjob/cluster"
	"vjob/hypervisor"
)

// maxKernelCommandLine is the limit of the x86 boot protocol.
const maxKernelCommandLine = 2047

// endOfKernel separates the arguments of Linux from those of init.
const endOfKernel = "--"

// kernelCommandLine is the command line of a guest that boots directly: its name, the arguments
// of the catalogue, then "--" and the environment and command of the user, word by word. Linux
// passes what follows "--" to init. Characters that could end a word are rejected rather than
// escaped, since guests differ in how they unescape.
func kernelCommandLine(vm cluster.VMID, image CatalogueImage, p cluster.Payload) (string, error) {
	if p.Script != "" {
		return "", cluster.Fault("script", "image %s boots a kernel, which takes a command only", image.ID)
	}
	words := []string{"name=" + cluster.GuestName(vm)}
	words = append(words, strings.Fields(image.Arguments)...)
	if len(p.Env)+len(p.Command) > 0 && !slices.Contains(words, endOfKernel) {
		words = append(words, endOfKernel)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		if err := checkEnv(name, p.Env[name]); err != nil {
			return "", err
		}
		words = append(words, name+"="+p.Env[name])
	}
	for i, w := range p.Command {
		if w == "" || !printable(w, '!') {
			return "", cluster.BadField(fmt.Sprintf("command[%d]", i), w, "a word of printable ASCII: it becomes a kernel argument")
		}
		words = append(words, w)
	}
	for _, w := range words[1:] {
		if !printable(w, '!') {
			return "", cluster.BadField("env", w, "a word of printable ASCII: it becomes a kernel argument")
		}
	}
	line := strings.Join(words, " ")
	if len(line) > maxKernelCommandLine {
		return "", cluster.BadField("command", line, fmt.Sprintf("at most %d characters with the image's arguments", maxKernelCommandLine))
	}
	return line, nil
}

// checkEnv refuses names that a shell could not hold, and values with a NUL.
func checkEnv(name, value string) error {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || (c|0x20 >= 'a' && c|0x20 <= 'z')
		if !letter && (i == 0 || c < '0' || c > '9') {
			return cluster.BadField("env", name, "names of letters, digits and underscores")
		}
	}
	if name == "" || strings.ContainsRune(value, 0) || !utf8.ValidString(value) {
		return cluster.BadField("env", name+"="+value, "a name and a text value")
	}
	return nil
}

// seedLabel is the volume label by which cloud-init knows a NoCloud seed.
const seedLabel = "cidata"

// seed is the content of a NoCloud seed.
type seed struct {
	userData, metaData []byte
}

// userData is the part of cloud-config that the driver uses. It is written as JSON, which is
// also YAML, so that no text of a user can change its structure.
type userData struct {
	WriteFiles []writeFile  `json:"write_files,omitempty"`
	RunCmd     [][]string   `json:"runcmd,omitempty"`
	Output     *allOutput   `json:"output,omitempty"`
	PowerState *powerChange `json:"power_state,omitempty"`
}

type writeFile struct {
	Path        string `json:"path"`
	Permissions string `json:"permissions"`
	Encoding    string `json:"encoding"`
	Content     string `json:"content"`
}

func newFile(path, text string) writeFile {
	return writeFile{path, "0700", "b64", base64.StdEncoding.EncodeToString([]byte(text))}
}

type allOutput struct {
	All string `json:"all"`
}

type powerChange struct {
	Mode    string `json:"mode"`
	Timeout int    `json:"timeout"`
}

// The files that a seed writes: the script of the user, and what runs it.
const (
	scriptPath = "/var/lib/vjob/script"
	runPath    = "/var/lib/vjob/run"
)

// runScript runs its arguments with the output on the console, and prints there how they ended. The output does not
// pass cloud-init, which would let it arrive after the status. redirection is of standard error, or empty.
func runScript(redirection string) string {
	return `#!/bin/sh
[ ! -c /dev/ttyS0 ] || exec >/dev/ttyS0 2>&1
echo "` + cluster.OutputMark + `"
` + redirection + `"$@"` + `
status=$?
echo "` + cluster.ExitMark + `$status"
exit "$status"
`
}

// errorsApart has what follows write its standard error to the third serial line.
const errorsApart = "[ ! -c /dev/ttyS2 ] || exec 2>/dev/ttyS2\n"

// makeSeed passes the command or the script to cloud-init. When it has ended, the guest tells its exit status and
// powers itself off, which ends the VM; the output goes to the console. A payload with neither does
// what the image does.
func makeSeed(vm cluster.VMID, stamp hypervisor.Stamp, p cluster.Payload) (seed, error) {
	data := userData{}
	run, err := environment(p.Env)
	if err != nil {
		return seed{}, err
	}
	switch {
	case len(p.Command) > 0 && p.Script != "":
		return seed{}, cluster.Fault("script", "a command and a script given, want one of the two")
	case len(p.Command) > 0:
		for i, w := range p.Command {
			if strings.ContainsRune(w, 0) || !utf8.ValidString(w) {
				return seed{}, cluster.BadField(fmt.Sprintf("command[%d]", i), w, "text without NUL")
			}
		}
		run = append(run, p.Command...)
	case p.Script != "":
		data.WriteFiles = []writeFile{newFile(scriptPath, p.Script)}
		run = append(run, scriptPath)
	default:
		run = nil
	}
	if run != nil {
		redirection := ""
		if p.ErrorsApart {
			redirection = errorsApart
		}
		data.WriteFiles = append(data.WriteFiles, newFile(runPath, runScript(redirection)))
		data.RunCmd = [][]string{append([]string{runPath}, run...)}
		// Not to standard output as well: systemd copies the output of services to the console.
		data.Output = &allOutput{"| tee -a /var/log/cloud-init-output.log >/dev/ttyS0"}
		data.PowerState = &powerChange{"poweroff", 30}
	}
	user, err := plainJSON(data)
	if err != nil {
		return seed{}, fmt.Errorf("user-data of %s: %w", vm, err)
	}
	meta, err := plainJSON(map[string]string{
		// A new incarnation is a new instance, so cloud-init runs again.
		"instance-id":    fmt.Sprintf("%s-i%d", cluster.GuestName(vm), stamp.Incarnation),
		"local-hostname": cluster.GuestName(vm),
	})
	if err != nil {
		return seed{}, fmt.Errorf("meta-data of %s: %w", vm, err)
	}
	return seed{append([]byte("#cloud-config\n"), user...), meta}, nil
}

// plainJSON is JSON in which < > and & stand as they are: small guests know no escapes.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// environment is the beginning of a command that sets variables: empty, or "env" and its
// arguments.
func environment(env map[string]string) ([]string, error) {
	if len(env) == 0 {
		return nil, nil
	}
	list := []string{"env"}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := checkEnv(name, env[name]); err != nil {
			return nil, err
		}
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

// iso packs the seed into the image of a CD.
func (s seed) iso() ([]byte, error) {
	w, err := iso9660.NewWriter()
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	defer w.Cleanup() //nolint:errcheck // a staging directory that stays is harmless
	return s.pack(w)
}

// packer makes the image of a CD: an [iso9660.ImageWriter].
type packer interface {
	AddFile(data io.Reader, name string) error
	WriteTo(w io.Writer, label string) error
}

func (s seed) pack(w packer) ([]byte, error) {
	var b bytes.Buffer
	err := errors.Join(
		w.AddFile(bytes.NewReader(s.userData), "user-data"),
		w.AddFile(bytes.NewReader(s.metaData), "meta-data"),
		w.WriteTo(&b, seedLabel),
	)
	if err != nil {
		return nil, fmt.Errorf("seed: %w", err)
	}
	return b.Bytes(), nil
}
