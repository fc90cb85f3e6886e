package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"vjob/cluster"
	"vjob/daemon/settings"
	"vjob/db"
	"vjob/hypervisor"
	"vjob/hypervisor/libvirt"
)

// libvirtConfig converts the settings for the libvirt driver.
func libvirtConfig(s *settings.Settings) libvirt.Config {
	v := &s.Libvirt
	c := libvirt.Config{
		Cluster: v.Cluster, ImageDir: v.ImageDir, ConsoleDir: v.ConsoleDir, SeedDir: v.SeedDir,
		DomainType: v.DomainType, MachineType: v.MachineType, CPUModel: v.CPUModel, Emulator: v.Emulator,
		TranslationCacheMiB: v.TranslationCache.MiB, Bridge: v.Bridge,
		NetworkFilter: v.NetworkFilter, PortIsolation: v.PortIsolation, MigrationTLS: v.MigrationTLS,
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

// checkLibvirt validates the settings of the driver. Errors name the key of the settings.
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
	return cluster.Renamed(name, field)
}

// newLibvirt opens the driver for an image store that carries the id of the installation.
func newLibvirt(s *settings.Settings, installation string, log *slog.Logger) (hypervisor.Driver, error) {
	config := libvirtConfig(s)
	config.Installation = installation
	driver, err := libvirt.New(config, log)
	if err != nil {
		return nil, fmt.Errorf("libvirt: %w", err)
	}
	return driver, nil
}

// InitStore creates and marks the folders of the image store, and returns what it did with
// each. The daemon may run meanwhile. With adopt it takes over folders of another
// installation.
func InitStore(ctx context.Context, s *settings.Settings, adopt bool) ([]libvirt.StoreFolder, error) {
	if s.Driver != driverLibvirt {
		return nil, cluster.BadField("driver", s.Driver, "libvirt: no other driver has an image store to mark")
	}
	if err := os.MkdirAll(s.State, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	id, err := db.InstallationOf(ctx, s.Database())
	if err != nil {
		return nil, err
	}
	config := libvirtConfig(s)
	config.Installation = id
	return libvirt.InitStore(ctx, config, adopt)
}
