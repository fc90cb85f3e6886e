package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/scheduler"
)

func orphanEndpoints() []endpoint {
	return []endpoint{
		{
			method: "GET", path: "/v1/images/orphans", operation: "listOrphans", summary: "Saved VMs of no suspended vjob, and why they are kept",
			access: administrator, verb: Read, status: 200, result: wire.OrphanList{}, handle: (*Server).orphans,
		},
		{
			method: "DELETE", path: "/v1/images/orphans/:name", operation: "deleteOrphan", summary: "Delete a saved VM of no suspended vjob",
			access: administrator, verb: Change, status: 204, handle: (*Server).deleteOrphan,
		},
		{
			method: "POST", path: "/v1/vjobs/:id/restore", operation: "restoreVJob", summary: "Restore a lost vjob from its kept images: it becomes suspended and held",
			access: administrator, verb: Change, body: wire.RestoreOrder{}, status: 202, result: wire.VJob{}, handle: (*Server).restoreVJob,
		},
	}
}

// orphans answers GET /v1/images/orphans.
func (s *Server) orphans(c *gin.Context, _ Subject) error {
	orphans, err := s.scheduler.Orphans(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.OrphanList{Orphans: make([]wire.Orphan, len(orphans))}
	owners := map[cluster.VJobID]string{}
	for i := range orphans {
		list.Orphans[i] = wireOrphan(&orphans[i], s.ownerOf(c.Request.Context(), orphans[i].ID.VM.VJob, owners))
	}
	return answer(c, http.StatusOK, list)
}

// ownerOf is the owner of a vjob, "" if the store does not know it.
func (s *Server) ownerOf(ctx context.Context, id cluster.VJobID, known map[cluster.VJobID]string) string {
	owner, ok := known[id]
	if !ok {
		if kept, err := s.reader.VJob(ctx, id); err == nil {
			owner = kept.Owner
		}
		known[id] = owner
	}
	return owner
}

func wireOrphan(o *scheduler.Orphan, owner string) wire.Orphan {
	return wire.Orphan{
		Image: o.ID.String(), VJob: int64(o.ID.VM.VJob), Owner: owner, Generation: o.ID.Generation, Node: string(o.Node),
		Bytes: o.Bytes, Complete: o.Complete, Written: instant(o.Written), Why: o.Why, Until: instant(o.Until), Restorable: o.Restorable,
	}
}

// deleteOrphan answers DELETE /v1/images/orphans/{name}.
func (s *Server) deleteOrphan(c *gin.Context, caller Subject) error {
	if err := s.scheduler.DiscardImage(c.Request.Context(), c.Param("name"), caller.Name); err != nil {
		return err
	}
	c.Status(http.StatusNoContent)
	return nil
}

// restoreVJob answers POST /v1/vjobs/{id}/restore.
func (s *Server) restoreVJob(c *gin.Context, caller Subject) error {
	var order wire.RestoreOrder
	if err := s.readBody(c, &order); err != nil {
		return err
	}
	if order.Generation < 0 {
		return cluster.BadField("generation", order.Generation, "the number of a generation, or 0 for the newest")
	}
	kept, err := s.vjob(c, caller, Change)
	if err != nil {
		return err
	}
	if err := s.scheduler.Restore(c.Request.Context(), kept.ID, order.Generation, caller.Name); err != nil {
		return err
	}
	return answer(c, http.StatusAccepted, wireVJob(&kept.Row, s.snapshot(), caller.Viewer()))
}
