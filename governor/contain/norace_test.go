//go:build !race

package contain_test

const racing = false
