package driver_test

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vjob/energy/power/driver"
)

// service is a management controller at the level of HTTP, as DSP0266 has it.
type service struct {
	*httptest.Server
	state   string
	types   []string // of resets; nil: it does not say
	target  string
	systems []string
	session bool // it wants no basic authentication
	open    int  // sessions
	resets  []string
}

func serve(t *testing.T) *service {
	t.Helper()
	s := &service{
		state: "On", types: []string{"On", "ForceOff", "GracefulShutdown", "ForceRestart"},
		systems: []string{"/redfish/v1/Systems/1"}, target: "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /redfish/v1/SessionService/Sessions", s.login)
	mux.HandleFunc("DELETE /redfish/v1/SessionService/Sessions/{id}", s.known(func(http.ResponseWriter, *http.Request) { s.open-- }))
	mux.HandleFunc("GET /redfish/v1/Systems", s.known(s.list))
	mux.HandleFunc("GET /redfish/v1/Systems/1", s.known(s.show))
	mux.HandleFunc("POST /redfish/v1/Systems/1/Actions/ComputerSystem.Reset", s.known(s.reset))
	s.Server = httptest.NewTLSServer(mux)
	t.Cleanup(s.Close)
	return s
}

func write(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func refuse(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	write(w, map[string]any{"error": map[string]any{
		"message": "see below", "@Message.ExtendedInfo": []map[string]string{{"Message": text}},
	}})
}

func (s *service) login(w http.ResponseWriter, r *http.Request) {
	var who struct{ UserName, Password string }
	if json.NewDecoder(r.Body).Decode(&who) != nil || who.UserName != "vjob" || who.Password != "geheim" {
		refuse(w, http.StatusUnauthorized, "no such user")
		return
	}
	s.open++
	w.Header().Set("X-Auth-Token", "t0ken")
	w.Header().Set("Location", s.URL+"/redfish/v1/SessionService/Sessions/7")
	w.WriteHeader(http.StatusCreated)
}

// known admits only requests with a login.
func (s *service) known(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		user, password, basic := r.BasicAuth()
		good := basic && user == "vjob" && password == "geheim" && !s.session
		if !good && (r.Header.Get("X-Auth-Token") != "t0ken" || s.open == 0) {
			refuse(w, http.StatusUnauthorized, "log in first")
			return
		}
		next(w, r)
	}
}

func (s *service) list(w http.ResponseWriter, _ *http.Request) {
	members := []map[string]string{}
	for _, id := range s.systems {
		members = append(members, map[string]string{"@odata.id": id})
	}
	write(w, map[string]any{"Members": members})
}

func (s *service) show(w http.ResponseWriter, _ *http.Request) {
	action := map[string]any{"target": s.target}
	if s.types != nil {
		action["ResetType@Redfish.AllowableValues"] = s.types
	}
	write(w, map[string]any{"PowerState": s.state, "Actions": map[string]any{"#ComputerSystem.Reset": action}})
}

func (s *service) reset(w http.ResponseWriter, r *http.Request) {
	var body struct{ ResetType string }
	if json.NewDecoder(r.Body).Decode(&body) != nil || s.types != nil && !slices.Contains(s.types, body.ResetType) {
		refuse(w, http.StatusBadRequest, "unknown reset type "+body.ResetType)
		return
	}
	s.resets = append(s.resets, body.ResetType)
	s.state = map[string]string{"On": "On", "ForceOn": "On", "ForceOff": "Off", "GracefulShutdown": "Off"}[body.ResetType]
	w.WriteHeader(http.StatusNoContent)
}

// settings of a driver that may talk to the service.
func (s *service) settings(t *testing.T) driver.RedfishSettings {
	t.Helper()
	dir := t.TempDir()
	ca, password := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "password")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := errors.Join(os.WriteFile(ca, cert, 0o600), os.WriteFile(password, []byte("geheim\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return driver.RedfishSettings{URL: s.URL, User: "vjob", PasswordFile: password, CA: ca}
}
