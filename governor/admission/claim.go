package admission

// Claim is what one running job was promised and what it uses.
type Claim struct {
	PromiseMB int64
	UsedMB    int64 // anon + shmem + kernel memory; -1 unknown: the whole promise is still owed
}

// OwedMB is what the job may still take.
func (c Claim) OwedMB() int64 { return max(c.PromiseMB-max(c.UsedMB, 0), 0) }

// Unused is what the running jobs were promised and have not used yet.
func Unused(running []Claim) int64 {
	var sum int64
	for _, c := range running {
		sum += c.OwedMB()
	}
	return sum
}
