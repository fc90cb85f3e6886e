//go:build libvirt_dlopen

package endtoend

func (b bench) faults() {}
