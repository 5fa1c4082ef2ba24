package lighten

// HeapMB is the heap that a Node process is given in a job with a cap of capMB;
// 0 where no cap is known, or where it is above what Node takes by itself.
func HeapMB(capMB int64) int {
	mb := (&Options{CapMB: capMB}).heapMB()
	if mb > maxHeapMB {
		return 0
	}
	return mb
}
