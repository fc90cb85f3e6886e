package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"vjob/cluster"
)

// maxPage is the longest list in one answer, defaultPage the usual one.
const (
	maxPage     = 10_000
	defaultPage = 1000
)

func notFound(what, name string) error {
	return fmt.Errorf("%s %.80q: %w", what, name, cluster.ErrNotFound)
}

// checkQuery refuses keys that the endpoint does not know, and repeated ones.
func checkQuery(query url.Values, allowed []param) error {
	for key, values := range query {
		i := slices.IndexFunc(allowed, func(p param) bool { return p.name == key })
		if i < 0 {
			names := make([]string, len(allowed))
			for i, p := range allowed {
				names[i] = p.name
			}
			want := "no query string"
			if len(names) > 0 {
				want = "one of " + strings.Join(names, ", ")
			}
			return cluster.Fault(location{}.field(key).path, "an unknown parameter, want %s", want)
		}
		if len(values) > 1 && !allowed[i].many {
			return cluster.Fault(key, "a second value, want each parameter once")
		}
	}
	return nil
}

// queryNumber reads a whole number in a range, or returns the default.
func queryNumber(c *gin.Context, key string, least, most, otherwise int64) (int64, error) {
	text, ok := c.GetQuery(key)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, cluster.BadField(key, text, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n, nil
}

func queryTrue(c *gin.Context, key string) (bool, error) {
	text, ok := c.GetQuery(key)
	switch {
	case !ok, text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, cluster.BadField(key, text, "true or false")
}

// pathNumber reads a positive number in the path, in its one spelling. Any other text names nothing
// that exists, so the resource is missing; the error is bad input with its field.
func pathNumber(c *gin.Context, key string) (int64, error) {
	n, err := strconv.ParseInt(c.Param(key), 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != c.Param(key) {
		return 0, cluster.BadField(key, c.Param(key), "a positive number")
	}
	return n, nil
}

// readBody decodes the JSON body of a request into a wire type.
func (s *Server) readBody(c *gin.Context, into any) error {
	data, err := body(c)
	if err != nil {
		return err
	}
	return Decode(data, into, Shape{Items: maxSteps, Of: map[string]int{"vms": s.limits.VMsPerVJob, "parameters": s.limits.VJobsPerArray, "command": maxWords, "env": maxEnv}})
}

// body is the body of a request, which has to be JSON.
func body(c *gin.Context) ([]byte, error) {
	if media := c.ContentType(); media != "" && media != "application/json" {
		return nil, cluster.BadField("content-type", media, "application/json")
	}
	data, err := io.ReadAll(c.Request.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fmt.Errorf("%w: %w", errTooLarge,
			cluster.Fault("body", "too long, want at most %d bytes", tooLarge.Limit))
	}
	if errors.Is(err, errLargeBodies) {
		return nil, err
	}
	if err != nil {
		return nil, cluster.Fault("body", "the request is cut off")
	}
	return data, nil
}
