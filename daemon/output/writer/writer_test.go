package writer_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vjob/daemon/output/writer"
)

func TestMain(m *testing.M) {
	writer.Main()
	os.Exit(m.Run())
}

// ann is a user other than the one of the test, if that is root.
var ann = writer.Person{Name: "ann", UID: 54_321, GID: 54_321, Groups: []uint32{54_321}}

// open starts a writer of ann in her folder, or as the user of the test.
func open(t *testing.T) (w *writer.Writer, folder string) {
	t.Helper()
	base, err := os.MkdirTemp("", "output") //nolint:usetesting // its parents are open to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	folder = filepath.Join(base, "ann")
	err = errors.Join(os.Chmod(base, 0o755), os.Mkdir(folder, 0o700))
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Chown(folder, int(ann.UID), int(ann.GID)))
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err = writer.Start(ann, folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w, folder
}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root writes as others")
	}
}

func TestWriter(t *testing.T) {
	w, folder := open(t)
	size, err := w.Size("a/b/run.out")
	if err != nil || size != 0 {
		t.Fatal(size, err)
	}
	if err := errors.Join(w.Append("a/b/run.out", 0, []byte("hello")), w.Append("a/b/run.out", 5, []byte("\nyou")), w.Cut("a/b/run.out", 6), w.Sync("a/b/run.out")); err != nil {
		t.Fatal(err)
	}
	if piece, err := w.Read("a/b/run.out", 1, 100); string(piece) != "ello\n" || err != nil {
		t.Errorf("%q, %v", piece, err)
	}
	if err := w.Append("a/b/run.out", 5, []byte("x")); !errors.Is(err, writer.ErrFault) || !strings.Contains(err.Error(), "another program writes to it") {
		t.Errorf("not at its end: %v", err)
	}
	info, err := os.Stat(filepath.Join(folder, "a/b/run.out"))
	if err != nil || info.Mode() != 0o600 || info.Size() != 6 {
		t.Fatalf("%v, %v", info, err)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && (s.Uid != ann.UID || s.Gid != ann.GID) {
		t.Errorf("it belongs to %d:%d", s.Uid, s.Gid)
	}
}

// Whatever a user puts in the place of a file, nothing outside the folder is touched, and nothing blocks.
func TestTraps(t *testing.T) {
	w, folder := open(t)
	outside := filepath.Join(filepath.Dir(folder), "outside")
	if err := errors.Join(os.WriteFile(outside, []byte("precious"), 0o666), os.Chmod(outside, 0o666), os.Mkdir(outside+".d", 0o777), os.Chmod(outside+".d", 0o777)); err != nil { //nolint:gosec // the trap
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	socket, err := new(net.ListenConfig).Listen(t.Context(), "unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // a test's
	for name, c := range map[string]struct {
		make error
		want string
	}{
		"link":        {os.Symlink(outside, at("link")), "is a symbolic link, want a regular file: remove it"},
		"dangling":    {os.Symlink("nowhere", at("dangling")), "is a symbolic link"},
		"fifo":        {syscall.Mkfifo(at("fifo"), 0o666), "is a named pipe"},
		"folder":      {os.Mkdir(at("folder"), 0o777), "is a folder"},
		"socket":      {nil, "is a socket"},
		"away/run":    {os.Symlink(outside+".d", at("away")), "away"},
		"up/x":        {os.Symlink("..", at("up")), "up"},
		"../outside":  {nil, "not below the folder"},
		"/etc/passwd": {nil, "not below the folder"},
	} {
		if c.make != nil {
			t.Fatal(c.make)
		}
		_, err := w.Size(name)
		err2 := w.Append(name, 0, []byte("x"))
		for _, err := range []error{err, err2} {
			if !errors.Is(err, writer.ErrFault) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
	text, err := os.ReadFile(outside)
	inside, err2 := os.ReadDir(outside + ".d")
	if string(text) != "precious" || len(inside) > 0 || errors.Join(err, err2) != nil {
		t.Errorf("outside: %q, %v", text, inside)
	}
	if _, err := w.Size("run.out"); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

func TestFilesOfOthers(t *testing.T) {
	requireRoot(t)
	w, folder := open(t)
	for name, mode := range map[string]os.FileMode{"closed": 0o600, "open": 0o666} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.WriteFile(path, []byte("root's"), mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Size(name); !errors.Is(err, writer.ErrFault) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "shut"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Size("shut/run.out"); err == nil || !strings.Contains(err.Error(), "its owner may not write there") {
		t.Errorf("a folder of root: %v", err)
	}
}

// A folder that is replaced is not written to, nor is the one that was there; another writer opens the new one.
func TestSwappedFolder(t *testing.T) {
	w, folder := open(t)
	if err := errors.Join(w.Append("run.out", 0, nil), os.Rename(folder, folder+".old"), os.Mkdir(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Size("run.out"); err == nil || !strings.Contains(err.Error(), "was replaced") {
		t.Errorf("replaced: %v", err)
	}
	<-w.Ended()
	if os.Geteuid() != 0 {
		return
	}
	if _, err := writer.Start(ann, folder); err == nil || !strings.Contains(err.Error(), "belongs to uid 0, and not to uid 54321") {
		t.Errorf("a folder of root: %v", err)
	}
}

func TestFullDisk(t *testing.T) {
	requireRoot(t)
	w, folder := open(t)
	disk := filepath.Join(folder, "disk")
	if err := errors.Join(os.Mkdir(disk, 0o700), syscall.Mount("none", disk, "tmpfs", 0, "size=64k,uid=54321,mode=700")); err != nil {
		t.Skipf("no file system to fill: %v", err)
	}
	defer syscall.Unmount(disk, syscall.MNT_DETACH) //nolint:errcheck // a test's
	piece := make([]byte, writer.MaxPiece)
	err := errors.Join(w.Append("disk/run.out", 0, piece), w.Append("disk/run.out", writer.MaxPiece, piece))
	if !errors.Is(err, writer.ErrFault) || !strings.Contains(err.Error(), "the file system is full: make room there") {
		t.Errorf("%v", err)
	}
	if _, err := w.Size("run.out"); err != nil {
		t.Errorf("beside it: %v", err)
	}
}

// The process has nothing of the daemon.
func TestProcess(t *testing.T) {
	w, _ := open(t)
	pid := w.PID()
	env, err := os.ReadFile("/proc/" + pid + "/environ")
	if err == nil && len(env) > 0 {
		t.Errorf("environment %q", env)
	}
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"NoNewPrivs:\t1", "Umask:\t0077"} {
		if !strings.Contains(string(status), want) {
			t.Errorf("no %s", want)
		}
	}
	if os.Geteuid() == 0 && !strings.Contains(string(status), "Uid:\t54321\t54321\t54321\t54321\nGid:\t54321\t54321\t54321\t54321\n") {
		t.Errorf("%s", status)
	}
	if os.Geteuid() == 0 && (!strings.Contains(string(status), "CapEff:\t0000000000000000") || !strings.Contains(string(status), "Groups:\t54321")) {
		t.Errorf("%s", status)
	}
	files, err := os.ReadDir("/proc/" + pid + "/fd")
	for _, f := range files {
		target, _ := os.Readlink("/proc/" + pid + "/fd/" + f.Name())
		if !strings.HasPrefix(target, "pipe:") && !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/fs/cgroup/") && // of Go's runtime
			target != "/dev/null" && !strings.HasSuffix(target, "/ann") {
			t.Errorf("it has %s", target)
		}
	}
	if err != nil {
		t.Log(err)
	}
}
