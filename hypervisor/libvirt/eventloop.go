//go:build libvirt_dlopen && cgo

package libvirt

import (
	"sync"
	"time"

	"libvirt.org/go/libvirt"
)

// loop is libvirt's event loop: one for the whole process, because libvirt keeps
// it in global state. It runs while a driver is open.
var loop = eventLoop{register: registerEvents, turn: libvirt.EventRunDefaultImpl}

type eventLoop struct {
	register func() error // before the first turn, once
	turn     func() error // waits for an event and handles it

	mu         sync.Mutex
	registered bool
	users      int
	stop       chan struct{}
	done       chan struct{}
}

// wake is how often the loop checks whether to stop; an idle loop sleeps in C.
const wake = 200 * time.Millisecond

func registerEvents() error {
	if err := libvirt.EventRegisterDefaultImpl(); err != nil {
		return err
	}
	_, err := libvirt.EventAddTimeout(int(wake.Milliseconds()), func(int) {})
	return err
}

// acquire starts the loop for its first user. It must be called before any connection is opened.
func (l *eventLoop) acquire() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.registered {
		if err := l.register(); err != nil {
			return err
		}
		l.registered = true
	}
	l.users++
	if l.users == 1 {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.run(l.stop, l.done)
	}
	return nil
}

// release stops the loop after its last user.
func (l *eventLoop) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users--; l.users == 0 {
		close(l.stop)
		<-l.done
	}
}

func (l *eventLoop) run(stop, done chan struct{}) {
	defer close(done)
	for {
		select {
		case <-stop:
			return
		default:
		}
		if err := l.turn(); err != nil {
			time.Sleep(wake) // a failing poll must not spin
		}
	}
}
