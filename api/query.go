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
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"vjob/cluster"
	"vjob/internal/fieldpath"
	"vjob/internal/strictjson"
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
func checkQuery(query url.Values, allowed []Param) error {
	for key, values := range query {
		i := slices.IndexFunc(allowed, func(p Param) bool { return p.Name == key })
		if i < 0 {
			names := make([]string, len(allowed))
			for i, p := range allowed {
				names[i] = p.Name
			}
			want := "no query string"
			if len(names) > 0 {
				want = "one of " + strings.Join(names, ", ")
			}
			return cluster.Fault(fieldpath.Join("", key), "an unknown parameter, want %s", want)
		}
		if len(values) > 1 && !allowed[i].Many {
			return cluster.Fault(key, "a second value, want each parameter once")
		}
	}
	return nil
}

// queryReader reads the parameters of a query string. The first error stays.
type queryReader struct {
	c   *gin.Context
	err error
}

// number reads a whole number in a range, or returns the default.
func (q *queryReader) number(key string, least, most, otherwise int64) int64 {
	text, ok := q.c.GetQuery(key)
	if !ok || q.err != nil {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		q.err = cluster.BadField(key, text, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	return n
}

// accepts reports whether a request asks for a media type by its name.
func accepts(r *http.Request, media string) bool {
	return slices.ContainsFunc(r.Header.Values("Accept"), func(v string) bool { return strings.Contains(v, media) })
}

// limit reads how many entries a list may have.
func (q *queryReader) limit(otherwise int64) int {
	return int(q.number("limit", 1, maxPage, otherwise))
}

// flag reads true or false; the default is false.
func (q *queryReader) flag(key string) bool {
	text := q.c.DefaultQuery(key, "false")
	if text != "true" && text != "false" && q.err == nil {
		q.err = cluster.BadField(key, text, "true or false")
	}
	return text == "true"
}

// choice reads one of several words; the first is the default.
func (q *queryReader) choice(key string, words ...string) string {
	text := q.c.DefaultQuery(key, words[0])
	if !slices.Contains(words, text) && q.err == nil {
		q.err = cluster.BadField(key, text, strings.Join(words, " or "))
	}
	return text
}

// instant reads an instant, or returns the default. Years are limited to those that the database can
// store.
func (q *queryReader) instant(key string, otherwise time.Time) time.Time {
	text, ok := q.c.GetQuery(key)
	if !ok || q.err != nil {
		return otherwise.UTC()
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		q.err = cluster.BadField(key, text, "an instant such as 2026-11-22T00:00:00Z")
	}
	return t.UTC()
}

// pathID reads the number of a resource in the path, in its one spelling. Another text is bad input with its field.
func pathID(c *gin.Context) (int64, error) {
	n, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != c.Param("id") {
		return 0, cluster.BadField("id", c.Param("id"), "a positive number")
	}
	return n, nil
}

// plain decodes the bodies of most requests.
var plain = newDecoder(strictjson.Bounds{Entries: maxSteps})

// newDecoder returns a decoder of requests within bounds; durations are whole numbers of seconds.
func newDecoder(bounds strictjson.Bounds) *strictjson.Decoder {
	return strictjson.New(bounds.Check(), json.UnmarshalFromFunc(wholeSeconds))
}

// readBody decodes the JSON body of a request into a wire type.
func readBody(c *gin.Context, into any) error { return readBodyBy(plain, c, into) }

// readBodyBy is readBody with another decoder.
func readBodyBy(d *strictjson.Decoder, c *gin.Context, into any) error {
	data, err := body(c)
	if err != nil {
		return err
	}
	return d.Decode(data, into)
}

// wholeSeconds decodes a duration.
func wholeSeconds(d *jsontext.Decoder, into *cluster.Seconds) error {
	var n int64
	if err := json.UnmarshalDecode(d, &n); err != nil {
		return err
	}
	return into.UnmarshalText([]byte(strconv.FormatInt(n, 10)))
}

// body is the body of a request, which has to be JSON.
func body(c *gin.Context) ([]byte, error) {
	if media := c.ContentType(); media != "" && media != "application/json" {
		return nil, cluster.BadField("content-type", media, "application/json")
	}
	data, err := io.ReadAll(c.Request.Body)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &tooLargeError{cluster.Fault("body", "too long, want at most %d bytes", tooLarge.Limit)}
	}
	if errors.Is(err, errLargeBodies) {
		return nil, err
	}
	if err != nil {
		return nil, cluster.Fault("body", "the request is cut off")
	}
	return data, nil
}

// tooLargeError is a body above the limit. It matches errTooLarge.
type tooLargeError struct{ error }

// Is reports whether the target is errTooLarge.
func (e *tooLargeError) Is(target error) bool { return target == errTooLarge }

// Unwrap returns the error of the field.
func (e *tooLargeError) Unwrap() error { return e.error }
