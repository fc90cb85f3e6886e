package resource_test

import (
	"strings"
	"testing"

	"vjob/oar"
	"vjob/oar/resource"
)

// twoVMs is a job of a VM of two processors and one of half a processor.
func twoVMs() []resource.Resource {
	return resource.Of(12, []resource.VM{{CPU: 2000, Node: "n1", Labels: map[string]string{"cluster": "it's", "host": "shadowed"}}, {CPU: 500, Node: "n2", Labels: map[string]string{"cluster": "b"}}})
}

// What is written is read again, and has a line for each processor.
func TestParse(t *testing.T) {
	var b strings.Builder
	for _, r := range twoVMs() {
		b.WriteString(r.String() + "\n")
	}
	want := `network_address = 'vjob-12-0' , host = 'vjob-12-0' , cpu = '1' , core = '1' , cpuset = '0' , resource_id = '1' , node = 'n1' , cluster = 'it\'s'
network_address = 'vjob-12-0' , host = 'vjob-12-0' , cpu = '1' , core = '2' , cpuset = '1' , resource_id = '2' , node = 'n1' , cluster = 'it\'s'
network_address = 'vjob-12-1' , host = 'vjob-12-1' , cpu = '2' , core = '3' , cpuset = '0' , resource_id = '3' , node = 'n2' , cluster = 'b'
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	list, err := resource.Parse("x", b.String())
	if err != nil || len(list) != 3 || list[0].String()+"\n"+list[1].String()+"\n"+list[2].String()+"\n" != want {
		t.Errorf("%v, %v", list, err)
	}
	// OAR's own files: a comma at the end, and values without quotes.
	list, err = resource.Parse("x", "\nhost = 'a, b' , mem = 12 , wattmeter = 'NO' , \n")
	if err != nil || len(list) != 1 || list[0].String() != "host = 'a, b' , mem = '12' , wattmeter = 'NO'" {
		t.Errorf("%v, %v", list, err)
	}
	for _, bad := range []string{"x", "host = 'a", "= 'a'", "host = 'a' cpu = '1'", "a b = 'c'", "'"} {
		_, err := resource.Parse("file", "host = 'a'\n"+bad+"\n")
		if code, _ := oar.ExitOf(err); code != 255 || !strings.HasPrefix(err.Error(), "oarprint: file:2: ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The formats of OAR's manual, and those with too few and too many tokens.
func TestPrint(t *testing.T) {
	for _, c := range []struct {
		key, properties, text, token, separator, want string
	}{
		{"host", "", "%", "%", ",", "vjob-12-0\nvjob-12-1\n"},
		{"core", "host,cpuset", "%/%", "%", ",", "vjob-12-0/0\nvjob-12-0/1\nvjob-12-1/0\n"},
		{"host", "host,cpu,core", "host: % cpu: % core: %", "%", "+", "host: vjob-12-0 cpu: 1 core: 1+2\nhost: vjob-12-1 cpu: 2 core: 3\n"},
		{"core", "host,cpuset,cluster", "%[%] (%)", "%", ",", "vjob-12-0[0] (it's)\nvjob-12-0[1] (it's)\nvjob-12-1[0] (b)\n"},
		{"host", "host,core", "%", "%", ",", "vjob-12-0 1,2\nvjob-12-1 3\n"},
		{"cpu", "", "<%> % %", "%", ",", "<1> \n<2> \n"},
		{"cpu", "cpu,node", "@: @", "@", ",", "1: n1\n2: n2\n"},
	} {
		f := resource.Format{Key: c.key, Text: c.text, Token: c.token, Separator: c.separator}
		if c.properties != "" {
			f.Properties = strings.Split(c.properties, ",")
		}
		if got, err := f.Print(twoVMs()); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v, want %q", f, got, err, c.want)
		}
	}
	f := resource.Format{Key: "gpu", Text: "%", Token: "%"}
	_, err := f.Print(twoVMs())
	if code, _ := oar.ExitOf(err); code != 255 || !strings.HasPrefix(err.Error(), "oarprint: Unknown property 'gpu'\nthere are network_address, host") {
		t.Errorf("%v", err)
	}
	list, _ := resource.Parse("x", "cpu = '10'\ncpu = '9'\n")
	if got, _ := (resource.Format{Key: "cpu", Text: "%", Token: "%"}).Print(list); got != "9\n10\n" {
		t.Errorf("numbers: %q", got)
	}
}

// No input makes the parser panic or forget its limits.
func FuzzParse(f *testing.F) {
	f.Add("host = 'a' , b = 'c\\'d' , \n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := resource.Parse("x", text)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, r := range list {
			b.WriteString(r.String() + "\n")
		}
		if again, err := resource.Parse("x", b.String()); err == nil && len(again) != len(list) && !strings.ContainsAny(text, "\n\r") {
			t.Errorf("%q becomes %q", text, b.String())
		}
	})
}
