package apifuzz_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// tree is a JSON value that may be spelt wrongly: keys may repeat, and a leaf is
// written as it stands.
type tree struct {
	open byte // '{', '[', or 0 for a leaf
	leaf string
	keys []string // of an object, as they are written, with their quotes
	kids []*tree
}

func leaf(text string) *tree { return &tree{leaf: text} }

func quoted(text string) *tree {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return leaf(string(data))
}

// parse reads a JSON text that is known to be right.
func parse(text string) *tree {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	t, err := parseNext(d)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return t
}

func parseNext(d *json.Decoder) (*tree, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, composite := token.(json.Delim)
	if !composite {
		data, err := json.Marshal(token)
		return leaf(string(data)), err
	}
	t := &tree{open: byte(open)}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			t.keys = append(t.keys, strconv.Quote(fmt.Sprint(key)))
		}
		kid, err := parseNext(d)
		if err != nil {
			return nil, err
		}
		t.kids = append(t.kids, kid)
	}
	_, err = d.Token()
	return t, err
}

func (t *tree) write(w io.StringWriter) {
	put := func(s string) { _, _ = w.WriteString(s) } // into memory
	if t.open == 0 {
		put(t.leaf)
		return
	}
	put(string(t.open))
	for i, kid := range t.kids {
		if i > 0 {
			put(",")
		}
		if t.open == '{' {
			put(t.keys[i])
			put(":")
		}
		kid.write(w)
	}
	put(string(t.open + 2)) // the bracket that closes it
}

func (t *tree) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

// all lists the value and all values in it.
func (t *tree) all(list []*tree) []*tree {
	list = append(list, t)
	for _, kid := range t.kids {
		list = kid.all(list)
	}
	return list
}

// add adds a member to an object or an item to a list.
func (t *tree) add(key string, kid *tree) {
	if t.open == '{' {
		t.keys = append(t.keys, key)
	}
	t.kids = append(t.kids, kid)
}

// drop removes a member or an item.
func (t *tree) drop(i int) {
	if t.open == '{' {
		t.keys = append(t.keys[:i:i], t.keys[i+1:]...)
	}
	t.kids = append(t.kids[:i:i], t.kids[i+1:]...)
}

// numbers are leaves at the bounds of what is counted, and beyond.
var numbers = []string{
	"0", "-0", "1", "-1", "0.5", "1e3", "1e-400", "1e400", "-1e400", "2147483647", "2147483648", "-2147483649", "4294967296",
	"9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616",
	"123456789012345678901234567890", "1.7976931348623157e308", "4.9e-324", "00", "01", "+1", ".5", "1.", "0x10", "1_000", "NaN", "Infinity", "-Infinity", "1e", "--1",
}

// texts are contents of strings that something may trip over.
var texts = []string{
	"", " ", "a", "..", "../../etc/passwd", "%00", "%2e%2e%2f", "null", "true", "0", "-1", "1.0", "7300001.0", "a b", "a\tb", "a\nb", "a\r\nX-Evil: 1", "a\x00b", "\x1b[31m", "\x7f", "\u0085",
	"\u202e", "\ufeff", "\ufffd", "\U0001f600", "é", "e\u0301", "'; DROP TABLE vjobs; --", "%s%n%d", "${HOME}", "`id`", "$(id)", "<script>alert(1)</script>", "{}", "[]", "\"", "\\", "/", "//", "?", "#", "&", "=", ",", ":", "*",
	"2026-12-01T08:00:00Z", "2026-13-45T99:99:99Z", "0000-00-00T00:00:00Z", "9999-12-31T23:59:59Z", "2026-12-01T08:00:00+99:99", "1e9999", "mail:a@b\r\nBcc: c@d", "https://127.0.0.1/", "https://[::1]:443/", "file:///etc/passwd",
	"user", "admin", "online", "draining", "offline", "down", "on", "off", "afterok", "suspend", "end", "never", "fail", "hold", "run", "oar", "simple", "delete", "Alive", "Absent", "batch", "simulated", "nodes=1", "core=1,walltime=1",
}

// raw are pieces of JSON that are no values, or odd ones.
var raw = []string{
	``, `nul`, `tru`, `True`, `'a'`, `"`, `"\ud800"`, `"\u0000"`, `"\q"`, "\"a\nb\"", "\"\xff\xfe\"", "\xc3\x28", "\"\xed\xa0\x80\"", `/* */ 1`, `1 1`, `,`, `:`, `}`, `]`, `{`, `[`, `{"a"}`, `{a:1}`, `[1,]`, `{"a":1,}`,
}

// odd is a leaf, or a small value, of a kind that chance chooses.
func odd(r *rand.Rand) *tree {
	switch r.IntN(12) {
	case 0, 1, 2:
		return leaf(pick(r, numbers))
	case 3, 4, 5, 6:
		return quoted(pick(r, texts))
	case 7:
		return leaf(pick(r, []string{"null", "true", "false", "[]", "{}", "[[]]", "[null]", `{"":""}`, `[{}]`}))
	case 8:
		return leaf(pick(r, raw))
	case 9:
		return quoted(strings.Repeat(pick(r, texts), 1+r.IntN(2000)))
	case 10:
		deep := 1 << r.IntN(12)
		return leaf(strings.Repeat("[", deep) + strings.Repeat("]", deep-r.IntN(2)))
	default:
		deep := 1 << r.IntN(9)
		return leaf(strings.Repeat(`{"template":`, deep) + "1" + strings.Repeat("}", deep))
	}
}

// mutate changes one thing at a place that chance chooses.
func (t *tree) mutate(r *rand.Rand) {
	places := t.all(nil)
	at := places[r.IntN(len(places))]
	if at.open == 0 || r.IntN(6) == 0 {
		*at = *odd(r)
		return
	}
	n := len(at.kids)
	switch what := r.IntN(8); {
	case what == 0:
		at.add(quoted(pick(r, texts)).leaf, odd(r))
	case n == 0:
		at.add(quoted(pick(r, []string{"id", "name", "vms", "owner"})).leaf, odd(r))
	case what == 1:
		at.drop(r.IntN(n))
	case what == 2: // once more
		i := r.IntN(n)
		at.add(at.key(i), at.kids[i])
	case what == 3: // the key in another spelling
		if i := r.IntN(n); at.open == '{' {
			at.keys[i] = strings.ToUpper(at.keys[i])
		}
	case what == 4: // many
		i := r.IntN(n)
		for range 1 << r.IntN(10) {
			at.add(at.key(i), at.kids[i])
		}
	case what == 5:
		i, j := r.IntN(n), r.IntN(n)
		at.kids[i], at.kids[j] = at.kids[j], at.kids[i]
	case what == 6:
		at.add(pick(r, raw), odd(r))
	default:
		at.kids[r.IntN(n)] = odd(r)
	}
}

func (t *tree) key(i int) string {
	if t.open == '{' {
		return t.keys[i]
	}
	return ""
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }
