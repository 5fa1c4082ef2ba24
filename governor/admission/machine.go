package admission

// Machine is the memory of the machine at one moment.
type Machine struct {
	TotalMB     int64 // MemTotal: what the kernel manages, a few percent below what was sold
	AvailableMB int64 // MemAvailable (Linux ≥ 3.14)
	SwapTotalMB int64
	SwapFreeMB  int64
	Zram        Zram
}

// Zram is the part of the swap that sits, compressed, in memory itself. The
// zero value says that there is none.
type Zram struct {
	TotalMB    int64 // sum of disksize: what could be put in
	StoredMB   int64 // what is in it now, before compression
	PhysicalMB int64 // what that takes of the memory
}

// zramDefaultShare is what a page in zram takes of the memory it came from, as
// long as too little is stored to measure it. Two to one is at the poor end of
// what lzo-rle and zstd reach on heaps, so the budget errs to the small side.
const zramDefaultShare = 0.5

// zramSampleMB is how much has to be stored before its ratio is believed.
const zramSampleMB = 32

// FreeMB is what could still be put in.
func (z Zram) FreeMB() int64 { return max(z.TotalMB-z.StoredMB, 0) }

// PhysicalShareMB is the memory that swapMB more of swapping would take, the
// zram filled before any disk: its priority is the higher one wherever a
// distribution sets both up.
func (z Zram) PhysicalShareMB(swapMB int64) int64 {
	part := min(swapMB, z.FreeMB())
	if part <= 0 {
		return 0
	}
	share := zramDefaultShare
	if z.StoredMB >= zramSampleMB && z.PhysicalMB > 0 {
		share = min(float64(z.PhysicalMB)/float64(z.StoredMB), 1)
	}
	return int64(float64(part)*share + 0.5)
}
