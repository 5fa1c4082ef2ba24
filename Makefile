# make            says what there is
# make run        builds the governor and starts it here, in the foreground
# make test       every test: native, and in virtual machines

GO      ?= go
DESTDIR ?=
PREFIX  ?= /usr/local

BINDIR  ?= $(PREFIX)/bin
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERDIR ?= $(PREFIX)/lib/systemd/user
CONFDIR ?= /etc/headroom

# The version comes from the checkout. A checkout that git refuses to read
# (of another owner) is built without one rather than not at all.
BUILDVCS  := $(shell git rev-parse HEAD >/dev/null 2>&1 && echo auto || echo false)
BUILD_DIR ?= build
BUILD     := CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=$(BUILDVCS) -ldflags '-s -w'

# How long the virtual machines may take in all. Without KVM everything inside
# them runs 20 to 50 times slower.
VM_TIMEOUT ?= 60m
VM_RUN     ?=
# ARCH=arm64: the stock Raspberry Pi, by hand; it needs qemu-system-arm,
# qemu-user-static and arch-test.
ARCH       ?=

# With it staticcheck is part of `make lint`: .ci/run sets it.
STATICCHECK ?=

.PHONY: help
help:
	@echo 'make run            build and start the governor here, in the foreground'
	@echo 'make build          build/headroomd, one static file'
	@echo 'make test           all tests; installs what they need through apt'
	@echo 'make check          the native tests only'
	@echo 'make vmtest         the tests in virtual machines only (VM_RUN=regexp ARCH=arm64)'
	@echo 'make bench          benchmarks'
	@echo 'make lint           gofmt and go vet'
	@echo 'make generate       rebuild the BPF object (clang-14)'
	@echo 'make install        into DESTDIR=$(DESTDIR) PREFIX=$(PREFIX)'
	@echo 'make uninstall      the same back; settings and logs stay'

SOURCES := go.mod go.sum $(shell find loader classifier governor cmd -type f ! -name '*_test.go' ! -path '*/testdata/*')

$(BUILD_DIR)/headroomd: $(SOURCES)
	$(BUILD) -o $@ ./cmd/headroomd

.PHONY: build
build: $(BUILD_DIR)/headroomd

# As root it guards the whole machine; as anybody else it watches, and acts on
# what that user may touch. It says in its first lines which it is, and why.
.PHONY: run
run: $(BUILD_DIR)/headroomd
	$(BUILD_DIR)/headroomd serve

.PHONY: deps
deps:
	@sh .ci/deps test

.PHONY: check
check:
	$(GO) build ./...
	$(GO) test -count=1 -p 1 -timeout 10m $$($(GO) list ./... | grep -v '/vmtests')

# One machine after the other, and nothing else meanwhile: the tests compare
# times, and a machine without KVM takes both cores.
.PHONY: vmtest
vmtest:
	HEADROOM_VM=1 HEADROOM_VM_ARCH='$(ARCH)' HEADROOM_VM_RUN='$(VM_RUN)' $(GO) test -count=1 -p 1 -v -timeout $(VM_TIMEOUT) ./vmtests/...

.PHONY: test
test: deps check vmtest

.PHONY: bench
bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: lint
lint:
	@unformatted=$$(gofmt -l bpf loader classifier governor cmd vmtests testdata); \
	if [ -n "$$unformatted" ]; then echo "gofmt -w is due for:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(if $(STATICCHECK),$(STATICCHECK) ./...)

# Always the same compiler: another version gives another object.
.PHONY: generate
generate:
	@command -v clang-14 >/dev/null || { echo 'make generate needs clang-14 and llvm-14 (sh .ci/deps generate)' >&2; exit 1; }
	$(GO) generate ./loader

.PHONY: check-generate
check-generate: generate
	git diff --exit-code --stat -- bpf loader

# Settings that are there already are never touched.
.PHONY: install
install: $(BUILD_DIR)/headroomd
	install -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(UNITDIR)' '$(DESTDIR)$(USERDIR)' '$(DESTDIR)$(CONFDIR)/headroom.toml.d' '$(DESTDIR)$(CONFDIR)/rules.d'
	install -m 0755 '$(BUILD_DIR)/headroomd' '$(DESTDIR)$(BINDIR)/headroomd'
	sed 's|^\(Exec[A-Za-z]*\)=/usr/bin/|\1=$(BINDIR)/|' cmd/headroomd/headroomd.service > '$(BUILD_DIR)/headroomd.service'
	install -m 0644 '$(BUILD_DIR)/headroomd.service' '$(DESTDIR)$(UNITDIR)/headroomd.service'
	sed 's|^\(Exec[A-Za-z]*\)=/usr/bin/|\1=$(BINDIR)/|' cmd/headroomd/headroomd-user.service > '$(BUILD_DIR)/headroomd-user.service'
	install -m 0644 '$(BUILD_DIR)/headroomd-user.service' '$(DESTDIR)$(USERDIR)/headroomd.service'
	test -e '$(DESTDIR)$(CONFDIR)/headroom.toml' || install -m 0644 cmd/headroomd/headroom.toml '$(DESTDIR)$(CONFDIR)/headroom.toml'
	install -m 0644 cmd/headroomd/rules.d.README '$(DESTDIR)$(CONFDIR)/rules.d/README'
	@test -n '$(DESTDIR)' || echo 'Start it with: systemctl daemon-reload && systemctl enable --now headroomd'

.PHONY: uninstall
uninstall:
	@test -n '$(DESTDIR)' || ! command -v systemctl >/dev/null || systemctl disable --now headroomd 2>/dev/null || true
	rm -f '$(DESTDIR)$(BINDIR)/headroomd' '$(DESTDIR)$(UNITDIR)/headroomd.service' '$(DESTDIR)$(USERDIR)/headroomd.service'
	@echo 'Left as they are: $(DESTDIR)$(CONFDIR), /var/log/headroom, /var/lib/headroom'

.PHONY: clean
clean:
	rm -rf '$(BUILD_DIR)'
