// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Tell user space of the execs that may start something heavy.
 *
 * Helpers and maps only: neither kernel structs nor CO-RE, so the kernel needs
 * no BTF (a stock Raspberry Pi OS has none) and user space parses none, which
 * would cost it some 15 MB. The context is not looked at, so one function
 * serves the raw tracepoint and the classic one. argv is not read here: user
 * space finds it whole in /proc, and only a live process matters.
 *
 * The name is asked for first: it settles the matter for nearly all execs, with
 * one look into a map, inside a job and outside.
 */
#include "exec.h"
#include "kernel.h"

struct {
	MAP_NUMBER(type, MAP_PERCPU_ARRAY);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct counts);
	MAP_NUMBER(max_entries, 1);
} counters SEC(".maps");

struct {
	MAP_NUMBER(type, MAP_ARRAY);
	MAP_TYPE(key, __u32);
	MAP_TYPE(value, struct settings);
	MAP_NUMBER(max_entries, 1);
} config SEC(".maps");

/* Preallocated (the default): a tracing program on an unpreallocated hash
 * makes the kernel log a warning, and fails to load on PREEMPT_RT. */
struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_TYPE(key, struct name);
	MAP_TYPE(value, __u32);
	MAP_NUMBER(max_entries, MAX_NAMES);
} names SEC(".maps");

struct {
	MAP_NUMBER(type, MAP_HASH);
	MAP_TYPE(key, __u64);
	MAP_TYPE(value, __u8);
	MAP_NUMBER(max_entries, MAX_JOBS);
} jobs SEC(".maps");

struct {
	MAP_NUMBER(type, MAP_CGROUP_ARRAY);
	MAP_NUMBER(key_size, 4);
	MAP_NUMBER(value_size, 4);
	MAP_NUMBER(max_entries, MAX_CGROUPS);
} cgroups SEC(".maps");

/* 128 KiB, some 2,300 records; user space may ask for another size. */
struct {
	MAP_NUMBER(type, MAP_RINGBUF);
	MAP_TYPE(value, struct record);
	MAP_NUMBER(max_entries, 131072);
} ring SEC(".maps");

/*
 * Make a key of a comm: cut a version at its end, [-.]?[0-9.]+, unless nothing
 * would be left. Go's Key does the same. From the end, and with constant
 * offsets only: each byte either ends the walk or is cut, so the verifier has
 * one path for each place to stop, not two for each byte.
 */
static __attribute__((always_inline)) void key_of(const struct name *comm, struct name *n)
{
	*n = *comm;
#pragma clang loop unroll(full)
	for (int i = COMM_LEN - 2; i >= 0; i--) {
		__u64 c = comm->key[i];

		if (c != 0 && c != '.' && (c < '0' || c > '9')) {
			if (c == '-' && comm->key[i + 1] != 0)
				n->key[i] = 0;
			break;
		}
		n->key[i] = 0;
	}
	if (n->key[0] == 0)
		*n = *comm;
}

static __attribute__((always_inline)) int on_exec(void)
{
	__u32 zero = 0;
	struct counts *count = map_lookup(&counters, &zero);
	struct settings *conf = map_lookup(&config, &zero);
	struct name comm = {}, key; /* zeroed: some kernels do not pad what they copy */
	struct record *r;
	__u32 *found, tag = 0;
	__u64 cgroup, id;

	if (!count || !conf)
		return 0;
	count->seen++;

	current_comm(&comm, sizeof(comm));
	key_of(&comm, &key);
	found = map_lookup(&names, &key);
	if (found)
		tag = *found;
	else if (!conf->all)
		return 0;

	cgroup = current_cgroup_id();
	if (map_lookup(&jobs, &cgroup))
		return 0;

	/* Last, for it is a walk per entry, and matters only to a job that makes
	 * cgroups of its own. An empty entry answers -EAGAIN. */
	for (__u32 i = 0; i < MAX_CGROUPS; i++) {
		if (i >= conf->cgroups)
			break;
		if (current_under_cgroup(&cgroups, i) == 1)
			return 0;
	}

	r = ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r) {
		count->lost++;
		return 0;
	}
	id = current_pid_tgid();
	r->ktime = ktime_get_ns();
	r->cgroup = cgroup;
	r->tgid = id >> 32;
	r->tid = id;
	r->uid = current_uid_gid();
	r->tag = tag;
	__builtin_memcpy(r->comm, comm.key, COMM_LEN);
	ringbuf_submit(r, 0);
	count->reported++;
	return 0;
}

SEC("raw_tracepoint/sched_process_exec")
int exec_raw(void *ctx)
{
	return on_exec();
}

/* For a kernel that refuses the raw one. */
SEC("tracepoint/sched/sched_process_exec")
int exec_classic(void *ctx)
{
	return on_exec();
}

/* The kernel gives some helpers only to what calls itself GPL-compatible. */
char terms[] SEC("license") = "Dual MIT/GPL";
