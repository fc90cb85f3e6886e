package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gin-gonic/gin"

	"vjob/cluster"
	"vjob/internal/revision"
)

// An entity tag has up to two parts: "REVISION.CONTENT". The revision is that of the thing, and only it counts in If-Match;
// the content is that of the answer, with what passes with time, and If-None-Match compares the whole tag. Lists have a
// content only; answers to changes a revision only.

// Preconditions are those that a change of one thing takes.
type Preconditions uint8

// The preconditions of changes.
const (
	Unconditional   Preconditions = iota // none; requests that have one are refused
	Conditional                          // If-Match
	ConditionalMake                      // If-Match, and If-None-Match: * if it is to be made
)

// entityTagHeader describes the header of answers.
var entityTagHeader = &openapi3.Header{Parameter: openapi3.Parameter{
	Description: "Changes with the answer. For `If-None-Match` of later reads and, of one thing, for `If-Match` of changes to it.",
	Schema:      openapi3.NewStringSchema().NewRef(),
}}

// tagged reports whether the answers have entity tags.
func (e *Endpoint) tagged() bool {
	return e.Errors == nil && e.Result != nil && (e.Verb == Read && e.Method == http.MethodGet && e.Media == "" || e.Preconditions != Unconditional)
}

// contentJSON is the content type of answers.
const contentJSON = mediaJSON + "; charset=utf-8"

// answer writes a success.
func answer(c *gin.Context, status int, body any) error { return answerTagged(c, status, "", body) }

// answerTagged is answer for one thing, with its revision.
func answerTagged(c *gin.Context, status int, rev revision.Revision, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	switch {
	case c.Request.Method != http.MethodGet && rev != "":
		c.Header("ETag", entityTag(rev, nil))
	case c.Request.Method == http.MethodGet && status == http.StatusOK:
		send(c, contentJSON, rev, data)
		return nil
	}
	c.Data(status, contentJSON, data)
	return nil
}

// send answers a GET, with 304 and no content if the caller has it already.
func send(c *gin.Context, media string, rev revision.Revision, data []byte) {
	tag := entityTag(rev, data)
	c.Header("ETag", tag)
	c.Header("Cache-Control", "private, no-cache")
	if known(c.Request, tag) {
		c.Status(http.StatusNotModified)
		return
	}
	c.Data(http.StatusOK, media, data)
}

// entityTag returns the tag of an answer.
func entityTag(rev revision.Revision, data []byte) string {
	tag := string(rev)
	if data != nil {
		sum := sha256.Sum256(data)
		tag += "." + hex.EncodeToString(sum[:8])
	}
	return `"` + tag + `"`
}

// known reports whether the caller has the answer with a tag.
func known(r *http.Request, tag string) bool {
	tags, all, err := entityTags(r, "If-None-Match")
	if err != nil {
		return false // the condition is ignored, as of a cache that is broken
	}
	if all {
		return true
	}
	for _, t := range tags {
		if `"`+t+`"` == tag {
			return true
		}
	}
	return false
}

// entityTags reads a list of tags, without their quotes; all is that of "*". Intermediaries that compress answers make tags
// weak, so weak ones count like others.
func entityTags(r *http.Request, header string) (tags []string, all bool, err error) {
	for _, line := range r.Header.Values(header) {
		for part := range strings.SplitSeq(line, ",") {
			part = strings.TrimSpace(part)
			text := strings.TrimPrefix(part, "W/")
			switch {
			case part == "*":
				all = true
			case len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"':
				tags = append(tags, text[1:len(text)-1])
			default:
				return nil, false, cluster.BadField(header, part, `* or the ETag of an answer with its quotes, such as "1f0c2a3b4c5d6e7f"`)
			}
		}
	}
	return tags, all, nil
}

// condition reads what a caller requires of the thing that a request changes.
func (e *Endpoint) condition(r *http.Request) (c revision.Condition, err error) {
	if e.Verb == Read || e.Errors != nil {
		return c, nil
	}
	if r.Header.Get("If-None-Match") != "" {
		_, all, err := entityTags(r, "If-None-Match")
		switch {
		case err != nil:
			return c, err
		case e.Preconditions != ConditionalMake:
			return c, cluster.Fault("If-None-Match", "this request does not take it; repeat it without")
		case !all:
			return c, cluster.Fault("If-None-Match", "a change takes * only, which creates what does not exist; to change what exists send If-Match")
		}
		c.Absent = true
	}
	if r.Header.Get("If-Match") == "" {
		return c, nil
	}
	tags, all, err := entityTags(r, "If-Match")
	switch {
	case err != nil:
		return c, err
	case e.Preconditions == Unconditional || r.URL.Query().Get("array") == "true":
		return c, cluster.Fault("If-Match", "this request does not take it, since it does not change one thing that has an ETag; repeat it without")
	case c.Absent:
		return c, cluster.Fault("If-Match", "given beside If-None-Match, want one of the two")
	}
	c.Exists = true
	if !all {
		c.OneOf = []revision.Revision{}
		for _, tag := range tags {
			rev, _, _ := strings.Cut(tag, ".")
			c.OneOf = append(c.OneOf, revision.Revision(rev))
		}
	}
	return c, nil
}
