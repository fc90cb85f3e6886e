package api

import (
	"html/template"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/api/wire"
)

// index is the answer to GET / and GET /v1.
var index = wire.Index{
	Name: "vjob", Version: "1", OpenAPI: "/v1/openapi.json", Documentation: "docs/how-to/use-the-rest-api.md in the sources of vjob",
	Login: "on the unix socket the kernel identifies the caller; elsewhere send the header Authorization: Bearer TOKEN, with a token of: vjob token create",
	First: []string{"/v1/whoami", "/v1/vjobs", "/v1/nodes", "/v1/events"},
}

var indexPage = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{{.Name}}</title>
<h1>{{.Name}}: REST API, version {{.Version}}</h1>
<p>Description of all routes and fields: <a href="{{.OpenAPI}}">{{.OpenAPI}}</a></p>
<p>Guide for programmers: {{.Documentation}}</p>
<p>Authentication: {{.Login}}</p>
<p>Begin with:</p>
<ul>
{{range .First}}<li><a href="{{.}}">GET {{.}}</a></li>
{{end}}</ul>
`))

// index answers GET / and GET /v1: as a page to browsers, else in JSON.
func (h *documentHandler) index(c *gin.Context, _ Subject) error {
	c.Header("Vary", "Accept")
	if !accepts(c.Request, "text/html") {
		return answer(c, http.StatusOK, index)
	}
	var page strings.Builder
	if err := indexPage.Execute(&page, index); err != nil {
		return err
	}
	c.Data(http.StatusOK, "text/html; charset=utf-8", []byte(page.String()))
	return nil
}
