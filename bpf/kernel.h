/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of the kernel's BPF interface that exec.bpf.c uses: numbers that
 * the kernel promises never to change. Declared here, so that building the
 * object takes clang alone: neither the kernel's headers (whose place depends
 * on the architecture) nor libbpf's, whose version would show in the object.
 */
#ifndef HEADROOM_KERNEL_H
#define HEADROOM_KERNEL_H

#define SEC(name) __attribute__((section(name), used))

/* A map's attributes, as the loader finds them in BTF: a number is the length
 * of an array that a pointer refers to. */
#define MAP_NUMBER(attribute, number) int(*attribute)[number]
#define MAP_TYPE(attribute, type) type *attribute

/* enum bpf_map_type; the kernel version that brought it */
#define MAP_HASH 1         /* 3.19 */
#define MAP_ARRAY 2        /* 3.19 */
#define MAP_PERCPU_ARRAY 6 /* 4.6 */
#define MAP_CGROUP_ARRAY 8 /* 4.8 */
#define MAP_RINGBUF 27     /* 5.8 */

/* Helpers by their number in enum bpf_func_id. */
static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static __u64 (*const ktime_get_ns)(void) = (void *)5;
static __u64 (*const current_pid_tgid)(void) = (void *)14; /* tgid << 32 | tid */
static __u64 (*const current_uid_gid)(void) = (void *)15;  /* gid << 32 | uid */
static long (*const current_comm)(void *buf, __u32 size) = (void *)16;
static long (*const current_under_cgroup)(void *map, __u32 index) = (void *)37;
static __u64 (*const current_cgroup_id)(void) = (void *)80; /* 4.18 */
static void *(*const ringbuf_reserve)(void *ring, __u64 size, __u64 flags) = (void *)131;
static void (*const ringbuf_submit)(void *record, __u64 flags) = (void *)132;

#endif
