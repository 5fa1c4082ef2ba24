package classifier

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  Class
	}{
		{"heavy", heavyLines, Heavy},
		{"light", lightLines, Light},
		{"more light", moreLightLines, Light},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, l := range tt.lines {
				if got := Builtin().Line(l); got.Class != tt.want {
					t.Errorf("%q: got %s (%s: %s), want %s", l, got.Class, got.Rule, got.Reason, tt.want)
				}
			}
		})
	}
}

// TestExecs are argument lists as the kernel shows them on machines of other
// makes: other places, versions and architectures than those of the corpus.
func TestExecs(t *testing.T) {
	tests := []struct {
		want Class
		exe  string
		argv []string
	}{
		{Heavy, "/usr/bin/node", []string{"npm run dev"}},
		{Heavy, "/usr/bin/node", []string{"node", "/home/pi/.nvm/versions/node/v20.1.0/bin/npm", "ci"}},
		{Heavy, "/usr/bin/node", []string{"/home/pi/.nvm/versions/node/v20.1.0/bin/node", "/home/pi/x/node_modules/.bin/../vite/bin/vite.js", "build"}},
		{Heavy, "/usr/bin/node", []string{"node", "--enable-source-maps", "/p/node_modules/.bin/tsc", "--noEmit"}},
		{Heavy, "/usr/bin/node", []string{"node", "/p/node_modules/.pnpm/vitest@1.0.0/node_modules/vitest/vitest.mjs", "run"}},
		{Heavy, "/usr/bin/node", []string{"node (vitest 1)"}},
		{Heavy, "/usr/bin/node", []string{"/usr/bin/node", "/p/node_modules/tinypool/dist/entry/process.js"}},
		{Heavy, "/usr/bin/node", []string{"node", "/home/pi/.yarn/releases/yarn-3.6.0.cjs", "install"}},
		{Heavy, "/usr/bin/node", []string{"node", "/usr/share/nodejs/yarn/bin/yarn.js", "add", "x"}},
		{Heavy, "/usr/bin/node", []string{"node", "/p/node_modules/@playwright/test/cli.js", "test"}},
		{Heavy, "/usr/bin/node", []string{"node", "/p/node_modules/playwright/cli.js", "test"}},
		{Heavy, "/usr/bin/node", []string{"node", "/p/node_modules/.bin/eslint", "."}},
		{Heavy, "/usr/bin/node", []string{"node", "/p/node_modules/eslint/bin/eslint.js", "."}},
		{Light, "/usr/bin/node", []string{"node", "/p/node_modules/.bin/prettier", "--check", "."}},
		{Light, "/usr/bin/node", []string{"node", "dist/main.js"}},
		{Light, "/usr/bin/node", []string{"node", "/app/server/index.js"}},
		{Light, "/usr/bin/node", []string{"node", "/p/node_modules/esbuild/install.js"}},
		{Heavy, "/usr/bin/node", []string{"node", "/usr/lib/node_modules/npm/bin/npx-cli.js", "cowsay"}},
		{Heavy, "/usr/bin/python3.12", []string{"/srv/venv/bin/python", "/srv/venv/bin/pytest"}},
		{Heavy, "/usr/bin/python3.12", []string{"/srv/venv/bin/python3.12", "-m", "pip", "install", "-r", "r.txt"}},
		{Heavy, "/usr/bin/python3.12", []string{"/srv/venv/bin/python", "/srv/venv/bin/pip", "install", "x"}},
		{Heavy, "/usr/bin/python3.12", []string{"python3", "-m", "mypy", "."}},
		{Heavy, "/usr/bin/python3.12", []string{"python3", "setup.py", "bdist_wheel"}},
		{Light, "/usr/bin/python3.12", []string{"python3", "-m", "http.server"}},
		{Light, "/usr/bin/python3.12", []string{"/usr/bin/python3", "/usr/bin/unattended-upgrade-shutdown", "--wait-for-signal"}},
		{Light, "/usr/bin/python3.12", []string{"/usr/bin/python3", "/usr/bin/networkd-dispatcher", "--run-startup-triggers"}},
		{Light, "/usr/bin/python3.12", []string{"/usr/bin/python3", "-c", "import os"}},
		{Light, "/usr/bin/python3.12", []string{"python3", "/home/pi/test.py"}},
		{Light, "/usr/bin/python3.12", []string{"python3", "/home/pi/build.py"}},
		{Light, "/usr/bin/python3.12", []string{"gunicorn: master [app]"}},
		{Heavy, "/usr/bin/perl", []string{"/usr/bin/perl", "/usr/bin/prove", "-r", "t"}},
		{Heavy, "/usr/bin/perl", []string{"/usr/bin/perl", "/usr/bin/dpkg-buildpackage", "-b"}},
		{Light, "/usr/bin/perl", []string{"/usr/bin/perl", "/usr/bin/dh_strip"}},
		{Light, "/usr/bin/perl", []string{"/usr/bin/perl", "-w", "/usr/sbin/deluser", "x"}},
		{Heavy, "/usr/bin/php8.2", []string{"php", "artisan", "test"}},
		{Heavy, "/usr/bin/php8.2", []string{"php", "-d", "memory_limit=-1", "vendor/bin/phpstan", "analyse"}},
		{Heavy, "/usr/bin/php8.2", []string{"/usr/bin/php8.2", "/usr/local/bin/composer.phar", "install"}},
		{Light, "/usr/bin/php8.2", []string{"php", "index.php"}},
		{Light, "/usr/sbin/php-fpm8.2", []string{"php-fpm: pool www"}},
		{Heavy, "/usr/bin/ruby3.1", []string{"/usr/bin/ruby3.1", "/usr/local/bin/rspec"}},
		{Heavy, "/usr/bin/ruby3.1", []string{"ruby", "bin/rails", "test"}},
		{Light, "/usr/bin/ruby3.1", []string{"puma 6.0 (tcp://0.0.0.0:3000) [app]"}},
		{Light, "/usr/bin/ruby3.1", []string{"ruby", "bin/rails", "server"}},
		{Heavy, "/usr/lib/gcc/aarch64-linux-gnu/12/cc1", []string{"/usr/lib/gcc/aarch64-linux-gnu/12/cc1", "-quiet", "a.c"}},
		{Heavy, "/usr/libexec/gcc/x86_64-linux-gnu/13/cc1plus", []string{"/usr/libexec/gcc/x86_64-linux-gnu/13/cc1plus", "-quiet", "a.cc"}},
		{Heavy, "/usr/lib/llvm-14/bin/clang", []string{"/usr/lib/llvm-14/bin/clang", "-cc1", "-triple", "x86_64-pc-linux-gnu", "-emit-obj", "a.c"}},
		{Heavy, "/usr/bin/mold", []string{"/usr/bin/ld", "-o", "a", "a.o"}},
		{Heavy, "/usr/lib/llvm-14/bin/lld", []string{"ld.lld", "-o", "a", "a.o"}},
		{Heavy, "/usr/bin/aarch64-linux-gnu-gcc-12", []string{"gcc", "-o", "a", "a.c"}},
		{Light, "/usr/bin/aarch64-linux-gnu-gcc-12", []string{"gcc", "-print-multiarch"}},
		{Light, "/usr/bin/x86_64-linux-gnu-gcc-12", []string{"cc", "-E", "-"}},
		{Light, "/usr/lib/gcc/x86_64-linux-gnu/12/cc1", []string{"/usr/lib/gcc/x86_64-linux-gnu/12/cc1", "-E", "-quiet", "-"}},
		{Heavy, "/usr/local/go/pkg/tool/linux_arm64/link", []string{"/usr/local/go/pkg/tool/linux_arm64/link", "-o", "a.out", "x.a"}},
		{Heavy, "/home/pi/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22.0.linux-amd64/pkg/tool/linux_amd64/compile", []string{"/home/pi/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.22.0.linux-amd64/pkg/tool/linux_amd64/compile", "-o", "x", "a.go"}},
		{Light, "/usr/bin/link", []string{"link", "a", "b"}},
		{Heavy, "/home/pi/.rustup/toolchains/stable/bin/rustc", []string{"/home/pi/.rustup/toolchains/stable/bin/rustc", "--crate-name", "x", "src/lib.rs"}},
		{Heavy, "/home/pi/.rustup/toolchains/stable/bin/cargo", []string{"/home/pi/.rustup/toolchains/stable/bin/cargo", "test"}},
		{Light, "/home/pi/.rustup/toolchains/stable/bin/cargo", []string{"cargo", "metadata"}},
		{Heavy, "/usr/lib/jvm/java-17/bin/java", []string{"/usr/lib/jvm/java-17/bin/java", "-Xmx64m", "-Xms64m", "-Dorg.gradle.appname=gradlew", "-classpath", "/p/gradle/wrapper/gradle-wrapper.jar", "org.gradle.wrapper.GradleWrapperMain", "build"}},
		{Heavy, "/usr/lib/jvm/java-17/bin/java", []string{"java", "-jar", "/p/x.jar"}},
		{Light, "/usr/lib/jvm/java-17/bin/java", []string{"java", "-version"}},
		{Light, "/usr/lib/jvm/java-17/bin/java", []string{"java", "-XshowSettings:properties", "-version"}},
		{Light, "/usr/lib/jvm/java-17/bin/javac", []string{"javac", "-version"}},
		{Heavy, "/usr/bin/dash", []string{"/bin/sh", "./gradlew", "build"}},
		{Heavy, "/usr/bin/dash", []string{"/bin/sh", "/p/mvnw", "verify"}},
		{Heavy, "/usr/bin/bash", []string{"/bin/bash", "./autogen.sh"}},
		{Light, "/usr/bin/bash", []string{"bash", "--login"}},
		{Light, "/usr/bin/bash", []string{"/bin/bash", "/usr/bin/ldd", "/bin/ls"}},
		{Light, "/usr/bin/dash", []string{"/bin/sh", "/usr/sbin/service", "x", "restart"}},
		{Light, "/usr/bin/dash", []string{"/bin/sh", "-e", "/etc/cron.daily/apt-compat"}},
		{Light, "/usr/bin/dash", []string{"/bin/sh", "./libtool", "--version"}},
		{Light, "/usr/bin/dash", []string{"/bin/sh", "/var/lib/dpkg/info/man-db.postinst", "configure"}},
		{Light, "/usr/bin/dash", []string{"/bin/sh", "/usr/bin/nvm"}},
		{Heavy, "/usr/bin/busybox", []string{"make"}},
		{Heavy, "/usr/bin/apt", []string{"apt", "install", "-y", "x"}},
		{Light, "/usr/bin/apt", []string{"apt", "update"}},
		{Light, "/usr/lib/apt/apt.systemd.daily", []string{"/bin/sh", "/usr/lib/apt/apt.systemd.daily", "update"}},
		{Light, "/usr/bin/dpkg", []string{"dpkg", "--compare-versions", "1", "lt", "2"}},
		{Heavy, "/usr/libexec/docker/cli-plugins/docker-compose", []string{"/usr/libexec/docker/cli-plugins/docker-compose", "compose", "up"}},
		{Heavy, "/usr/libexec/docker/cli-plugins/docker-buildx", []string{"/usr/libexec/docker/cli-plugins/docker-buildx", "buildx", "build", "."}},
		{Light, "/usr/bin/dockerd", []string{"/usr/bin/dockerd", "-H", "fd://"}},
		{Light, "/usr/bin/containerd-shim-runc-v2", []string{"/usr/bin/containerd-shim-runc-v2", "-namespace", "moby"}},
		{Heavy, "/usr/bin/tar", []string{"tar", "-Jcf", "a.tar.xz", "x"}},
		{Light, "/usr/bin/tar", []string{"tar", "-xf", "a.tar.xz"}},
		{Heavy, "/usr/bin/cmake", []string{"/usr/bin/cmake", "--build", "/p/build", "--", "-j4"}},
		{Light, "/usr/bin/cmake", []string{"/usr/bin/cmake", "-P", "cmake_install.cmake"}},
		{Heavy, "/usr/lib/chromium/chromium", []string{"/usr/lib/chromium/chromium", "--type=renderer", "--headless"}},
		{Heavy, "/opt/google/chrome/chrome", []string{"/opt/google/chrome/chrome", "--headless", "--disable-gpu"}},
		{Heavy, "/home/pi/.cache/ms-playwright/chromium-1/chrome-linux/headless_shell", []string{"/home/pi/.cache/ms-playwright/chromium-1/chrome-linux/headless_shell", "--remote-debugging-pipe"}},
		{Light, "/usr/bin/sudo", []string{"sudo", "-u", "pi", "-i"}},
		{Light, "/usr/bin/git", []string{"git", "submodule", "update", "--init"}},
		{Light, "/usr/bin/git", []string{"git", "gc", "--auto", "--quiet"}},
		{Light, "/usr/lib/git-core/git", []string{"/usr/lib/git-core/git", "pack-objects", "--stdout"}},
		{Heavy, "/usr/bin/xargs", []string{"xargs", "-0", "-n1", "gcc"}},
		{Light, "/usr/bin/as", []string{"as", "--64", "-o", "x.o"}},
		{Light, "/usr/bin/sleep", []string{"sleep", "1"}},
		{Heavy, "/usr/bin/dotnet", []string{"dotnet", "exec", "/usr/share/dotnet/sdk/8.0.1/MSBuild.dll", "/nodemode:1"}},
		{Light, "/usr/bin/dotnet", []string{"dotnet", "MyApp.dll"}},
	}
	for _, tt := range tests {
		if got := Builtin().Argv(Command{Argv: tt.argv, Exe: tt.exe}); got.Class != tt.want {
			t.Errorf("%q of %s: got %s (%s: %s), want %s", tt.argv, tt.exe, got.Class, got.Rule, got.Reason, tt.want)
		}
	}
}

// TestRecordedExecs are the argument lists that installed tools and their
// workers run with, written down with their class before they were tried.
func TestRecordedExecs(t *testing.T) {
	f, err := os.Open("testdata/execs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := Builtin()
	var got score
	in := bufio.NewScanner(f)
	for in.Scan() {
		var r argvRow
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		v := s.Argv(Command{Argv: r.Argv, Exe: r.Exe})
		got.add(r.Label == string(Heavy), v.Class == Heavy)
		if string(v.Class) != r.Label {
			t.Errorf("%q of %s: got %s (%s: %s), want %s", r.Argv, r.Exe, v.Class, v.Rule, v.Reason, r.Label)
		}
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("execs: %+v recall %.4f precision %.4f", got, got.recall(), got.precision())
}
