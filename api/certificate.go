package api

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateInterval is the least time between two looks at the files of a certificate.
const certificateInterval = time.Second

// Certificate is a certificate and its key in two files. It is read again when either
// file changes, and kept as it is while the new pair is broken. It is safe for
// concurrent use.
type Certificate struct {
	files [2]string // the certificate and the key
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	read    [2]fs.FileInfo // of the files when they were read last, also when they were broken
	checked time.Time
}

// OpenCertificate reads a certificate and its key, PEM.
func OpenCertificate(certificate, key string, now func() time.Time, log *slog.Logger) (*Certificate, error) {
	c := &Certificate{files: [2]string{certificate, key}, now: now, log: log, checked: now()}
	if err := c.load(); err != nil {
		return nil, err
	}
	return c, nil
}

// Get is the GetCertificate of a tls.Config.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.checked) < certificateInterval {
		return c.pair, nil
	}
	c.checked = now
	if !c.changed() {
		return c.pair, nil
	}
	if err := c.load(); err != nil {
		c.log.Error("the certificate of the API has changed and cannot be used; the old one stays", slog.String("error", err.Error()))
	} else {
		c.log.Info("the certificate of the API is new", slog.String("file", c.files[0]))
	}
	return c.pair, nil
}

// changed reports whether either file is another one than was read, or has other contents.
func (c *Certificate) changed() bool {
	for i, file := range c.files {
		info, err := os.Stat(file)
		if (err == nil) != (c.read[i] != nil) {
			return true
		}
		if err == nil && (!os.SameFile(info, c.read[i]) || info.Size() != c.read[i].Size() || !info.ModTime().Equal(c.read[i].ModTime())) {
			return true
		}
	}
	return false
}

// load reads the pair. The files are looked at first: a change while they are read is
// seen the next time.
func (c *Certificate) load() error {
	for i, file := range c.files {
		info, err := os.Stat(file)
		if err != nil {
			info = nil // reading it tells what is wrong
		}
		c.read[i] = info
	}
	pair, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", c.files[0], c.files[1], err)
	}
	c.pair = &pair
	return nil
}
