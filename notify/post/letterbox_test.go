package post_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// letterbox is an SMTP server that takes mails, and fails first as often as it is told.
type letterbox struct {
	listener net.Listener
	mails    chan string
	mu       sync.Mutex
	fail     int
	refuse   string // a recipient whom it does not know
}

func newLetterbox(tb testing.TB) *letterbox {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &letterbox{listener: l, mails: make(chan string, 100)}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { b.talk(conn) })
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		serving.Wait()
	})
	return b
}

// talk speaks SMTP with one client.
func (b *letterbox) talk(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 box")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "DATA":
			say("354 go on")
			text := body(in)
			if b.failing() {
				say("451 not now")
				continue
			}
			b.mails <- text
			say("250 taken")
		case "RCPT":
			if b.refuse != "" && strings.Contains(line, b.refuse) {
				say("550 nobody here")
				continue
			}
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

// body reads to the line with nothing but a dot.
func body(in *bufio.Reader) string {
	var text strings.Builder
	for {
		line, err := in.ReadString('\n')
		if err != nil || line == ".\r\n" {
			return text.String()
		}
		text.WriteString(line)
	}
}

func (b *letterbox) failing() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail--
	return b.fail >= 0
}
