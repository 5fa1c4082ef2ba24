/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the kernel's side and the Go side share. The Go mirror is generated
 * from this header's types in the object's BTF; a test compares the layouts.
 *
 * No field is wider than its natural alignment and there is no padding, so the
 * layout is the same for every 64-bit little-endian machine.
 */
#ifndef HEADROOM_EXEC_H
#define HEADROOM_EXEC_H

typedef unsigned char __u8;
typedef unsigned int __u32;
typedef unsigned long long __u64;

#define COMM_LEN 16   /* TASK_COMM_LEN: 15 bytes and a NUL */
/* Keys. The rules built in have some 1,300, and an owner adds his own; with
 * more than this user space filters (report all). */
#define MAX_NAMES 4096
#define MAX_JOBS 1024 /* cgroup ids whose execs are dropped */
#define MAX_CGROUPS 32 /* cgroups whose descendants' execs are dropped too */

/* One exec, as the ring buffer carries it. */
struct record {
	__u64 ktime;  /* CLOCK_MONOTONIC, ns */
	__u64 cgroup; /* id in the unified hierarchy: the inode of its directory */
	__u32 tgid;   /* the process: an exec from another thread takes over its pid */
	__u32 tid;
	__u32 uid;    /* real, in the initial user namespace */
	__u32 tag;    /* of the name map; 0 with report-all */
	__u8 comm[COMM_LEN];
};

/* A program name: comm without its version suffix, padded with NULs. */
struct name {
	__u8 key[COMM_LEN];
};

/* One per CPU. */
struct counts {
	__u64 seen;     /* execs of the machine */
	__u64 reported; /* put into the ring */
	__u64 lost;     /* should have been, but the ring was full */
};

struct settings {
	__u32 all;     /* not 0: report names that the map does not have */
	__u32 cgroups; /* entries of the cgroup array to ask, from index 0 */
};

#endif
