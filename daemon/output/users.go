package output

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/daemon/output/writer"
)

// Users finds the local users that own output files, and opens their folders.
type Users struct {
	Directory string // of the site, with one folder a user
	// Account finds an account, or fails with cluster.ErrNotFound.
	Account func(ctx context.Context, name string) (journal.User, error)

	mu    sync.Mutex
	ended map[uint32]<-chan struct{} // of the last writer of a uid
}

// Find returns the local user of an account, or an error that says why its files cannot be written.
func (u *Users) Find(ctx context.Context, owner string) (writer.Person, error) {
	uid, err := u.uid(ctx, owner)
	if err != nil {
		return writer.Person{}, err
	}
	found, err := user.LookupId(strconv.FormatUint(uint64(uid), 10))
	switch {
	case err != nil || found.Username != owner:
		return writer.Person{}, fmt.Errorf("uid %d of the account %s has no user of that name on the machine of the daemon: use vjob logs", uid, owner)
	case os.Geteuid() != 0 && uid != uint32(os.Geteuid()): //nolint:gosec // uids have 32 bits
		return writer.Person{}, fmt.Errorf("the daemon runs as uid %d and cannot write files of %s: use vjob logs, or have an administrator run vjobd as root", os.Geteuid(), owner)
	}
	p := writer.Person{Name: owner, UID: uid}
	ids, err := found.GroupIds()
	if err != nil {
		return p, fmt.Errorf("the groups of %s are unknown: %w", owner, err)
	}
	for _, id := range append([]string{found.Gid}, ids...) {
		gid, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return p, fmt.Errorf("the groups of %s are unknown: %w", owner, err)
		}
		p.Groups = append(p.Groups, uint32(gid))
	}
	p.GID = p.Groups[0]
	return p, nil
}

// uid returns the uid of an account. Root and the user of the daemon need none.
func (u *Users) uid(ctx context.Context, owner string) (uint32, error) {
	account, err := u.Account(ctx, owner)
	switch {
	case errors.Is(err, cluster.ErrNotFound):
		for _, uid := range []int{os.Getuid(), 0} {
			if found, err := user.LookupId(strconv.Itoa(uid)); err == nil && found.Username == owner {
				return uint32(uid), nil //nolint:gosec // uids have 32 bits
			}
		}
		return 0, fmt.Errorf("%s has no account here", owner)
	case err != nil:
		return 0, err
	case !account.Local:
		return 0, fmt.Errorf("the account %s has no local user on the machine of the daemon that could own the files: use vjob logs, or have an administrator link them: vjob accounts change %s --local", owner, owner)
	case account.UID == nil:
		return 0, fmt.Errorf("the user id of %s is unknown until %s has submitted once over the unix socket: use vjob logs", owner, owner)
	}
	return *account.UID, nil
}

// Open opens the folder of a user.
func (u *Users) Open(ctx context.Context, owner string) (OpenFolder, error) {
	p, err := u.Find(ctx, owner)
	if err != nil {
		return nil, err
	}
	if u.stuck(p.UID) {
		return nil, errors.New("the process that wrote before has not ended: the file system hangs")
	}
	folder := filepath.Join(u.Directory, owner)
	if err := u.make(folder, &p); err != nil {
		return nil, err
	}
	w, err := writer.Start(p, folder)
	if err != nil {
		return nil, err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended == nil {
		u.ended = map[uint32]<-chan struct{}{}
	}
	u.ended[p.UID] = w.Ended()
	return &process{Writer: w}, nil
}

// stuck reports whether the last writer of a user still runs.
func (u *Users) stuck(uid uint32) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.ended[uid]
	if last == nil {
		return false
	}
	select {
	case <-last:
		return false
	case <-time.After(killed):
		return true
	}
}

// killed is how long a process that was killed may take to end.
const killed = time.Second

// make makes the folder of a user if it is missing, where only administrators can make others.
func (u *Users) make(folder string, p *writer.Person) error {
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return nil // the writer finds what is wrong with it
	}
	info, err := os.Stat(u.Directory)
	switch {
	case err != nil:
		return fmt.Errorf("the output directory of the site cannot be read: %w", err)
	case info.Mode().Perm()&0o022 != 0 || !trusted(info):
		return fmt.Errorf("%s is missing, and is not made since others may write to the directory above: an administrator makes it", folder)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return fmt.Errorf("%s cannot be made: %w: an administrator makes it", folder, err)
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(folder, int(p.UID), int(p.GID))
}

// trusted reports whether a directory belongs to root or to the user of the daemon.
func trusted(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// process is a folder with a writer. After an error that is not of the file the writer is of no use.
type process struct {
	*writer.Writer
	broken bool
}

// Usable reports whether the writer can still be used.
func (p *process) Usable() bool { return !p.broken }

func (p *process) seen(err error) error {
	p.broken = p.broken || err != nil && !errors.Is(err, writer.ErrFault)
	return err
}

func (p *process) Size(name string) (int64, error) {
	n, err := p.Writer.Size(name)
	return n, p.seen(err)
}

func (p *process) Read(name string, at int64, length int) ([]byte, error) {
	piece, err := p.Writer.Read(name, at, length)
	return piece, p.seen(err)
}

func (p *process) Append(name string, at int64, piece []byte) error {
	return p.seen(p.Writer.Append(name, at, piece))
}

func (p *process) Cut(name string, to int64) error { return p.seen(p.Writer.Cut(name, to)) }

func (p *process) Sync(name string) error { return p.seen(p.Writer.Sync(name)) }
