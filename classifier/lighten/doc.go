// Package lighten rewrites a heavy shell line, or an argv, so that it takes
// less memory: fewer workers, and a bounded heap for Node.
//
// A line keeps every byte but those that a change names: the edits are made at
// the offsets of the words, and quotes, blanks and comments around them stay.
// What cannot be rewritten safely is left as it is, and so is what is light
// enough already. A rewrite that would not parse, or that the classifier would
// judge differently, is thrown away as a whole.
//
// No flag is added that a tool of the last years does not know, none where it
// would change what is done, and no number is ever raised.
//
// The package is pure: it reads no file and no environment but by the hooks in
// Options.
package lighten
