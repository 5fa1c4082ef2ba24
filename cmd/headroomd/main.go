package main

import "os"

func main() {
	if len(os.Args) > 1 && os.Args[1] == runChildWord {
		runChild(os.Args[2:])
	}
	if len(os.Args) > 1 && os.Args[1] == selftestWord {
		selftestChild(os.Args[2:])
	}
	os.Exit(run(os.Args[1:]))
}
