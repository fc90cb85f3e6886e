package driver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/energy/power"
	"vjob/energy/power/driver"
)

func TestStates(t *testing.T) {
	for text, want := range map[string]power.State{
		"on\n": power.On, "OFF since yesterday": power.Off, "unknown": power.Unknown, " off ": power.Off,
	} {
		d := driver.Command{Ask: []string{"printf", "%s", text}}
		if got, err := d.State(t.Context()); got != want || err != nil {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "yes", "offline"} {
		d := driver.Command{Ask: []string{"printf", "%s", text}}
		if got, err := d.State(t.Context()); got != power.Unknown || err == nil || !strings.Contains(err.Error(), "want on, off or unknown") {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	if got, err := (&driver.Command{}).State(t.Context()); got != power.Unknown || err != nil {
		t.Errorf("without a program: %s, %v", got, err)
	}
}

// Words with shell syntax arrive unchanged.
func TestNoShell(t *testing.T) {
	dir := t.TempDir()
	nasty := "$(touch " + filepath.Join(dir, "a") + "); `touch " + filepath.Join(dir, "b") + "`; *"
	out, err := driver.RunCommand(t.Context(), driver.ExpandNode([]string{"printf", "%s|", "{node}", "x{node}"}, nasty))
	if want := nasty + "|x" + nasty + "|"; err != nil || out != want {
		t.Errorf("%q, %v", out, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("something was run: %v", left)
	}
}

func TestFailure(t *testing.T) {
	d := driver.Command{
		TurnOff: []string{"sh", "-c", "echo no such outlet >&2; exit 3", "sh", "hunter2"},
		TurnOn:  []string{"/no/such/program", "hunter2"},
	}
	err := d.Off(t.Context())
	if !errors.Is(err, power.ErrRefused) || !strings.Contains(err.Error(), "no such outlet") || !strings.Contains(err.Error(), "3") {
		t.Errorf("%v", err)
	}
	for _, err := range []error{err, d.On(t.Context())} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
	if err := (&driver.Command{}).On(t.Context()); err == nil {
		t.Error("no program, and no error")
	}
}

// A program that hangs is killed with its children, and much output does no harm.
func TestTimeOutAndFlood(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "survived")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := driver.RunCommand(ctx, []string{"sh", "-c", "(sleep 2; touch " + mark + ") & sleep 60"})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	out, err := driver.RunCommand(t.Context(), []string{"sh", "-c", "yes | head -c 10000000"})
	if err != nil || len(out) != 64<<10 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a child went on")
	}
}
