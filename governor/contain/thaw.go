package contain

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
)

// ThawAll lets all frozen jobs below a directory of the hierarchy go: the way
// out of a governor that crashed. It needs no manager. It returns the paths,
// below that directory, of what it thawed; what failed is in the error, and
// was no reason to stop.
func ThawAll(dir string) (thawed []string, err error) {
	c := cgroups{filepath.Clean(dir)}
	paths, err := FrozenScopes(dir)
	for _, p := range paths {
		switch ferr := c.freeze(p, false); {
		case ferr == nil:
			thawed = append(thawed, p)
		case !gone(ferr):
			err = errors.Join(err, fmt.Errorf("thaw %q: %w", p, ferr))
		}
	}
	return thawed, err
}

// FrozenScopes lists the frozen jobs below a directory of the hierarchy.
func FrozenScopes(dir string) (frozen []string, err error) {
	c := cgroups{filepath.Clean(dir)}
	paths, err := c.scopes()
	if err != nil {
		err = fmt.Errorf("look for frozen scopes: %w", err)
	}
	for _, p := range paths {
		if c.frozen(p) {
			frozen = append(frozen, p)
		}
	}
	return frozen, err
}

// OwnTree is the part of the hierarchy below root that a user may thaw: all of
// it, or what his own manager has.
func OwnTree(root string, uid int) string {
	if uid == 0 {
		return root
	}
	n := strconv.Itoa(uid)
	return filepath.Join(root, "user.slice", "user-"+n+".slice", "user@"+n+".service")
}
