package apifuzz_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// Rights, written down without looking at how the server decides. What is in neither list
// any user may ask for.
var (
	open     = []string{"getHealth", "getOpenAPI", "getRoot", "getIndex"}
	reserved = []string{
		"getBackup", "changeNode", "changeNodes", "drainNode", "onlineNode", "switchNode", "getRules", "setRules",
		"setBudgets", "setPrices", "getConsolidation", "listUsers", "getUser", "createUser", "changeUser", "deleteUser",
		"listAudit", "listOrphans", "deleteOrphan", "restoreVJob", "oarNodeState",
	}
)

// largest is how long an error may be: it names what is wrong, up to 16 fields, and repeats little of it.
const largest = 16 << 10

// judge says what is wrong with an answer.
func (w *world) judge(q *request, a *answer) (wrong []string) {
	fault := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if a.panics != "" {
		fault("panic: %s", a.panics)
		return wrong
	}
	if a.status >= 500 && (a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" || !w.crowded) {
		fault("status %d", a.status)
	}
	if !utf8.Valid(a.body) && q.op.name != "getBackup" {
		fault("the answer is no UTF-8")
	}
	if a.status >= 400 && len(a.body) > largest {
		fault("an error of %d bytes", len(a.body))
	}
	if text := w.rights(q, a); text != "" {
		fault("%s", text)
	}
	if !q.caller.admin && q.op.name != "getOpenAPI" { // of which the examples name alice and bob
		body := a.body
		switch q.op.name {
		case "listShares": // users see all projects
			body = projectOfRoot.ReplaceAll(body, nil)
		case "listTokens": // which administrators name as they like
			body = nameByRoot.ReplaceAll(body, nil)
		}
		if text := w.leak(q, seconds.ReplaceAll(body, nil)); text != "" { // a walltime can be as large as a number
			fault("tells of another: %s", text)
		}
	}
	if err := w.conforms(q, a); err != nil {
		fault("does not match the document: %v", err)
	}
	return wrong
}

var (
	projectOfRoot = regexp.MustCompile(`"account":"canary[^"/]*"`)
	nameByRoot    = regexp.MustCompile(`"name":"canaryroot[^"]*"`)
	seconds       = regexp.MustCompile(`"walltime(_seconds)?":\d+`)
)

// rights says what is wrong with the status, for the caller and the object.
func (w *world) rights(q *request, a *answer) string {
	refused := func(statuses ...int) string {
		if w.crowded && (a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable) && a.header.Get("Retry-After") != "" {
			return ""
		}
		if slices.Contains(statuses, a.status) {
			return ""
		}
		return fmt.Sprintf("status %d, want one of %v", a.status, statuses)
	}
	if !w.routed(q) || slices.Contains(open, q.op.name) {
		if a.status == http.StatusUnauthorized && slices.Contains(open, q.op.name) && w.routed(q) {
			return "401 of what is open to all"
		}
		return ""
	}
	switch {
	case q.caller.name == "":
		return refused(http.StatusUnauthorized)
	case slices.Contains(reserved, q.op.name) && !q.caller.admin:
		return refused(http.StatusForbidden)
	case strings.HasPrefix(q.op.path, "/v1/users/{name}/tokens") && !q.caller.admin && q.values["name"] != q.caller.name:
		return refused(http.StatusForbidden, http.StatusBadRequest, http.StatusRequestEntityTooLarge)
	case q.op.name == "attachVJob" && q.caller.admin:
		return refused(http.StatusForbidden, http.StatusNotFound, http.StatusBadRequest)
	case q.caller.admin:
		return ""
	}
	if id, err := strconv.ParseInt(q.values["id"], 10, 64); err == nil && ofVJob.MatchString(q.op.path) {
		owner := w.owner(id)
		switch {
		case owner == q.caller.name:
		case strings.Contains(q.op.path, "/array/") && a.status == http.StatusOK:
			if !bytes.Contains(a.body, []byte(`"items":[]`)) {
				return "orders members of another's array"
			}
		case owner != "":
			return refused(http.StatusNotFound, http.StatusBadRequest, http.StatusRequestEntityTooLarge)
		}
	}
	if a.status == http.StatusForbidden && q.op.name == "getVJob" {
		return "403 tells that it exists"
	}
	return ""
}

