//go:build libvirt_dlopen && cgo

package libvirt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"libvirt.org/go/libvirt"

	"vjob/hypervisor"
)

// kvmSupport is the domain type of the machines that a node boots, once it is known.
type kvmSupport struct {
	mu    sync.Mutex
	found string
}

func (k *kvmSupport) get() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.found
}

// set records the domain type, and reports whether it was unknown before.
func (k *kvmSupport) set(found string) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first = k.found == ""
	k.found = found
	return first
}

// domainType returns the domain type of the settings, or else the best that the node supports.
func (n *node) domainType(ctx context.Context) (string, error) {
	if t := n.driver.cfg.DomainType; t != typeAuto {
		return t, nil
	}
	if t := n.accel.get(); t != "" {
		return t, nil
	}
	fault, err := withConn(ctx, n.controlPool, func(conn *libvirt.Connect) (string, error) { return whyNoKVM(conn) })
	if err != nil {
		return "", fmt.Errorf("whether KVM works: %w", err)
	}
	return n.recordKVM(ctx, fault), nil
}

// recordKVM records why the node cannot use KVM, or "" if it can, and returns its domain type.
func (n *node) recordKVM(ctx context.Context, fault string) string {
	if fault == "" {
		n.accel.set(typeKVM)
		return typeKVM
	}
	if n.accel.set(typeQEMU) {
		n.driver.log.LogAttrs(ctx, slog.LevelWarn, "VMs are emulated, which is slow: KVM cannot be used",
			slog.String("node", string(n.Node)), slog.String("cause", fault),
			slog.String("fix", "load the KVM modules, switch virtualisation on in the firmware, or set libvirt.domain_type"))
	}
	return typeQEMU
}

// capabilityConn is the part of a [libvirt.Connect] that tells about the CPU of a host.
type capabilityConn interface {
	GetCapabilities() (string, error)
	BaselineCPU(cpus []string, flags libvirt.ConnectBaselineCPUFlags) (string, error)
}

// whyNoKVM returns why a host cannot use KVM, or "" if it can as far as can be known.
func whyNoKVM(conn capabilityConn) (fault string, err error) {
	caps, err := conn.GetCapabilities()
	if err != nil {
		return "", err
	}
	cpu, offered, err := kvmOffered(caps)
	if err != nil || !offered {
		return "libvirt does not offer it", err
	}
	// The capabilities list only features beyond the model of the CPU; this lists all.
	full, err := conn.BaselineCPU([]string{cpu}, libvirt.CONNECT_BASELINE_CPU_EXPAND_FEATURES)
	if err = translate(err); errors.Is(err, hypervisor.ErrUnreachable) {
		return "", err
	}
	if err != nil {
		return "libvirt does not tell the features of the CPU: " + err.Error(), nil //nolint:nilerr // that is the answer
	}
	if able, err := virtualises(full); err != nil || able {
		return "", err
	}
	return "libvirt offers it, but the CPU has neither vmx nor svm", nil
}
