package api

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"vjob/api/wire"
)

// fill gives a value random content, and leaves some of it zero.
func fill(g *rand.Rand, v reflect.Value) {
	if g.IntN(4) == 0 {
		return
	}
	if at, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
		*at = time.Unix(g.Int64N(1<<33), g.Int64N(1000)*g.Int64N(1_000_000)).In(time.FixedZone("", 3600*g.IntN(3)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		texts := []string{"n1", "<a>&b", "\"\\/\b\f\n\r\t\x01\x7f", "é漢😀\u2028\u2029", "\xff\xc0"}
		v.SetString(texts[g.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(g.Int64() >> g.IntN(64) * int64(1-2*g.IntN(2)))
	case reflect.Float64:
		v.SetFloat(g.NormFloat64() * []float64{1e-9, 1, 1e6, 1e25}[g.IntN(4)])
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(g, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), g.IntN(3), 3))
		for i := range v.Len() {
			fill(g, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range g.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			fill(g, key)
			fill(g, value)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(g, field)
		}
	default:
		panic("no content for " + v.Type().String())
	}
}

// A vjob has the same JSON as by encoding/json.
func TestObjectWriter(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		var job wire.VJob
		fill(g, reflect.ValueOf(&job).Elem())
		standard, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		text, err := vjobFields().write(nil, reflect.ValueOf(&job).Elem())
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := json.Unmarshal(standard, &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s, want %s", text, standard)
		}
	}
}
