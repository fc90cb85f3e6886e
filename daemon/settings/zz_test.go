package settings_test
import ("testing";"reflect";"fmt";"vjob/daemon/settings")
func TestZZ(t *testing.T){ for _,l:=range leaves(reflect.TypeFor[settings.Settings](),""){fmt.Println(l)} }
