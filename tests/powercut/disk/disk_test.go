package disk_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vjob/tests/powercut/disk"
)

// draws is how often each case is cut: everything that may happen then has happened.
const draws = 2000

// outcomes are the trees that cuts at the end of a log give, as text.
func outcomes(t *testing.T, log *disk.Log, profile disk.Profile) map[string]bool {
	t.Helper()
	seen := map[string]bool{}
	for seed := range uint64(draws) {
		tree := disk.Cut(log, len(log.Ops), profile, rand.New(rand.NewPCG(seed, 0)))
		seen[text(tree)] = true
	}
	return seen
}

// text is "name:content" of each file, with a letter for a sector that has one value
// throughout, and "?" for any other.
func text(tree disk.Tree) string {
	var words []string
	words = append(words, tree.Folders...)
	for name, data := range tree.Files {
		content := ""
		for part := range slices.Chunk(data, 512) {
			letter := "?"
			if bytes.Count(part, part[:1]) == len(part) {
				letter = strings.ReplaceAll(string(part[:1]), "\x00", "0")
			}
			content += letter
		}
		words = append(words, name+":"+content)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func create(inode int, name string) disk.Op {
	return disk.Op{Kind: disk.Create, Inode: inode, Name: name}
}

func write(inode, at int, letters string) disk.Op {
	var data []byte
	for i := range letters {
		data = append(data, bytes.Repeat([]byte(letters[i:i+1]), 512)...)
	}
	return disk.Op{Kind: disk.Write, Inode: inode, Offset: int64(512 * at), Data: data}
}

// done is a log in which each sync covers all before it; "!" in its place is the end of
// what was there before.
func done(ops ...disk.Op) *disk.Log {
	log := &disk.Log{}
	for _, op := range ops {
		op.Since = len(log.Ops)
		log.Append(op)
		if op.Kind == disk.Mark {
			log.Start = len(log.Ops)
		}
	}
	return log
}

var (
	begin      = disk.Op{Kind: disk.Mark}
	syncFolder = disk.Op{Kind: disk.Sync, Inode: disk.Root}
)

func syncFile(inode int) disk.Op { return disk.Op{Kind: disk.Sync, Inode: inode} }

func TestCut(t *testing.T) {
	rename := disk.Op{Kind: disk.Rename, Inode: 2, Name: "new", To: "f"}
	cases := []struct {
		name                 string
		log                  *disk.Log
		adversarial, ordered string // everything that may be there, between bars; "…" for more than is listed
	}{
		{"what was there stays", done(create(1, "f"), write(1, 0, "ab"), begin), "f:ab", "f:ab"},
		{"a file without its folder's sync", done(begin, create(1, "f"), write(1, 0, "a"), syncFile(1)), "|f:a", "f:a"},
		{"a file and its folder", done(begin, create(1, "f"), write(1, 0, "a"), syncFile(1), syncFolder), "f:a", "f:a"},
		{"a folder without the file's sync", done(begin, create(1, "f"), write(1, 0, "a"), syncFolder), "f:|f:0|f:?|f:a", "f:|f:a"},
		{
			"sectors are torn", done(create(1, "f"), write(1, 0, "ab"), begin, write(1, 0, "cd")),
			"f:ab|f:ad|f:cb|f:cd", "f:ab|f:ad|f:cb|f:cd",
		},
		{
			"writes are reordered", done(create(1, "f"), write(1, 0, "ab"), begin, write(1, 0, "c"), write(1, 1, "d"), write(1, 0, "e")),
			"f:ab|f:ad|f:cb|f:cd|f:eb|f:ed", "f:ab|f:ad|f:cb|f:cd|f:eb|f:ed",
		},
		{
			"a rename without a sync of the new file",
			done(create(1, "f"), write(1, 0, "a"), begin, create(2, "new"), write(2, 0, "b"), rename),
			"f:|f:0|f:?|f:b|f:a|f:a new:|f:a new:0|f:a new:?|f:a new:b", "f:a|f:|f:b|f:a new:|f:a new:b",
		},
		{
			"a rename that is synced",
			done(create(1, "f"), write(1, 0, "a"), begin, create(2, "new"), write(2, 0, "b"), syncFile(2), rename, syncFolder),
			"f:b", "f:b",
		},
		{
			"names in any order, or in the journal's",
			done(begin, create(1, "a"), create(2, "b")), "|a:|b:|a: b:", "|a:|a: b:",
		},
		{
			"a sync of another file carries names with it in a journal",
			done(create(1, "f"), begin, create(2, "a"), syncFile(1)), "f:|a: f:", "a: f:",
		},
		{
			"a file that is cut off", done(create(1, "f"), write(1, 0, "ab"), begin, disk.Op{Kind: disk.Truncate, Inode: 1, Offset: 512}),
			"f:ab|f:a", "f:ab|f:a",
		},
		{
			"an unlinked name", done(create(1, "f"), begin, disk.Op{Kind: disk.Link, Inode: 1, Name: "g"}, disk.Op{Kind: disk.Unlink, Name: "f"}),
			"|f:|g:|f: g:", "f:|f: g:|g:",
		},
		{
			"a folder that is not synced above",
			done(begin, disk.Op{Kind: disk.Create, Inode: 1, IsFolder: true, Name: "d"}, disk.Op{Kind: disk.Create, Inode: 2, Folder: 1, Name: "f"}, syncFile(1)),
			"|d d/f:", "d d/f:",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for profile, want := range map[disk.Profile]string{disk.Adversarial: c.adversarial, disk.Ordered: c.ordered} {
				got := outcomes(t, c.log, profile)
				for tree := range strings.SplitSeq(want, "|") {
					if !got[tree] {
						t.Errorf("%s: %q never happened", profile, tree)
					}
					delete(got, tree)
				}
				for tree := range got {
					t.Errorf("%s: %q is not permitted", profile, tree)
				}
			}
		})
	}
}

// A sync covers what had returned when it was called, and nothing that came while it ran.
func TestSyncSince(t *testing.T) {
	log := done(create(1, "f"), write(1, 0, "a"), begin, write(1, 0, "b"), syncFile(1))
	log.Ops[4].Since = 3
	if got := outcomes(t, log, disk.Ordered); !got["f:a"] || !got["f:b"] {
		t.Errorf("after a sync that began before the write: %v", got)
	}
}

// The same seed gives the same cut, whether the disk was cut before or not.
func TestSameSeed(t *testing.T) {
	log := done(create(1, "f"), write(1, 0, "abcdef"), begin, write(1, 0, "ghi"), create(2, "g"), write(2, 3, "x"), write(1, 2, "jkl"))
	for _, profile := range disk.Profiles {
		d := disk.New(log, profile)
		d.Play(len(log.Ops))
		for seed := range uint64(100) {
			one, two := d.Cut(rand.New(rand.NewPCG(seed, 0))), disk.Cut(log, len(log.Ops), profile, rand.New(rand.NewPCG(seed, 0)))
			if text(one) != text(two) {
				t.Fatalf("seed %d: %s and %s", seed, text(one), text(two))
			}
		}
	}
}

func TestWithout(t *testing.T) {
	log := done(create(1, "f"), begin, create(2, "g"), write(2, 0, "a"), syncFile(2), syncFile(1), syncFolder)
	out := log.Without(func(name string, _ bool) bool { return name == "g" })
	var syncs []int
	for _, op := range out.Ops {
		if op.Kind == disk.Sync {
			syncs = append(syncs, op.Inode)
		}
	}
	if len(out.Ops) != len(log.Ops) || !slices.Equal(syncs, []int{1, disk.Root}) {
		t.Errorf("%d of %d operations are left, and syncs of %v", len(out.Ops), len(log.Ops), syncs)
	}
}
