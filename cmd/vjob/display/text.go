// Package display formats what vjob prints: times, amounts, aligned tables, colours, and the vjobs, nodes
// and events of the API. Text from the server becomes safe to print.
package display

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vjob/cluster"
)

// Clean makes text from the server safe to print: control characters, which a
// terminal would obey, and marks that reverse the direction of writing are shown
// as what they are.
func Clean(s string) string {
	if !strings.ContainsFunc(s, UnsafeRune) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case UnsafeRune(r) && r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case UnsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// UnsafeRune reports whether a terminal may do something else than print it.
func UnsafeRune(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == 0x2028 || r == 0x2029 || r == 0x200e || r == 0x200f || r == 0xfeff
}

// CleanWriter passes text on line by line, as [Clean] leaves it; tabs and line
// ends stay.
type CleanWriter struct {
	To   io.Writer
	held []byte // the beginning of a letter or of the end of a line
}

// Write never splits a letter that arrives in two pieces.
func (w *CleanWriter) Write(p []byte) (int, error) {
	data := append(w.held, p...)
	end := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if utf8.RuneStart(data[len(data)-back]) {
			if !utf8.FullRune(data[len(data)-back:]) {
				end = len(data) - back
			}
			break
		}
	}
	if end > 0 && end == len(data) && data[end-1] == '\r' {
		end--
	}
	w.held = append([]byte(nil), data[end:]...)
	text := strings.ReplaceAll(string(data[:end]), "\r\n", "\n")
	var b strings.Builder
	for part := range strings.SplitAfterSeq(text, "\n") {
		line, ended := strings.CutSuffix(part, "\n")
		for i, piece := range strings.Split(line, "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(Clean(piece))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	if _, err := io.WriteString(w.To, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CPU prints thousandths of a processor as processors.
func CPU(milli int64) string { return cluster.MilliCPU(milli).String() }

// MiB prints an amount of memory.
func MiB(n int64) string { return cluster.MiB(n).String() }

// Moment prints a time in the local zone, "-" for none.
func Moment(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// Span prints a duration for people: "8.3s", "4m05s", "2h14m", "3d04h".
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(-d)
	case d == 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// Seconds turns seconds of the wire into a duration.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Dash stands for what is not there.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Labels prints labels in order: "rack=A switch=s1".
func Labels(labels map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, name+"="+labels[name])
	}
	return strings.Join(list, " ")
}

// Trimmed prints at most two decimals.
func Trimmed(f float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.2f", f), "0"), ".0")
}

// Percent prints a share: "12.3 %".
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// Milliseconds has three decimals: a first plan may be there in less than one.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Exactly prints a duration of a search, which may be a very short one.
func Exactly(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1fms", Milliseconds(d))
	}
	return Span(d)
}
