package notify_test

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// letterbox is an SMTP server that accepts mails after a given number of failures.
type letterbox struct {
	listener net.Listener
	mails    chan string
	mu       sync.Mutex
	fail     int
	refuse   string // the prefix of an unknown recipient

	secrets *tls.Config // it offers STARTTLS; nil: it does not
	secret  bool        // it speaks TLS from the first byte
	login   string      // that AUTH PLAIN has to give; "" needs none
	clear   []string    // what was said to it without TLS
}

func newLetterbox(tb testing.TB, change ...func(*letterbox)) *letterbox {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &letterbox{listener: l, mails: make(chan string, 100)}
	for _, f := range change {
		f(b)
	}
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
	private := b.secret
	if private {
		conn = tls.Server(conn, b.secrets)
	}
	in := bufio.NewReader(conn)
	say := func(text string) { _, _ = io.WriteString(conn, text+"\r\n") }
	say("220 box")
	known := b.login == ""
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if !private {
			b.mu.Lock()
			b.clear = append(b.clear, line)
			b.mu.Unlock()
		}
		switch verb := strings.ToUpper(strings.Fields(line + " x")[0]); verb {
		case "EHLO":
			say(b.offers(private))
		case "STARTTLS":
			if b.secrets == nil {
				say("502 what is that?")
				continue
			}
			say("220 go on")
			conn, private = tls.Server(conn, b.secrets), true
			in = bufio.NewReader(conn)
		case "AUTH":
			known = strings.TrimSpace(line) == "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00"+strings.Replace(b.login, ":", "\x00", 1)))
			if !known {
				say("535 wrong")
				continue
			}
			say("235 known")
		case "MAIL":
			if !known {
				say("530 authentication required")
				continue
			}
			say("250 ok")
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
				say("550 no such user")
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

// offers answers EHLO.
func (b *letterbox) offers(private bool) string {
	list := "250-box\r\n"
	if b.secrets != nil && !private {
		list += "250-STARTTLS\r\n"
	}
	if b.login != "" {
		list += "250-AUTH PLAIN\r\n"
	}
	return list + "250 8BITMIME"
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
