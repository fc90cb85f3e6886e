package writer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// argument is the first argument of a program that is to be a writer.
const argument = "write-output-files"

// Main is a writer, and does not return, if the program was started as one. A program that starts writers calls it
// before anything else.
func Main() {
	if len(os.Args) != 3 || os.Args[1] != argument {
		return
	}
	// The process belongs to a user: its memory stays private.
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	unix.Umask(0o077)
	f, err := openFolder(os.Args[2])
	if err != nil {
		_ = send(os.Stdout, answer{Fault: faultOf(err)})
		os.Exit(1)
	}
	if err := send(os.Stdout, answer{}); err == nil {
		f.serve(os.Stdin, os.Stdout)
	}
	os.Exit(0)
}

// folder is the folder of the user of the process.
type folder struct {
	path string
	root *os.Root
	own  fs.FileInfo
}

// errReplaced ends a writer: another one opens what stands there now.
var errReplaced = errors.New("the folder of its owner was replaced")

func openFolder(path string) (*folder, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	own, err := root.Stat(".")
	if err != nil {
		return nil, err
	}
	if !isOwn(own) {
		return nil, fmt.Errorf("the folder %s belongs to uid %d, and not to uid %d: an administrator gives it to its user", path, uidOf(own), os.Geteuid())
	}
	return &folder{path, root, own}, nil
}

// serve answers requests until there are no more.
func (f *folder) serve(in io.Reader, out io.Writer) {
	for {
		var r request
		if err := receive(in, &r); err != nil {
			return
		}
		a, err := f.do(&r)
		if err != nil {
			a.Fault = faultOf(err)
		}
		if send(out, a) != nil || errors.Is(err, errReplaced) {
			return
		}
	}
}

// faultOf is the text of an error without the operation, which users do not know.
func faultOf(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return fmt.Sprintf("%s: its owner may not write there", path.Path)
		case errors.Is(err, syscall.ENOSPC):
			return "the file system is full: make room there"
		case errors.Is(err, syscall.EDQUOT):
			return "the quota of its owner is used up: make room there"
		}
		return fmt.Sprintf("%s: %v", path.Path, path.Err)
	}
	return err.Error()
}

// do carries out one request.
func (f *folder) do(r *request) (a answer, err error) {
	if now, err := os.Stat(f.path); err != nil || !os.SameFile(now, f.own) {
		return a, fmt.Errorf("%w: %s", errReplaced, f.path)
	}
	file, size, err := f.open(r.Name)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	a.Size = size
	switch r.Verb {
	case look:
	case read:
		piece := make([]byte, min(max(r.Length, 0), MaxPiece))
		n, err := file.ReadAt(piece, r.At)
		if err != nil && !errors.Is(err, io.EOF) {
			return a, err
		}
		a.Data = piece[:n]
	case extend:
		if size != r.At {
			return a, fmt.Errorf("another program writes to it: it has %d bytes, %d were expected", size, r.At)
		}
		n, err := file.WriteAt(r.Data, r.At)
		a.Size += int64(n)
		return a, err
	case cut:
		a.Size = min(size, r.At)
		return a, file.Truncate(a.Size)
	case keep:
		return a, file.Sync()
	default:
		return a, fmt.Errorf("the request %q is unknown", r.Verb)
	}
	return a, nil
}

// open opens a regular file of the user, and makes it and the folders above it if they are missing. The file is locked
// until it is closed.
func (f *folder) open(name string) (file *os.File, size int64, err error) {
	if !filepath.IsLocal(name) {
		return nil, 0, fmt.Errorf("%s is not below the folder of its owner", name)
	}
	if err := f.root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, 0, err
	}
	// Nothing else is opened: that alone can block, or have effects.
	found, err := f.root.Lstat(name)
	flags := os.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY
	switch {
	case errors.Is(err, fs.ErrNotExist):
		flags |= os.O_CREATE | os.O_EXCL
	case err != nil:
		return nil, 0, err
	case !found.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s is %s, want a regular file: remove it", name, kindOf(found.Mode()))
	}
	if file, err = f.root.OpenFile(name, flags, 0o600); err != nil {
		return nil, 0, err
	}
	size, err = f.check(file, name)
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, size, nil
}

// check checks an open file: it may have become another one since it was looked at.
func (f *folder) check(file *os.File, name string) (size int64, err error) {
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	there, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular() || !os.SameFile(info, there):
		return 0, fmt.Errorf("%s was replaced while it was opened", name)
	case !isOwn(info):
		return 0, fmt.Errorf("%s belongs to uid %d: remove it, or choose another name", name, uidOf(info))
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil { //nolint:gosec // a descriptor
		return 0, fmt.Errorf("%s is locked by another program", name)
	}
	info, err = file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// isOwn reports whether a file belongs to the user of the process.
func isOwn(info fs.FileInfo) bool { return uidOf(info) == os.Geteuid() }

func uidOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}

// kindOf names what stands where a file was expected.
func kindOf(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}
