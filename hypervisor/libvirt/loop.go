//go:build libvirt_dlopen && cgo

package libvirt

import (
	"sync"
	"time"

	"libvirt.org/go/libvirt"
)

// loop is libvirt's event loop: one for the whole process, because libvirt keeps
// it in global state. It runs while a driver is open.
var loop eventLoop

type eventLoop struct {
	mu         sync.Mutex
	registered bool
	users      int
	stop       chan struct{}
	done       chan struct{}
}

// wake is how soon the loop notices that it shall stop; an idle loop sleeps in C.
const wake = 200 * time.Millisecond

// acquire starts the loop for its first user. It must come before any connection.
func (l *eventLoop) acquire() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.registered {
		if err := libvirt.EventRegisterDefaultImpl(); err != nil {
			return err
		}
		if _, err := libvirt.EventAddTimeout(int(wake.Milliseconds()), func(int) {}); err != nil {
			return err
		}
		l.registered = true
	}
	l.users++
	if l.users == 1 {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go run(l.stop, l.done)
	}
	return nil
}

// release ends the loop after its last user.
func (l *eventLoop) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 {
		close(l.stop)
		<-l.done
	}
}

func run(stop, done chan struct{}) {
	defer close(done)
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := libvirt.EventRunDefaultImpl(); err != nil {
			time.Sleep(wake) // a failing poll must not spin
		}
	}
}
