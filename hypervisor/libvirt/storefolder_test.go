package libvirt

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A store that is not ours, or not mounted, counts as one that cannot be read: nothing of
// it is gone, and nothing is written there.
func TestUnmarkedStoreIsNotRead(t *testing.T) {
	tests := []struct {
		name   string
		damage func(s *imageStore) error
		tells  []string
	}{
		{"not mounted", func(s *imageStore) error {
			if err := os.Rename(s.nodeDir("h1"), s.dir+".away"); err != nil {
				return err
			}
			return os.Mkdir(s.nodeDir("h1"), 0o700)
		}, []string{"h1 has no marker .vjob-store", "mount", "vjobd init-store"}},
		{"no folder", func(s *imageStore) error { return os.Rename(s.nodeDir("h1"), s.dir+".away") }, []string{"h1 is missing", "mount", "vjobd init-store"}},
		{
			"of an older vjob", func(s *imageStore) error {
				for _, name := range []string{"12.3.g2.a1", "12.3.g2.a1.x1", "notes.txt"} {
					if err := os.WriteFile(filepath.Join(s.nodeDir("h1"), name), nil, 0o600); err != nil {
						return err
					}
				}
				return os.Remove(filepath.Join(s.nodeDir("h1"), markerName))
			},
			[]string{"h1 holds 2 images and no marker", "older vjob", "vjobd init-store"},
		},
		{"of another installation", func(s *imageStore) error {
			return os.WriteFile(filepath.Join(s.nodeDir("h1"), markerName), []byte("other\n"), 0o600)
		}, []string{`h1 is marked by installation "other", this one is "this"`, "--adopt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, _ := newStore(t)
			sum := seal(t, s)
			if err := tt.damage(s); err != nil {
				t.Fatal(err)
			}
			before := names(t, s.dir)
			_, list := s.list()
			_, sealed := s.seal(t.Context(), first)
			_, verified := s.verify(t.Context(), first, sum)
			for what, err := range map[string]error{
				"list": list, "seal": sealed, "verify": verified,
				"unused": s.checkUnused(first), "revoke": s.revoke(first, 3), "discard": s.discard(first),
			} {
				if !errors.Is(err, hypervisor.ErrNoImage) || errors.Is(err, hypervisor.ErrBadImage) {
					t.Errorf("%s: %v; want %v", what, err, hypervisor.ErrNoImage)
					continue
				}
				for _, word := range tt.tells {
					if !strings.Contains(err.Error(), word) {
						t.Errorf("%s does not tell %q: %v", what, word, err)
					}
				}
			}
			if after := names(t, s.dir); after != before {
				t.Errorf("the store had %s and has %s", before, after)
			}
		})
	}
}

// names lists all files below a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		list = append(list, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// An image that cannot be read now is not a bad one.
func TestReadErrorIsNotABadImage(t *testing.T) {
	s, path := newStore(t)
	sum := seal(t, s)
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil { // reading it fails
		t.Fatal(err)
	}
	_, list := s.list()
	_, sealed := s.seal(t.Context(), first)
	_, verified := s.verify(t.Context(), first, sum)
	for what, err := range map[string]error{"list": list, "seal": sealed, "verify": verified} {
		if !errors.Is(err, hypervisor.ErrNoImage) || errors.Is(err, hypervisor.ErrBadImage) {
			t.Errorf("%s: %v; want %v", what, err, hypervisor.ErrNoImage)
		}
	}
}

