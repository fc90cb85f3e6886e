package settings

import "path/filepath"

// fillPaths sets the default paths of the state directory and the socket: those of the systemd
// unit, else those of root or of the user.
func (s *Settings) fillPaths(getenv func(string) string, root bool) {
	home := getenv("HOME")
	if s.State == "" {
		switch dir := getenv("XDG_STATE_HOME"); {
		case filepath.IsAbs(getenv("STATE_DIRECTORY")):
			s.State = getenv("STATE_DIRECTORY")
		case root:
			s.State = "/var/lib/vjob"
		case dir != "":
			s.State = filepath.Join(dir, "vjob")
		case home != "":
			s.State = filepath.Join(home, ".local", "state", "vjob")
		}
	}
	if s.Listen.Socket == "" {
		switch dir := getenv("XDG_RUNTIME_DIR"); {
		case filepath.IsAbs(getenv("RUNTIME_DIRECTORY")):
			s.Listen.Socket = filepath.Join(getenv("RUNTIME_DIRECTORY"), "vjobd.sock")
		case root:
			s.Listen.Socket = "/run/vjob/vjobd.sock"
		case dir != "":
			s.Listen.Socket = filepath.Join(dir, "vjob", "vjobd.sock")
		case home != "":
			s.Listen.Socket = filepath.Join(home, ".local", "state", "vjob", "vjobd.sock")
		}
	}
}

// Database returns the path of the database.
func (s *Settings) Database() string { return filepath.Join(s.State, "vjob.db") }

// ClusterFile returns the path of the simulated cluster's state, or "" if it is not kept.
func (s *Settings) ClusterFile() string {
	if s.Simulated.StateFile == "" || filepath.IsAbs(s.Simulated.StateFile) {
		return s.Simulated.StateFile
	}
	return filepath.Join(s.State, s.Simulated.StateFile)
}
