package admission

import "testing"

func TestOwed(t *testing.T) {
	tests := []struct {
		name  string
		claim Claim
		want  int64
	}{
		{"nothing used", Claim{100, 0}, 100},
		{"not known", Claim{100, -1}, 100},
		{"some used", Claim{100, 30}, 70},
		{"more used", Claim{100, 130}, 0},
		{"nothing promised", Claim{0, 30}, 0},
	}
	for _, test := range tests {
		if got := test.claim.OwedMB(); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
	if got := Unused([]Claim{{100, 30}, {50, 60}, {10, -1}}); got != 80 {
		t.Errorf("Unused: got %d, want 80", got)
	}
}

func TestZramShare(t *testing.T) {
	tests := []struct {
		name string
		zram Zram
		swap int64
		want int64
	}{
		{"none", Zram{}, 256, 0},
		{"empty", Zram{TotalMB: 512}, 256, 128},
		{"smaller than asked", Zram{TotalMB: 100}, 256, 50},
		{"too little to measure", Zram{TotalMB: 512, StoredMB: 31, PhysicalMB: 31}, 256, 128},
		{"measured", Zram{TotalMB: 512, StoredMB: 100, PhysicalMB: 25}, 256, 64},
		{"does not compress", Zram{TotalMB: 512, StoredMB: 100, PhysicalMB: 110}, 256, 256},
		{"full", Zram{TotalMB: 512, StoredMB: 512, PhysicalMB: 200}, 256, 0},
	}
	for _, test := range tests {
		if got := test.zram.PhysicalShareMB(test.swap); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}
