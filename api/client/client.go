// Package client is the typed Go client of the REST API: over a unix socket,
// where the kernel says who calls, or over HTTP with a bearer token.
//
// It repeats requests that are safe to repeat, and decodes errors to the sentinels of package
// cluster. It sends a token only over TLS, loopback or a trusted socket.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"vjob/cluster"
)

// Settings say where the server is and how to speak to it. The zero value of
// each field but Server is a default.
type Settings struct {
	Server  string        // unix:///path, http://host:port or https://host
	Token   string        // bearer token, "" for none
	CAFile  string        // PEM certificates to trust instead of the system's
	Agent   string        // User-Agent
	Retries int           // repetitions of one request after the first try; 0 is 4, negative: no repetition
	Backoff time.Duration // before the first repetition, then doubled; 0 is 50 ms
}

// Client speaks to one server: it has the calls for vjobs, for the cluster, its energy and its history,
// and for accounts. It is safe for concurrent use.
type Client struct {
	*connection
	vjobClient
	clusterClient
	energyClient
	accountClient
	historyClient
}

type (
	vjobClient    struct{ *connection } // vjobs and their consoles
	clusterClient struct{ *connection } // nodes, queues, placement rules and images
	energyClient  struct{ *connection } // power budgets, prices and the energy that was drawn
	accountClient struct{ *connection } // users, tokens and the audit list
	historyClient struct{ *connection } // events and plans
)

// connection sends requests to one server.
type connection struct {
	base    string // scheme and host, without a final slash
	server  string // the server, for messages
	token   string
	agent   string
	http    *http.Client
	retries int
	backoff time.Duration
}

// maxAnswer bounds what is read of one JSON answer.
const maxAnswer = 256 << 20

// New checks the settings and makes a client; nothing is sent yet.
func New(s Settings) (*Client, error) {
	c := &connection{server: s.Server, token: s.Token, agent: s.Agent, retries: s.Retries, backoff: s.Backoff}
	if c.agent == "" {
		c.agent = "vjob-client"
	}
	if c.retries == 0 {
		c.retries = 4
	}
	if c.backoff <= 0 {
		c.backoff = 50 * time.Millisecond
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	c.http = &http.Client{
		Transport: transport,
		// A redirect could carry the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	const want = "unix:///path, http://host:port or https://host"
	u, err := url.Parse(s.Server)
	if err != nil {
		return nil, cluster.BadField("server", s.Server, want)
	}
	switch {
	case u.Scheme == "unix" && u.Path != "" && u.Host == "":
		c.base = "http://vjobd"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialSocket(ctx, u.Path)
		}
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		if u.Scheme == "http" && s.Token != "" && !loopback(u.Hostname()) {
			return nil, cluster.BadField("server", s.Server, "https: a token would be sent unencrypted")
		}
		c.base = u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/")
		transport.TLSClientConfig, err = trust(s.CAFile)
	default:
		err = cluster.BadField("server", s.Server, want)
	}
	return &Client{c, vjobClient{c}, clusterClient{c}, energyClient{c}, accountClient{c}, historyClient{c}}, err
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func trust(file string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if file == "" {
		return config, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read trusted certificates: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return nil, cluster.BadField("ca file", file, "PEM certificates")
	}
	return config, nil
}

// Server is the address that the client was made with.
func (c *Client) Server() string { return c.server }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is one call of the API.
type request struct {
	method string
	path   string
	query  url.Values
	body   any // nil for none
	header http.Header
	// repeatable says that sending it twice does no more than sending it once.
	repeatable bool
}

// call sends the request, repeats it where that is safe, and decodes the answer
// into out unless that is nil. It returns the status of the success.
func (c *connection) call(ctx context.Context, r request, out any) (status int, err error) {
	res, err := c.open(ctx, r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if out == nil {
		return res.StatusCode, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // at once, which wakes the daemon less often than many small reads
	if err == nil {
		err = jsonv2.Unmarshal(body, out)
	}
	if err != nil {
		return res.StatusCode, fmt.Errorf("%s %s: decode the answer of %s: %w", r.method, r.path, c.server, err)
	}
	return res.StatusCode, nil
}

// open is call for answers that the caller reads and closes.
func (c *connection) open(ctx context.Context, r request) (*http.Response, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("%s %s: encode: %w", r.method, r.path, err)
		}
	}
	wait := c.backoff
	for try := 0; ; try++ {
		res, err := c.send(ctx, r, body)
		if err == nil && res.StatusCode < 300 {
			return res, nil
		}
		again := retryable(r, res, err)
		if err == nil {
			wait = max(wait, retryAfter(res))
			err = decodeError(res)
			res.Body.Close()
		}
		if !again || try >= c.retries {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (c *connection) send(ctx context.Context, r request, body []byte) (*http.Response, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("User-Agent", c.agent)
	if len(body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if foreign, ok := errors.AsType[*untrusted](err); ok {
			return nil, foreign
		}
		if of, ok := errors.AsType[*url.Error](err); ok {
			err = of.Err // the address of the request says nothing to users
		}
		return nil, &unreachable{server: c.server, cause: err}
	}
	return res, nil
}

// retryable reports whether the request may be sent again: always when it never
// arrived or was refused for its rate, else only when it is repeatable.
func retryable(r request, res *http.Response, err error) bool {
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		return true
	case err != nil:
		var gone *unreachable
		return r.repeatable && errors.As(err, &gone)
	case res.StatusCode == http.StatusTooManyRequests:
		return true
	case res.StatusCode == http.StatusBadGateway, res.StatusCode == http.StatusServiceUnavailable,
		res.StatusCode == http.StatusGatewayTimeout:
		return r.repeatable
	}
	return false
}

// get is a read, which can be repeated.
func get[T any](ctx context.Context, c *connection, path string, query url.Values) (T, error) {
	var out T
	_, err := c.call(ctx, request{method: http.MethodGet, path: path, query: query, repeatable: true}, &out)
	return out, err
}

func setText(v url.Values, key, text string) {
	if text != "" {
		v.Set(key, text)
	}
}

func setTrue(v url.Values, key string, is bool) {
	if is {
		v.Set(key, "true")
	}
}

func setNumber(v url.Values, key string, n int64) {
	if n != 0 {
		v.Set(key, strconv.FormatInt(n, 10))
	}
}
