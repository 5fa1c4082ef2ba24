package classifier

import "testing"

// throughHeavy are heavy through an interpreter: its options, its modules, the
// place of the script, and versions and targets in names.
var throughHeavy = []string{
	"node --inspect-brk=0.0.0.0:9229 node_modules/.bin/jest",
	"node --env-file .env node_modules/.bin/vite",
	"node --env-file=.env node_modules/vite/bin/vite.js",
	"node --import tsx --test test/*.ts",
	"node --require ./a.js node_modules/.bin/mocha",
	"node --max-old-space-size=300 /usr/bin/npm ci",
	"node --cpu-prof node_modules/typescript/bin/tsc",
	"node --watch --test",
	"node --run build",
	"node --run=test",
	"node -- node_modules/.bin/jest",
	"nodejs /usr/bin/yarn build",
	"python -Wd -X importtime -m pytest",
	"python -BsE setup.py build",
	"python -mpytest",
	"python -Impip install x",
	"python -um unittest",
	"python -W ignore manage.py test",
	"python /usr/bin/pip install x",
	"python $(which pytest) -q",
	"python3 ~/.local/bin/poetry install",
	"ruby -S rake test",
	"ruby -S bundle install",
	"ruby -W0 bin/rspec",
	"perl -S prove -l",
	"perl -Ilib /usr/bin/prove t",
	"perl -MCPAN -e 'install X'",
	"php -d memory_limit=1G vendor/bin/phpunit",
	"php -dzend.assertions=1 ./vendor/bin/pest",
	"php composer.phar install",
	"php -n composer.phar require x",
	"java -agentlib:jdwp=x -cp a:b com.x.Main",
	"java @args Main",
	"java -Xmx64m -jar gradle/wrapper/gradle-wrapper.jar build",
	"deno run --allow-all npm:cowsay",
	"bun test x",
	"bun ./node_modules/.bin/vite build",
	"bun run vite build",
	"bun node_modules/vite/bin/vite.js",
	"tsx node_modules/.bin/jest",
	"ts-node node_modules/.bin/mocha",
	"bash ./gradlew test",
	"bash -x ./configure",
	"sh -e autogen.sh",
	"bash +e -c make",
	"dash -ec 'npm ci'",
	"bash --login -c 'npm ci'",
	"bash -o pipefail -c 'npm test | cat'",
	"bash --rcfile x -ic 'make'",
	"bash /usr/bin/npm ci",
	"fish -c 'npm ci'",
	"zsh -ic make",
	"su -s /bin/bash www -c 'composer i'",
	"python3.12 -m pip install x",
	"python2.7 setup.py install",
	"node20 node_modules/.bin/tsc",
	"ruby3.1 /usr/bin/rake",
	"php8.3 artisan test",
	"perl5.36 Build.PL",
	"gcc-13.2 a.c",
	"aarch64-linux-gnu-gcc-12.2 a.c",
	"riscv32-esp-elf-gcc -c a.c",
}

// throughLight look alike and are light.
var throughLight = []string{
	"node --import tsx src/index.ts",
	"node --no-warnings --loader ts-node/esm x.ts",
	"node --watch server.js",
	"node -pe 1",
	"node -r dotenv/config dist/main.js",
	"node --stack-size=1 -e 'x'",
	"python -O -m compileall .",
	"python -c 'import pip; pip.main()'",
	"python -i x.py",
	"python3 -u -m http.server",
	"python3 ./node_modules/x.py",
	"python - < x.py",
	"ruby -Ilib -e 'puts 1'",
	"ruby -c x.rb",
	"perl -lane 'print'",
	"perl -MTest::Harness -e 'runtests @ARGV' t/*.t",
	"php -f index.php",
	"java -Dx=y -version",
	"java --list-modules",
	"deno run -A x.ts",
	"deno run -A jsr:@x/y",
	"bun run x.ts",
	"bun --watch x.ts",
	"bash -n configure",
	"bash make.sh",
	"clang-format-15 -i a.c",
	"x86_64-linux-gnu-objdump -d a",
	"x86_64-linux-gnu-gcc-ar t a",
	"arm-none-eabi-size a",
	"python3-config --cflags",
	"npm-check",
	"makepasswd",
	"cmake-format -i CMakeLists.txt",
	"gcc-nm a.o",
	"docker-machine ls",
	"pip-licenses",
	"go-md2man x",
}

func TestThroughInterpreters(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  Class
	}{
		{"heavy", throughHeavy, Heavy},
		{"light", throughLight, Light},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, l := range tt.lines {
				if got := Builtin().Line(l); got.Class != tt.want {
					t.Errorf("%q: got %s (%s: %s), want %s", l, got.Class, got.Rule, got.Reason, tt.want)
				}
				argv := plainArgv(l)
				if argv == nil {
					continue
				}
				if got := Builtin().Argv(Command{Argv: argv}); got.Class != tt.want {
					t.Errorf("%q: got %s (%s: %s), want %s", argv, got.Class, got.Rule, got.Reason, tt.want)
				}
			}
		})
	}
}
