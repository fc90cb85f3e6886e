package settings

// InEffect returns the settings that are in effect after a reload: those of a file, but for what needs a restart, which
// stays as it was.
func (s *Settings) InEffect(file *Settings) Settings {
	is := *file
	is.State, is.Driver, is.Log.Format = s.State, s.Driver, s.Log.Format
	users := is.Listen.Users
	is.Listen = s.Listen
	is.Listen.Users = users
	is.Simulated.Seed, is.Simulated.StateFile, is.Simulated.Faults = s.Simulated.Seed, s.Simulated.StateFile, s.Simulated.Faults
	is.Libvirt.Cluster, is.Libvirt.ImageDir, is.Libvirt.ConsoleDir, is.Libvirt.SeedDir = s.Libvirt.Cluster, s.Libvirt.ImageDir, s.Libvirt.ConsoleDir, s.Libvirt.SeedDir
	is.Libvirt.Lease, is.Output = s.Libvirt.Lease, s.Output
	is.Limits.Connections, is.Limits.ConnectionsPerPeer = s.Limits.Connections, s.Limits.ConnectionsPerPeer
	return is
}
