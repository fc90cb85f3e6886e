package db

import (
	"context"
	"encoding/json"
	"fmt"

	"vjob/cluster"
)

// SaveNodes stores the nodes that the settings declare: new ones as they are, known ones with
// new capacity and labels but in the state that they had. It returns the stored nodes that are
// no longer declared; [DB.DeleteNode] deletes them.
func (d *DB) SaveNodes(ctx context.Context, declared []cluster.Node) (undeclared []cluster.NodeID, err error) {
	err = d.writer.do(ctx, func(t *tx) error {
		return each(declared, func(n *cluster.Node) error { return t.putNode(n, "") })
	})
	if err != nil {
		return nil, fmt.Errorf("save nodes: %w", err)
	}
	known := make(map[cluster.NodeID]bool, len(declared))
	for i := range declared {
		known[declared[i].ID] = true
	}
	kept, err := d.Nodes(ctx)
	for i := range kept {
		if id := kept[i].ID; !known[id] {
			undeclared = append(undeclared, id)
		}
	}
	return undeclared, err
}

// node writes a node as the scheduler has it.
func (t *tx) node(n *cluster.Node) error {
	return t.putNode(n, ", state = excluded.state, maintenance = excluded.maintenance")
}

func (t *tx) putNode(n *cluster.Node, also string) error {
	if n.ID == "" {
		return cluster.BadField("node", n.ID, "a name")
	}
	labels, err := json.Marshal(n.Labels)
	if err != nil {
		return fmt.Errorf("labels of node %s: %w", n.ID, err)
	}
	maintenance := []byte{}
	if n.Maintenance != nil {
		if maintenance, err = json.Marshal(n.Maintenance); err != nil {
			return fmt.Errorf("maintenance of node %s: %w", n.ID, err)
		}
	}
	return t.exec(`INSERT INTO nodes (id, cpu_milli, memory_mib, state, labels_json, maintenance) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET cpu_milli = excluded.cpu_milli, memory_mib = excluded.memory_mib,
			labels_json = excluded.labels_json`+also,
		string(n.ID), int64(n.Capacity.CPU), int64(n.Capacity.Memory), n.State.String(), string(labels), string(maintenance))
}

// Nodes lists the stored nodes, in order of names.
func (d *DB) Nodes(ctx context.Context) (list []cluster.Node, err error) {
	err = d.snapshot(ctx, func(r *snapshot) (err error) {
		list, err = r.nodes()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return list, nil
}

func (r *snapshot) nodes() (list []cluster.Node, err error) {
	err = r.each("SELECT id, cpu_milli, memory_mib, state, labels_json, maintenance FROM nodes ORDER BY id", nil, func(s row) error {
		var n cluster.Node
		var state, labels, maintenance []byte
		if err := s.Scan(&n.ID, &n.Capacity.CPU, &n.Capacity.Memory, &state, &labels, &maintenance); err != nil {
			return err
		}
		if len(maintenance) > 0 {
			if err := json.Unmarshal(maintenance, &n.Maintenance); err != nil {
				return err
			}
		}
		if err := n.State.UnmarshalText(state); err != nil {
			return err
		}
		list = append(list, n)
		return json.Unmarshal(labels, &list[len(list)-1].Labels)
	})
	return list, err
}

// DeleteNode deletes a node. It is ErrConflict while the node holds, or is about to hold, a
// member of a live vjob or an image.
func (d *DB) DeleteNode(ctx context.Context, id cluster.NodeID) error {
	err := d.writer.do(ctx, func(t *tx) error { return t.removeNode(&id) })
	if err != nil {
		return fmt.Errorf("delete node %s: %w", id, err)
	}
	return nil
}

// removeNode deletes a node that no live vjob holds.
func (t *tx) removeNode(id *cluster.NodeID) error {
	var holds cluster.VJobID
	found, err := t.row(`SELECT vjobs.id FROM vjobs JOIN vms ON vms.vjob = vjobs.id
		LEFT JOIN images ON images.vjob = vms.vjob AND images.rank = vms.rank
		WHERE vjobs.`+live+` AND (vms.next_node = ?1 OR images.node = ?1
			OR vms.node = ?1 AND (SELECT phase FROM gangs WHERE vjob = vjobs.id) NOT IN ('absent', 'saved'))
		LIMIT 1`, []any{string(*id)}, &holds)
	if err != nil {
		return err
	}
	if found {
		return fmt.Errorf("it holds a part of vjob %s; drain it first: %w", holds, cluster.ErrConflict)
	}
	if err := t.exec("DELETE FROM power WHERE node = ?", string(*id)); err != nil {
		return err
	}
	n, err := t.change("DELETE FROM nodes WHERE id = ?", string(*id))
	if err == nil && n == 0 {
		err = cluster.ErrNotFound
	}
	return err
}
