package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"vjob/energy/power"
)

// The paths that every Redfish service has, and how much of an answer is read.
const (
	systemsPath  = "/redfish/v1/Systems"
	sessionsPath = "/redfish/v1/SessionService/Sessions"
	mostRead     = 1 << 20
)

// conversation is a sequence of requests under one login.
type conversation struct {
	*Redfish
	ctx      context.Context //nolint:containedctx // it lives as long as the conversation
	password string
	token    string // of the session; "": basic authentication
	at       string // the path of the system
}

// converse logs in if that is wanted, does what is to be done, and logs out.
func (d *Redfish) converse(ctx context.Context, do func(*conversation) error) error {
	password, err := ReadPassword(d.settings.PasswordFile)
	if err != nil {
		return err
	}
	t := &conversation{Redfish: d, ctx: ctx, password: password, at: d.settings.System}
	if d.settings.Session {
		session, err := t.login()
		if err != nil {
			return fmt.Errorf("log in: %w", err)
		}
		defer t.logout(session)
	}
	return do(t)
}

// login begins a session and returns its path.
func (t *conversation) login() (session string, err error) {
	header, err := t.send(http.MethodPost, sessionsPath, map[string]string{"UserName": t.settings.User, "Password": t.password}, nil)
	if err != nil {
		return "", err
	}
	if t.token = header.Get("X-Auth-Token"); t.token == "" {
		return "", fmt.Errorf("%s gave no token", t.base.Host)
	}
	return header.Get("Location"), nil
}

// logout ends the session; one that is left ends by itself after a while.
func (t *conversation) logout(session string) {
	if session != "" {
		_ = t.do(http.MethodDelete, session, nil, nil)
	}
}

// system reads the computer system, and finds it first if it is not named.
func (t *conversation) system() (s system, err error) {
	if t.at == "" {
		var list struct {
			Members []struct {
				ID string `json:"@odata.id"`
			}
		}
		if err := t.do(http.MethodGet, systemsPath, nil, &list); err != nil {
			return s, err
		}
		if len(list.Members) != 1 {
			return s, fmt.Errorf("%s has %d systems: the setting system must say which one is meant", t.base.Host, len(list.Members))
		}
		t.at = list.Members[0].ID
	}
	err = t.do(http.MethodGet, t.at, nil, &s)
	return s, err
}

func (t *conversation) do(method, path string, body, result any) error {
	_, err := t.send(method, path, body, result)
	return err
}

// send makes a request of the service.
func (t *conversation) send(method, path string, body, result any) (http.Header, error) {
	req, err := t.request(method, path, body)
	if err != nil {
		return nil, err
	}
	res, err := t.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, mostRead))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w", method, req.URL.Path, err)
	case res.StatusCode < 200 || res.StatusCode > 299:
		return nil, fmt.Errorf("%s %s: %s%s: %w%s", method, req.URL.Path, res.Status, complaint(data), power.ErrRefused, advice(res.StatusCode))
	case result == nil:
		return res.Header, nil
	}
	if err := json.Unmarshal(data, result); err != nil {
		return nil, fmt.Errorf("%s %s: not the JSON that was expected: %w; is address that of a Redfish service?", method, req.URL.Path, err)
	}
	return res.Header, nil
}

// advice says what to check if a service refuses.
func advice(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "; are user and password_file right?"
	case http.StatusForbidden:
		return "; may the user switch the system?"
	case http.StatusNotFound:
		return "; is address that of a Redfish service, and system one of its systems?"
	default:
		return ""
	}
}

// request makes a request to the service only: a path on another host would leak the password.
func (t *conversation) request(method, path string, body any) (*http.Request, error) {
	target, err := t.base.Parse(path)
	if err != nil || target.Host != t.base.Host || target.Scheme != t.base.Scheme {
		return nil, fmt.Errorf("%s names %q, which is not of this service", t.base.Host, path)
	}
	text := []byte(nil)
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(t.ctx, method, target.String(), bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("OData-Version", "4.0")
	switch {
	case t.token != "":
		req.Header.Set("X-Auth-Token", t.token)
	case !t.settings.Session:
		req.SetBasicAuth(t.settings.User, t.password)
	}
	return req, nil
}

// complaint returns the message of an error reply.
func complaint(data []byte) string {
	var e struct {
		Error struct {
			Message string `json:"message"`
			More    []struct {
				Message string
			} `json:"@Message.ExtendedInfo"`
		} `json:"error"`
	}
	if json.Unmarshal(data, &e) != nil {
		return ""
	}
	text := e.Error.Message
	if len(e.Error.More) > 0 && e.Error.More[0].Message != "" {
		text = e.Error.More[0].Message
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", text)
}
