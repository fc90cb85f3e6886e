package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"vjob/cluster"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
	"vjob/settings"
)

// libvirtConfig is what the libvirt driver is told of the settings.
func libvirtConfig(s *settings.Settings) libvirt.Config {
	v := &s.Libvirt
	c := libvirt.Config{
		Cluster: v.Cluster, ImageDir: v.ImageDir, ConsoleDir: v.ConsoleDir, SeedDir: v.SeedDir,
		DomainType: v.DomainType, MachineType: v.MachineType, CPUModel: v.CPUModel, Emulator: v.Emulator,
		TranslationCacheMiB: v.TranslationCache.MiB, Bridge: v.Bridge,
		UnsafeMigration: v.UnsafeMigration, MigrationMiBps: v.MigrationMiBps,
	}
	if v.Lease != (settings.Lease{}) {
		c.Lease = &libvirt.Lease{Lockspace: v.Lease.Lockspace, Path: v.Lease.Path}
	}
	for _, n := range s.Nodes {
		c.Hosts = append(c.Hosts, libvirt.Host{
			Node: cluster.NodeID(n.Name), URI: n.URI, PeerURI: n.PeerURI, MigrateURI: n.MigrateURI,
		})
	}
	for _, i := range s.Images {
		c.Images = append(c.Images, libvirt.CatalogueImage{
			ID: i.ID, Description: i.Description, Kind: libvirt.ImageKind(i.Kind),
			Kernel: i.Kernel, Initrd: i.Initrd, Arguments: i.Arguments, Disk: i.Disk, Format: i.Format,
		})
	}
	return c
}

// checkLibvirt tells what the driver finds wrong, by the names of the settings.
func checkLibvirt(s *settings.Settings) error {
	err := libvirtConfig(s).Validate()
	var field *cluster.FieldError
	if !errors.As(err, &field) {
		return err
	}
	name := "libvirt." + field.Field
	if rest, ok := strings.CutPrefix(field.Field, "hosts"); ok {
		name = "nodes" + strings.Replace(rest, ".node", ".name", 1)
	} else if strings.HasPrefix(field.Field, "images") {
		name = field.Field
	}
	return &cluster.FieldError{Field: name, Value: field.Value, Want: field.Want}
}

func openLibvirt(s *settings.Settings, log *slog.Logger) (hypervisor.Driver, error) {
	driver, err := libvirt.New(libvirtConfig(s), log)
	if err != nil {
		return nil, fmt.Errorf("libvirt: %w", err)
	}
	return driver, nil
}
