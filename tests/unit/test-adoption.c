/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Where the readers of a recording go on that another daemon had begun, on a fake tracefs. */

#include "base/io.h"
#include "daemon/session/session-adopt.h"
#include "fake-kernel.h"
#include "store/segment.h"

#define PAGE 4096U
#define N_CPUS 2
#define START_NS 1000

typedef struct Fixture {
        FakeKernel *kernel;
        Controller *controller;
        FdStore *fdstore;
        Scratch scratch;
        SessionDir *dir;
        SessionMeta *meta;
        sd_event *event;
        /* of the daemon that takes it up */
        Tracer *tracer;
        Recorder *recorder;
        SessionHold *hold;
        Live live;
} Fixture;

static void on_recorder(void *userdata) {
}

/* A session with two CPUs that an earlier daemon began, and whose tracer another has taken up. */
static void fixture_init(Fixture *f) {
        _cleanup_refusal_ Refusal refusal = {};
        SessionMeta *m;
        const char *why;

        *f = (Fixture){ .kernel = fake_kernel_new(true), .scratch = SCRATCH };
        f->controller = fake_controller(f->kernel);
        ck_assert_int_eq(fdstore_new(&f->fdstore, false), 0);
        ck_assert_int_eq(session_dir_take_fds(&f->dir, dup(f->scratch.fd), -EBADF), 0);
        ck_assert_int_eq(sd_event_new(&f->event), 0);
        ck_assert_int_eq(session_meta_new(&m), 0);
        f->meta = m;
        m->name = strdup("x");
        ck_assert_int_eq(session_meta_renew_id(m), 0);
        ck_assert_int_eq(strv_add(&m->spec.functions, "udp_sendmsg"), 0);
        ck_assert_int_eq(fake_admit_and_arm(f->controller, &f->tracer, m, false, &refusal), 0);
        m->page_bytes = PAGE;
        m->state = SESSION_RECORDING;
        m->start.trace_ns = START_NS;
        m->n_cpus = N_CPUS;
        m->cpus = calloc(N_CPUS, sizeof(*m->cpus));
        m->cpus[1].cpu = 1;

        tracer_forget(f->tracer);
        ck_assert_int_eq(controller_adopt(f->controller, &f->tracer, m, &why), 0);
        ck_assert_int_eq(recorder_new(&f->recorder, &(RecorderConfig){ .event = f->event,
                                                                       .dir = f->dir,
                                                                       .session_id = m->id,
                                                                       .page_bytes = PAGE,
                                                                       .segment_bytes = 64 * PAGE,
                                                                       .changed = on_recorder,
                                                                       .userdata = f }),
                         0);
        ck_assert_int_eq(session_hold_new(&f->hold, &(SessionHoldConfig){ .fdstore = f->fdstore,
                                                                          .meta = m,
                                                                          .dir = f->dir }),
                         0);
}

static void fixture_done(Fixture *f) {
        pipe_marks_remove(f->meta->id);
        f->recorder = recorder_free(f->recorder);
        f->hold = session_hold_free(f->hold);
        ck_assert_int_eq(tracer_disarm(f->tracer), 0);
        live_done(&f->live);
        f->meta = session_meta_free(f->meta);
        f->dir = session_dir_free(f->dir);
        f->fdstore = fdstore_free(f->fdstore);
        f->event = sd_event_unref(f->event);
        f->controller = controller_free(f->controller);
        fake_kernel_free(f->kernel);
        scratch_done(&f->scratch);
}
#define _cleanup_fixture_ _cleanup_(fixture_done)

static void take_up(Fixture *f) {
        ck_assert_int_eq(adoption_take_cpus(&(AdoptionConfig){ .meta = f->meta,
                                                               .dir = f->dir,
                                                               .tracer = f->tracer,
                                                               .recorder = f->recorder,
                                                               .hold = f->hold,
                                                               .live = &f->live }),
                         0);
        ck_assert_uint_eq(recorder_n_cpus(f->recorder), N_CPUS);
}

/* What the earlier daemon told of its pipes, in bytes. */
static void leave_marks(const Fixture *f, uint64_t first, uint64_t second) {
        _cleanup_(pipe_marks_freep) PipeMarks *marks = NULL;

        ck_assert_int_eq(pipe_marks_new(&marks, f->meta->id, N_CPUS), 0);
        atomic_store(pipe_marks_get(marks, 0), first);
        atomic_store(pipe_marks_get(marks, 1), second);
}

/* A segment whose one page begins at @time_ns, and its writer died. */
static void leave_segment(const Fixture *f, uint32_t cpu, uint64_t time_ns) {
        _cleanup_(segment_writer_freep) SegmentWriter *w = NULL;
        _cleanup_close_ int cpu_fd = session_dir_make_cpu(f->dir, cpu);
        uint64_t page[PAGE / sizeof(uint64_t)] = { time_ns, 8 };

        ck_assert_int_ge(cpu_fd, 0);
        ck_assert_int_eq(segment_create(&w, cpu_fd, 0, UINT64_MAX, cpu, PAGE, f->meta->id), 0);
        ck_assert_int_eq(write_full(segment_writer_fd(w), page, sizeof(page)), 0);
        segment_publish(w, sizeof(page));
}

START_TEST(a_daemon_that_left_in_order_leaves_no_gap)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                f.live.left = true; /* and no marks */
                take_up(&f);
                ck_assert_uint_eq(f.meta->gaps.n, 0);
                ck_assert_uint_eq(f.meta->warnings.n, 0);
        }
END_TEST

