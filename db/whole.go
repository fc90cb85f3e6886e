package db

import (
	"database/sql"
	"fmt"
	"time"

	"vjob/cluster"
	"vjob/ctxswitch/gang"
	"vjob/ctxswitch/journal"
)

// wholeReader reads vjobs with their VMs, rules and gangs. It decodes each specification once, and asks for the rows of VMs
// once, so that a vjob that was never begun costs one row.
type wholeReader struct {
	*rowReader
	spec        int64
	shape       int
	gang        gang.Record
	phase, then sql.RawBytes
	kept        sql.RawBytes
	specs       map[int64]*decoded
	placed      map[cluster.VJobID]*placed
	nowhere     []gang.Member // which vjobs without a place share
}

// placed is the VMs of a vjob that has had a place. Those of others stand in the specification only.
type placed struct {
	vms      []cluster.VM
	members  []gang.Member
	payloads []int // in the specification
}

const gangColumns = `vjobs.spec, shape, phase, continuation, since_ns, boots, incarnation, generation, used, restores, losses, gangs.cause, skew_ns, kept`

// whole loads vjobs with their VMs, rules and gangs, in order. The condition is on the table vjobs.
func (r *snapshot) whole(condition string, args ...any) (list []*journal.Kept, err error) {
	err = r.eachWhole(condition, args, func(k journal.Kept) { list = append(list, &k) })
	return list, err
}

// eachWhole passes on what whole lists.
func (r *snapshot) eachWhole(condition string, args []any, visit func(journal.Kept)) (err error) {
	w := &wholeReader{}
	if w.specs, err = r.specs(condition, args); err != nil {
		return err
	}
	if w.placed, err = r.placed(condition, args); err != nil {
		return err
	}
	g := &w.gang
	w.rowReader = newRowReader(
		number[int64]{&w.spec}, number[int]{&w.shape},
		&w.phase, &w.then,
		instant{&g.Since},
		number[int]{&g.Boots}, number[int]{&g.Incarnation}, number[int]{&g.Generation}, number[int]{&g.UsedUpTo}, number[int]{&g.Restores}, number[int]{&g.Losses},
		&cause{c: &g.Cause},
		number[time.Duration]{&g.Skew},
		&w.kept)
	query := "SELECT " + rowColumns + ", " + gangColumns + rowTables + " LEFT JOIN gangs ON gangs.vjob = vjobs.id " + condition + " ORDER BY id"
	return r.each(query, args, func(s row) error {
		kept, err := w.read(s)
		if err != nil {
			return fmt.Errorf("vjob %s: %w", w.job.ID, err)
		}
		visit(kept)
		return nil
	})
}

// specs reads the specifications of vjobs, by their numbers. Those with equal texts are one.
func (r *snapshot) specs(condition string, args []any) (map[int64]*decoded, error) {
	specs, known := map[int64]*decoded{}, map[string]*decoded{}
	query := "SELECT spec, json FROM specs WHERE spec IN (SELECT vjobs.spec FROM vjobs " + condition + ")"
	var id int64
	var raw sql.RawBytes
	err := r.each(query, args, func(s row) error {
		if err := s.Scan(&id, &raw); err != nil {
			return err
		}
		spec, is := known[string(raw)]
		if !is {
			var err error
			if spec, err = decodeSpec(raw); err != nil {
				return err
			}
			known[string(raw)] = spec
		}
		specs[id] = spec
		return nil
	})
	return specs, err
}

// placed reads the VMs that have had a place, and their part of the gangs.
func (r *snapshot) placed(condition string, args []any) (map[cluster.VJobID]*placed, error) {
	all := map[cluster.VJobID]*placed{}
	var v vmRow
	query := `SELECT vm_count, vms.vjob, vms.rank, vms.cpu_milli, vms.memory_mib, vms.payload, vms.node, vms.next_node, vms.ended, vms.exit_status,
			vms.save_attempt, images.generation, images.attempt, images.node, images.size_bytes, images.checksum, images.incarnation
		FROM vjobs JOIN vms ON vms.vjob = vjobs.id
		LEFT JOIN images ON images.vjob = vms.vjob AND images.rank = vms.rank ` + condition + " ORDER BY vms.vjob, vms.rank"
	err := r.each(query, args, func(s row) error {
		if err := v.scan(s); err != nil {
			return err
		}
		p := all[v.vm.ID.VJob]
		if p == nil {
			p = &placed{make([]cluster.VM, 0, v.of), make([]gang.Member, 0, v.of), make([]int, 0, v.of)}
			all[v.vm.ID.VJob] = p
		}
		if v.vm.ID.Rank != len(p.vms) {
			return fmt.Errorf("VM %s does not fit its vjob", v.vm.ID)
		}
		p.vms, p.members, p.payloads = append(p.vms, v.vm), append(p.members, v.member), append(p.payloads, v.payload)
		return nil
	})
	return all, err
}

