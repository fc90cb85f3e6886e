//go:build linux && (amd64 || arm64)

package powercut

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vjob/tests/powercut/disk"
)

// marker is the descriptor on which a recorded program reports its state.
const marker = 3

// Say writes a mark into the recording, in a program that is recorded. The mark stands
// before everything that the program does later.
func Say(text string) error {
	_, err := marks.WriteString(text)
	return err
}

var marks = os.NewFile(marker, "marks") // kept: what is collected is closed

// Record runs a program and appends what it does below a folder to a log. A log in which
// nothing was recorded takes in first what the folder holds. The program may kill itself.
func Record(log *disk.Log, folder, path string, args, env []string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close() //nolint:errcheck // nothing is written
	words, err := os.CreateTemp("", "powercut")
	if err != nil {
		return err
	}
	defer os.Remove(words.Name()) //nolint:errcheck // a file of words at most
	defer words.Close()           //nolint:errcheck // read below
	r := &recorder{root: folder, log: log, inodes: map[string]int{"": disk.Root}, open: map[int]int{}}
	if err := r.begin(); err != nil {
		return err
	}
	status, err := trace(path, args, env, []uintptr{null.Fd(), words.Fd(), words.Fd(), null.Fd()}, r.entered, r.left)
	if err = errors.Join(err, r.err); err != nil {
		return fmt.Errorf("record %s: %w", path, err)
	}
	if status.ExitStatus() > 0 {
		said, _ := os.ReadFile(words.Name())
		return fmt.Errorf("%s %s ended with %d:\n%s", path, strings.Join(args, " "), status.ExitStatus(), said)
	}
	return nil
}

// recorder turns system calls into operations. Paths are relative to the root.
type recorder struct {
	root   string
	log    *disk.Log
	inodes map[string]int // by path
	next   int            // the next inode
	open   map[int]int    // inodes by descriptor
	err    error          // the first; what comes after it is not recorded
}

// begin learns what the folder holds: from the log, or at first from the folder.
func (r *recorder) begin() error {
	r.next = 1
	if r.log.Start > 0 {
		r.relearn()
		return nil
	}
	err := filepath.WalkDir(r.root, func(path string, e fs.DirEntry, err error) error {
		name, _ := r.below(path)
		if err != nil || name == "" {
			return err
		}
		r.create(name, e.IsDir())
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		r.log.Append(disk.Op{Kind: disk.Write, Inode: r.inodes[name], Data: data})
		return err
	})
	r.log.Start = r.log.Append(disk.Op{Kind: disk.Mark}) + 1
	return err
}

// relearn follows the names in the log.
func (r *recorder) relearn() {
	paths := map[int]string{disk.Root: ""}
	for i := range r.log.Ops {
		op := &r.log.Ops[i]
		path := filepath.Join(paths[op.Folder], op.Name)
		switch op.Kind {
		case disk.Create:
			r.inodes[path] = op.Inode
			paths[op.Inode] = path
			r.next = op.Inode + 1
		case disk.Link:
			r.inodes[path] = op.Inode
		case disk.Unlink:
			delete(r.inodes, path)
		case disk.Rename:
			delete(r.inodes, path)
			r.inodes[filepath.Join(paths[op.Folder], op.To)] = op.Inode
		default:
		}
	}
}

// below is a path relative to the root, if it is there.
func (r *recorder) below(path string) (string, bool) {
	if path == r.root {
		return "", true
	}
	return strings.CutPrefix(path, r.root+"/")
}

// split is the inode of the folder of a name, and the last part of the name.
func (r *recorder) split(name string) (folder int, last string) {
	dir, last := filepath.Split(name)
	folder, known := r.inodes[strings.TrimSuffix(dir, "/")]
	if !known {
		r.fail("%s: its folder is unknown", name)
	}
	return folder, last
}

func (r *recorder) create(name string, isFolder bool) {
	folder, last := r.split(name)
	r.inodes[name] = r.next
	r.log.Append(disk.Op{Kind: disk.Create, Inode: r.next, IsFolder: isFolder, Folder: folder, Name: last})
	r.next++
}

func (r *recorder) link(name, other string) {
	folder, last := r.split(other)
	r.inodes[other] = r.inodes[name]
	r.log.Append(disk.Op{Kind: disk.Link, Inode: r.inodes[other], Folder: folder, Name: last})
}

func (r *recorder) unlink(name string) {
	folder, last := r.split(name)
	delete(r.inodes, name)
	r.log.Append(disk.Op{Kind: disk.Unlink, Folder: folder, Name: last})
}

func (r *recorder) rename(name, other string) {
	folder, last := r.split(name)
	there, to := r.split(other)
	id := r.inodes[name]
	if folder != there || slices.ContainsFunc(r.log.Ops, func(op disk.Op) bool { return op.IsFolder && op.Inode == id }) {
		r.fail("rename %s to %s: only files within a folder", name, other)
	}
	delete(r.inodes, name)
	r.inodes[other] = id
	r.log.Append(disk.Op{Kind: disk.Rename, Inode: id, Folder: folder, Name: last, To: to})
}

func (r *recorder) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("the recorder does not model this: "+format, args...)
	}
}
