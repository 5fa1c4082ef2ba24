package lighten

// tools are the programs whose own options are known here, by name.
var tools map[string]func(*plan)

// lowered are programs of which only a number that stands there is lowered.
// Their defaults are one worker, or not worth a word.
var lowered = map[string]option{
	"scons":     {short: "-j", long: []string{"--jobs"}},
	"b2":        {short: "-j"},
	"bjam":      {short: "-j"},
	"stack":     {short: "-j", long: []string{"--jobs"}},
	"cabal":     {short: "-j", long: []string{"--jobs"}, bare: "="},
	"prove":     {short: "-j", long: []string{"--jobs"}},
	"bundle":    {short: "-j", long: []string{"--jobs"}},
	"bundler":   {short: "-j", long: []string{"--jobs"}},
	"bazel":     {short: "-j", long: []string{"--jobs"}},
	"bazelisk":  {short: "-j", long: []string{"--jobs"}},
	"webpack":   {long: []string{"--parallelism"}},
	"ava":       {short: "-c", long: []string{"--concurrency"}},
	"opam":      {short: "-j", long: []string{"--jobs"}},
	"swift":     {short: "-j", long: []string{"--jobs"}},
	"nix-build": {short: "-j", long: []string{"--max-jobs"}},
}

func init() {
	tools = map[string]func(*plan){
		"make": (*plan).make, "gmake": (*plan).make, "gnumake": (*plan).make, "remake": (*plan).make, "bmake": (*plan).make,
		"ninja": (*plan).ninja, "ninja-build": (*plan).ninja, "samu": (*plan).ninja,
		"cmake": (*plan).cmake, "ctest": (*plan).ctest, "meson": (*plan).meson,

		"jest": (*plan).jest, "react-scripts": (*plan).reactScripts, "craco": (*plan).reactScripts,
		"vitest": (*plan).vitest, "mocha": (*plan).mocha, "playwright": (*plan).playwright,
		"pytest": (*plan).pytest, "py.test": (*plan).pytest, "pytest-3": (*plan).pytest,

		"cargo": (*plan).cargo, "go": (*plan).golang,
		"gradle": (*plan).gradle, "gradlew": (*plan).gradle,
		"mvn": (*plan).maven, "mvnw": (*plan).maven, "mvnd": (*plan).maven,
		"dotnet": (*plan).dotnet, "msbuild": (*plan).msbuild,

		"turbo": (*plan).turbo, "nx": (*plan).nx, "lerna": (*plan).lerna,
		"xz": (*plan).xz, "zstd": (*plan).zstd,

		"npm": (*plan).npm, "pnpm": (*plan).packageManager, "yarn": (*plan).packageManager, "yarnpkg": (*plan).packageManager, "bun": (*plan).packageManager,
	}
	for name, o := range lowered {
		tools[name] = func(p *plan) { p.lower(o, 1, p.end(), p.r.o.Workers, p.r.o.why()) }
	}
}