func TestInitStore(t *testing.T) {
	dir := t.TempDir()
	did := func(installation string, adopt bool) string {
		t.Helper()
		folders, err := InitStore(t.Context(), storeConfig(dir, installation), adopt)
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, f := range folders {
			list = append(list, string(f.Node)+" "+f.Result)
		}
		return strings.Join(list, ", ")
	}
	if err := os.Mkdir(filepath.Join(dir, "h2"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "h2", first.String()), saveFile(magicComplete)) // of an older vjob
	for _, step := range []struct {
		installation string
		adopt        bool
		want         string
	}{
		{"", false, `installation: "" is not`},
		{"this", false, "h1 made, h2 marked"},
		{"this", false, "h1 was marked, h2 was marked"},
		{"other", false, `/h1 belongs to installation "this"`},
		{"this", false, "h1 was marked, h2 was marked"},
		{"other", true, "h1 adopted, h2 adopted"},
		{"this", false, `/h1 belongs to installation "other"`},
	} {
		if got := did(step.installation, step.adopt); !strings.Contains(got, step.want) {
			t.Errorf("init as %q, adopt %t: %s; want %s", step.installation, step.adopt, got, step.want)
		}
	}
	wrong := storeConfig(t.TempDir(), "this")
	wrong.DomainType = "other"
	if _, err := InitStore(t.Context(), wrong, false); err == nil || names(t, wrong.ImageDir) != "" {
		t.Errorf("with settings that are wrong: %v, and there is %s", err, names(t, wrong.ImageDir))
	}
	mark := filepath.Join(dir, "h1", markerName)
	before, err := os.Stat(mark)
	if err != nil {
		t.Fatal(err)
	}
	if got := did("other", false); got != "h1 was marked, h2 was marked" {
		t.Error(got)
	}
	if after, err := os.Stat(mark); err != nil || !os.SameFile(before, after) {
		t.Errorf("a marker that is right was written again: %v", err)
	}
	if info, err := os.Stat(filepath.Join(dir, "h1")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a folder for the driver alone: %v, %v", info.Mode(), err)
	}
	if _, err := InitStore(t.Context(), storeConfig(dir, "third"), false); !errors.Is(err, cluster.ErrConflict) {
		t.Errorf("a store of another installation: %v", err)
	}
	missing := storeConfig(filepath.Join(dir, "missing"), "this")
	if _, err := InitStore(t.Context(), missing, false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store that is not there: %v", err)
	}
}

// Seal tells which incarnation was saved, by the description in the image.
func TestSealTellsTheIncarnation(t *testing.T) {
	s, path := newStore(t)
	cfg := validConfig().withDefaults()
	describe := func(vm cluster.VMID) []byte {
		d, err := cfg.domain(vm, hypervisor.Stamp{Incarnation: 4, Epoch: 7}, 0,
			hypervisor.Machine{Reserved: cluster.Resources{Memory: 8}, Payload: cluster.Payload{Image: "counter"}})
		if err != nil {
			t.Fatal(err)
		}
		text, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return append([]byte(text), 0, 'c', 'o', 'o', 'k', 'i', 'e')
	}
	for _, tt := range []struct {
		name        string
		description []byte
		length      uint32 // 0: as long as it is
		want        int
	}{
		{"ours", describe(first.VM), 0, 4},
		{"another VM's", describe(cluster.VMID{VJob: 12, Rank: 4}), 0, 0},
		{"none", make([]byte, 10), 0, 0},
		{"longer than the file", nil, 1 << 31, 0},
	} {
		image := saveFile(magicComplete)[:headerBytes]
		if tt.length == 0 {
			tt.length = uint32(len(tt.description))
		}
		binary.LittleEndian.PutUint32(image[20:], tt.length)
		image = append(append(image, tt.description...), make([]byte, 4096)...)
		write(t, path, image)
		left, err := filepath.Glob(path + ".s*")
		if err != nil {
			t.Fatal(err)
		}
		for _, note := range left {
			if err := os.Remove(note); err != nil {
				t.Fatal(err)
			}
		}
		receipt, err := s.seal(t.Context(), first)
		if tt.length == 1<<31 {
			if !errors.Is(err, hypervisor.ErrBadImage) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err != nil || receipt.Incarnation != tt.want {
			t.Errorf("%s: incarnation %d, %v; want %d", tt.name, receipt.Incarnation, err, tt.want)
		}
	}
}
