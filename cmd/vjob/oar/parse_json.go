package oar

import (
	"encoding/json"
	"time"

	"vjob/oar/request"
)

// jsonRequest is the JSON of `vjob oar parse -o json`.
type jsonRequest struct {
	Alternatives []jsonAlternative `json:"alternatives"`
	Properties   string            `json:"properties,omitempty"` // of -p
}

type jsonAlternative struct {
	Groups   []jsonGroup `json:"groups"`
	Walltime *int64      `json:"walltime_s"` // null without walltime
}

type jsonGroup struct {
	Property  string      `json:"property"`
	Resources []jsonLevel `json:"resources"`
}

// jsonLevel is ["core", 2]; ALL is -1, BEST -2 and BESTHALF -3, as OAR stores them.
type jsonLevel [2]any

func requestJSON(w request.Spec) jsonRequest {
	r := jsonRequest{Properties: w.Filters[0].Text}
	for _, from := range w.Request.Alternatives {
		var a jsonAlternative
		if from.Walltime != request.NoWalltime {
			seconds := int64(from.Walltime / time.Second)
			a.Walltime = &seconds
		}
		for _, g := range from.Groups {
			group := jsonGroup{Property: g.Property.Text}
			for _, l := range g.Levels {
				group.Resources = append(group.Resources, jsonLevel{l.Name, storedCount(l.Count)})
			}
			a.Groups = append(a.Groups, group)
		}
		r.Alternatives = append(r.Alternatives, a)
	}
	return r
}

// storedCount returns a count as a number of any size.
func storedCount(c request.Count) any {
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
