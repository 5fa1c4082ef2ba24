package lighten

import "testing"

// The scripts of a package, by directory, manager and name.
func TestScripts(t *testing.T) {
	scripts := map[string]string{
		" test":       "jest --ci",
		" test:unit":  "tsc && cross-env CI=1 vitest run",
		" e2e":        "npx --yes playwright test",
		" inband":     "jest -i",
		" given":      "jest --maxWorkers=4",
		" build":      "next build",
		" both":       "jest; echo done > log",
		" piped":      "jest | tee log",
		" variable":   "$JEST",
		"web test":    "vitest",
		"a/b test":    "mocha --parallel",
		"/srv/x test": "jest",
	}
	o := small
	o.Script = func(dir, manager, name string) (string, bool) {
		s, ok := scripts[dir+" "+name]
		return s, ok
	}
	testLines(t, o, []lineTest{
		{"npm test", "npm test", heap + "npm test -- --runInBand"},
		{"npm t", "npm t", heap + "npm t -- --runInBand"},
		{"npm with words", "npm test -- --coverage", heap + "npm test -- --coverage --runInBand"},
		{"npm in band", "npm test -- -i", heap + "npm test -- -i"},
		{"npm run", "npm run test:unit", heap + "npm run test:unit -- --maxWorkers=1 --no-file-parallelism"},
		{"npm prefix", "npm --prefix web test", heap + "npm --prefix web test -- --maxWorkers=1 --no-file-parallelism"},
		{"npm absolute prefix", "npm --prefix=/srv/x test", heap + "npm --prefix=/srv/x test -- --runInBand"},
		{"npm workspace", "npm -w web test", heap + "npm -w web test"},
		{"cd", "cd web && npm test", "cd web && " + heap + "npm test -- --maxWorkers=1 --no-file-parallelism"},
		{"cd twice", "cd web && cd .. && npm test", "cd web && cd .. && " + heap + "npm test"},
		{"cd somewhere", "cd $X && npm test", "cd $X && " + heap + "npm test"},
		{"yarn", "yarn test", heap + "yarn test --runInBand"},
		{"pnpm", "pnpm t", heap + "pnpm t --runInBand"},
		{"pnpm run", "pnpm run e2e", heap + "pnpm run e2e --workers=1"},
		{"already", "npm run inband", heap + "npm run inband"},
		{"a number in the script stays", "npm run given", heap + "npm run given"},
		{"no test", "npm run build", heap + "npm run build"},
		{"redirected", "npm run both", heap + "npm run both"},
		{"piped to another", "npm run piped", heap + "npm run piped"},
		{"unknown program", "npm run variable", heap + "npm run variable"},
		{"nothing to add", "cd a/b && npm test", "cd a/b && " + heap + "npm test"},
		{"unknown script", "npm run x", heap + "npm run x"},
	})
}
