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

// acceleration is the domain type of the machines that a host boots, once it is known.
type acceleration struct {
	mu    sync.Mutex
	found string
}

func (a *acceleration) get() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.found
}

// set notes what was found, and reports whether nothing was known before.
func (a *acceleration) set(found string) (first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first = a.found == ""
	a.found = found
	return first
}

// domainType is that of the settings, or what the host can do.
func (h *host) domainType(ctx context.Context) (string, error) {
	if t := h.driver.cfg.DomainType; t != typeAuto {
		return t, nil
	}
	if t := h.accel.get(); t != "" {
		return t, nil
	}
	fault, err := ask(ctx, h.control, func(conn *libvirt.Connect) (string, error) { return whyNoKVM(conn) })
	if err != nil {
		return "", fmt.Errorf("whether KVM works: %w", err)
	}
	return h.accelerate(ctx, fault), nil
}

// accelerate notes why the host cannot use KVM, and returns the domain type that follows.
func (h *host) accelerate(ctx context.Context, fault string) string {
	if fault == "" {
		h.accel.set(typeKVM)
		return typeKVM
	}
	if h.accel.set(typeQEMU) {
		h.driver.log.LogAttrs(ctx, slog.LevelWarn, "VMs are emulated, which is slow: KVM cannot be used",
			slog.String("node", string(h.Node)), slog.String("cause", fault),
			slog.String("fix", "load the KVM modules, switch virtualisation on in the firmware, or set libvirt.domain_type"))
	}
	return typeQEMU
}

// processor is what is asked of a host about its CPU: a [libvirt.Connect].
type processor interface {
	GetCapabilities() (string, error)
	BaselineCPU(cpus []string, flags libvirt.ConnectBaselineCPUFlags) (string, error)
}

// whyNoKVM tells why a host cannot use KVM; "" is that it can, as far as it can be known.
func whyNoKVM(conn processor) (fault string, err error) {
	caps, err := conn.GetCapabilities()
	if err != nil {
		return "", err
	}
	cpu, offered, err := kvmOffered(caps)
	if err != nil || !offered {
		return "libvirt does not offer it", err
	}
	// The features of a CPU are those of its model and more; this names them all.
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
