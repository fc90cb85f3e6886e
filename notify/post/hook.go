package post

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vjob/notify"
)

// The headers of a call. The signature is "sha256=" and the HMAC-SHA256, in hexadecimal,
// of the timestamp, a dot and the body, under the secret that both sides share.
const (
	TimestampHeader = "X-Vjob-Timestamp" // seconds since 1970
	SignatureHeader = "X-Vjob-Signature"
)

// Hook delivers by calls to web addresses.
type Hook struct {
	Hosts    []string       // that may be called: a name, *.name for all below it, or * for all
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

// Allowed reports whether a host may be called.
func (h *Hook) Allowed(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(h.Hosts, func(pattern string) bool {
		pattern = strings.ToLower(pattern)
		suffix, wild := strings.CutPrefix(pattern, "*")
		return pattern == "*" || pattern == host || wild && strings.HasPrefix(suffix, ".") && strings.HasSuffix(host, suffix)
	})
}

// special are networks that are no part of the public one and that netip does not tell.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"),
}

// reachable refuses addresses that are not public, unless they are allowed.
func (h *Hook) reachable(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: address %s: %w", ErrRefused, address, err)
	}
	ip := at.Addr().Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
	}
	public := ip.IsGlobalUnicast() && !ip.IsPrivate() && !in(special)
	if !public && !in(h.Networks) {
		return fmt.Errorf("%w: %s is no public address, and its network is not allowed", ErrRefused, ip)
	}
	return nil
}

// Carry calls a web address.
func (h *Hook) Carry(ctx context.Context, to notify.Address, m *notify.Message) error {
	if !h.Allowed(to.URL.Hostname()) {
		return fmt.Errorf("%w: host %s is not allowed", ErrRefused, to.URL.Hostname())
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
