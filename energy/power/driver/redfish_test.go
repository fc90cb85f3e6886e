package driver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/driver"
)

func open(t *testing.T, s driver.RedfishSettings) *driver.Redfish {
	t.Helper()
	d, err := driver.NewRedfish(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func expect(t *testing.T, d *driver.Redfish, want power.State) {
	t.Helper()
	if got, err := d.State(t.Context()); got != want || err != nil {
		t.Fatalf("%s, %v; want %s", got, err, want)
	}
}

func TestOffAndOn(t *testing.T) {
	for _, session := range []bool{false, true} {
		s := serve(t)
		s.session = session
		set := s.settings(t)
		set.Session = session
		d := open(t, set)
		expect(t, d, power.On)
		for range 2 { // everything may be repeated
			if err := d.Off(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, d, power.Off)
		for range 2 {
			if err := d.On(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		expect(t, d, power.On)
		if got := strings.Join(s.resets, " "); got != "GracefulShutdown On" || s.open != 0 {
			t.Errorf("session %v: %s; %d sessions are left", session, got, s.open)
		}
	}
}

func TestWhichReset(t *testing.T) {
	for _, c := range []struct {
		types []string
		cut   bool
		want  string
	}{
		{[]string{"On", "ForceOff", "GracefulShutdown"}, true, "ForceOff"},
		{[]string{"On", "ForceOff"}, false, "ForceOff"},
		{nil, false, "GracefulShutdown"},
		{[]string{"On", "Nmi"}, false, "can be reset by On, Nmi only"},
	} {
		s := serve(t)
		s.types = c.types
		set := s.settings(t)
		set.Cut = c.cut
		err := open(t, set).Off(t.Context())
		if got := fmt.Sprint(strings.Join(s.resets, " "), err); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.types, got, c.want)
		}
	}
}

func TestRedfishStates(t *testing.T) {
	s := serve(t)
	d := open(t, s.settings(t))
	for text, want := range map[string]power.State{
		"On": power.On, "Off": power.Off, "PoweringOff": power.On, "PoweringOn": power.On, "": power.Unknown, "Dreaming": power.Unknown,
	} {
		s.state = text
		expect(t, d, want)
	}
}

func TestTrouble(t *testing.T) {
	wrong := func(set *driver.RedfishSettings) { _ = os.WriteFile(set.PasswordFile, []byte("hunter2"), 0o600) }
	for name, c := range map[string]struct {
		spoil func(s *service, set *driver.RedfishSettings)
		want  string
	}{
		"a wrong password":               {func(_ *service, set *driver.RedfishSettings) { wrong(set) }, "log in first"},
		"a wrong password for a session": {func(_ *service, set *driver.RedfishSettings) { wrong(set); set.Session = true }, "no such user"},
		"an unknown authority":           {func(_ *service, set *driver.RedfishSettings) { set.CA = "" }, "certificate"},
		"two systems":                    {func(s *service, _ *driver.RedfishSettings) { s.systems = append(s.systems, "/redfish/v1/Systems/2") }, "2 systems"},
		"no system":                      {func(s *service, _ *driver.RedfishSettings) { s.systems = nil }, "0 systems"},
		"another host":                   {func(s *service, _ *driver.RedfishSettings) { s.target = "https://evil.example/x" }, "not of this service"},
		"another host's path":            {func(s *service, _ *driver.RedfishSettings) { s.systems[0] = "//evil.example/x" }, "not of this service"},
		"no action":                      {func(s *service, _ *driver.RedfishSettings) { s.target = "" }, "no action"},
		"a wrong path":                   {func(_ *service, set *driver.RedfishSettings) { set.System = "/redfish/v1/Systems/9" }, "404"},
		"no service":                     {func(s *service, _ *driver.RedfishSettings) { s.Close() }, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			set := s.settings(t)
			c.spoil(s, &set)
			err := open(t, set).Off(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%v, want %s", err, c.want)
			}
			if len(s.resets) > 0 {
				t.Errorf("it was reset: %v", s.resets)
			}
		})
	}
}

// A controller that never answers, one that redirects, and one that floods.
func TestHostileServices(t *testing.T) {
	asked := 0
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		wait   time.Duration
		want   string
	}{
		"mute": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 50 * time.Millisecond, "deadline"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			asked++
			http.Redirect(w, r, "/redfish/v1/x", http.StatusFound)
		}, time.Minute, "302"},
		"flood": {func(w http.ResponseWriter, _ *http.Request) {
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, time.Minute, "not the JSON"},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, time.Minute, "not the JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handle)
			defer server.Close()
			password := filepath.Join(t.TempDir(), "p")
			if err := os.WriteFile(password, []byte("geheim"), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.wait)
			defer cancel()
			state, err := open(t, driver.RedfishSettings{URL: server.URL, User: "vjob", PasswordFile: password}).State(ctx)
			if state != power.Unknown || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v; want %s", state, err, c.want)
			}
		})
	}
	if asked != 1 {
		t.Errorf("the redirect was followed: %d requests", asked)
	}
}

func TestBadRedfishSettings(t *testing.T) {
	password := filepath.Join(t.TempDir(), "p")
	if err := os.WriteFile(password, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	good := driver.RedfishSettings{URL: "https://bmc", User: "vjob", PasswordFile: password}
	open(t, good)
	for name, c := range map[string]struct {
		field string
		spoil func(s *driver.RedfishSettings)
	}{
		"no url":         {"url", func(s *driver.RedfishSettings) { s.URL = "" }},
		"no scheme":      {"url", func(s *driver.RedfishSettings) { s.URL = "bmc" }},
		"in the clear":   {"url", func(s *driver.RedfishSettings) { s.URL = "http://bmc" }},
		"a password":     {"url", func(s *driver.RedfishSettings) { s.URL = "https://vjob:geheim@bmc" }},
		"a path":         {"url", func(s *driver.RedfishSettings) { s.URL = "https://bmc/redfish/v1" }},
		"no user":        {"user", func(s *driver.RedfishSettings) { s.User = "" }},
		"a strange path": {"system", func(s *driver.RedfishSettings) { s.System = "/redfish/v1/../x" }},
		"no password":    {"password_file", func(s *driver.RedfishSettings) { s.PasswordFile = "" }},
		"no authority":   {"ca", func(s *driver.RedfishSettings) { s.CA = "/none" }},
	} {
		s := good
		c.spoil(&s)
		_, err := driver.NewRedfish(s)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != c.field || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
