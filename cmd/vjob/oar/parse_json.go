package oar

import (
	"encoding/json"
	"time"

	"vjob/oar/request"
)

// oarRequest is the JSON of `vjob oar parse -o json`.
type oarRequest struct {
	Alternatives []oarAlternative `json:"alternatives"`
	Properties   string           `json:"properties,omitempty"` // of -p
}

type oarAlternative struct {
	Groups   []oarGroup `json:"groups"`
	Walltime *int64     `json:"walltime_s"` // null without walltime
}

type oarGroup struct {
	Property  string     `json:"property"`
	Resources []oarLevel `json:"resources"`
}

// oarLevel is ["core", 2]; ALL is -1, BEST -2 and BESTHALF -3, as OAR stores them.
type oarLevel [2]any

func parsed(w request.Spec) oarRequest {
	r := oarRequest{Properties: w.Filters[0].Text}
	for _, from := range w.Request.Alternatives {
		var a oarAlternative
		if from.Walltime != request.NoWalltime {
			seconds := int64(from.Walltime / time.Second)
			a.Walltime = &seconds
		}
		for _, g := range from.Groups {
			group := oarGroup{Property: g.Property.Text}
			for _, l := range g.Levels {
				group.Resources = append(group.Resources, oarLevel{l.Name, stored(l.Count)})
			}
			a.Groups = append(a.Groups, group)
		}
		r.Alternatives = append(r.Alternatives, a)
	}
	return r
}

// stored returns a count as a number of any size.
func stored(c request.Count) any {
	switch c {
	case request.All:
		return -1
	case request.Best:
		return -2
	case request.BestHalf:
		return -3
	default:
		return json.Number(c)
	}
}
