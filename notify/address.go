package notify

import (
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vjob/cluster"
)

// Address is a recipient of notifications, and the events that it wants.
type Address struct {
	Tags []Tag    // empty: all
	Mail string   // NAME@HOST, or
	URL  *url.URL // a web address
}

// maxAddress is the most bytes of an address.
const maxAddress = 1024

const mailPrefix = "mail:"

// ParseAddress reads "mail:ann@example.org", "https://example.org/hook", and either with
// tags in front: "[END,ERROR]mail:ann@example.org".
func ParseAddress(text string) (a Address, err error) {
	bad := cluster.BadField("notify", text,
		"mail:NAME@HOST, or an address that begins with https:// or http://, perhaps with tags in front such as [END,ERROR]")
	if len(text) > maxAddress || !printable(text) {
		return a, bad
	}
	to := text
	if strings.HasPrefix(text, "[") {
		list, rest, closed := strings.Cut(text[1:], "]")
		if !closed {
			return a, bad
		}
		to = rest
		for name := range strings.SplitSeq(list, ",") {
			tag := Tag(strings.TrimSpace(name))
			if !slices.Contains(Tags(), tag) {
				return a, cluster.BadField("notify", text, "tags among "+joinTags(Tags()))
			}
			a.Tags = append(a.Tags, tag)
		}
	}
	if name, ok := strings.CutPrefix(to, mailPrefix); ok {
		parsed, err := mail.ParseAddress(name)
		if err != nil || parsed.Address != name {
			return a, bad
		}
		a.Mail = name
		return a, nil
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
		return a, bad
	}
	a.URL = u
	return a, nil
}

// printable reports whether text has neither control characters nor ones that hide or turn text.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// place returns the address without the path of a web address, which may be secret.
func (a *Address) place() string {
	if a.URL != nil {
		return a.URL.Host
	}
	return a.Mail
}

// domain returns the host of a mail address.
func (a *Address) domain() string { return a.Mail[strings.LastIndexByte(a.Mail, '@')+1:] }

// Matches reports whether a host is one of the patterns: a name, *.name for all below it,
// or * for all.
func Matches(patterns []string, host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		pattern = strings.ToLower(pattern)
		suffix, wild := strings.CutPrefix(pattern, "*")
		return pattern == "*" || pattern == host || wild && strings.HasPrefix(suffix, ".") && strings.HasSuffix(host, suffix)
	})
}

// Wants reports whether the address wants events with the tag.
func (a *Address) Wants(t Tag) bool { return len(a.Tags) == 0 || slices.Contains(a.Tags, t) }

func joinTags(tags []Tag) string {
	words := make([]string, len(tags))
	for i, t := range tags {
		words[i] = string(t)
	}
	return strings.Join(words, ", ")
}
