package classifier

import (
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// wrapped are ways to run a command through another. "@" is the command, "%"
// the command where the shell sees it as one word (it stands in quotes). own
// marks those that are captured themselves: they run it in their own process,
// or bring weight.
var wrapped = []struct {
	line string
	own  bool
}{
	{"sudo @", false},
	{"sudo -u pi @", false},
	{"sudo -HEu pi @", false},
	{"sudo -n -- @", false},
	{"sudo --user=pi --preserve-env=PATH A=1 @", false},
	{"sudo -E env PATH=/x @", false},
	{"sudo -u pi env -i CI=1 nice -n 10 timeout -k 5 60s @", false},
	{"doas -u pi @", false},
	{"su -c %", false},
	{"su pi -c %", false},
	{"su - pi -c %", false},
	{"su -l pi --command=%", false},
	{"su -s /bin/sh -c % www-data", false},
	{"runuser -u pi -- @", false},
	{"runuser -l pi -c %", false},
	{"pkexec @", false},
	{"env @", false},
	{"env -i PATH=/bin @", false},
	{"env -u A -C /srv B=1 @", false},
	{"env -S %", false},
	{"nice @", false},
	{"nice -10 @", false},
	{"nice -n 19 @", false},
	{"nice --adjustment=5 @", false},
	{"ionice -c2 -n7 @", false},
	{"ionice -c 3 @", false},
	{"ionice --class idle @", false},
	{"chrt -b 0 @", false},
	{"chrt --idle 0 @", false},
	{"taskset 0x1 @", false},
	{"taskset -c 0,1 @", false},
	{"/usr/bin/time -v @", false},
	{"/usr/bin/time -f %%e -o /tmp/t @", false},
	{"timeout 60 @", false},
	{"timeout -k 5 -s KILL 60s @", false},
	{"timeout --signal=INT --preserve-status 2h @", false},
	{"nohup @", false},
	{"setsid -f @", false},
	{"setsid --wait @", false},
	{"stdbuf -oL -eL @", false},
	{"stdbuf -o L @", false},
	{"unbuffer @", false},
	{"unbuffer -p @", false},
	{"xvfb-run @", false},
	{"xvfb-run -a -s -screen\\ 0\\ 1x1x8 @", false},
	{"xvfb-run --auto-servernum --server-num=1 @", false},
	{"dbus-run-session @", false},
	{"dbus-run-session -- @", false},
	{"systemd-run --scope @", false},
	{"systemd-run --user --scope -p MemoryMax=1G --unit=x @", false},
	{"systemd-run -t --pty --uid=1000 @", false},
	{"systemd-inhibit --what=sleep @", false},
	{"flock /tmp/l @", false},
	{"flock -n -E 75 /tmp/l @", false},
	{"flock -w 10 /tmp/l -c %", false},
	{"chroot /mnt @", false},
	{"chroot --userspec=1:1 /mnt @", false},
	{"arch-chroot /mnt @", false},
	{"unshare -n @", false},
	{"unshare -Urn --mount @", false},
	{"unshare --map-root-user --wd /x @", false},
	{"nsenter -t 1 -m -u @", false},
	{"nsenter --target 1 --all -- @", false},
	{"strace @", false},
	{"strace -f -e trace=execve -o /tmp/o @", false},
	{"strace -ffo /tmp/o -s 200 @", false},
	{"ltrace -c @", false},
	{"perf stat @", false},
	{"perf stat -e cycles -r 3 -- @", false},
	{"perf record -g -F 99 -o p.data @", false},
	{"valgrind --leak-check=full @", false},
	{"valgrind --tool=massif -- @", false},
	{"heaptrack @", false},
	{"gdb -batch -ex run --args @", false},
	{"watch @", false},
	{"watch -n 5 -d @", false},
	{"watch -tn1 %", false},
	{"xargs @", false},
	{"xargs -a f -n1 -P4 @", false},
	{"xargs -0 -I{} @", false},
	{"xargs -I {} sh -c %", false},
	{"parallel @ ::: a b", false},
	{"parallel -j2 --joblog l % ::: a b", false},
	{"parallel -j 2 ::: % ls", false},
	{"find . -name x -exec @ ;", false},
	{"find . -type d -execdir @ +", false},
	{"find . -exec sh -c % _ {} +", false},
	{"fd -e c -x @", false},
	{"entr -rc @", false},
	{"entr -s %", false},
	{"watchexec -r -e rs -- @", false},
	{"watchexec -e rs %", false},
	{"nodemon --watch src --exec %", false},
	{"nodemon -x %", false},
	{"hyperfine -w 1 %", false},
	{"script -qec % /dev/null", false},
	{"script -c % log", false},
	{"script --command % log", false},
	{"concurrently % ls", false},
	{"direnv exec . @", false},
	{"dotenv -e .env -- @", false},
	{"dotenv @", false},
	{"dotenvx run -f .env -- @", false},
	{"env-cmd -f .env @", false},
	{"cross-env A=1 B=2 @", false},
	{"cross-env-shell A=1 %", false},
	{"nix-shell --run %", true},
	{"nix-shell -p gcc --command %", true},
	{"nix develop -c @", true},
	{"nix shell nixpkgs#nodejs --command @", true},
	{"guix shell node -- @", true},
	{"mise exec -- @", false},
	{"mise exec node=20 -- @", false},
	{"mise x node=20 python=3 -- @", false},
	{"mise exec --command %", false},
	{"asdf exec @", false},
	{"rbenv exec @", false},
	{"pyenv exec @", false},
	{"nvm exec 20 @", false},
	{"fnm exec --using=20 @", false},
	{"volta run --node 20 @", false},
	{"aws-vault exec dev -- @", false},
	{"aws-vault exec dev @", false},
	{"chamber exec svc -- @", false},
	{"doppler run -- @", false},
	{"doppler run --command=%", false},
	{"op run --env-file=.env -- @", false},
	{"npx @", true},
	{"npx -y -p x @", true},
	{"npx -c %", true},
	{"pnpm exec @", true},
	{"pnpm --filter a exec @", true},
	{"yarn exec @", true},
	{"bun x @", true},
	{"bunx @", true},
	{"npm exec -- @", true},
	{"pnpm dlx @", true},
	{"yarn dlx -p x @", true},
	{"pipx run @", true},
	{"pipx run --spec x @", true},
	{"distcc @", false},
	{"sccache @", false},
	{"/usr/bin/time @", false},
	{"gtime -v @", false},
	{"xvfb-run -a sudo -E stdbuf -oL nice -n5 timeout -s INT 9m env A=1 @", false},
	{"docker exec c bash -lc %", false},
	{"sudo -u pi bash -lc %", false},
	{"sudo su - pi -c %", false},
	{"sudo -i -u pi -- sh -c %", false},
	{"nohup setsid taskset -c 1 chrt -b 0 ionice -c3 @", false},
	{"systemd-run --user --scope -- flock /tmp/l bash -c %", false},
	{"strace -f -o /tmp/t sh -c %", false},
	{"find . -maxdepth 1 -type d -exec sudo -u pi bash -c % ;", false},
	{"xargs -P2 -L1 timeout 60 @", false},
	{"parallel --halt now,fail=1 -j2 nice @ ::: a b", false},
	{"watch -n 60 sudo @", false},
	{"tmux new -d -s x sudo -u pi @", false},
	{"mise exec -- direnv exec . dotenv -e .env -- @", false},
	{"npm x -c %", true},
	{"uv run @", false},
	{"uv run --no-sync --python 3.12 -- @", false},
	{"uv tool run @", true},
	{"uvx @", true},
	{"uvx --from x --with y @", true},
	{"poetry run @", false},
	{"poetry -C api run @", false},
	{"pipenv run @", false},
	{"pdm run @", false},
	{"hatch run @", true},
	{"hatch -e test run @", true},
	{"conda run -n ml --no-capture-output @", false},
	{"pixi run @", false},
	{"bundle exec @", true},
	{"rustup run nightly @", false},
	{"opam exec -- @", false},
	{"ccache @", false},
	{"bear -- @", false},
	{"scan-build @", false},
	{"cov-build --dir d @", false},
	{"fakeroot @", true},
	{"fakeroot -- @", true},
	{"tmux new-session -d -s x %", false},
	{"tmux new -d @", false},
	{"tmux splitw -h -t x %", false},
	{"tmux send-keys -t x % Enter", false},
	{"tmux send -t x:0 % C-m", false},
	{"screen -dmS x @", false},
	{"screen -S x -d -m sh -c %", false},
	{"screen -S x -X stuff %", false},
	{"pm2 start % --name x", false},
	{"docker exec c @", false},
	{"docker exec -it -u root -w /x -e A=1 c @", false},
	{"docker container exec c sh -c %", false},
	{"docker compose exec -T app @", false},
	{"docker compose -f a.yml exec app @", false},
	{"docker-compose exec app @", false},
	{"podman exec -i c @", false},
	{"lxc exec c -- @", false},
	{"toolbox run @", false},
	{"distrobox enter x -- @", false},
	{"sh -c %", false},
	{"bash -lc %", false},
	{"bash -euo pipefail -c %", false},
	{"bash --norc -c %", false},
	{"busybox sh -c %", false},
	{"zsh -ic %", false},
	{"git bisect run @", false},
	{"git rebase -i --exec % main", false},
	{"git rebase main -x %", false},
	{"git submodule foreach %", false},
	{"caffeinate -i @", false},
	{"proxychains4 -q @", false},
	{"tini -- @", false},
	{"dumb-init @", false},
	{"gosu www-data @", false},
	{"setpriv --reuid=1000 --clear-groups @", false},
	{"cpulimit -l 50 -- @", false},
	{"chronic @", false},
	{"retry -t 3 -- @", false},
	{"prlimit --as=1000000 @", false},
}

// fill puts a command into a wrapper.
func fill(wrapper, command string) string {
	s := strings.ReplaceAll(wrapper, "%%", "\x00")
	s = strings.ReplaceAll(s, "%", "'"+command+"'")
	s = strings.ReplaceAll(s, "@", command)
	return strings.ReplaceAll(s, "\x00", "%")
}

// argvOf splits a line into the words that its program would be given.
func argvOf(t *testing.T, line string) []string {
	t.Helper()
	f, err := syntax.NewParser().Parse(strings.NewReader(strings.ReplaceAll(line, " ;", " ';'")), "")
	if err != nil {
		t.Fatal(err)
	}
	words, err := expand.Fields(nil, f.Stmts[0].Cmd.(*syntax.CallExpr).Args...)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// TestWrapped unwraps each carrier, on the line and as an argv. What is light
// stays light, but for those that bring weight of their own.
func TestWrapped(t *testing.T) {
	s := Builtin()
	for _, w := range wrapped {
		t.Run(w.line, func(t *testing.T) {
			for _, c := range []struct{ command, rule string }{
				{"npm test", "node-npm-test"},
				{"make -j2 -C src", "make"},
				{"python3 -m pytest -q", "pytest"},
			} {
				line := fill(w.line, c.command)
				shell := strings.ReplaceAll(line, " ;", ` \;`)
				if got := s.Line(shell); got.Class != Heavy || got.Rule != c.rule && !w.own {
					t.Errorf("line %q: got %s by %q, want heavy by %q", shell, got.Class, got.Rule, c.rule)
				}
				argv := argvOf(t, line)
				got := s.Argv(Command{Argv: argv})
				if got.Class != Heavy || got.Rule != c.rule && !w.own {
					t.Errorf("argv %q: got %s by %q, want heavy by %q", argv, got.Class, got.Rule, c.rule)
				}
				if got.Capture != w.own {
					t.Errorf("argv %q: got capture %v, want %v", argv, got.Capture, w.own)
				}
			}
			if w.own {
				return
			}
			for _, light := range []string{"ls -l", "npm --version", "make -n", "echo npm test"} {
				shell := strings.ReplaceAll(fill(w.line, light), " ;", ` \;`)
				if got := s.Line(shell); got.Class != Light {
					t.Errorf("line %q: got heavy by %q, want light", shell, got.Rule)
				}
			}
		})
	}
}
