// Package admission decides how much memory a job may have. It is pure: it is
// told what the machine has and what the running jobs were promised, and it
// answers with numbers and the sentence that explains them.
//
// All sizes are in MB (2^20 bytes). A size that could not be read is -1:
// absence is never zero.
package admission
