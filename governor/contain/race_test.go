//go:build race

package contain_test

// racing: the race detector makes everything some ten times slower, so that
// bounds on time and memory say nothing.
const racing = true
