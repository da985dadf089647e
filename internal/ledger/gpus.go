package ledger

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/berth-go/berth"
)

// ErrDevices is returned for GPUs that are not there or not free. Its text is that of affinity, which exports it.
var ErrDevices = errors.New("affinity: GPUs not free")

// GPUs are the shareable GPUs of a node.
type GPUs struct {
	Model string
	Free  []int64 // milli by device
}

// NewGPUs returns the GPUs of a spec, all free.
func NewGPUs(spec berth.GPUs) GPUs {
	return GPUs{Model: spec.Model, Free: slices.Repeat([]int64{berth.GPUMilli}, spec.Count)}
}

// Hold takes milli of each device in the mask; a negative amount gives it back.
func (s *GPUs) Hold(mask uint64, milli int64) {
	for ; mask != 0; mask &= mask - 1 {
		s.Free[bits.TrailingZeros64(mask)] -= milli
	}
}

// Fits reports whether the request fits, and if not, whether it could on an idle node.
func (s *GPUs) Fits(r *berth.GPURequest) (fits, resolvable bool) {
	if len(s.Free) < r.Count || len(r.Models) > 0 && !slices.Contains(r.Models, s.Model) {
		return false, false
	}
	k := 0
	for _, f := range s.Free {
		if f >= r.Milli {
			k++
		}
	}
	return k >= r.Count, true
}

// Assign returns the devices for a request as a mask: the wanted ones if given, else the lowest whole devices or, for
// a share, the fitting device with the least free milli.
func (s *GPUs) Assign(r *berth.GPURequest) (uint64, error) {
	if len(r.Devices) > 0 {
		return s.wanted(r)
	}
	if r.Milli < berth.GPUMilli {
		best := -1
		for d, f := range s.Free {
			if f >= r.Milli && (best < 0 || f < s.Free[best]) {
				best = d
			}
		}
		if best < 0 {
			return 0, fmt.Errorf("%w: no device has %d milli free", ErrDevices, r.Milli)
		}
		return 1 << best, nil
	}
	var mask uint64
	k := 0
	for d, f := range s.Free {
		if k < r.Count && f >= r.Milli {
			mask |= 1 << d
			k++
		}
	}
	if k < r.Count {
		return 0, fmt.Errorf("%w: %d of %d whole devices", ErrDevices, k, r.Count)
	}
	return mask, nil
}

func (s *GPUs) wanted(r *berth.GPURequest) (uint64, error) {
	var mask uint64
	for _, d := range r.Devices {
		if d < 0 || d >= len(s.Free) || mask&(1<<d) != 0 || s.Free[d] < r.Milli {
			return 0, fmt.Errorf("%w: device %d, %d milli", ErrDevices, d, r.Milli)
		}
		mask |= 1 << d
	}
	if len(r.Devices) != r.Count {
		return 0, fmt.Errorf("%w: %d devices given for a request of %d", ErrDevices, len(r.Devices), r.Count)
	}
	return mask, nil
}

// Devices lists the devices of a mask, ascending; nil if there are none.
func Devices(mask uint64) []int {
	var devices []int
	for ; mask != 0; mask &= mask - 1 {
		devices = append(devices, bits.TrailingZeros64(mask))
	}
	return devices
}

// Mask is the mask of devices, which are in 0..63.
func Mask(devices []int) uint64 {
	var mask uint64
	for _, d := range devices {
		mask |= 1 << d
	}
	return mask
}