START_TEST(what_was_in_the_pipe_of_a_killed_daemon_is_a_gap_of_that_cpu)
        {
                _cleanup_fixture_ Fixture f;
                const Gap *g;

                fixture_init(&f);
                leave_marks(&f, 0, 8192);
                take_up(&f);
                ck_assert_uint_eq(f.meta->gaps.n, 1);
                g = &f.meta->gaps.items[0];
                ck_assert_uint_eq(g->cpu, 1);
                ck_assert_int_eq(g->cause, GAP_DAEMON_GONE);
                ck_assert_uint_eq(g->from_ns, START_NS);
                ck_assert_uint_gt(g->to_ns, START_NS);
                ck_assert_uint_eq(g->n_pages, 0);
                ck_assert_uint_eq(f.meta->warnings.n, 1);
                ck_assert_ptr_nonnull(strstr(f.meta->warnings.items[0], "8K"));
        }
END_TEST

START_TEST(without_a_word_of_the_pipes_all_of_them_may_have_been_full)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                take_up(&f);
                ck_assert_uint_eq(f.meta->gaps.n, N_CPUS);
                ck_assert_uint_eq(f.meta->warnings.n, 1);
        }
END_TEST

START_TEST(a_gap_begins_at_the_last_page_that_is_stored)
        {
                _cleanup_fixture_ Fixture f;

                fixture_init(&f);
                leave_marks(&f, 0, PIPE_MARK_MOVING);
                leave_segment(&f, 1, 5 * START_NS);
                ck_assert_uint_eq(adoption_stored_ns(f.dir, f.meta, 0), START_NS);
                ck_assert_uint_eq(adoption_stored_ns(f.dir, f.meta, 1), 5 * START_NS);
                take_up(&f);
                ck_assert_uint_eq(f.meta->gaps.n, 1);
                ck_assert_uint_eq(f.meta->gaps.items[0].from_ns, 5 * START_NS);
                ck_assert_uint_eq(f.meta->cpus[0].n_pages, 0);
                ck_assert_uint_eq(f.meta->cpus[1].n_pages, 1);
        }
END_TEST

START_TEST(the_kernels_counters_go_on_where_live_json_says)
        {
                _cleanup_fixture_ Fixture f;
                InstanceCounters now;
                LiveCpu cpu = { .cpu = 0, .counters = { .last = { 4 }, .sum = { 10 } } };
                CpuAccount account = { .cpu = 0 };

                fixture_init(&f);
                f.live.left = true;
                f.live.cpus = calloc(1, sizeof(cpu));
                f.live.cpus[f.live.n_cpus++] = cpu;
                take_up(&f);
                now = *instance_counters(tracer_instance(f.tracer), 0);
                ck_assert_mem_eq(&now, &cpu.counters, sizeof(now));
                /* The fake kernel says "overrun: 7": 3 more than when it was looked at last. */
                ck_assert_int_eq(instance_read_account(tracer_instance(f.tracer), &account), 0);
                ck_assert_uint_eq(account.overrun, 13);
        }
END_TEST

START_TEST(without_live_json_the_accounts_go_on_where_session_json_says)
        {
                _cleanup_fixture_ Fixture f;
                CpuAccount account = { .cpu = 0 };

                fixture_init(&f);
                f.live.left = true;
                f.meta->cpus[0].overrun = 100;
                f.meta->cpus[0].read_events = 5;
                take_up(&f);
                ck_assert_int_eq(instance_read_account(tracer_instance(f.tracer), &account), 0);
                ck_assert_uint_eq(account.overrun, 100); /* what came meanwhile nobody knows */
                ck_assert_uint_eq(account.read_events, 5);
        }
END_TEST

START_TEST(only_what_a_client_left_behind_or_nobody_understands_ends_at_once)
        {
                static const struct {
                        const char *text, *why;
                } table[] = {
                        { "{ \"version\": 1, \"attached\": false, \"held\": false, \"left\": true, "
                          "\"cpus\": [] }",
                          NULL },
                        { "{ \"version\": 1, \"attached\": true, \"held\": false, \"left\": true, "
                          "\"cpus\": [] }",
                          "its client left" },
                        { "{ \"version\": 99 }", "a newer ftraced" },
                        { "{}", "no readable live.json" },
                };

                for (size_t i = 0; i < ELEMENTSOF(table); i++) {
                        _cleanup_scratch_ Scratch s = SCRATCH;
                        _cleanup_(session_dir_freep) SessionDir *d = NULL;
                        _cleanup_live_ Live live = {};
                        char text[ADOPTION_WHY_MAX];
                        const char *why;

                        ck_assert_int_eq(session_dir_take_fds(&d, dup(s.fd), -EBADF), 0);
                        scratch_write(s.fd, "live.json", table[i].text, strlen(table[i].text));
                        why = adoption_read_live(d, &live, text);
                        ck_assert_int_eq(!why, !table[i].why);
                        if (why)
                                ck_assert_ptr_nonnull(strstr(why, table[i].why));
                }
        }
END_TEST

UNIT_SUITE("adoption", a_daemon_that_left_in_order_leaves_no_gap,
           what_was_in_the_pipe_of_a_killed_daemon_is_a_gap_of_that_cpu,
           without_a_word_of_the_pipes_all_of_them_may_have_been_full,
           a_gap_begins_at_the_last_page_that_is_stored,
           the_kernels_counters_go_on_where_live_json_says,
           without_live_json_the_accounts_go_on_where_session_json_says,
           only_what_a_client_left_behind_or_nobody_understands_ends_at_once)
