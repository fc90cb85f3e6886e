package hypervisor

import (
	"fmt"
	"slices"
	"strings"
)

// Platform is what VMs of one domain type can be on a node: the compatibility of a node with VMs ("VMware
// Distributed Resource Management", 2012, §3.3). A node has one for each domain type that it offers.
// Platforms do not change once a view has them.
type Platform struct {
	Type string `json:"type"` // the domain type: "kvm", "qemu"
	Arch string `json:"arch"` // "x86_64"
	// CPUModel is the named model that is nearest to the CPU of the node, for people; "" if unknown.
	CPUModel string `json:"cpu_model,omitempty"`
	// Features are the CPU features that a VM can have here, in order; nil: unknown.
	Features []string `json:"features,omitempty"`
	// Models are the named CPU models; nil: unknown.
	Models map[string]ModelSupport `json:"models,omitempty"`
	// MachineTypes have their full names, such as "pc-q35-8.2", in order; nil: unknown.
	MachineTypes []string `json:"machine_types,omitempty"`
}

// ModelSupport says whether VMs get all features of a CPU model on a node.
type ModelSupport struct {
	Usable bool `json:"usable"`
	// Lacks are the features that VMs do not get, in order; nil if all are there, or if the
	// hypervisor does not name them.
	Lacks []string `json:"lacks,omitempty"`
}

// Hardware is the virtual hardware that a VM has had since its boot. It stays the same through
// migrations and images. It does not change once a view or an image has it; "" is unknown.
type Hardware struct {
	Type        string `json:"type,omitempty"`
	Arch        string `json:"arch,omitempty"`
	MachineType string `json:"machine_type,omitempty"` // its full name, never an alias
	CPUModel    string `json:"cpu_model,omitempty"`    // the VM has the features of this model
	// Features are those that the VM has beside those of the model, in order.
	Features []string `json:"features,omitempty"`
	// Without are features of the model that the VM does not have, in order.
	Without []string `json:"without,omitempty"`
	// Passthrough: the VM has the CPU of its node as it is.
	Passthrough bool `json:"passthrough,omitempty"`
}

// Missing returns what a node lacks that a VM needs, such as "the CPU feature avx512f"; "" if it lacks
// nothing as far as is known. from are the platforms of the node that has the copy or has saved the
// image; to are those of the other node. What is unknown counts as compatible.
//
// A named CPU model counts with the features that the VM can have on from: hypervisors leave out what
// a node lacks, and features that the VM does not have need not be there on the other node.
func (h *Hardware) Missing(from, to []Platform) string {
	if h == nil || len(to) == 0 {
		return ""
	}
	p := h.platform(to)
	switch {
	case p == nil && h.Arch != "" && !slices.ContainsFunc(to, func(p Platform) bool { return p.Arch == h.Arch }):
		return "the architecture " + h.Arch
	case p == nil:
		return "the domain type " + h.Type
	case h.MachineType != "" && p.MachineTypes != nil && !slices.Contains(p.MachineTypes, h.MachineType):
		return "the machine type " + h.MachineType
	}
	source := h.platform(from)
	if source == nil {
		source = &Platform{}
	}
	lacks, model := h.modelGap(source, p)
	if model {
		return "the CPU model " + h.CPUModel
	}
	if p.Features != nil {
		needs := h.Features
		if h.Passthrough {
			needs = source.Features
		}
		lacks = append(lacks, without(needs, p.Features)...)
	}
	slices.Sort(lacks)
	return featureText(slices.Compact(lacks))
}

// platform returns the platform on which the VM would run, or nil.
func (h *Hardware) platform(list []Platform) *Platform {
	for i := range list {
		p := &list[i]
		if (h.Type == "" || p.Type == h.Type) && (h.Arch == "" || p.Arch == "" || p.Arch == h.Arch) {
			return p
		}
	}
	return nil
}

// modelGap returns the features of the CPU model that a VM has on a platform and would lose on
// another. model reports that the features are not known, and that the model cannot be used there.
func (h *Hardware) modelGap(from, to *Platform) (lacks []string, model bool) {
	if h.CPUModel == "" || h.Passthrough || to.Models == nil {
		return nil, false
	}
	there, known := to.Models[h.CPUModel]
	here, knownHere := from.Models[h.CPUModel]
	switch {
	case there.Usable || !knownHere:
		return nil, false
	case !known:
		return nil, true
	case there.Lacks == nil:
		return nil, here.Usable
	case !here.Usable && here.Lacks == nil: // which features the VM has is unknown
		return nil, false
	}
	return without(without(there.Lacks, h.Without), here.Lacks), false
}

// without returns the elements of list that are not in others.
func without(list, others []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(others, s) })
}

// maxFeatures is how many missing features a text names.
const maxFeatures = 3

func featureText(lacks []string) string {
	switch n := len(lacks); {
	case n == 0:
		return ""
	case n == 1:
		return "the CPU feature " + lacks[0]
	case n <= maxFeatures:
		return "the CPU features " + strings.Join(lacks, ", ")
	default:
		return fmt.Sprintf("the CPU features %s and %d more", strings.Join(lacks[:maxFeatures], ", "), n-maxFeatures)
	}
}
