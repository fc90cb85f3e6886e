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

// certificateInterval is the least time between two checks of the files of a certificate.
const certificateInterval = time.Second

// Certificate is a certificate and its key in two files. It is reloaded when either file
// changes; the old pair stays in use while the new one is broken. It is safe for concurrent use.
type Certificate struct {
	files [2]string // the certificate and the key
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	pair    *tls.Certificate
	read    [2]fs.FileInfo // of the files at the last load, also of broken ones
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
		c.log.Error("the certificate of the API has changed and is broken; the old one stays in use", slog.String("error", err.Error()))
	} else {
		c.log.Info("the certificate of the API was renewed", slog.String("file", c.files[0]))
	}
	return c.pair, nil
}

// changed reports whether either file was replaced or modified since the last load.
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

// load reads the pair. It stats the files first, so that the next check sees a change during
// the load.
func (c *Certificate) load() error {
	for i, file := range c.files {
		info, err := os.Stat(file)
		if err != nil {
			info = nil // reading it returns the error
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
