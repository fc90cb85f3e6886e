package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"vjob/cluster"
)

// SystemSocket is where a daemon of the whole machine listens.
const SystemSocket = "/run/vjob/vjobd.sock"

// userSocket returns the socket of a daemon that runs without privileges:
// under XDG_RUNTIME_DIR, else under the home directory; "" when neither is known.
func userSocket(getenv func(string) string) string {
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "vjob", "vjobd.sock")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "vjob", "vjobd.sock")
	}
	return ""
}

// Discover finds the server and the token for a command: the server from the
// flag, then VJOB_SERVER, then the socket of the user's own daemon if there is
// one, then [SystemSocket]; the token from VJOB_TOKEN, then the file that
// VJOB_TOKEN_FILE names, then ~/.config/vjob/token; trusted certificates from
// the file that VJOB_CA_FILE names.
func Discover(flag string, getenv func(string) string) (Settings, error) {
	s := Settings{Server: flag, CAFile: getenv("VJOB_CA_FILE")}
	if s.Server == "" {
		s.Server = getenv("VJOB_SERVER")
	}
	if s.Server == "" {
		s.Server = "unix://" + socket(getenv)
	}
	if strings.HasPrefix(s.Server, "/") {
		s.Server = "unix://" + s.Server
	}
	token, err := findToken(getenv, !strings.HasPrefix(s.Server, "unix:"))
	s.Token = token
	return s, err
}

func socket(getenv func(string) string) string {
	if own := userSocket(getenv); own != "" {
		if info, err := os.Stat(own); err == nil && info.Mode()&fs.ModeSocket != 0 {
			return own
		}
	}
	return SystemSocket
}

// findToken reads the token that was named, or when usual is set the one at the
// usual place, which may be missing: on a socket the kernel says who calls.
func findToken(getenv func(string) string, usual bool) (string, error) {
	if token := getenv("VJOB_TOKEN"); token != "" {
		return token, nil
	}
	file, named := getenv("VJOB_TOKEN_FILE"), true
	if file == "" {
		home := getenv("HOME")
		if home == "" || !usual {
			return "", nil
		}
		file, named = filepath.Join(home, ".config", "vjob", "token"), false
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", cluster.BadField("token file", file, "a file that only its owner can read (chmod 600)")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
