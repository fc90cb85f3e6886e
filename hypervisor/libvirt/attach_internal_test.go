//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// fakeStream is a serial port that has shown something and takes two bytes at a time.
type fakeStream struct {
	*testing.T
	shows []string
	ends  error // of Recv, once all is shown; nil: it waits
	stuck int   // so many times it takes nothing
	fails error // of Send
	asked atomic.Int32
	typed strings.Builder
}

func (s *fakeStream) Recv(p []byte) (int, error) {
	s.asked.Add(1)
	switch {
	case len(s.shows) > 0:
		n := copy(p, s.shows[0])
		s.shows = s.shows[1:]
		return n, nil
	case s.ends != nil:
		return 0, s.ends
	}
	return -2, nil
}

func (s *fakeStream) Send(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		s.Error("nothing was sent")
	case s.fails != nil:
		return 0, s.fails
	case s.stuck > 0:
		s.stuck--
		return -2, nil
	}
	n, err := s.typed.Write(p[:min(2, len(p))])
	return n, err
}

// A console shows at once what the guest has printed, and sends its input in order,
// at the pace of the guest.
func TestPump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, ended := newSerialConsole(), make(chan struct{})
		s := &fakeStream{T: t, shows: []string{"a", "bc", "def"}, stuck: 2}
		began := time.Now()
		go func() {
			line.pump(func() bool { return true }, s)
			close(ended)
		}()
		got := make([]byte, 6)
		if _, err := io.ReadFull(line, got); err != nil || string(got) != "abcdef" || time.Since(began) != 0 {
			t.Errorf("it shows %q after %s, %v", got, time.Since(began), err)
		}
		synctest.Wait()
		before := s.asked.Load()
		time.Sleep(10*pollInterval + pollInterval/2)
		synctest.Wait()
		if asked := s.asked.Load(); asked != before+10 {
			t.Errorf("it was looked at %d times in %s, want 10", asked-before, 10*pollInterval)
		}
		word := []byte("hallo")
		for _, next := range []string{"welt!", "end"} {
			if n, err := line.Write(word); n != len(word) || err != nil {
				t.Errorf("%d bytes are typed, %v", n, err)
			}
			word = append(word[:0], next...) // the caller may use it again
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := s.typed.String(); got != "hallowelt!" {
			t.Errorf("%q was typed", got)
		}
		if err := line.Close(); err != nil {
			t.Error(err)
		}
		<-ended
		if n, err := line.Write(word); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after its end %d bytes are typed, %v", n, err)
		}
		if err := line.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

// A console ends with its guest, its connection, its reader and its driver.
func TestPumpEnds(t *testing.T) {
	broken := errors.New("broken")
	always := func() bool { return true }
	for what, run := range map[string]func(line *serialConsole){
		"guest":  func(line *serialConsole) { line.pump(always, &fakeStream{T: t, ends: io.EOF}) },
		"driver": func(line *serialConsole) { line.pump(func() bool { return false }, &fakeStream{T: t}) },
		"reader": func(line *serialConsole) {
			_ = line.reader.Close()
			line.pump(always, &fakeStream{T: t, shows: []string{"a"}})
		},
		"connection": func(line *serialConsole) {
			go func() { _, _ = line.Write([]byte("a")) }()
			line.pump(always, &fakeStream{T: t, fails: broken})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			line, ended := newSerialConsole(), make(chan struct{})
			go func() {
				run(line)
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Errorf("it does not end with its %s", what)
			}
			if text, err := io.ReadAll(line); len(text) > 0 || err != nil && what != "reader" {
				t.Errorf("after its %s it shows %q, %v", what, text, err)
			}
			_ = line.Close()
		})
	}
}

// A console is opened only to the machine of a VM. Each attempt that has ended frees its slot.
func TestAttachFails(t *testing.T) {
	b := newBuiltin(t)
	ours, none := cluster.VMID{VJob: 7}, cluster.VMID{VJob: 9}
	b.create(ours, nil)
	d := &Driver{cfg: b.cfg, nodes: map[cluster.NodeID]*node{}}
	for node, uri := range map[cluster.NodeID]string{"h1": builtinURI, "h3": "nothing:///here"} {
		d.nodes[node] = newNode(Host{Node: node, URI: uri}, d)
		d.nodes[node].attaching = make(chan struct{}, 1)
	}
	for _, c := range []struct {
		vm    cluster.VMID
		node  cluster.NodeID
		fails error
		text  string
	}{
		{ours, "h9", cluster.ErrNotFound, ""},
		{ours, "h3", hypervisor.ErrUnreachable, "attach to 7.0 on h3: "},
		{none, "h1", hypervisor.ErrNoSuchVM, "attach to 9.0 on h1: "},
		{ours, "h1", hypervisor.ErrRefused, "virDomainOpenConsole"}, // this node has no serial ports
	} {
		line, err := d.Attach(t.Context(), c.vm, c.node)
		if line != nil || !errors.Is(err, c.fails) || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "virError") {
			t.Errorf("%s on %s: %v, want %v", c.vm, c.node, err, c.fails)
		}
	}
	d.running.Wait()
	conn, err := libvirt.NewConnect(builtinURI)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.nodes["h1"].openSerial(conn, ours); err == nil {
		t.Error("a console is open")
	}
	if left, err := conn.Close(); left != 0 || err != nil {
		t.Errorf("a console that was not opened holds %d references to its connection, %v", left, err)
	}
}

// An attempt that hangs keeps its slot after its caller has gone, until it ends.
func TestAttachToAHostThatHangs(t *testing.T) {
	silent, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &Driver{cfg: newBuiltin(t).cfg, nodes: map[cluster.NodeID]*node{}}
	h := newNode(Host{Node: "h1", URI: "qemu+tcp://" + silent.Addr().String() + "/system"}, d)
	d.nodes["h1"] = h
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Attach(ended, cluster.VMID{VJob: 7}, "h1"); !errors.Is(err, hypervisor.ErrTimeout) {
		t.Errorf("attach: %v", err)
	}
	if len(h.attaching) != 1 || cap(h.attaching) != maxAttaching {
		t.Errorf("%d of %d consoles are being opened", len(h.attaching), cap(h.attaching))
	}
	if err := silent.Close(); err != nil {
		t.Fatal(err)
	}
	d.running.Wait()
	if len(h.attaching) != 0 {
		t.Errorf("%d consoles are being opened after the end of all", len(h.attaching))
	}
}
