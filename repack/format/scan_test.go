package format

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"
)

// accepts reports whether a document is JSON to our scanner.
func accepts(data []byte) (bool, error) {
	r := open(iotest.OneByteReader(bytes.NewReader(data)))
	r.skip(0)
	r.finish()
	if r.err != nil {
		return false, r.err
	}
	return true, nil
}

// The scanner takes what encoding/json takes, but for what it refuses on purpose.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e+3,"x\u00e9\n\/",true,false,null],"b":{}}`, `[]`, `0`, `-0`, `01`, `1.`, `.5`, `"`, `"\u12g4"`, `[1,]`, `{"a"}`, `{,}`,
		`nul`, `tru e`, "\"\x01\"", `"\ud83d\ude00"`, "[1]x", "\ufeff{}", ` `, "\v1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
			return
		}
		ours, err := accepts(data)
		theirs := json.Valid(data)
		if ours && !theirs {
			t.Fatalf("%q is taken, and is no JSON", data)
		}
		if theirs && !ours && !onPurpose(err.Error()) {
			t.Fatalf("%q: %v", data, err)
		}
	})
}

func onPurpose(message string) bool {
	for _, text := range []string{"not UTF-8", "half a letter", "longer than", "levels deep", "is no number"} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}

// A string reads as encoding/json reads it, however the file is cut into pieces.
func TestStrings(t *testing.T) {
	for _, text := range []string{`""`, `"abc"`, `"\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00 ä字"`, `"` + strings.Repeat("ab\\n", 9000) + `"`} {
		var want string
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(err)
		}
		for _, r := range []*reader{open(strings.NewReader(text)), open(iotest.OneByteReader(strings.NewReader(text)))} {
			if !r.scanString() || string(r.text) != want {
				t.Errorf("%.40s: %.40q, %v", text, r.text, r.err)
			}
		}
	}
}
