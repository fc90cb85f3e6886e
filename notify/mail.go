package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"strings"
	"time"

	"vjob/cluster"
)

// Security is how a connection to a mail server is protected.
type Security string

// The kinds of protection.
const (
	StartTLS Security = "starttls" // by a command of SMTP, which the server must offer
	TLS      Security = "tls"      // from the first byte
	Plain    Security = "none"
)

// Mail delivers by SMTP to one server.
type Mail struct {
	Server   string // host:port
	From     string
	Domains  []string // that mails go to, as [Matches] has them; none: that of From
	User     string   // "" needs no password
	Password string
	Security Security
	Roots    *tls.Config // nil: the system's certificates
}

var _ Carrier = (*Mail)(nil)

// Check says why no mail goes to an address; field is what it is called in the message.
func (m *Mail) Check(field string, to Address) error {
	domains := m.Domains
	if len(domains) == 0 {
		from := Address{Mail: m.From}
		domains = []string{from.domain()}
	}
	if !Matches(domains, to.domain()) {
		return cluster.BadField(field, to.Mail, "an address in "+strings.Join(domains, ", ")+": this site sends mails nowhere else")
	}
	return nil
}

// Carry sends a mail.
func (m *Mail) Carry(ctx context.Context, to Address, message *Message) (err error) {
	if err := m.Check("notify", to); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	c, err := m.dial(ctx)
	if err != nil {
		return fmt.Errorf("mail server %s: %w", m.Server, err)
	}
	defer func() { _ = c.Close() }() // a mail that was taken stays taken
	if err := m.send(c, to.Mail, message); err != nil {
		return fmt.Errorf("mail server %s: %w", m.Server, err)
	}
	_ = c.Quit() // the mail was accepted
	return nil
}

func (m *Mail) dial(ctx context.Context) (*smtp.Client, error) {
	host, _, err := net.SplitHostPort(m.Server)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if m.Roots != nil {
		config = m.Roots.Clone()
	}
	config.ServerName = host
	if m.Security == TLS {
		conn = tls.Client(conn, config)
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if m.Security == StartTLS {
		if err := c.StartTLS(config); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if m.User != "" {
		if err := c.Auth(smtp.PlainAuth("", m.User, m.Password, host)); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func (m *Mail) send(c *smtp.Client, to string, message *Message) error {
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		if answer, ok := errors.AsType[*textproto.Error](err); ok && answer.Code >= 500 {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	_, err = w.Write(m.text(to, message))
	return errors.Join(err, w.Close())
}

// text is the mail. The same message always has the same id, so that its second coming
// can be recognised.
func (m *Mail) text(to string, message *Message) []byte {
	var b bytes.Buffer
	for _, h := range [][2]string{
		{"From", m.From},
		{"To", to},
		{"Subject", mime.QEncoding.Encode("utf-8", message.Subject())},
		{"Date", message.At.Format(time.RFC1123Z)},
		{"Message-ID", fmt.Sprintf("<%d.%d.vjob@%s>", message.Seq, message.VJob, message.Host)},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "quoted-printable"},
	} {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(message.Body())) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
