package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
	"vjob/cluster"
	"vjob/ctxswitch/journal"
	"vjob/scheduler"
)

// Catalogue is the administrator's list of images.
type Catalogue interface {
	Images(ctx context.Context) ([]wire.Image, error)
}

// imageService is the part of the scheduler that keeps saved VMs.
type imageService interface {
	// Orphans lists the saved VMs of no suspended vjob.
	Orphans(ctx context.Context) ([]scheduler.Orphan, error)
	// DiscardImage deletes one of them, by its name. The order is durable on return, and carried
	// out later.
	DiscardImage(ctx context.Context, name, by string) error
}

// imageHandler answers requests for images: those of the catalogue, and saved VMs of no vjob.
type imageHandler struct {
	catalogue Catalogue // may be nil
	groups    *userGroups
	scheduler imageService
	vjobs     vjobReader
}

// list answers GET /v1/images.
func (h *imageHandler) list(c *gin.Context, caller Subject) error {
	list := wire.ImageList{Images: []wire.Image{}}
	images, err := h.bootable(c.Request.Context(), caller)
	if err != nil {
		return err
	}
	for _, image := range images {
		if !image.may {
			continue
		}
		if caller.Role != journal.RoleAdmin {
			image.Users, image.Groups = nil, nil
		}
		list.Images = append(list.Images, image.Image)
	}
	return answer(c, http.StatusOK, list)
}

// check refuses a submission of images that the subject may not boot. Later checks refuse an image
// that does not exist.
func (h *imageHandler) check(ctx context.Context, caller Subject, vms []cluster.VM) error {
	images, err := h.bootable(ctx, caller)
	if err != nil {
		return err
	}
	for i := range vms {
		for _, image := range images {
			named := vms[i].Work().Image
			if !image.may && (named == image.ID || named == "" && image.Default) {
				return fmt.Errorf("vms[%d].image: %s may not boot the image %s: choose one that vjob images lists: %w", i, caller.Name, image.ID, cluster.ErrForbidden)
			}
		}
	}
	return nil
}

// permitted is an image, and whether the subject may boot it.
type permitted struct {
	wire.Image
	may bool
}

func (h *imageHandler) bootable(ctx context.Context, caller Subject) ([]permitted, error) {
	if h.catalogue == nil {
		return nil, nil
	}
	images, err := h.catalogue.Images(ctx)
	if err != nil {
		return nil, err
	}
	list, asked := make([]permitted, len(images)), false
	var groups []string
	for i := range images {
		if len(images[i].Groups) > 0 && !asked {
			asked = true
			if groups, _, err = h.groups.of(ctx, caller); err != nil {
				return nil, err
			}
		}
		list[i] = permitted{images[i], mayBoot(&images[i], caller, groups)}
	}
	return list, nil
}

// mayBoot reports whether the subject may boot an image.
func mayBoot(image *wire.Image, caller Subject, groups []string) bool {
	return caller.Role == journal.RoleAdmin || len(image.Users)+len(image.Groups) == 0 || slices.Contains(image.Users, caller.Name) ||
		slices.ContainsFunc(image.Groups, func(g string) bool { return slices.Contains(groups, g) })
}

// orphans answers GET /v1/images/orphans.
func (h *imageHandler) orphans(c *gin.Context, _ Subject) error {
	orphans, err := h.scheduler.Orphans(c.Request.Context())
	if err != nil {
		return err
	}
	list := wire.OrphanList{Orphans: make([]wire.Orphan, len(orphans))}
	owners := map[cluster.VJobID]string{}
	for i := range orphans {
		list.Orphans[i] = wireOrphan(&orphans[i], h.ownerOf(c.Request.Context(), orphans[i].ID.VM.VJob, owners))
	}
	return answer(c, http.StatusOK, list)
}

// ownerOf returns the owner of a vjob, "" if the store does not have it. It caches owners in known.
func (h *imageHandler) ownerOf(ctx context.Context, id cluster.VJobID, known map[cluster.VJobID]string) string {
	owner, ok := known[id]
	if !ok {
		if kept, err := h.vjobs.VJob(ctx, id); err == nil {
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
func (h *imageHandler) deleteOrphan(c *gin.Context, caller Subject) error {
	if err := h.scheduler.DiscardImage(c.Request.Context(), c.Param("name"), caller.Name); err != nil {
		return err
	}
	return noContent(c)
}
