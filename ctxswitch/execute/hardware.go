package execute

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"

	"vjob/cluster"
	"vjob/hypervisor"
)

// Hardware is the virtual hardware of a VM, and the node that has its copy or has saved its image.
type Hardware struct {
	*hypervisor.Hardware
	Node  cluster.NodeID
	Saved bool // it is in an image
}

// Hardware returns the virtual hardware of the VMs on nodes and in images, as far as it is known.
// It is nil while all nodes are known to be alike: VMs can run on any of them then.
func (e *Executor) Hardware() map[cluster.VMID]Hardware {
	if !e.nodes.differ() {
		return nil
	}
	images := map[hypervisor.ImageID]hypervisor.Image{}
	for _, i := range e.store.shown.Images {
		if i.Hardware != nil {
			images[i.ID] = i
		}
	}
	found := map[cluster.VMID]Hardware{}
	for _, p := range e.gangs.begun {
		for rank := range p.rec.Members {
			m, vm := &p.rec.Members[rank], cluster.VMID{VJob: p.job.ID, Rank: rank}
			at := cmp.Or(m.Node, m.Next) // it is there, or comes there from its image
			switch n := e.nodes.byID[at]; {
			case n != nil && n.copies[vm].Hardware != nil:
				found[vm] = Hardware{n.copies[vm].Hardware, at, false}
			case m.Image != nil:
				if i, shown := images[m.Image.ID]; shown {
					found[vm] = Hardware{i.Hardware, i.Node, true}
				}
			}
		}
	}
	return found
}

// differ reports whether some nodes offer other platforms than others, or may do so: a node that has not
// answered since the start may have saved images that only nodes like it can read.
func (ns *nodes) differ() bool {
	first, silent := "", false
	for _, n := range ns.sorted {
		switch {
		case n.class == "":
			silent = silent || !n.seen
		case first == "":
			first = n.class
		case n.class != first:
			return true
		}
	}
	return silent && first != ""
}

// setPlatforms takes in the platforms of a node. A look that does not tell them leaves those of
// an earlier one.
func (ns *nodes) setPlatforms(n *node, found []hypervisor.Platform) {
	if len(found) == 0 || len(n.platforms) == len(found) && &n.platforms[0] == &found[0] {
		return
	}
	data, err := json.Marshal(found)
	if err != nil {
		return // platforms are plain data
	}
	sum := sha256.Sum256(data)
	if class := string(sum[:]); class != n.class {
		n.class = class
		ns.changes++ // VMs may go where they could not, or no more
	}
	n.platforms = slices.Clip(found)
}
