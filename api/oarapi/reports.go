package oarapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"vjob/api"
	"vjob/oar"
	"vjob/oar/report"
)

// gantt answers GET /gantt.
func (h *jobHandler) gantt(c *gin.Context, caller api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	if q.to == 0 {
		q.to = 1 << 40
	}
	jobs, err := h.jobs(c.Request.Context(), caller, &query{user: q.user, from: max(q.from, 1)})
	if err != nil {
		return err
	}
	nodes, err := h.visibleNodes(c, caller)
	if err != nil {
		return err
	}
	data, err := report.Gantt(jobs, nodes, q.from, q.to)
	if err == nil {
		c.Data(http.StatusOK, "application/json; charset=utf-8", data)
	}
	return err
}

// accounting answers GET /accounting.
func (h *jobHandler) accounting(c *gin.Context, caller api.Subject) error {
	q, err := readQuery(c)
	if err != nil {
		return err
	}
	if q.to == 0 {
		q.to = h.now()
	}
	jobs, err := h.jobs(c.Request.Context(), caller, &query{user: q.user, from: max(q.from, 1), to: q.to})
	if err != nil {
		return err
	}
	list := report.Used(jobs, q.from, q.to, h.now())
	c.JSON(http.StatusOK, oar.Page[oar.Usage]{Timestamp: h.now(), Items: list, Links: selfLink(c), Total: len(list)})
	return nil
}