var ofVJob = regexp.MustCompile(`^/(v1/vjobs|oarapi/jobs)/(array/)?\{id\}`)

// routed reports whether the request surely reaches its operation.
func (w *world) routed(q *request) bool {
	if q.op == nil || q.method != q.op.method {
		return false
	}
	want := q.op.path
	for name, value := range q.values {
		if value == "" || value == "." || value == ".." || strings.HasSuffix(value, ".json") {
			return false
		}
		want = strings.Replace(want, "{"+name+"}", value, 1)
	}
	return want == q.path
}

// owner is the owner of a vjob; "" if the store knows no vjob of this number.
func (w *world) owner(id int64) string {
	if name, ok := w.owners.Load(id); ok {
		return name.(string)
	}
	if id < firstVJob || id > firstVJob+1<<30 {
		return ""
	}
	a := w.ask(w.root, "GET", fmt.Sprintf("/v1/vjobs/%d", id), "")
	var job struct {
		Owner string `json:"owner"`
	}
	if a.status != http.StatusOK || json.Unmarshal(a.body, &job) != nil {
		return "" // it may come to be
	}
	w.owners.Store(id, job.Owner)
	return job.Owner
}

// hear remembers the numbers of vjobs in what a caller writes, which may come back later: as
// the name of a token, which administrators give as well, or as a word of a command.
func (w *world) hear(q *request) {
	to := q.caller.name
	if q.caller.admin && strings.HasSuffix(q.op.path, "/tokens") {
		to = q.values["name"]
	}
	for _, number := range numberOfVJob.FindAll(q.body, -1) {
		w.heard.Store(to+" "+string(number), true)
	}
}

var numberOfVJob = regexp.MustCompile(`73\d{5}`)

// leak is the first thing in an answer to a user that belongs to another: a word, a name or
// the number of a vjob. What the request itself says is no news.
func (w *world) leak(q *request, body []byte) string {
	said := ""
	news := func(word string) bool {
		if said == "" {
			said = q.text()
		}
		return !strings.Contains(said, word)
	}
	for _, c := range w.callers {
		if c.canary != q.caller.canary && bytes.Contains(body, []byte(c.canary)) && news(c.canary) {
			return around(body, c.canary)
		}
		if c.name != "" && c.name != q.caller.name && !c.admin && bytes.Contains(body, []byte(c.name)) && news(c.name) {
			return around(body, c.name)
		}
	}
	for _, at := range numberOfVJob.FindAllIndex(body, -1) {
		if digit(body, at[0]-1) || digit(body, at[1]) {
			continue
		}
		text := string(body[at[0]:at[1]])
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			continue
		}
		if _, own := w.heard.Load(q.caller.name + " " + text); own {
			continue
		}
		if owner := w.owner(id); owner != "" && owner != q.caller.name && news(text) {
			return around(body, text)
		}
	}
	return ""
}

func digit(b []byte, i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }

func around(body []byte, word string) string {
	i := bytes.Index(body, []byte(word))
	return fmt.Sprintf("%q", body[max(0, i-160):min(len(body), i+len(word)+80)])
}

// conforms holds an answer against the document.
func (w *world) conforms(q *request, a *answer) error {
	if len(a.body) == 0 || !a.isJSON() {
		if a.status >= 400 && q.method != http.MethodHead {
			return fmt.Errorf("an error of %q: %.200q", a.header.Get("Content-Type"), a.body)
		}
		return nil
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		return err
	}
	if !w.routed(q) {
		if object, ok := value.(map[string]any); a.status < 400 || ok && (object["error"] != nil) {
			return nil
		}
		return fmt.Errorf("an error without one: %.200s", a.body)
	}
	response := q.op.document.Responses.Status(a.status)
	if response == nil && a.status < 500 {
		return fmt.Errorf("status %d is in no document", a.status)
	}
	if response == nil {
		response = q.op.document.Responses.Default()
	}
	content := response.Value.Content.Get("application/json")
	if content == nil || content.Schema == nil {
		return fmt.Errorf("status %d with JSON that is in no document", a.status)
	}
	if err := content.Schema.Value.VisitJSON(value, openapi3.MultiErrors()); err != nil {
		text, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("%d: %.400s", a.status, text)
	}
	return nil
}
