package driver_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vjob/cluster"
	"vjob/energy/power"
	"vjob/energy/power/driver"
)

// bmc is the simulator of OpenIPMI, which is a real management controller as far as the
// network can tell. Its chassis is a file with 0 or 1.
type bmc struct {
	dir     string
	address string
}

// need finds a program, or tells loudly that the test cannot run.
func need(t *testing.T, program, pkg string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	t.Skipf("NOT TESTED against a management controller: %s is missing (apt-get install %s)", program, pkg)
}

func start(t *testing.T) *bmc {
	t.Helper()
	need(t, "ipmitool", "ipmitool")
	need(t, "ipmi_sim", "openipmi")
	b := &bmc{dir: t.TempDir()}
	b.write(t, "power", "1", 0o600)
	b.write(t, "password", "geheim\n", 0o600)
	b.write(t, "control", fmt.Sprintf(`#!/bin/sh
echo "$@" >>%[1]s/calls
case "$2 $3" in
"get power") echo "power:$(cat %[1]s/power)" ;;
"set power") echo "$4" >%[1]s/power ;;
"set shutdown") echo 0 >%[1]s/power ;;
esac
`, b.dir), 0o700)
	port := freePort(t)
	b.address = fmt.Sprintf("127.0.0.1:%d", port)
	b.write(t, "lan.conf", fmt.Sprintf(`name "node"
set_working_mc 0x20
startlan 1
addr 127.0.0.1 %d
priv_limit admin
allowed_auths_admin md5
guid a123456789abcdefa123456789abcdef
endlan
chassis_control "%s/control 0x20"
user 2 true "vjob" "geheim" admin 10 md5
`, port, b.dir), 0o600)
	b.write(t, "bmc.emu", "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nmc_enable 0x20\n", 0o600)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ipmi_sim", "-n", "-c", b.file("lan.conf"), "-f", b.file("bmc.emu"), "-s", b.dir)
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the simulator said: %s", out)
		}
	})
	return b
}

func (b *bmc) file(name string) string { return filepath.Join(b.dir, name) }

func (b *bmc) write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(b.file(name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func (b *bmc) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(b.file(name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// freePort returns a UDP port that is not in use.
func freePort(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

func (b *bmc) driver(t *testing.T, s driver.IPMISettings) *driver.IPMI {
	t.Helper()
	s.Address, s.User, s.Cipher = b.address, "vjob", 3
	if s.PasswordFile == "" {
		s.PasswordFile = b.file("password")
	}
	d, err := driver.NewIPMI(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// await asks until the controller is up.
func await(t *testing.T, d *driver.IPMI, want power.State) {
	t.Helper()
	var last error
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		got, err := d.State(ctx)
		if err == nil && got != want {
			t.Fatalf("it is %s, want %s", got, want)
		}
		if err == nil {
			return
		}
		last = err
	}
	t.Fatal(last)
}

func TestAgainstAController(t *testing.T) {
	for name, cut := range map[string]bool{"soft": false, "cut": true} {
		t.Run(name, func(t *testing.T) {
			b := start(t)
			d := b.driver(t, driver.IPMISettings{Cut: cut})
			await(t, d, power.On)
			for range 2 { // everything may be repeated
				if err := d.Off(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := d.State(t.Context()); got != power.Off || err != nil || b.read(t, "power") != "0" {
				t.Fatalf("after off: %s, %v", got, err)
			}
			for range 2 {
				if err := d.On(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := d.State(t.Context()); got != power.On || err != nil || b.read(t, "power") != "1" {
				t.Fatalf("after on: %s, %v", got, err)
			}
			if asked := strings.Contains(b.read(t, "calls"), "set shutdown 1"); asked == cut {
				t.Errorf("asked to shut down: %v; %s", asked, b.read(t, "calls"))
			}
		})
	}
}

func TestAWrongPassword(t *testing.T) {
	b := start(t)
	await(t, b.driver(t, driver.IPMISettings{}), power.On)
	b.write(t, "wrong", "hunter2", 0o600)
	d := b.driver(t, driver.IPMISettings{PasswordFile: b.file("wrong")})
	err := d.Off(t.Context())
	if !errors.Is(err, power.ErrRefused) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	if b.read(t, "power") != "1" {
		t.Error("it went off all the same")
	}
}

// No controller listens there: the context ends the attempt.
func TestASilentController(t *testing.T) {
	need(t, "ipmitool", "ipmitool")
	b := &bmc{dir: t.TempDir(), address: fmt.Sprintf("127.0.0.1:%d", freePort(t))}
	b.write(t, "password", "geheim", 0o600)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if s, err := b.driver(t, driver.IPMISettings{}).State(ctx); s != power.Unknown || err == nil {
		t.Errorf("%s, %v", s, err)
	}
}

func TestBadIPMISettings(t *testing.T) {
	dir := t.TempDir()
	secret, open := filepath.Join(dir, "s"), filepath.Join(dir, "o")
	for file, mode := range map[string]os.FileMode{secret: 0o600, open: 0o644} {
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		field string
		s     driver.IPMISettings
	}{
		"no address":        {"address", driver.IPMISettings{PasswordFile: secret}},
		"an option":         {"address", driver.IPMISettings{Address: "-h", PasswordFile: secret}},
		"no port":           {"address", driver.IPMISettings{Address: "bmc:0", PasswordFile: secret}},
		"a bad user":        {"user", driver.IPMISettings{Address: "bmc", User: "-x", PasswordFile: secret}},
		"no cipher":         {"cipher_suite", driver.IPMISettings{Address: "bmc", Cipher: -1, PasswordFile: secret}},
		"no password":       {"password_file", driver.IPMISettings{Address: "bmc"}},
		"gone":              {"password_file", driver.IPMISettings{Address: "bmc", PasswordFile: dir + "/none"}},
		"open to all users": {"password_file", driver.IPMISettings{Address: "bmc", PasswordFile: open}},
		"a directory":       {"password_file", driver.IPMISettings{Address: "bmc", PasswordFile: dir}},
	} {
		_, err := driver.NewIPMI(c.s)
		var bad *cluster.FieldError
		if !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
}
