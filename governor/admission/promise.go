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

// Promises is the book of what is promised to whom. The zero value is ready.
// It is not safe for concurrent use: the loop alone writes in it.
type Promises struct {
	order  []string
	claims map[string]Claim
}

// Give notes a new job's promise, or changes that of a known one.
func (p *Promises) Give(job string, promiseMB int64) {
	if p.claims == nil {
		p.claims = make(map[string]Claim)
	}
	c, known := p.claims[job]
	if !known {
		p.order = append(p.order, job)
		c.UsedMB = -1
	}
	c.PromiseMB = promiseMB
	p.claims[job] = c
}

// Use notes what a job uses; -1 unknown. A job that was promised nothing is
// not made known by it.
func (p *Promises) Use(job string, usedMB int64) {
	if c, known := p.claims[job]; known {
		c.UsedMB = usedMB
		p.claims[job] = c
	}
}

// End takes a job off the book.
func (p *Promises) End(job string) {
	if _, known := p.claims[job]; !known {
		return
	}
	delete(p.claims, job)
	for i, id := range p.order {
		if id == job {
			p.order = append(p.order[:i], p.order[i+1:]...)
			return
		}
	}
}

// Len is the number of jobs on the book, which is the number of slots in use.
func (p *Promises) Len() int { return len(p.claims) }

// Claims are the promises in the order in which they were given.
func (p *Promises) Claims() []Claim {
	all := make([]Claim, 0, len(p.order))
	for _, job := range p.order {
		all = append(all, p.claims[job])
	}
	return all
}
