//go:build libvirt_dlopen && cgo

package libvirt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"libvirt.org/go/libvirt"

	"vjob/cluster"
	"vjob/hypervisor"
)

// A machine that hangs hides no other, is asked again only when it has answered, and its
// late answer counts for nothing.
func TestJobsOfMachinesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{driver: &Driver{}, seen: newMemory()}
		hang := make(chan struct{})
		most := cluster.MilliCPU(500)
		look := func() string {
			var list []*found
			for _, uuid := range []string{"hangs", "saves", "fails", "gone", "capped"} {
				f := &found{uuid: uuid, state: libvirt.DOMAIN_RUNNING, job: hypervisor.JobUnknown}
				if uuid == "capped" {
					f.copy.Cap = 300
				}
				list = append(list, f)
			}
			began := time.Now()
			h.askJobs(list, func(uuid string, capped bool) (jobAnswer, error) {
				switch uuid {
				case "hangs":
					<-hang
					return jobAnswer{job: hypervisor.JobOutgoing}, nil
				case "saves":
					return jobAnswer{job: hypervisor.JobSaving}, nil
				case "fails":
					return jobAnswer{job: hypervisor.JobOutgoing}, errors.New("no monitor")
				case "gone":
					return jobAnswer{gone: true}, nil
				}
				if capped {
					return jobAnswer{job: hypervisor.JobNone, cap: &most}, nil
				}
				return jobAnswer{job: hypervisor.JobNone}, nil
			})
			var told []string
			for _, f := range list {
				told = append(told, fmt.Sprintf("%s %s %t %d", f.uuid, f.job, f.gone, f.copy.Cap))
			}
			return fmt.Sprintf("%s: %s", time.Since(began), strings.Join(told, ", "))
		}
		slow := "1s: hangs unknown false 0, saves saving false 0, fails unknown false 0, gone none true 0, capped none false 500"
		if got := look(); got != slow {
			t.Errorf("the first look took %s\nwant %s", got, slow)
		}
		// It is not asked again, so nothing is waited for.
		quick := "0s" + strings.TrimPrefix(slow, "1s")
		if got := look(); got != quick {
			t.Errorf("the second look took %s\nwant %s", got, quick)
		}
		close(hang)
		synctest.Wait()
		mended := strings.Replace(quick, "hangs unknown", "hangs outgoing", 1)
		if got := look(); got != mended {
			t.Errorf("the look after it took %s\nwant %s", got, mended)
		}
		h.driver.running.Wait()
	})
}

// Of machines that are not whole one is asked at a time: libvirt answers when it is.
func TestJobsOfMachinesThatLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{driver: &Driver{}, seen: newMemory()}
		hang := make(chan struct{})
		asked := make(chan string, 10)
		look := func() {
			var list []*found
			for _, uuid := range []string{"a", "b"} {
				list = append(list, &found{
					uuid: uuid, state: libvirt.DOMAIN_PAUSED, reason: libvirt.DOMAIN_PAUSED_STARTING_UP, job: hypervisor.JobUnknown,
				})
			}
			h.askJobs(list, func(uuid string, _ bool) (jobAnswer, error) {
				asked <- uuid
				<-hang
				return jobAnswer{}, nil
			})
		}
		look()
		look()
		if first := <-asked; first != "a" || len(asked) != 0 {
			t.Errorf("%s was asked, and %d more", first, len(asked))
		}
		close(hang)
		synctest.Wait()
		look()
		if len(asked) != 1 && len(asked) != 2 {
			t.Errorf("%d are asked after it", len(asked))
		}
		h.driver.running.Wait()
	})
}
