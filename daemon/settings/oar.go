package settings

import (
	"cmp"

	"vjob/cluster"
	"vjob/oar/admission"
	"vjob/oar/request"
)

// OAR are the settings of OAR compatibility, see docs/reference/oar-compatibility.md.
type OAR struct {
	Nodes           string           `json:"nodes_resource"`
	Default         string           `json:"default_resources"`
	CoresPerCPU     int              `json:"cores_per_cpu"`
	UsersMaySuspend bool             `json:"users_may_suspend"`
	Admission       []admission.Rule `json:"admission"`
}

// OARSite returns the site parameters by which OAR submissions are read. The error names the
// invalid key.
func (s *Settings) OARSite() (site admission.Site, err error) {
	o := &s.OAR
	site.Request = request.DefaultConfig()
	site.Request.NodesAlias = cmp.Or(o.Nodes, site.Request.NodesAlias)
	if o.Default != "" {
		if site.Request.Default, err = request.ParseDefault("oar.default_resources", o.Default, site.Request); err != nil {
			return site, cluster.BadField("oar.default_resources", o.Default, "levels such as /nodes=1/core=1: "+err.Error())
		}
	}
	if o.CoresPerCPU < 1 || o.CoresPerCPU > 1024 {
		return site, cluster.BadField("oar.cores_per_cpu", o.CoresPerCPU, "from 1 to 1024")
	}
	site.Request.CoresPerCPU = o.CoresPerCPU
	rules := o.Admission
	if len(rules) == 0 {
		rules = admission.ForVMs()
	}
	if site.Policy, err = admission.Compile(rules); err != nil {
		return site, cluster.WithPath("oar", err)
	}
	site.Mails = s.Notify.Mail.Server != ""
	for _, q := range s.Queues {
		site.Queues = append(site.Queues, q.Name)
	}
	site.Image, site.Images = s.DefaultImage(), map[string]string{}
	for _, i := range s.Images {
		site.Images[i.ID] = i.Kind
	}
	return site, nil
}

func (s *Settings) validateOAR() error {
	_, err := s.OARSite()
	return err
}
