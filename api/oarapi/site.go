package oarapi

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/oar"
)

// Info is the answer to GET /version, /timezone and /whoami.
type Info struct {
	Version   string `json:"oar_version,omitempty"`        // the version of OAR that this answers as
	Server    string `json:"oar_server_version,omitempty"` // the version of vjob
	API       string `json:"api_version,omitempty"`        // of OAR's API
	TimeZone  string `json:"timezone,omitempty"`           // of the daemon
	User      string `json:"authenticated_user,omitempty"` // the caller
	Timestamp int64  `json:"api_timestamp"`                // seconds since 1970
}

// apiVersion is the version of OAR's API that this API follows.
const apiVersion = "1.0.4"

// siteHandler answers requests for the installation: versions, the caller, the time zone, queues.
type siteHandler struct {
	*service
	config *Config
}

// info answers with information.
func (h *siteHandler) info(c *gin.Context, i Info) error {
	i.Timestamp = h.now()
	c.JSON(http.StatusOK, i)
	return nil
}

// version answers GET /version.
func (h *siteHandler) version(c *gin.Context, _ api.Subject) error {
	return h.info(c, Info{Version: h.config.Version, Server: h.config.Version, API: apiVersion})
}

// whoami answers GET /whoami.
func (h *siteHandler) whoami(c *gin.Context, caller api.Subject) error {
	return h.info(c, Info{User: caller.Name})
}

// timezone answers GET /timezone.
func (h *siteHandler) timezone(c *gin.Context, _ api.Subject) error {
	zone, _ := h.Now().In(time.Local).Zone()
	return h.info(c, Info{TimeZone: zone})
}

// queues answers GET /queues.
func (h *siteHandler) queues(c *gin.Context, _ api.Subject) error {
	c.JSON(http.StatusOK, oar.Page[oar.Queue]{Timestamp: h.now(), Items: append([]oar.Queue{}, h.config.Queues...), Links: selfLink(c), Total: len(h.config.Queues)})
	return nil
}
