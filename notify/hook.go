package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vjob/cluster"
)

// The headers of a call. The signature is "sha256=" and the HMAC-SHA256, in hexadecimal,
// of the timestamp, a dot and the body, under the secret that both sides share.
const (
	TimestampHeader = "X-Vjob-Timestamp" // seconds since 1970
	SignatureHeader = "X-Vjob-Signature"
)

// Hook delivers by calls to web addresses.
type Hook struct {
	Hosts    []string       // that may be called, as [Matches] has them
	Ports    []int          // of these
	Networks []netip.Prefix // that may be reached besides the public ones
	Secret   []byte         // of the signature; none is no signature
	Now      func() time.Time
	client   *http.Client
}

var _ Carrier = (*Hook)(nil)

// NewHook makes a carrier. It follows no redirection, uses no proxy, and reaches public
// networks and those that are allowed only, whatever a name resolves to.
func NewHook(h Hook) *Hook {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error { return h.reachable(address) }}
	h.client = &http.Client{
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &h
}

// Check says why an address may not be called; field is what it is called in the message.
func (h *Hook) Check(field string, u *url.URL) error {
	if !Matches(h.Hosts, u.Hostname()) {
		return cluster.BadField(field, u.Host, "a host that this site allows to be called, or a mail address")
	}
	if !h.port(portOf(u)) {
		return cluster.BadField(field, u.Host, fmt.Sprintf("one of the ports %s, which this site allows to be called", listed(h.Ports)))
	}
	return nil
}

// portOf is the port of a web address, or 0 if it is not a number.
func portOf(u *url.URL) int {
	switch {
	case u.Port() != "":
		n, _ := strconv.Atoi(u.Port()) // digits; too many are no port
		return n
	case u.Scheme == "https":
		return 443
	}
	return 80
}

func (h *Hook) port(n int) bool { return slices.Contains(h.Ports, n) }

func listed(ports []int) string {
	words := make([]string, len(ports))
	for i, n := range ports {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ", ")
}

// reachable refuses addresses that are not public, unless they are allowed, and other
// ports. It is asked with what a name resolved to.
func (h *Hook) reachable(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: address %s: %w", ErrRefused, address, err)
	}
	ip := at.Addr().Unmap().WithZone("")
	switch {
	case !IsPublic(ip) && !within(h.Networks, ip):
		return fmt.Errorf("%w: %s is no public address, and its network is not allowed", ErrRefused, ip)
	case !h.port(int(at.Port())):
		return fmt.Errorf("%w: port %d is not allowed", ErrRefused, at.Port())
	}
	return nil
}

// Carry calls a web address.
func (h *Hook) Carry(ctx context.Context, to Address, m *Message) error {
	if err := h.Check("notify", to.URL); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	stamp := strconv.FormatInt(h.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "vjob")
	r.Header.Set(TimestampHeader, stamp)
	if len(h.Secret) > 0 {
		r.Header.Set(SignatureHeader, Sign(h.Secret, stamp, body))
	}
	res, err := h.client.Do(r)
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the path of an address may be a secret
	}
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // what it says does not matter
	switch {
	case res.StatusCode < 300:
		return nil
	case res.StatusCode == http.StatusGone:
		return fmt.Errorf("%w: the answer is %s", ErrRefused, res.Status)
	}
	return fmt.Errorf("the answer is %s", res.Status)
}

// Sign is the signature of a body.
func Sign(secret []byte, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	_, _ = mac.Write([]byte(stamp + ".")) // never fails
	_, _ = mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
