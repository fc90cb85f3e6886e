// Package writer writes output files as their owners: one process for each user, with the rights of that user and
// without an environment, writes below one folder, and the daemon tells it what over a pipe.
//
// A program that starts writers calls [Main] first, since a writer is the same program.
package writer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// Person is a local user.
type Person struct {
	Name     string
	UID, GID uint32
	Groups   []uint32
}

// Patience is how long one operation on a file may take.
const Patience = 30 * time.Second

// ErrFault is an error of the file or its folder, as against one of the process.
var ErrFault = errors.New("output file")

// Writer is a process that writes files of one user. It has one caller at a time.
type Writer struct {
	cmd   *exec.Cmd
	in    *os.File // its standard input
	out   *os.File // its standard output
	ended chan struct{}
}

// Start starts a writer for a folder. Another user than that of this process requires root.
func Start(p Person, folder string) (w *Writer, err error) {
	stdin, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	w = &Writer{in: in, out: out, ended: make(chan struct{})}
	// By this path a program starts although the user may not reach its folder.
	w.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"vjobd", argument, folder}, Env: []string{}, Dir: "/", Stdin: stdin, Stdout: stdout,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if os.Geteuid() == 0 {
		w.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: p.UID, Gid: p.GID, Groups: p.Groups}
	}
	err = w.cmd.Start()
	_, _ = stdin.Close(), stdout.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, fmt.Errorf("start a process of %s: %w", p.Name, err)
	}
	go func() {
		defer close(w.ended)
		_ = w.cmd.Wait()
	}()
	var hello answer
	if err := w.receive(&hello); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Ended returns a channel that is closed when the process has ended.
func (w *Writer) Ended() <-chan struct{} { return w.ended }

// Close ends the process. It does not wait: a process in a file system that hangs may not end.
func (w *Writer) Close() {
	_ = w.cmd.Process.Kill()
	_, _ = w.in.Close(), w.out.Close()
}

// call has a request carried out. After an error other than [ErrFault] the writer is of no use.
func (w *Writer) call(r request) (a answer, err error) {
	if err := w.in.SetWriteDeadline(time.Now().Add(Patience)); err != nil {
		return a, err
	}
	if err := send(w.in, &r); err != nil {
		return a, failed(err)
	}
	return a, w.receive(&a)
}

func (w *Writer) receive(a *answer) error {
	if err := w.out.SetReadDeadline(time.Now().Add(Patience)); err != nil {
		return err
	}
	if err := receive(w.out, a); err != nil {
		return failed(err)
	}
	if a.Fault != "" {
		return fmt.Errorf("%w: %s", ErrFault, a.Fault)
	}
	return nil
}

// failed is the error for a process that does not answer.
func failed(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer for %s: the file system hangs, or the process that writes was stopped", Patience)
	}
	return fmt.Errorf("the process that writes has ended: %w", err)
}

// Size returns the size of a file, which is made if it is missing.
func (w *Writer) Size(name string) (int64, error) {
	a, err := w.call(request{Verb: look, Name: name})
	return a.Size, err
}

// Read reads a piece of a file, of at most [MaxPiece] bytes; fewer at its end.
func (w *Writer) Read(name string, at int64, length int) ([]byte, error) {
	a, err := w.call(request{Verb: read, Name: name, At: at, Length: length})
	if err == nil && len(a.Data) > length {
		return nil, errors.New("the process that writes has answered more than was asked for")
	}
	return a.Data, err
}

// Append appends a piece of at most [MaxPiece] bytes to a file that ends at an offset.
func (w *Writer) Append(name string, at int64, piece []byte) error {
	_, err := w.call(request{Verb: extend, Name: name, At: at, Data: piece})
	return err
}

// Cut shortens a file.
func (w *Writer) Cut(name string, to int64) error {
	_, err := w.call(request{Verb: cut, Name: name, At: to})
	return err
}

// Sync brings a file to the disk.
func (w *Writer) Sync(name string) error {
	_, err := w.call(request{Verb: keep, Name: name})
	return err
}

// PID returns the number of the process.
func (w *Writer) PID() string { return strconv.Itoa(w.cmd.Process.Pid) }
