package contain

func noUsage() Usage {
	return Usage{Current: -1, Swap: -1, Peak: -1, Working: -1, OOMKills: -1, CPUUsec: -1}
}