// read returns the next vjob.
func (w *wholeReader) read(s row) (journal.Kept, error) {
	row, err := w.rowReader.read(s)
	if err != nil {
		return journal.Kept{}, err
	}
	kept := journal.Kept{Row: row, Gang: w.gang}
	if err := w.finishGang(&kept.Gang, row.ID); err != nil {
		return kept, err
	}
	spec, known := w.specs[w.spec]
	if !known {
		return kept, fmt.Errorf("specification %d is missing", w.spec)
	}
	job := kept.VJob
	spec.shared = w.terms.in(spec.shared)
	job.Rules, job.Terms, job.Origin, job.Shape = spec.Rules, spec.shared, spec.Origin, w.shape
	if err := w.addMembers(&kept, spec); err != nil {
		return kept, err
	}
	if w.shape > 0 && w.shape < len(job.Shapes) {
		kept.VJob = job.WithShape(w.shape)
	}
	return kept, nil
}

func (w *wholeReader) finishGang(g *gang.Record, id cluster.VJobID) (err error) {
	g.VJob = id
	if g.Kept, err = decodeKept(w.kept); err != nil {
		return err
	}
	if err := g.Phase.UnmarshalText(w.phase); err != nil {
		return err
	}
	return g.Then.UnmarshalText(w.then)
}

// addMembers fills in VMs and gang members.
func (w *wholeReader) addMembers(kept *journal.Kept, spec *decoded) error {
	if p := w.placed[kept.ID]; p != nil {
		for rank, payload := range p.payloads {
			if payload >= len(spec.Payloads) {
				return fmt.Errorf("VM %s does not fit its vjob", p.vms[rank].ID)
			}
			p.vms[rank].Payload = &spec.Payloads[payload]
		}
		kept.VMs, kept.Gang.Members = p.vms, p.members
	} else {
		w.nowhere = append(w.nowhere, make([]gang.Member, max(0, len(spec.VMs)-len(w.nowhere)))...)
		kept.VMs, kept.Gang.Members = spec.members(kept.ID), w.nowhere[:len(spec.VMs):len(spec.VMs)]
	}
	if len(kept.VMs) != kept.Size {
		return fmt.Errorf("it has %d VMs of %d", len(kept.VMs), kept.Size)
	}
	return nil
}

// vmRow is a row of the table vms with its image.
type vmRow struct {
	vm      cluster.VM
	member  gang.Member
	payload int
	of      int // so many VMs of the vjob
}

// scan reads the next row over the last one.
func (v *vmRow) scan(s row) error {
	v.vm, v.member = cluster.VM{}, gang.Member{}
	var image gang.Image
	var generation, attempt, incarnation int64
	var node, checksum sql.NullString
	err := s.Scan(&v.of, &v.vm.ID.VJob, &v.vm.ID.Rank, &v.vm.Reserved.CPU, &v.vm.Reserved.Memory, &v.payload,
		&v.member.Node, &v.member.Next, &v.member.Ended,
		exitStatus{&v.member.Exit},
		&v.member.Save,
		number[int64]{&generation}, number[int64]{&attempt}, &node, number[int64]{&image.Bytes}, &checksum, number[int64]{&incarnation})
	if err != nil || !node.Valid {
		return err
	}
	image.ID.VM, image.ID.Generation, image.ID.Attempt = v.vm.ID, int(generation), int(attempt)
	image.Node, image.Checksum, image.Incarnation = cluster.NodeID(node.String), checksum.String, int(incarnation)
	v.member.Image = &image
	return nil
}
