package apifuzz_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// operation is one operation of the document.
type operation struct {
	name, method, path string
	params             openapi3.Parameters
	body               *openapi3.Schema // nil: it reads none
	document           *openapi3.Operation
}

// operations lists the document in a fixed order.
func operations(doc *openapi3.T) (list []*operation) {
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		byMethod := doc.Paths.Map()[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(byMethod)) {
			o := byMethod[method]
			one := &operation{name: o.OperationID, method: method, path: path, params: o.Parameters, document: o}
			if o.RequestBody != nil {
				one.body = o.RequestBody.Value.Content.Get("application/json").Schema.Value
			}
			list = append(list, one)
		}
	}
	return list
}

// request is one request, before it has a form.
type request struct {
	number uint64
	caller *caller
	op     *operation // that was meant; nil: none
	method string
	path   string // decoded
	query  string
	header http.Header
	body   []byte
	// sound: the path, the query and the headers are as the document has them; the path
	// names what it has values for.
	sound  bool
	values map[string]string // of the parameters in the path
}

func (q *request) String() string {
	name := q.caller.name
	if name == "" {
		name = "(no user)"
	}
	return fmt.Sprintf("request %d: %s %s %q ?%q %v %.300q", q.number, name, q.method, q.path, q.query, q.header, q.body)
}

// text is all that the caller has sent, which an answer may say again.
func (q *request) text() string {
	decoded, _ := url.QueryUnescape(q.query)
	return q.path + "\n" + q.query + "\n" + decoded + "\n" + fmt.Sprint(q.header) + "\n" + string(q.body)
}

// http is the request as a handler gets it.
func (q *request) http() *http.Request {
	body := bytes.NewReader(q.body)
	return &http.Request{
		Method: q.method, URL: &url.URL{Path: q.path, RawQuery: q.query}, Host: "vjob", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: q.header.Clone(), Body: io.NopCloser(body), ContentLength: int64(len(q.body)),
		// Each comes from another address: what the server allows a stranger is not the point.
		RemoteAddr: fmt.Sprintf("10.%d.%d.%d:1024", q.number>>16&255, q.number>>8&255, q.number&255), RequestURI: q.path,
	}
}

// generator makes requests of the document. The same seed and number are the same
// request, whatever was answered before.
type generator struct {
	seed    uint64
	ops     []*operation
	callers []*caller
	extra   int // how many numbers of vjobs there may be beside those of the start
}

// rare are operations that cost much: of the draws that meet them few count.
var rare = map[string]int{"getBackup": 200, "getMetrics": 8, "askWhatIf": 4}

func (g *generator) request(number uint64) *request {
	r := rand.New(rand.NewPCG(g.seed, number))
	q := &request{number: number, header: http.Header{}, caller: pick(r, g.callers), values: map[string]string{}, sound: true}
	q.op = pick(r, g.ops)
	for n := rare[q.op.name]; n > 0 && r.IntN(n) > 0; {
		q.op = pick(r, g.ops)
		n = rare[q.op.name]
	}
	q.method = q.op.method
	g.fillPath(r, q)
	g.fillQuery(r, q)
	if q.op.body != nil || r.IntN(30) == 0 {
		q.body = bodyOf(r, q.op)
		q.body = bytes.ReplaceAll(q.body, []byte(canary), []byte(q.caller.canary))
	}
	q.caller.sign(q.header)
	g.fillHeader(r, q)
	if r.IntN(40) == 0 {
		q.sound, q.method = false, pick(r, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get", "BREW", "PROPFIND"})
	}
	return q
}

// fillPath gives the parameters of the path values.
func (g *generator) fillPath(r *rand.Rand, q *request) {
	parts := strings.Split(q.op.path, "/")
	before := ""
	for i, part := range parts {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			parts[i] = g.value(r, q, before, name)
			q.values[name] = parts[i]
		}
		before = part
	}
	q.path = strings.Join(parts, "/")
	if r.IntN(60) == 0 {
		q.sound = false
		i := r.IntN(len(q.path))
		q.path = pick(r, []string{q.path + "/", q.path + ".json", "/" + q.path, q.path[:i], q.path[:i] + pick(r, texts) + q.path[i:], strings.ToUpper(q.path), q.path + strings.Repeat("/x", 1<<r.IntN(10))})
		if !strings.HasPrefix(q.path, "/") {
			q.path = "/" + q.path
		}
	}
}

