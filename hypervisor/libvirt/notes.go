package libvirt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"vjob/hypervisor"
)

// note writes a note beside an image: an empty file, which takes no block.
func note(path string, kind byte, value string) error {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("note beside image: %w", err)
	}
	return errors.Join(noteIn(root, filepath.Base(path), kind, value), root.Close())
}

func noteIn(root *os.Root, image string, kind byte, value string) error {
	f, err := root.OpenFile(image+"."+string(kind)+value, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return fmt.Errorf("note beside image: %w", err)
	}
	return nil
}

// notes lists the values of the notes of one kind beside an image.
func notes(path string, kind byte) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	var values []string
	for _, e := range entries {
		if k, value, _ := suffix(e.Name(), filepath.Base(path)); k == kind {
			values = append(values, value)
		}
	}
	return values, nil
}

// removeNotes removes the chosen notes and links beside an image. It makes this, and all earlier
// changes in the folder, durable.
func removeNotes(root *os.Root, id hypervisor.ImageID, chosen func(kind byte, value string) bool) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		kind, value, ok := suffix(e.Name(), id.String())
		if !ok || !chosen(kind, value) {
			continue
		}
		if err := root.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncRoot(root)
}

// suffix splits ".r4", ".x4" or ".s8f…" from the name of an image.
func suffix(name, image string) (kind byte, value string, ok bool) {
	rest, ok := strings.CutPrefix(name, image+".")
	if !ok || len(rest) < 2 || !strings.Contains("rxs", rest[:1]) {
		return 0, "", false
	}
	return rest[0], rest[1:], true
}

// revoked is the highest attempt that was revoked for the image at path, or -1.
func revoked(path string) (int, error) {
	values, err := notes(path, 'x')
	if err != nil {
		return 0, err
	}
	highest := -1
	for _, v := range values {
		if n, err := strconv.Atoi(v); err == nil {
			highest = max(highest, n)
		}
	}
	return highest, nil
}
