// Package watchdog reads the machine's memory and says how near it is to being
// hurt. Reading and judging are apart: Level is pure.
package watchdog