// value is a value of a parameter in the path, by what stands before it.
func (g *generator) value(r *rand.Rand, q *request, before, name string) string {
	if r.IntN(12) == 0 {
		q.sound = false
		return strings.ReplaceAll(pick(r, texts)+pick(r, []string{"", "1", pick(r, texts)}), "/", "") + "x"
	}
	if r.IntN(20) == 0 && (name == "id" || name == "signal") {
		q.sound = false
		return pick(r, numbers)
	}
	switch {
	case before == "vjobs" && r.IntN(8) == 0:
		return pick(r, []string{"canaryAx9lice7q-long", "canaryBx9ob7q-array", "canaryCx9arol7q-array[2]", "7300003[1]", "no-such-vjob", "x[", "x[0]"})
	case before == "vjobs" || before == "jobs" || before == "array":
		return strconv.FormatInt(g.vjob(r), 10)
	case before == "plans":
		return strconv.Itoa(1 + r.IntN(60))
	case before == "users":
		// Their own accounts the callers of a run keep.
		if slices.Contains([]string{"deleteUser", "changeUser", "revokeToken", "rotateToken"}, q.op.name) {
			return pick(r, []string{"extra-1", "extra-2", "extra-3", "no-such-user"})
		}
		return pick(r, []string{"alice", "bob", "carol", "root", "extra-1", "extra-2", "extra-3", "no-such-user"})
	case before == "tokens":
		return strconv.Itoa(1 + r.IntN(30))
	case before == "orphans":
		return pick(r, []string{"7300001.0-1.1", "7300001.0-g1-a1", "none"})
	case name == "name" || before == "nodes":
		return pick(r, []string{"n1", "n2", "n3", "n4", "n5", "1", "2"})
	}
	return strconv.Itoa(1 + r.IntN(40))
}

// vjob is the number of a vjob of the start, of a later one, or one that is not in use.
func (g *generator) vjob(r *rand.Rand) int64 {
	switch r.IntN(8) {
	case 0:
		return firstVJob + int64(r.IntN(started+g.extra))
	case 1:
		return firstVJob + 1<<40 + int64(r.IntN(3))
	}
	return firstVJob + int64(r.IntN(started))
}

// fillQuery gives some of the parameters of the query values.
func (g *generator) fillQuery(r *rand.Rand, q *request) {
	values := url.Values{}
	for _, p := range q.op.params {
		if p.Value.In != "query" || r.IntN(3) > 0 {
			continue
		}
		schema := p.Value.Schema.Value
		if schema.Type.Is("array") {
			schema = schema.Items.Value
		}
		text := pick(r, []string{"waiting", "running", "alice", "bob", q.caller.name, "oar", "Running,Hold", "7300001:7300004", "2026-11-21T00:00:00Z", q.caller.canary})
		switch {
		case r.IntN(8) == 0:
			text = pick(r, []string{pick(r, texts), pick(r, numbers), strings.Repeat("9", 1+r.IntN(5000))})
		case schema.Type.Is("integer"):
			text = strconv.FormatInt(pick(r, []int64{0, 1, 2, 3, 10, 1000, 1_700_000_000, 1 << 40}), 10)
			if (p.Value.Name == "vjob" || p.Value.Name == "array") && r.IntN(6) > 0 {
				text = strconv.FormatInt(g.vjob(r), 10)
			}
		case schema.Type.Is("boolean"):
			text = pick(r, []string{"true", "false"})
		}
		values.Add(p.Value.Name, text)
		if r.IntN(30) == 0 {
			values.Add(p.Value.Name, text)
		}
	}
	if r.IntN(40) == 0 {
		values.Add(pick(r, texts), pick(r, texts))
	}
	q.query = values.Encode()
	if r.IntN(80) == 0 {
		q.query = pick(r, []string{"%", "%zz", "a;b", "&&&", "=", "id[]=1", "limit=1;limit=2", "\x00", "a=\xff", q.query + "&" + q.query, strings.Repeat("a=1&", 1+r.IntN(2000))})
	}
	q.sound = q.sound && q.query == ""
}

// fillHeader adds headers, right and wrong ones.
func (g *generator) fillHeader(r *rand.Rand, q *request) {
	if len(q.body) > 0 && r.IntN(4) > 0 {
		q.header.Set("Content-Type", "application/json")
	}
	if r.IntN(12) > 0 {
		return
	}
	q.sound = false
	name := pick(r, []string{"Content-Type", "Accept", "Accept", "Idempotency-Key", "Idempotency-Key", "Last-Event-ID", "Content-Encoding", "X-Forwarded-For", "X-Remote-User", "X-Http-Method-Override", "Upgrade", "Connection", "Range", "If-None-Match", "Host", "Cookie", "Authorization"})
	value := map[string][]string{
		"Content-Type": {"text/plain", "application/json; charset=utf-16", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ";", "application/yaml"},
		"Accept":       {"text/event-stream", "text/event-stream", "text/html", "*/*;q=0", ""}, "Idempotency-Key": {"k1", "k2", "k3", strings.Repeat("k", 200), "é"},
		"Last-Event-ID": {"0", "1", "-1", "x", "9223372036854775808"}, "Content-Encoding": {"gzip", "br"}, "X-Forwarded-For": {"127.0.0.1"}, "X-Remote-User": {"root"},
		"X-Http-Method-Override": {"DELETE"}, "Upgrade": {"vjob-console", "websocket", "h2c"}, "Connection": {"Upgrade", "close"}, "Range": {"bytes=0-1", "bytes=-1"},
		"Authorization": {"Basic cm9vdDpyb290", "Bearer ", "Bearer vjob_", "Bearer x y"},
	}[name]
	if len(value) == 0 || r.IntN(6) == 0 {
		value = texts
	}
	q.header.Add(name, pick(r, value))
	if name == "Accept" && r.IntN(2) == 0 {
		q.header.Set("Accept", "text/event-stream")
	}
	if name == "Authorization" { // with two there is no caller
		q.caller = &caller{canary: q.caller.canary}
		if len(q.header.Values(name)) == 1 {
			return
		}
	}
}
