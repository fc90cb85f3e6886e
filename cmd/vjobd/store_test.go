package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The store is marked once. Another installation takes it over with --adopt only.
func TestInitStore(t *testing.T) {
	dir := t.TempDir()
	images := filepath.Join(dir, "images")
	if err := os.MkdirAll(filepath.Join(images, "n-long-name"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "s.yaml")
	text := "driver: libvirt\nlibvirt: {image_dir: " + images + ", console_dir: /c}\nimages: [{id: k, kind: kernel, kernel: /k, default: true}]\n" +
		"nodes: [{name: n1, cpu: 1, memory: 1GiB, uri: 'qemu:///system'}, {name: n-long-name, cpu: 1, memory: 1GiB, uri: 'qemu:///system'}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	table := func(first, second string) string {
		width := len(images) + len("/n-long-name") + 2
		row := func(node, folder, images, marker string) string {
			return node + strings.Repeat(" ", 13-len(node)) + folder + strings.Repeat(" ", width-len(folder)) + images + strings.Repeat(" ", 8-len(images)) + marker + "\n"
		}
		return row("NODE", "FOLDER", "IMAGES", "MARKER") +
			row("n1", images+"/n1", "0", first) + row("n-long-name", images+"/n-long-name", "0", second)
	}
	home, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, step := range []struct {
		home string
		args []string
		code int
		want string
	}{
		{home, []string{"init-store"}, exitInput, "driver: \"simulated\" is not libvirt"},
		{home, []string{"init-store", "-c", file}, exitOK, table("made", "marked")},
		{home, []string{"init-store", "-c", file}, exitOK, table("was marked", "was marked")},
		{other, []string{"init-store", "-c", file}, exitError, "take it over with --adopt"},
		{other, []string{"init-store", "-c", file, "--adopt"}, exitOK, table("adopted", "adopted")},
		{home, []string{"init-store", "-c", file}, exitError, images + "/n1 belongs to installation"},
	} {
		if err := os.MkdirAll(step.home, 0o700); err != nil {
			t.Fatal(err)
		}
		code, out, errs := vjobd(t.Context(), t, step.home, step.args...)
		if code != step.code || !strings.Contains(out+errs, step.want) {
			t.Errorf("vjobd %v: exit %d, want %d:\n%s%s\nwant\n%s", step.args, code, step.code, out, errs, step.want)
		}
	}
}
